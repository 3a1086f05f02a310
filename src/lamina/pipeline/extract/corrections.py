"""Corrections: "actually, it's cashews, not peanuts" gives the new value, and a denial that ends the old one.

What the correction is about is taken from the same sentence ("my allergy test came back and it's ...") or from what
one of the turns before claimed with the old value; where neither tells, nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lamina.language.entities import normalise_name
from lamina.language.own_words import own_words
from lamina.language.sentences import split_sentences
from lamina.pipeline.extract.phrases import is_time_word
from lamina.pipeline.extract.plain import plain_triples
from lamina.pipeline.extract.references import References, entity
from lamina.pipeline.extract.restating import object_text
from lamina.pipeline.extract.times import Times
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, Triple, Utterance
from lamina.pipeline.extract.vocabulary import describe

__all__ = ["corrected", "denied"]

CONFIDENCE = 0.85
_OLD = r",? (?:and )?not (?P<old>(?!just|only|because|sure|that|so |really|even|to |a lot)[^,.;!?]{2,40}?)(?=$|[,.;!?]|\s(?:and|but|as)\s)"
_SWAP = re.compile(
    r"\b(?:it|that|they|i mean|i meant|make (?:it|that))(?:'s|'re| is| was| are| were)? (?:actually )?(?P<new>[^,.;!?]{2,40}?)"
    + _OLD,
    re.IGNORECASE,
)
_TOPICS = (
    ("allergic_to", re.compile(r"\b(?:my|the|an?) (?:\w+ )?allerg(?:y|ies)\b|\ballergic\b", re.IGNORECASE)),
)
_DETERMINER = re.compile(r"^(?:the|an?|my|our|to) ", re.IGNORECASE)


def corrected(text: str, refs: References, offset: int) -> list[Triple]:
    """The claims of a sentence that swaps one value for another; empty for any other sentence."""
    swap = _SWAP.search(text)
    if swap is None or refs.speaker is None:
        return []
    new, old = (_DETERMINER.sub("", swap[group].strip()) for group in ("new", "old"))
    if is_time_word(new) or is_time_word(old) or not new or not old:
        return []
    span = Span(offset, offset + len(text))
    for claim in [*_claimed_before(refs.utterance, old), *_of_topic(text[: swap.start()], refs.speaker)]:
        right = replace(
            claim, object=_like(claim, new), evidence=span, corrects=True, confidence=CONFIDENCE, negated=False,
            valid_from=None, valid_to=None,
        )  # fmt: skip
        wrong = replace(right, object=_like(claim, old), negated=True, corrects=False, single_valued=False)
        return [right] if right.single_valued else [right, wrong]
    return []


def denied(text: str, triples: Sequence[Triple]) -> list[Triple]:
    """What ", not peanuts" denies beside a lasting claim of several possible values ("I'm allergic to cashews")."""
    found = []
    for triple in triples:
        lasting = triple.kind not in ("event", "plan", "commitment", "quantity")
        if triple.negated or triple.single_valued or not lasting:
            continue
        match = re.search(re.escape(object_text(triple)) + _OLD, text, re.IGNORECASE)
        if match is not None and len(match["old"].split()) <= 3 and not is_time_word(match["old"]):
            old = _like(triple, _DETERMINER.sub("", match["old"]))
            found.append(replace(triple, object=old, negated=True, corrects=False, qualifiers=()))
    return found


def _claimed_before(utterance: Utterance, old: str) -> Iterator[Triple]:
    """The speaker's own claims with the value `old` in the turns before, latest first."""
    for turn in reversed(utterance.previous):
        if turn.speaker not in (utterance.speaker, utterance.speaker_name):
            continue
        for sentence in reversed(split_sentences(own_words(turn.text[:2_000]), count_max=20)):
            times = Times(sentence.text, (), utterance.observed_at)
            for triple in plain_triples(sentence.text, References.of(utterance), times, 0):
                if normalise_name(object_text(triple)) == normalise_name(old):
                    yield triple


def _of_topic(before: str, speaker: EntityRef) -> Iterator[Triple]:
    for predicate, pattern in _TOPICS:
        if pattern.search(before):
            known = describe(predicate, past=False)
            nothing = LiteralValue("string", "")
            yield Triple(
                speaker,
                predicate,
                nothing,
                known.kind,
                CONFIDENCE,
                Span(0, 0),
                single_valued=known.single_valued,
            )


def _like(claim: Triple, words: str) -> EntityRef | LiteralValue:
    if isinstance(claim.object, EntityRef):
        return entity(words, claim.object.type)
    return LiteralValue("string", words)
