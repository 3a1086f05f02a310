"""Citations in memory."""

from __future__ import annotations

from collections.abc import Collection

from lamina.kernel.records import Claim, Layer
from lamina.kernel.relay import DOCUMENTS_CHANNEL
from lamina.kernel.scopes import Scope
from lamina.store.memory.tables import Memory
from lamina.store.ports.citations import Citation, ErasureCandidate

__all__ = ["MemoryCitations"]


class MemoryCitations:
    """``Citations`` over dictionaries."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def within(self, tenant_id: str, path: Scope) -> list[ErasureCandidate]:
        """Mirrors ``Citations.within``."""
        return [each for each in self._all(tenant_id) if path.contains(each.scope)]

    def authored(self, tenant_id: str, actors: Collection[str]) -> list[ErasureCandidate]:
        """Mirrors ``Citations.authored``."""
        return [
            ErasureCandidate(event.id, event.scope, event.position)
            for (tenant, _), event in self._memory.tables.events.items()
            if tenant == tenant_id
            and (event.caller in actors or event.observed_actor.id in actors)
            and not event.is_entry
            and event.origin.channel != DOCUMENTS_CHANNEL
        ]

    def _all(self, tenant_id: str) -> list[ErasureCandidate]:
        events = self._memory.tables.events
        return [
            ErasureCandidate(e.id, e.scope, e.position)
            for (tenant, _), e in events.items()
            if tenant == tenant_id
        ]

    def above(self, tenant_id: str, event_ids: Collection[str]) -> list[Citation]:
        """Mirrors ``Citations.above``."""
        edges = [edge for edge in self._memory.tables.supports.values() if edge.tenant_id == tenant_id]
        reached: set[str] = set()
        front = set(event_ids)
        while front:
            front = {edge.record_id for edge in edges if edge.source_id in front} - reached
            reached |= front
        scopes = {
            key: record.scope
            for (tenant, key, _), record in self._memory.tables.records.items()
            if tenant == tenant_id
        }
        return sorted(
            Citation(edge.record_id, scopes[edge.record_id], edge.source_id, edge.polarity)
            for edge in edges
            if edge.record_id in reached and edge.record_id in scopes
        )

    def naming(self, tenant_id: str, entity_ids: Collection[str]) -> list[tuple[str, Scope]]:
        """Mirrors ``Citations.naming``."""
        tables = self._memory.tables
        named = {
            (each.scope, each.entity_id) for each in tables.mentions.values() if each.tenant_id == tenant_id
        }
        return sorted(
            {
                (record.id, record.scope)
                for record in tables.records.values()
                if record.tenant_id == tenant_id
                and isinstance(record, Claim)
                and record.recorded_to is None
                and not record.excluded
                and any(
                    (record.scope, key) in named
                    for key in {record.subject.id, record.object.key} & set(entity_ids)
                )
            }
        )

    def records_within(self, tenant_id: str, path: Scope) -> dict[Layer, list[tuple[str, Scope]]]:
        """Mirrors ``Citations.records_within``."""
        found: dict[Layer, set[tuple[str, Scope]]] = {}
        for (tenant, key, _), record in self._memory.tables.records.items():
            if tenant == tenant_id and path.contains(record.scope):
                found.setdefault(record.layer, set()).add((key, record.scope))
        return {layer: sorted(found[layer]) for layer in sorted(found)}
