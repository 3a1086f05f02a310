"""Kin: of several words, denied, and with whom a sentence without a subject goes on."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.kin import folded
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import Extraction, Previous

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def extraction(extractor: RulesExtractor, text: str) -> Extraction:
    return extractor.extract([say(text)])[0]


def read(extractor: RulesExtractor, text: str) -> list[str]:
    return [short(t) for t in extraction(extractor, text).triples]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My mother-in-law is allergic to nuts", ["Alice's mother-in-law allergic_to nuts"]),
        ("My mother in law lives in Leeds", ["Alice's mother-in-law lives_in Leeds"]),
        ("my sister in law Jo lives in York", ["Jo lives_in York", "Alice relative_of Jo"]),
        ("Jo is my sister-in-law", ["Alice relative_of Jo"]),
        ("I have a sister-in-law named Jo", ["Alice relative_of Jo"]),
        ("My father-in-law's name is Joseph", ["Alice relative_of Joseph"]),
        ("Anna's brother-in-law Tom is a chef", ["Tom works_as chef", "Anna relative_of Tom"]),
        ("my step mum Carol hates dogs", ["Carol dislikes dogs", "Alice relative_of Carol"]),
        ("my stepsister Mia works at Google", ["Mia works_at Google", "Alice relative_of Mia"]),
        ("my half-brother Leo lives in Cork", ["Leo lives_in Cork", "Alice relative_of Leo"]),
        ("My foster mother Ann works at Google", ["Ann works_at Google", "Alice relative_of Ann"]),
        ("my fiancée Eva lives in Leeds", ["Eva lives_in Leeds", "Alice engaged_to Eva"]),
        ("my neighbour Tom lives in Leeds", ["Tom lives_in Leeds", "Alice knows Tom"]),
        ("My brother Ben lives in Leeds", ["Ben lives_in Leeds", "Alice sibling_of Ben"]),
        ("my sister in London is a nurse", ["Alice's sister works_as nurse"]),
        ("my brother in law school is Ben", ["Alice sibling_of Ben"]),
        ("My mother Anna's dog Max bit me", ["Alice child_of Anna", "Anna has_pet Max"]),
    ],
)
def test_kin_of_several_words_is_kin_of_its_own(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("not my brother Ben, the other Ben", []),
        ("that's Ben from work, not my brother Ben", []),
        ("She is not my sister Anna", []),
        ("Ana isn't my sister, she's my cousin", ["Alice not sibling_of Ana"]),
        ("Ben isn't my brother", ["Alice not sibling_of Ben"]),
        ("I never met my brother Ben", ["Alice not met Ben", "Alice sibling_of Ben"]),
        ("I don't like my brother Ben", ["Alice dislikes Ben", "Alice sibling_of Ben"]),
        ("I'm not sure my sister Anna is coming", ["Alice sibling_of Anna"]),
    ],
)
def test_kin_that_is_denied_is_none(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


def test_kin_that_is_denied_is_no_alias(extractor: RulesExtractor) -> None:
    mentions = extraction(extractor, "that's Ben from work, not my brother Ben").mentions
    assert "ben" in {mention.key for mention in mentions}
    assert not any("alice's brother" in mention.aliases for mention in mentions)


def test_a_mention_of_kin_keeps_its_place_and_words(extractor: RulesExtractor) -> None:
    text = "Yes! My sister in law Jo met my half-brother yesterday, in Berlin."
    found = extraction(extractor, text).mentions
    assert {m.surface for m in found} >= {"Jo", "sister in law", "half-brother", "Berlin"}
    assert all(text[m.span.start : m.span.end] == m.surface for m in found)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("mum moved to York", ["Alice's mum moved_to York", "Alice's mum lives_in York"]),
        ("Mum works at Google", ["Alice's mum works_at Google"]),
        ("Grandma lives in Leeds", ["Alice's grandma lives_in Leeds"]),
        ("mum's name is Rose", ["Alice's mum name_is Rose"]),
        ("Anna's dad lives in Leeds", ["Anna's dad lives_in Leeds"]),
        ("Mum, I live in Leeds", ["Alice lives_in Leeds"]),
        ("thanks mum, I live in Leeds", ["Alice lives_in Leeds"]),
        ("The dad lives in Leeds", ["dad lives_in Leeds"]),
        ("her dad lives in Leeds", []),
    ],
)
def test_kin_without_an_owner_is_the_speakers(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert read(extractor, text) == claims


def test_what_an_assistant_calls_mum_is_nobodys(extractor: RulesExtractor) -> None:
    found = extractor.extract([say("Mum works at Google.", role="assistant")])[0].triples
    assert not any("'s mum" in short(t) for t in found)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Anna fell asleep on Ben", []),
        ("Tom fell ill in Rome", []),
        ("Tom turned pale at Tesco", []),
        ("I fell behind on the Miller report", []),
        ("I fell down the stairs at Tesco", ["Alice fall_at Tesco"]),
        ("Anna fell on Ben", ["Anna fall_on Ben"]),
    ],
)
def test_how_somebody_became_is_not_what_the_verb_says_alone(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "My sister Anna rang. Moved to York yesterday.",
        "Work Ben is leaving btw! got a job at the Nuffield",
        "Ben is leaving! got a job at the Nuffield in Cardiff",
        "Marcus quit. Moved to York yesterday.",
        "Anna rang. Had a long chat. Moved to York.",
        "Anna rang. It was late. Moved to York.",
        "He is nice. Moved to York.",
        "The neighbours left. Moved to Spain.",
    ],
)
def test_what_somebody_else_may_have_done_is_nobodys(extractor: RulesExtractor, text: str) -> None:
    assert not any(claim.startswith("Alice ") and "sibling" not in claim for claim in read(extractor, text))


@pytest.mark.parametrize(
    "text",
    [
        "Moved to York.",
        "I was tired. Moved to York.",
        "Anna called me. I was out. Moved to York.",
        "Anna and I left. Moved to York.",
        "Anna rang.\n\nMoved to York.",
        "Thanks Bob! Moved to York.",
        "Hi Anna! Moved to York.",
        "Great news! Moved to York.",
        "Finally finished. Moved to York.",
        "Just packed. Moved to York.",
        "It rained. Moved to York.",
        "My car broke down. Moved to York.",
    ],
)
def test_a_speaker_may_leave_out_the_i(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text)[-2:] == ["Alice moved_to York", "Alice lives_in York"]


@pytest.mark.parametrize(
    ("before", "mine"),
    [
        (Previous("Alice", "My sister Anna rang."), False),
        (Previous("Bob", "And how is she?"), False),
        (Previous("Bob", "What did you do?"), True),
        (Previous("Bob", "She is nice."), True),
        (Previous("Alice", "I had a busy day."), True),
    ],
)
def test_the_turn_before_may_be_about_somebody_else(
    extractor: RulesExtractor, before: Previous, mine: bool
) -> None:
    found = extractor.extract([say("Moved to York.", previous=(before,))])[0].triples
    assert bool(found) == mine


def test_folding_keeps_count_of_what_it_takes_out() -> None:
    text = "My mother-in-law, my Step Dad and my brothers in law"
    short_text, folds = folded(text)
    assert short_text == "My mother, my Dad and my brothers"
    assert [fold.word for fold in folds] == ["mother-in-law", "step-dad", "brothers-in-law"]
    assert sum(fold.shorter_by for fold in folds) == len(text) - len(short_text)
    assert all(short_text[fold.at :].startswith(fold.noun) for fold in folds)


@pytest.mark.parametrize(
    ("before", "text", "claims"),
    [
        ("Also promised my mum I'd visit her.", "She says she's fine but she's a nurse.", ["Alice's mum works_as nurse"]),
        ("I told my sister I'll be late.", "She works at Google.", ["Alice's sister works_at Google"]),
        ("I told my sister I’ve moved.", "She's a nurse.", ["Alice's sister works_as nurse"]),
        ("I told my sister She's late.", "She's a nurse.", ["Alice's sister works_as nurse"]),
        ("I visited my gran in Leeds.", "She lives in York now.", ["Alice's gran lives_in York"]),
        ("My boss shouted at me.", "Well, he works at Google.", ["Alice's boss works_at Google"]),
        # whose names are names
        ("My sister D'Arcy rang.", "She's a nurse.", ["D'Arcy works_as nurse"]),
        ("My sister Anna's car broke.", "She's a nurse.", ["Anna works_as nurse"]),
        ("My sister Anna rang, I'd missed her.", "She's a nurse.", ["Anna works_as nurse"]),
        # who it is stays open
        ("I promised my mum I'd call Leonie.", "She's a nurse.", []),
        ("I called my mum and my sister.", "She's a nurse.", []),
        ("I called my mum.", "The new colleague started. She's a nurse.", []),
        ("I called my dad.", "She's a nurse.", []),
        ("My sister's friend rang.", "She's a nurse.", []),
        ("I told my dad Don't worry.", "He's a nurse.", ["Alice's dad works_as nurse"]),
    ],
)  # fmt: skip
def test_two_words_in_one_are_no_name(
    extractor: RulesExtractor, before: str, text: str, claims: list[str]
) -> None:
    told = say(text, previous=(Previous("user:alice", before),))
    assert [short(t) for t in extractor.extract([told])[0].triples] == claims


@pytest.mark.parametrize(
    "text",
    ["I promised my mum I'd visit her in Leeds.", "My sister I'll be late", "I told my dad She's late."],
)
def test_two_words_in_one_are_no_name_without_a_parser(text: str) -> None:
    (found,) = RulesExtractor(find_times, use_parser=False).extract([say(text)])
    assert not [t for t in found.triples if t.kind == "relation"]
    assert {m.surface for m in found.mentions} <= {"Leeds"}
