"""What a recorded answer does to the loops of its scope: a function of the turn, the state at a place, and the answer.

An answer comes late: by then later turns may be derived. It takes effect directly after the newest event of the scope
that was extracted, before whatever comes next, and the store notes which one that was. A replay applies it there
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from lamina.kernel.events import Event, text_of
from lamina.kernel.local import to_local
from lamina.kernel.time import Instant
from lamina.language.temporal import find_times
from lamina.pipeline.loops.answer import read_answer
from lamina.pipeline.loops.keeping import LoopKeeper, raises_loops
from lamina.pipeline.loops.question import BEFORE_READ
from lamina.pipeline.loops.turns import HEARD_BEFORE, read_turn, words_that_end
from lamina.pipeline.loops.values import Ending
from lamina.pipeline.view import View
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Inquiry, Writes

__all__ = ["EXTRACTOR", "applies_at", "apply_answer", "is_by_model"]

_FAMILY: Final = "lamina-loops-model/"
EXTRACTOR: Final = f"{_FAMILY}4"
_LATER_READ_MAX: Final = 50


def is_by_model(extractor: str) -> bool:
    """Whether a loop was made of a model's answer, by this reading of answers or an earlier one."""
    return extractor.startswith(_FAMILY)


def applies_at(after: Event) -> Instant:
    """When an answer takes effect that is applied after an event: the next one of the tenant is recorded no earlier."""
    return after.recorded_at + 1


def apply_answer(store: Store, inquiry: Inquiry, after: View, done: Writes) -> Writes | None:
    """What the answer to an inquiry changes directly after a view's event, which derived ``done``; where it took effect
    before, it does so at the same time again.

    None when the turn or the answer is gone: they were erased.
    """
    turn = after.events([inquiry.event_id]).get(inquiry.event_id)
    output = (
        None
        if inquiry.input_hash is None
        else store.model_outputs.find(inquiry.tenant_id, inquiry.input_hash)
    )
    if turn is None or output is None:
        return None
    before = store.log.previous(turn, BEFORE_READ)
    reading = read_answer(
        output.text,
        text_of(turn.content),
        [text_of(event.content) for event in before],
        to_local(turn.context.observed_at, turn.offset),
        find_times,
        own=words_that_end(turn),
    )
    event = after.event
    position = event.position if inquiry.applied_after is None else inquiry.applied_after
    at = applies_at(event) if inquiry.applied_at is None else inquiry.applied_at
    view = after.after(done, replace(turn, recorded_at=at, position=position))
    later = view.since(turn.position, _LATER_READ_MAX)
    writes = Writes()
    LoopKeeper(view, EXTRACTOR, output.model).keep_late(reading, later, _endings(later, after), writes)
    # What rests on a cancelled turn changes what is excluded as it lands.
    after.saw_excluded = after.saw_excluded or view.saw_excluded or turn.excluded
    return writes


def _endings(events: Sequence[Event], view: View) -> list[Ending]:
    return [
        ending
        for event in events
        if raises_loops(event)
        for ending in read_turn(event, view.preceding(event, HEARD_BEFORE)).endings
    ]
