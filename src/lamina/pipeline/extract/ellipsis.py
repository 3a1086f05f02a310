"""Who a sentence without a subject is about: "Moved to York" is the speaker's, unless somebody else was just talked
about."""

from __future__ import annotations

import re
from typing import Literal

from lamina.language.own_words import own_words
from lamina.language.sentences import split_sentences
from lamina.language.tables import table
from lamina.pipeline.extract.clauses import conjuncts
from lamina.pipeline.extract.inflect import past_forms
from lamina.pipeline.extract.references import FIRST, FIRST_PLURAL
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.values import Utterance
from lamina.pipeline.extract.vocabulary import OCCUPATIONS, PETS, RELATIONS

__all__ = ["Topic", "following", "parsed_topic", "plain_topic", "topic_before"]

_TABLE = table(__name__)
Topic = Literal["speaker", "other", "unknown"]
"""Who a sentence has for its subject; ``unknown`` changes nothing, since a thing does not move to York."""

_PEOPLE = PETS | OCCUPATIONS | frozenset(RELATIONS) | _TABLE.words("people")
_LOOKED_AT = 400
_ASKED = _TABLE.pattern("asked")
_THIRD = _TABLE.words("third")
_IRREGULAR = "|".join(sorted(past_forms()))
_PLAIN_OTHER = re.compile(
    rf"^(?:he|she|they|(?:[Mm]y|[Oo]ur|[Tt]he) (?:[a-z]+ ){{0,2}}(?P<noun>[a-z-]+?)s?(?: [A-Z][\w’'-]+)?|"
    rf"(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?))"
    rf"(?:['’]s| (?:is|are|has|quit|rang|{_IRREGULAR}|\w{{2,}}ed))\b",
)  # fmt: skip
_PLAIN_SPEAKER = re.compile(r"(?:(?:and|but|so|then|yes|no|well),? )?(?:i|we)\b", re.IGNORECASE)
_NO_NAMES = _TABLE.words("no_names")


def topic_before(utterance: Utterance) -> Topic:
    """What the turn before leaves as the topic: its last sentence, when the same person spoke or asked about somebody
    else."""
    last = utterance.previous[-1] if utterance.previous else None
    if last is None:
        return "unknown"
    if last.speaker not in (utterance.speaker, utterance.speaker_name):
        asked = _ASKED.search(last.text[-_LOOKED_AT:])
        return "other" if asked is not None else "unknown"
    sentences = split_sentences(own_words(last.text[-_LOOKED_AT:]), count_max=20)
    return plain_topic(sentences[-1].text) if sentences else "unknown"


def following(topic: Topic, subject: Topic) -> Topic:
    """The topic after a sentence with this subject."""
    return topic if subject == "unknown" else subject


def parsed_topic(parse: Parse) -> Topic:
    """By the subjects of the main clauses, or by its first words where the parser finds none."""
    mains = [verb for verb in parse.tokens if _is_main(parse, verb)]
    subjects = [t for verb in mains for t in parse.children(verb, "nsubj", "nsubjpass")]
    joined = [t for subject in subjects for t in conjuncts(parse, subject)]
    if any(t.lower in FIRST | FIRST_PLURAL for t in joined):
        return "speaker"
    return "other" if any(_is_somebody(t) for t in joined) else plain_topic(parse.text)


def plain_topic(sentence: str) -> Topic:
    """By its first words, for a sentence that is not parsed: "Marcus quit." """
    if _PLAIN_SPEAKER.match(sentence):
        return "speaker"
    match = _PLAIN_OTHER.match(sentence)
    if match is None:
        return "unknown"
    if match["noun"] is not None:
        return "other" if match["noun"].lower() in _PEOPLE else "unknown"
    name = (match["name"] or "").split(" ")[0].lower()
    return "unknown" if name in _NO_NAMES or name.endswith("ly") else "other"


def _is_main(parse: Parse, verb: Token) -> bool:
    while verb.is_verb and verb.dep in ("conj", "ccomp", "parataxis") and verb.head != verb.i:
        verb = parse.head(verb)
    return verb.dep == "ROOT"


def _is_somebody(token: Token) -> bool:
    named = token.is_name and token.entity in ("PERSON", "")
    return token.lower in _THIRD or token.entity == "PERSON" or named or token.lemma in _PEOPLE
