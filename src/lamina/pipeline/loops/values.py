"""What a turn says about loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from lamina.kernel.records import Horizon, LoopType
from lamina.kernel.time import Instant

__all__ = ["Ending", "LoopDraft", "LoopReading", "Pointer"]


@dataclass(frozen=True, slots=True)
class LoopDraft:
    """Something that a turn leaves open."""

    type: LoopType
    wording: str
    confidence: float
    salience: int
    horizon: Horizon = "ongoing"
    due_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """Words that may end a loop: of what was done, or of what was given up.

    Empty words speak of what was just asked. ``stated`` ones tell how a thing is now, not what the speaker did.
    """

    words: str
    completed: bool
    confidence: float
    stated: bool = False


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a language model says of a loop that is open, by the reference that it was shown."""

    reference: str
    says: Literal["said_again", "completed", "dropped"]
    confidence: float


@dataclass(frozen=True, slots=True)
class LoopReading:
    """All of it, in the order of the words."""

    drafts: tuple[LoopDraft, ...] = field(default=())
    endings: tuple[Ending, ...] = field(default=())
    pointers: tuple[Pointer, ...] = field(default=())
