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

__all__ = ["MayRead", "Shown"]

MayRead = Callable[[Scope], bool]
"""Whether the reader may read a scope."""

_DEPTH = 3  # event -> fact or episode -> belief -> concept


class Shown:
    """The why graph as one reader may see it, for the length of one call: it asks for the scope of a record once."""

    def __init__(self, records: Records, tenant_id: str, may_read: MayRead) -> None:
        self._records = records
        self._tenant_id = tenant_id
        self._may_read = may_read
        self._scopes: dict[str, Scope | None] = {}

    def scopes_of(self, ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.scopes_of``."""
        unknown = [each for each in ids if each not in self._scopes]
        if unknown:
            found = self._records.scopes_of(self._tenant_id, unknown)
            self._scopes |= {each: found.get(each) for each in unknown}
        return {each: scope for each in ids if (scope := self._scopes[each]) is not None}

    def derived_from(self, event_ids: Collection[str]) -> dict[str, list[str]]:
        """The ids of what rests on each event, directly or through other records, nearest first.

        At most ``limits.DERIVES_MAX`` for one event; an event that nothing rests on is left out.
        """
        found: dict[str, dict[str, None]] = {}
        frontier: dict[str, set[str]] = {event_id: {event_id} for event_id in event_ids}
        for _ in range(_DEPTH):
            reached: dict[str, set[str]] = {}
            dependants = self._records.dependants_of(self._tenant_id, frontier)
            resting = {support.record_id for supports in dependants.values() for support in supports}
            hidden = self._hidden(resting)
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

    def supports_of(self, record_ids: Collection[str]) -> dict[str, list[Support]]:
        """What each record rests on, in the order of ``Records.supports_of``."""
        found = self._records.supports_of(self._tenant_id, record_ids)
        hidden = self._hidden({support.source_id for supports in found.values() for support in supports})
        if not hidden:
            return found
        return {
            key: [each for each in supports if each.source_id not in hidden]
            for key, supports in found.items()
        }

    def _hidden(self, ids: Collection[str]) -> set[str]:
        scopes = self.scopes_of([each for each in ids if layer_of(each) is not Layer.EVENTS])
        denied = {scope for scope in set(scopes.values()) if not self._may_read(scope)}
        return {each for each, scope in scopes.items() if scope in denied}
