"""Reading the keys of slots, ``subject|predicate`` or ``subject@author|predicate``: facts of one slot follow each other (seed 002, 7.3)."""

from __future__ import annotations

__all__ = ["is_slot_beside", "slot_of_another"]


def is_slot_beside(slot: str | None) -> bool:
    """Whether a slot is that of one author's word beside what others say.

    >>> is_slot_beside("ent_1@user:bob|lives_in"), is_slot_beside("ent_1|lives_in"), is_slot_beside(None)
    (True, False, False)
    """
    return slot is not None and "@" in slot.partition("|")[0]


def slot_of_another(slot: str, subject_id: str) -> str:
    """The slot of the same matter for another subject, by the same author's word where it is that.

    >>> slot_of_another("ent_1@user:bob|lives_in", "ent_2")
    'ent_2@user:bob|lives_in'
    """
    owner, _, matter = slot.partition("|")
    _, at, author = owner.partition("@")
    return f"{subject_id}{at}{author}|{matter}"
