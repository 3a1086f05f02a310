"""Questions that several slices ask of a store, in terms of its ports."""

from __future__ import annotations

from collections.abc import Collection

from lamina import limits
from lamina.kernel.records import layer_of
from lamina.store.ports import Records

__all__ = ["derived_from"]

_DEPTH = 3  # event -> fact or episode -> belief -> concept


def derived_from(records: Records, tenant_id: str, event_ids: Collection[str]) -> dict[str, list[str]]:
    """The ids of what rests on each event, directly or through other records, nearest first.

    At most ``limits.DERIVES_MAX`` for one event; an event that nothing rests on is left out.
    """
    found: dict[str, dict[str, None]] = {}
    frontier: dict[str, set[str]] = {event_id: {event_id} for event_id in event_ids}
    for _ in range(_DEPTH):
        reached: dict[str, set[str]] = {}
        for source_id, supports in sorted(records.dependants_of(tenant_id, frontier).items()):
            for support in supports:
                if layer_of(support.record_id) is None:
                    continue
                for event_id in frontier[source_id]:
                    known = found.setdefault(event_id, {})
                    if support.record_id not in known and len(known) < limits.DERIVES_MAX:
                        known[support.record_id] = None
                        reached.setdefault(support.record_id, set()).add(event_id)
        if not reached:
            break
        frontier = reached
    return {event_id: list(ids) for event_id, ids in found.items()}
