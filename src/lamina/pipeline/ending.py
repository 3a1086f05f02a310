"""How a fact ends or moves by what a turn tells of it.

What lay ahead when it was given up never came: until then it stood as what was intended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.kernel.local import LocalTime
from lamina.kernel.records import Fact, Loop, LoopStatus, Record
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.pipeline.versions import put_version, tie_at
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes
from lamina.store.rules.records import has_words_of

__all__ = ["end_fact", "move_fact", "unsupported"]


def end_fact(view: View, fact: Fact, at: Instant, writes: Writes) -> None:
    """End a fact that holds at an instant or lies ahead, with the view's event as what tells of it."""
    event, fact = view.event, _newest(fact, writes)
    over = fact.valid_to is not None and fact.valid_to <= at
    if over or (fact.recorded_to or event.recorded_at + 1) <= event.recorded_at:
        return
    begins = LocalTime(fact.valid_from, fact.from_offset) if fact.valid_from < at else _said_at(view, fact)
    if begins is None or begins.at >= at:
        return
    ended = replace(
        fact, valid_from=begins.at, valid_to=at, from_offset=begins.offset, to_offset=event.offset
    )
    if isinstance(ended, Loop):
        ended = replace(ended, status=LoopStatus.DROPPED)
    put_version(event, fact, ended, writes)
    relation = Tie.DROPPED_BY if isinstance(ended, Loop) else Tie.DONE_BY
    writes.supports.append(tie_at(event, fact.id, relation, at))


def move_fact(view: View, fact: Fact, begins: Instant, ends: Instant, writes: Writes) -> None:
    """Put a fact on another day, by the view's event, unless it is over."""
    fact = _newest(fact, writes)
    over = fact.valid_to is not None and fact.valid_to <= view.event.context.observed_at
    if over or (fact.valid_from, fact.valid_to) == (begins, ends):
        return
    offset = view.event.offset
    moved = replace(fact, valid_from=begins, valid_to=ends, from_offset=offset, to_offset=offset)
    put_version(view.event, fact, moved, writes)
    writes.supports += [
        tie_at(view.event, fact.id, Tie.MOVED_BY, begins),
        tie_at(view.event, fact.id, Tie.MOVED_UNTIL, ends),
    ]


def unsupported(view: View, records: Sequence[Record], over_in: View) -> list[Record]:
    """Those records of a layer that ended by their time, or all of whose words are over for it where ``over_in`` stands."""
    supports = view.supports_of([each.id for each in records])
    words = {
        key: {each.source_id for each in found if has_words_of(each, ())} for key, found in supports.items()
    }
    ended = over_in.expired([each.id for each in records])
    found = []
    for each in records:
        sources = words.get(each.id, set())
        if each.id in ended or (sources and sources <= over_in.expired(sources, each.layer)):
            found.append(each)
    return found


def _newest(fact: Fact, writes: Writes) -> Fact:
    """The version that this event made of it already, or the one that it met."""
    own = (each for each in reversed(writes.records) if each.id == fact.id)
    return next((each for each in own if isinstance(each, Fact)), fact)


def _said_at(view: View, fact: Fact) -> LocalTime | None:
    told = view.events([fact.event_id]).get(fact.event_id)
    return None if told is None else told.told_at
