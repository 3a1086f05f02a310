"""From a turn, and those before it, to what it says about loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from lamina.kernel.events import Event, text_of
from lamina.kernel.local import to_local
from lamina.language.quarantine import gives_orders, quarantine_of
from lamina.language.running_speech import running_speech
from lamina.language.temporal import find_times
from lamina.pipeline.loops.reading import read_loops
from lamina.pipeline.loops.values import Heard, LoopReading

__all__ = ["HEARD_BEFORE", "read_turn", "words_that_end"]

HEARD_BEFORE: Final = 2
"""How many turns before one are read with it: what it answers, and whom it speaks of."""


def read_turn(turn: Event, before: Sequence[Event]) -> LoopReading:
    """What a turn says about loops, after those ``before`` it, oldest first. What may be somebody else's words in it
    ends and moves none."""
    speaker = turn.observed_actor.id
    before = [event for event in before if not gives_orders(quarantine_of(event))]
    heard = [Heard(text_of(event.content), event.observed_actor.id == speaker) for event in before]
    text, at = text_of(turn.content), to_local(turn.context.observed_at, turn.offset)
    reading = read_loops(text, at, find_times, heard)
    if not (reading.endings or reading.moves):
        return reading
    said = words_that_end(turn)
    if said == text:
        return reading
    own = read_loops(said, at, find_times, heard)
    return replace(reading, endings=own.endings, moves=own.moves)


def words_that_end(turn: Event) -> str:
    """What of a turn may end or move something: its speaker's running speech."""
    return running_speech(text_of(turn.content), turn.observed_actor.display_name)
