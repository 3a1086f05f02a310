"""Whose claims a text may make: an assistant makes none for itself, and none for whom it speaks to.

"Got it, you live in Leicester" is what the assistant took from the talk, or made up; the talk itself says where
somebody lives.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.language.entities import possessive
from lamina.pipeline.extract.references import References
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Triple
from lamina.pipeline.extract.vocabulary import RELATIONS

__all__ = ["told_by"]

_TIES = frozenset({"has_pet", *(predicate for predicate, _ in RELATIONS.values())})
_STEPS_MAX = 4
"""So far "your son's friend's dog Rex" is followed."""


def told_by(refs: References, triples: Sequence[Triple]) -> list[Triple]:
    """Those of the claims that are the speaker's to make."""
    utterance = refs.utterance
    if utterance.role == "assistant":
        triples = [triple for triple in triples if not _is_its_own(triple, refs.speaker)]
    if utterance.advises and refs.addressee is not None:
        theirs = _those_of(refs.addressee, triples)
        triples = [triple for triple in triples if not any(_is_of(each, theirs) for each in _ends(triple))]
    return list(triples)


def _is_its_own(triple: Triple, speaker: EntityRef | None) -> bool:
    """An assistant's own plans and suggestions are no memory of anybody else."""
    return speaker in _ends(triple) or triple.kind in ("plan", "commitment")


def _those_of(addressee: EntityRef, triples: Sequence[Triple]) -> set[str]:
    """The names of the addressee and of whom the text calls theirs: of "your son Tim" also Tim's."""
    theirs = {addressee.key}
    ties = [triple for triple in triples if triple.predicate in _TIES]
    for _ in range(_STEPS_MAX):
        tied = [triple for triple in ties if any(_is_of(each, theirs) for each in _ends(triple))]
        found = {each.key for triple in tied for each in _ends(triple) if isinstance(each, EntityRef)}
        if found <= theirs:
            break
        theirs |= found
    return theirs


def _is_of(value: EntityRef | LiteralValue, names: set[str]) -> bool:
    """Whether it has one of these names, or is called after its owner: "Alice's sister"."""
    if not isinstance(value, EntityRef):
        return False
    return value.key in names or any(value.key.startswith(f"{possessive(name)} ") for name in names)


def _ends(triple: Triple) -> tuple[EntityRef, EntityRef | LiteralValue]:
    return triple.subject, triple.object
