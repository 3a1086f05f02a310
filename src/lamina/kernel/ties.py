"""Why a record is there: what an edge from it to a source of it says."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = ["ENDS_LOOP", "OF_LOOPS", "SAYS_AGAIN", "WORDLESS", "Tie"]


class Tie(StrEnum):
    """What an edge of the why graph says of its two ends; of some, ``Support.at`` is an instant that this tells about."""

    EXTRACTED_FROM = "extracted_from"
    """From a fact to an event that states it; ``at`` is from when on, by this statement, it holds."""
    HELD_UNTIL = "held_until"
    """Beside ``EXTRACTED_FROM``; ``at`` is until when, by this statement, it held."""
    HANDED_OVER_IN = "handed_over_in"
    """Beside ``EXTRACTED_FROM``: the statement stands where somebody else's words may, and ends nothing."""
    TAKEN_BACK_BY = "taken_back_by"
    """From a fact to the event that said that it holds no more; ``at`` is from when on."""
    DONE_BY = "done_by"
    """From a commitment to the event that told that it was done or given up, or from any fact to its retraction; ``at`` is when."""
    CORRECTED_BY = "corrected_by"
    """From a fact to the event that put another value in its place; ``at`` is from when on."""
    MOVED_BY = "moved_by"
    """From what has a day to the event that told of another one; ``at`` is when that begins."""
    MOVED_UNTIL = "moved_until"
    """Beside ``MOVED_BY``; ``at`` is when the other day ends."""
    MAY_CHANGE = "may_change"
    """From a fact to a later turn of the same speaker that speaks of its matter with a sign of change; ``at`` is when that was said."""

    OPENED_BY = "opened_by"
    """From a loop to the turn that left it open. Of this and the four below ``at`` is when that was said."""
    SAID_AGAIN_BY = "said_again_by"
    AFFIRMED_BY = "affirmed_by"
    """Said again by reference, without words of its own."""
    COMPLETED_BY = "completed_by"
    DROPPED_BY = "dropped_by"
    OFFERED_IN = "offered_in"
    """From a loop to the turn whose offer it was; ``Support.accepted_in`` is the one that said yes to it."""

    SUPPORTED_BY = "supported_by"
    """From a belief to evidence for it."""
    CONTRADICTED_BY = "contradicted_by"
    CONTAINS = "contains"
    """From an episode to an event of it; ``Support.place`` is the event's place, ``Support.part`` what it did there."""
    SYNTHESIZED_FROM = "synthesized_from"
    """From a concept to what it was made of."""

    CANCELLED_BY = "cancelled_by"
    """From a cancelled event to the entry of the log that cancelled it."""
    EXPIRED_BY = "expired_by"
    """From an event that is over by its time to live, or a record that ended with it, to the entry of the log that says so."""
    DEPRECATED_BY = "deprecated_by"
    """From a fact or a belief to the entry of the log at which a vocabulary had its term no more."""
    DECIDES = "decides"
    """From an entry of the log to the entities that it decides upon."""
    RENAMED_BY = "renamed_by"
    """From a record to the decision by which its entities have other names."""
    READ_BY = "read_by"
    """From a turn, and what was made of it, to the entry of the log from which on it is read by a model's answer."""
    REDACTED_FROM = "redacted_from"
    """From a record to an event whose words went, through what was frozen of it."""


SAYS_AGAIN: Final = frozenset({Tie.OPENED_BY, Tie.SAID_AGAIN_BY})
"""What speaks of a loop in words of its own."""
ENDS_LOOP: Final = frozenset({Tie.COMPLETED_BY, Tie.DROPPED_BY})
OF_LOOPS: Final = frozenset({*SAYS_AGAIN, *ENDS_LOOP, Tie.AFFIRMED_BY})
"""What a turn does to a loop."""
WORDLESS: Final = frozenset(
    {
        Tie.COMPLETED_BY,
        Tie.DROPPED_BY,
        Tie.AFFIRMED_BY,
        Tie.OFFERED_IN,
    }
)
"""What has none of a record's words: the record does not rest on it."""
