"""What a turn says about loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lamina.kernel.records import Horizon, LoopType
from lamina.kernel.time import Instant

__all__ = ["Heard", "LoopDraft", "LoopEnding", "LoopReading", "Move", "Pointer", "Way"]

Way = Literal["did", "is", "came", "dropped", "stopped", "thing"]
"""How words tell of an end: what the speaker ``did``, how a thing ``is`` now, what or who ``came`` or answered, a deed that is ``dropped``, a habit
that has ``stopped``, a ``thing`` that is dropped with what was to be done about it."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn that came before; ``own`` when it is the same person's."""

    text: str
    own: bool


@dataclass(frozen=True, slots=True)
class LoopDraft:
    """Something that a turn leaves open; ``offered`` when it says yes, and the words are those of the turn before."""

    type: LoopType
    wording: str
    confidence: float
    salience: int
    horizon: Horizon = "ongoing"
    due_at: Instant | None = None
    offered: bool = False
    quote: str = ""
    """The part of the turn that says so, where a language model pointed at it."""
    place: tuple[int, int] | None = None
    """From where to where in the turn that is said; None of an offer that was taken up."""


@dataclass(frozen=True, slots=True)
class LoopEnding:
    """Words that may end a loop: of what was done, or of what was given up. Empty words speak of what was just
    asked."""

    words: str
    completed: bool
    confidence: float
    way: Way = "did"


@dataclass(frozen=True, slots=True)
class Move:
    """Another day for something that is open. Empty words speak of what had a day last, else of what was said just
    before
    (``about``). ``day`` is when it begins and ends, None where it is only a limit."""

    words: str
    due_at: Instant
    horizon: Horizon
    day: tuple[Instant, Instant] | None = None
    about: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a language model says of a loop that is open, by the reference that it was shown or by words that name it. ``words`` are
    those of the turn that say so, ``due`` the day in them."""

    reference: str
    says: Literal["said_again", "completed", "dropped"]
    confidence: float
    terms: frozenset[str] = frozenset()
    """What was said to end it, and what was asked just before: it ends a loop that shares a key word with that."""
    words: str = ""
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class LoopReading:
    """All of it, in the order of the words."""

    drafts: tuple[LoopDraft, ...] = field(default=())
    endings: tuple[LoopEnding, ...] = field(default=())
    pointers: tuple[Pointer, ...] = field(default=())
    moves: tuple[Move, ...] = field(default=())
