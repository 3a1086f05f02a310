"""Several people on one account: "Tom here" on Lena's is Tom's word, and no new name of hers.

Whoever says who is speaking by another name than the one that is known speaks for themselves in that turn. Who corrects their
name says so: "my name is", "call me", "I changed my name".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.kernel.records import Fact, Layer, value_slot
from lamina.language.entities import normalise_name, possessive
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Triple
from lamina.pipeline.view import View

__all__ = ["given_to_speaker"]

_NAMES = ("name_is", "goes_by")
_HELD_MAX = 16


def given_to_speaker(view: View, triples: Sequence[Triple], person_id: str) -> Sequence[Triple]:
    """The claims of a turn, with its first person given to whom it names as its speaker, if that is another than was known.

    ``person_id`` is the entity of the actor.
    """
    actor = view.event.observed_actor.id
    said = next((each for each in triples if each.introduces and each.subject.actor == actor), None)
    if said is None or not isinstance(said.object, LiteralValue):
        return triples
    known = _known(view, person_id)
    name = normalise_name(str(said.object.value))
    if not known or any(each < set(name.split()) for each in known):
        return triples
    others = [each for each in triples if each is not said]
    if any(set(name.split()) <= each for each in known):
        return others  # "Ana here" takes nothing from "Ana Petrova"
    speaker = EntityRef(str(said.object.value), name, "person")
    return [_given(each, said.subject, speaker) for each in others]


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
