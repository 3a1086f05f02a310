"""Questions that several slices ask of a store, in terms of its ports.

An id says that something is there, so what is asked for a reader leaves out the records of scopes that they may not
read. Only a belief rests on records of another scope (``directives.consolidate_into``), and what was taken from an
event is in the event's own scope: behind a record that is left out, its events are too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from lamina import limits
from lamina.kernel.records import Layer, Support, layer_of
from lamina.kernel.scopes import Scope
from lamina.store.ports import Records

__all__ = ["MayRead", "derived_from", "supports_shown"]

MayRead = Callable[[Scope], bool]
"""Whether the reader may read a scope."""

_DEPTH = 3  # event -> fact or episode -> belief -> concept


def derived_from(
    records: Records, tenant_id: str, event_ids: Collection[str], may_read: MayRead
) -> dict[str, list[str]]:
    """The ids of what rests on each event, directly or through other records, nearest first.

    At most ``limits.DERIVES_MAX`` for one event; an event that nothing rests on is left out.
    """
    found: dict[str, dict[str, None]] = {}
    frontier: dict[str, set[str]] = {event_id: {event_id} for event_id in event_ids}
    for _ in range(_DEPTH):
        reached: dict[str, set[str]] = {}
        dependants = records.dependants_of(tenant_id, frontier)
        resting = {support.record_id for supports in dependants.values() for support in supports}
        hidden = _hidden(records, tenant_id, resting, may_read)
        for source_id, supports in sorted(dependants.items()):
            for support in supports:
                if layer_of(support.record_id) is None or support.record_id in hidden:
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


def supports_shown(
    records: Records, tenant_id: str, record_ids: Collection[str], may_read: MayRead
) -> dict[str, list[Support]]:
    """What each record rests on, in the order of ``Records.supports_of``."""
    found = records.supports_of(tenant_id, record_ids)
    sources = {support.source_id for supports in found.values() for support in supports}
    hidden = _hidden(records, tenant_id, sources, may_read)
    if not hidden:
        return found
    return {
        key: [each for each in supports if each.source_id not in hidden] for key, supports in found.items()
    }


def _hidden(records: Records, tenant_id: str, ids: Collection[str], may_read: MayRead) -> set[str]:
    scopes = records.scopes_of(tenant_id, {each for each in ids if layer_of(each) is not Layer.EVENTS})
    denied = {scope for scope in set(scopes.values()) if not may_read(scope)}
    return {each for each, scope in scopes.items() if scope in denied}
