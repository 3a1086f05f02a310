"""The events behind records, for a filter that asks them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

from lamina.kernel.events import Event
from lamina.kernel.records import Record, is_event
from lamina.recall.plan import Plan
from lamina.store.ports.log import EventLog
from lamina.store.queries import Shown

__all__ = ["events_behind"]

_DEPTH: Final = 3
"""A concept rests on beliefs, these on facts, these on events."""


def events_behind(
    plan: Plan, records: Collection[Record], shown: Shown, log: EventLog
) -> Mapping[str, Collection[Event]]:
    """The events that speak for each record, directly or through others, as the plan's time sees them.

    Neither what was cancelled nor what stands in a scope that the reader may not read is among them.
    """
    of: dict[str, set[str]] = defaultdict(set)
    front: dict[str, set[str]] = {each.id: {each.id} for each in records}
    for _ in range(_DEPTH):
        onward: dict[str, set[str]] = defaultdict(set)
        for record_id, supports in shown.supports_of(front).items():
            for support in supports:
                if support.polarity == "against" or support.recorded_at > plan.axes.seen_at:
                    continue
                if is_event(support.source_id):
                    for asked in front[record_id]:
                        of[asked].add(support.source_id)
                else:
                    onward[support.source_id] |= front[record_id]
        if not onward:
            break
        front = onward
    events = log.get(plan.tenant_id, {event_id for ids in of.values() for event_id in ids})
    return {
        asked: [
            event
            for event_id in sorted(ids)
            if (event := events.get(event_id)) is not None
            and not event.excluded
            and event.recorded_at <= plan.axes.seen_at
        ]
        for asked, ids in of.items()
    }
