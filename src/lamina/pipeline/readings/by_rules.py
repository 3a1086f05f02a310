"""The rules as reader: always there, at once, with nothing installed."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.kernel.events import Event
from lamina.pipeline.extract.values import Extraction
from lamina.pipeline.loops.keeping import raises_loops
from lamina.pipeline.loops.reading import read_turn, words_that_end
from lamina.pipeline.loops.values import LoopReading
from lamina.pipeline.plays import unplayed
from lamina.pipeline.readings.reading import Reading

__all__ = ["reading_by_rules"]


def reading_by_rules(
    event: Event, extraction: Extraction, heard: Sequence[Event] | None, *, reader: str
) -> Reading:
    """What rules of a version, ``reader``, read in an event: its ``extraction``, and what it leaves open after the turns ``heard`` before it, where that is
    anybody's to say and somebody asks, which ``heard`` of None is not."""
    if heard is None or not (raises_loops(event) and event.directives.wants("facts")):
        return Reading(reader, extraction, LoopReading(), "")
    told = unplayed(event, extraction.played)
    return Reading(reader, extraction, read_turn(told, heard), words_that_end(told))
