"""What a sentence claims, it does not claim where it is denied, asked, supposed or another's word: plain claims crossed with such frames."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model

STATES = (
    "vegetarian", "vegan", "a nurse", "an engineer", "a teacher", "married", "single", "divorced", "engaged", "pregnant", "unemployed",
    "allergic to nuts", "afraid of dogs",
)  # fmt: skip
DEEDS = (
    "live in Rome", "work at Siemens", "like jazz", "hate olives", "eat meat", "drink coffee", "have a dog", "have two kids", "drive a Honda",
    "play chess", "speak French", "study law",
)  # fmt: skip
OTHERS = (
    "my sister lives in Oslo", "my brother is a doctor", "my wife is pregnant", "my rent is 900 euros", "my manager is Kim",
    "my favourite colour is blue",
)  # fmt: skip
OF_STATES = (
    "I'm not {}.", "I am not {}.", "I'm no longer {}.", "I am no longer {}.", "I'm not {} anymore.", "I'm not {} any more.", "I was never {}.",
    "I wish I were {}.", "If I were {}, I'd tell you.", "Am I {}?", "I stopped being {}.", "I'm anything but {}.",
    "I am neither {} nor rich.", "I'm hardly {}.", "I'm not even {}.", "I'm not {} yet.", "I lied, I'm not {}.", "I could be {}.",
    "He talks to me as if I were {}.", "Help me become {}.",
    "am i {}", "was i {}", "since when am i {}",
)  # fmt: skip
OF_DEEDS = (
    "I don't {}.", "I do not {}.", "I no longer {}.", "I don't {} anymore.", "I never {}.", "I wish I could {}.", "Do I {}?",
    "I hardly {}.", "I don't even {}.", "I lied, I don't {}.", "I could {}.", "I stopped: I don't {} now.", "Help me {}.",
    "I need you to help me {}.", "I'll help Tom {}.", "do i {}", "since when do i {}", "why do i {}",
)  # fmt: skip
OF_CLAIMS = (
    "Suppose {}.", "Imagine {}.", "I dreamt that {}.", "It would be great if {}.", "Is it true that {}?", "What if {}?", "I'd never say that {}.",
    "I pretended that {}.", "There's a rumour that {}.", "If {}, tell me.", "Unless {}, we go.", "I wonder whether {}.", "She asked whether {}.",
    "I don't know if {}.", "I don't think {}.", "I doubt that {}.", "I deny that {}.", "It is false that {}.", "It's not true that {}.",
    "It was never true that {}.", "It is impossible that {}.", "It's unlikely that {}.", "It's not that {}.", "That {} is false.", "I hope {} soon.",
    "It's as if {}.", "I would say {} if it were so.", "Let's say {}.", "In case {}, I want a plan.", "Once {}, I'll be happy.",
    "I save money so that {}.", "Even if {}, it's fine.", "I won't rest until {}.", "Nobody believes that {}.", "No one said {}.",
    'How do you say "{}" in Spanish?', "Translate into German: {}.", 'My friend says: "{}."', "[12/03/2026, 10:02:11] Tom: {}.",
    "[10:02, 12/03/2026] mum: {}.", "12/03/2026, 10:02 - +49 170 1234567: {}.",
    "Tom  10:02 AM\n{}.", "I got this from Tom: {}.", "Write a letter saying that {}.", "Draft a note that says {}.", "For example, say {}.",
    "is it true that {}", "Before {}, I want to travel.", "I look forward to the day when {}.", "Make sure {}.",
    "You're wrong that {}.",
)  # fmt: skip


@pytest.fixture(scope="module")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def claimed(extractor: RulesExtractor, texts: list[str]) -> list[set[str]]:
    """What is claimed by each of some turns, without what they deny."""
    read = extractor.extract([say(text) for text in texts])
    return [{short(triple) for triple in each.triples if not triple.negated} for each in read]


def test_what_is_not_said_of_what_is_so_is_not_claimed(extractor: RulesExtractor) -> None:
    plain = {
        **{f"I'm {state}": (state, OF_STATES) for state in STATES},
        **{f"I {deed}": (deed, OF_DEEDS) for deed in DEEDS},
    }
    crossed = [(one, frame.format(words)) for one, (words, frames) in plain.items() for frame in frames]
    sentences = [*plain, *OTHERS]
    crossed += [(one, frame.format(one)) for one in sentences for frame in OF_CLAIMS]
    claims = dict(zip(sentences, claimed(extractor, [f"{one}." for one in sentences]), strict=True))
    assert [one for one in sentences if not claims[one]] == []
    found = claimed(extractor, [text for _, text in crossed])
    assert [text for (one, text), said in zip(crossed, found, strict=True) if claims[one] & said] == []
