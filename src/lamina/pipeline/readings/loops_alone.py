"""Answers of an earlier release about loops alone (task ``loops/1``): they take effect where they did, and nobody is asked for more.

An answer came late: by then later turns may have been derived. It took effect directly after the newest event of the scope that was
extracted, before whatever came next, and the store notes which one that was. A replay applies it there again, through the same gate as
any answer; it adds to what rules read of the turn, since it was asked beside that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from lamina.kernel.events import Event
from lamina.kernel.time import Instant
from lamina.pipeline.extract.values import Extraction
from lamina.pipeline.loops.reading import HEARD_BEFORE
from lamina.pipeline.loops.rereading import LoopRereader, endings_in
from lamina.pipeline.loops.values import LoopReading
from lamina.pipeline.readings.answer import ReadBeside, loops_by_answer
from lamina.pipeline.readings.shape import json_in
from lamina.pipeline.view import View
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Inquiry, Writes

__all__ = ["EXTRACTOR", "TASK", "applies_at", "apply_answer"]

TASK: Final = "loops/1"
EXTRACTOR: Final = "lamina-loops-model/5"
_LATER_READ_MAX: Final = 50
_SURE_FROM: Final = 0.85


def applies_at(after: Event) -> Instant:
    """When an answer takes effect that is applied after an event: the next one of the tenant is recorded no earlier."""
    return after.recorded_at + 1


def apply_answer(store: Store, inquiry: Inquiry, after: View, done: Writes) -> Writes | None:
    """What the answer to an inquiry changes directly after a view's event, which derived ``done``; where it took effect
    before, it does so at the same time again.

    None when the turn or the answer is gone: they were erased.
    """
    turn = after.events([inquiry.event_id]).get(inquiry.event_id)
    kept = inquiry.input_hash
    output = None if kept is None else store.model_outputs.find(inquiry.tenant_id, kept)
    if turn is None or output is None:
        return None
    reading = _reading(output.text, turn, store)
    event = after.event
    position = event.position if inquiry.applied_after is None else inquiry.applied_after
    at = applies_at(event) if inquiry.applied_at is None else inquiry.applied_at
    view = after.after(done, replace(turn, recorded_at=at, position=position))
    later = view.since(turn.position, _LATER_READ_MAX)
    writes = Writes()
    rereader = LoopRereader(view, f"{EXTRACTOR} {output.model}", places=())
    rereader.reread(reading, later, endings_in(later, after), writes)
    # What rests on a cancelled turn changes what is excluded as it lands.
    after.saw_excluded = after.saw_excluded or view.saw_excluded or turn.excluded
    return writes


def _reading(text: str, turn: Event, store: Store) -> LoopReading:
    before = store.log.previous(turn, HEARD_BEFORE)
    heard = ReadBeside(before, before[-1] if before else None, Extraction())
    answer = dict(json_in(text) or {})
    listed = answer.get("completed")
    answer["completed"] = [each for each in listed if _is_sure(each)] if isinstance(listed, list) else []
    return loops_by_answer(answer, turn, heard)


def _is_sure(item: Any) -> bool:  # Any: JSON
    """Whether an answer said outright that something is done."""
    sure = item.get("confidence") if isinstance(item, Mapping) and item.get("explicit") is True else None
    return isinstance(sure, int | float) and sure >= _SURE_FROM
