"""From a turn, and those before it, to what it says about loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lamina.kernel.events import Event, text_of
from lamina.kernel.local import to_local
from lamina.language.temporal import find_times
from lamina.pipeline.loops.reading import read_loops
from lamina.pipeline.loops.values import Heard, LoopReading

__all__ = ["HEARD_BEFORE", "read_turn"]

HEARD_BEFORE: Final = 2
"""How many turns before one are read with it: what it answers, and whom it speaks of."""


def read_turn(turn: Event, before: Sequence[Event]) -> LoopReading:
    """What a turn says about loops, after those ``before`` it, oldest first."""
    speaker = turn.observed_actor.id
    heard = [Heard(text_of(event.content), event.observed_actor.id == speaker) for event in before]
    return read_loops(
        text_of(turn.content), to_local(turn.context.observed_at, turn.offset), find_times, heard
    )
