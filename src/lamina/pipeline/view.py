"""What was derived before, as it stood at an event's place in the log.

Stages run in batches, so the store may already hold what later events of the same batch made. Derivation reads through a
view: rows recorded after the event are not there. That is what makes a replay equal to live derivation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from lamina.kernel.events import Event
from lamina.kernel.records import Fact, Layer, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes
from lamina.store.ports import RecordQuery, Store

__all__ = ["EXTRACTED_FROM", "TAKEN_BACK_BY", "View"]

EXTRACTED_FROM = "extracted_from"
TAKEN_BACK_BY = "taken_back_by"


class View:
    """The derived layers and the log, up to and including one event."""

    def __init__(self, store: Store, event: Event) -> None:
        self._store = store
        self.event = event

    def record(self, record_id: str) -> Record | None:
        """The version that stood then."""
        found = self._store.records.get(self.event.tenant_id, [record_id], seen_at=self.event.recorded_at)
        return found.get(record_id)

    def query(self, layer: Layer, *, scope: Scope | None = None, limit: int, **where: Any) -> list[Record]:
        """Versions current then, in the event's scope or another; ``where`` are fields of ``RecordQuery``."""
        return self._store.records.query(
            RecordQuery(
                tenant_id=self.event.tenant_id,
                layer=layer,
                scopes=[scope or self.event.scope],
                axes=Axes(seen_at=self.event.recorded_at),
                with_excluded=True,
                limit=limit,
                **where,
            )
        )

    def supports_of(self, record_ids: Collection[str]) -> dict[str, list[Support]]:
        """What records rested on then."""
        found = self._store.records.supports_of(self.event.tenant_id, record_ids)
        return {record_id: self._before(supports) for record_id, supports in found.items()}

    def facts(self) -> list[Fact]:
        """The facts that rest on the event directly, in the order of their ids."""
        return self._tied(EXTRACTED_FROM)

    def taken_back(self) -> list[Fact]:
        """The facts that the event took back, in the order of their ids."""
        return self._tied(TAKEN_BACK_BY)

    def _tied(self, relation: str) -> list[Fact]:
        dependants = self._store.records.dependants_of(self.event.tenant_id, [self.event.id])
        supports = self._before(dependants.get(self.event.id, []))
        ids = {support.record_id for support in supports if support.relation == relation}
        records = self._store.records.get(self.event.tenant_id, ids, seen_at=self.event.recorded_at).values()
        return sorted((r for r in records if isinstance(r, Fact)), key=lambda fact: fact.id)

    def events(self, event_ids: Collection[str]) -> dict[str, Event]:
        """Events by id."""
        return self._store.log.get(self.event.tenant_id, event_ids)

    def previous(self, limit: int) -> list[Event]:
        """The session's events before this one, oldest first."""
        return self._store.log.previous(self.event, limit)

    def _before(self, supports: Sequence[Support]) -> list[Support]:
        return [support for support in supports if support.recorded_at <= self.event.recorded_at]
