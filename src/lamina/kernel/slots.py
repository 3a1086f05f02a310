"""What slots tell: the places that facts compete for (seed 002, 7.3)."""

from __future__ import annotations

__all__ = ["is_slot_beside"]


def is_slot_beside(slot: str | None) -> bool:
    """Whether a slot is that of one author's word beside what others say.

    >>> is_slot_beside("ent_1@user:bob|lives_in"), is_slot_beside("ent_1|lives_in"), is_slot_beside(None)
    (True, False, False)
    """
    return slot is not None and "@" in slot.partition("|")[0]
