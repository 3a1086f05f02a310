"""The types of open loops, and the states of one."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

__all__ = ["LOOPS_OPEN", "PROMISED", "PROMISES", "Horizon", "LoopStatus", "LoopType"]


class LoopType(StrEnum):
    """What somebody left open (Synapse contract)."""

    COMMITMENT = "commitment"
    DECISION = "decision"
    FRICTION = "friction"
    HABIT = "habit"
    THREAD = "thread"


PROMISES: Final = frozenset({LoopType.COMMITMENT, LoopType.DECISION})
"""The types of what somebody promised, plans or has decided, which is said of them as a fact is."""


class LoopStatus(StrEnum):
    """How a loop stands. Whether an active one has gone stale is a question of the clock that asks."""

    ACTIVE = "active"
    COMPLETED = "completed"
    DROPPED = "dropped"
    SNOOZED = "snoozed"


Horizon = Literal["today", "this_week", "ongoing"]
PROMISED: Final = "commitment"
"""The kind of what its person promised, plans or has decided."""
LOOPS_OPEN = "loops.open"
"""The topic under which open loops are found."""
