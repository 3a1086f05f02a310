"""What a claim competes with: other values of its slot, or its own denial.

A predicate of one value has a slot for each subject, and denials of its values a slot of their own beside it. Where many
values may stand, a claim and its denial have a slot for each value, and so have likes and dislikes of one thing.
"""

from __future__ import annotations

from typing import Final

from lamina.kernel.predicates import family_of
from lamina.kernel.records import Fact, ObjectValue, value_slot
from lamina.language.entities import normalise_name

__all__ = [
    "PASSING",
    "chain_of",
    "denials_of",
    "is_denial",
    "is_shared",
    "is_told_over",
    "slot_of",
    "slots_of_value",
    "value_of",
    "words_of",
]

PASSING: Final = frozenset({"event", "plan", "commitment"})
"""What happened or is to be done is not a state that a later word ends."""


def words_of(value: ObjectValue) -> str:
    """A value made comparable by its words, whether it is an entity or not."""
    return normalise_name(value.text) or value.key


def slot_of(
    subject_id: str, predicate: str, value: ObjectValue, *, kind: str, single: bool, negated: bool
) -> str | None:
    """What a claim competes for; None for what happened and for plans."""
    # No predicate has a space in it, so that the three forms cannot be taken for each other.
    if single:
        slot = value_slot(subject_id, predicate)
        return denials_of(slot) if negated else slot
    return None if kind in PASSING else f"{subject_id}|{family_of(predicate)[0]} {words_of(value)}"


def slots_of_value(fact: Fact) -> tuple[str | None, ...]:
    """The slots that a fact without one may tell a value of: of the values of its predicate, and of this value alone."""
    subject_id = fact.subject.id
    shared = slot_of(
        subject_id, fact.predicate, fact.object, kind=fact.kind, single=False, negated=fact.negated
    )
    return value_slot(subject_id, fact.predicate), shared


def denials_of(slot: str) -> str:
    """The slot of the denials of a slot's values."""
    subject_id, _, predicate = slot.partition("|")
    return f"{subject_id}| {predicate.removeprefix(' ')}"


def is_denial(fact: Fact) -> bool:
    """Whether it denies a value of a slot, and is none itself."""
    return fact.slot is not None and fact.slot.partition("|")[2].startswith(" ")


def is_shared(fact: Fact) -> bool:
    """Whether it holds the slot of one value, whose denial competes with it."""
    predicate = "" if fact.slot is None else fact.slot.partition("|")[2]
    return " " in predicate.removeprefix(" ")


def is_told_over(fact: Fact) -> bool:
    """Whether it says of a value that it was over, and nothing more: where it stands apart it has no slot."""
    return not fact.negated and fact.valid_to is not None and fact.valid_to - fact.valid_from <= 1


def chain_of(fact: Fact) -> str:
    """The slot whose timeline a fact with a slot is on: of a denial that of the values."""
    assert fact.slot is not None, "what has no slot is on no timeline"
    subject_id, _, matter = fact.slot.partition("|")
    return f"{subject_id}|{matter.removeprefix(' ')}"


def value_of(fact: Fact) -> str:
    """What a fact says of its slot; equal where two say the same."""
    if not is_shared(fact):
        return words_of(fact.object)
    family = family_of(fact.predicate)
    # To have a thing and to own it is one; to like it and to dislike it are two.
    said = family[0] if family[0] == "owns" else fact.predicate
    return f"not {said}" if fact.negated else said
