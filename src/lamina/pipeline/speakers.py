"""Several people on one account: "Tom here" on Lena's is Tom's word, and no new name of hers.

Whoever says who is speaking by another name than the one that is known speaks for themselves in that turn. Who corrects their
name says so: "my name is", "call me", "I changed my name".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lamina.kernel.records import Fact, Layer, value_slot
from lamina.language.entities import normalise_name, possessive
from lamina.pipeline.extract.values import EntityRef, Extraction, LiteralValue, Triple
from lamina.pipeline.view import View

__all__ = ["another_speaks", "given_to_speaker"]

_NAMES = ("name_is", "goes_by")
_HELD_MAX = 16


@dataclass(frozen=True, slots=True)
class _Introduction:
    """That a turn names its speaker by another name than the one that is known."""

    said: Triple
    speaker: EntityRef | None
    """Somebody else; None where it is part of the name that is known: "Ana here" takes nothing from "Ana Petrova"."""


def given_to_speaker(view: View, extraction: Extraction) -> Extraction:
    """What a turn says, with its first person given to whom it names as its speaker, if that is another than was known."""
    found = _introduced(view, extraction)
    if found is None:
        return extraction
    others = tuple(each for each in extraction.triples if each is not found.said)
    if found.speaker is None:
        return replace(extraction, triples=others)
    before, speaker = found.said.subject, found.speaker
    return replace(
        extraction,
        triples=tuple(_given(each, before, speaker) for each in others),
        taken_back=tuple(
            replace(each, subject=_instead(each.subject, before, speaker)) for each in extraction.taken_back
        ),
    )


def another_speaks(view: View, extraction: Extraction) -> bool:
    """Whether a turn is the word of somebody else than the actor is known to be: what they have to do, did and owe is theirs."""
    found = _introduced(view, extraction)
    return found is not None and found.speaker is not None


def _introduced(view: View, extraction: Extraction) -> _Introduction | None:
    actor = view.event.observed_actor
    said = next(
        (each for each in extraction.triples if each.introduces and each.subject.actor == actor.id), None
    )
    if said is None or not isinstance(said.object, LiteralValue):
        return None
    known = _known(view, view.whole().entity_of(actor))
    given = str(said.object.value)
    name = normalise_name(given)
    words = set(name.split())
    if not known or any(each < words for each in known):
        return None
    if any(words <= each for each in known):
        return _Introduction(said, None)
    return _Introduction(said, EntityRef(given, name, "person"))


def _known(view: View, person_id: str) -> list[set[str]]:
    """The words of the names that hold for somebody."""
    held = [
        each
        for predicate in _NAMES
        for each in view.whole().query(Layer.FACTS, slot=value_slot(person_id, predicate), limit=_HELD_MAX)
    ]
    return [
        set(normalise_name(each.object.text).split())
        for each in held
        if isinstance(each, Fact) and each.valid_to is None and not (each.negated or each.external)
    ]


def _given(triple: Triple, before: EntityRef, speaker: EntityRef) -> Triple:
    subject, value = triple.subject, triple.object
    return replace(
        triple,
        subject=_instead(subject, before, speaker),
        object=_instead(value, before, speaker) if isinstance(value, EntityRef) else value,
    )


def _instead(reference: EntityRef, before: EntityRef, speaker: EntityRef) -> EntityRef:
    """The speaker for who was taken for it, "Tom's sister" for "Lena's sister"."""
    if reference.actor is not None and reference.actor == before.actor:
        return speaker
    owner = f"{possessive(before.name)} "
    if not reference.name.startswith(owner):
        return reference
    name = f"{possessive(speaker.name)} {reference.name.removeprefix(owner)}"
    return replace(reference, name=name, key=normalise_name(name))
