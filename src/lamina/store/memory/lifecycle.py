"""Lifecycle rows in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lamina.kernel.canonical import compact
from lamina.kernel.events import LifecycleRow
from lamina.kernel.ids import lifecycle_id
from lamina.kernel.time import Clock
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery

__all__ = ["MemoryLifecycle", "put_lifecycle"]


def put_lifecycle(tables: Tables, drafts: Sequence[LifecycleDraft], clock: Clock) -> None:
    """Append rows in the order given. Sequence and arrival rise strictly in a tenant, so its ids sort as its rows arrived."""
    for draft in drafts:
        newest = _newest(tables, draft.tenant_id)
        arrived_at = max(clock.now(), newest.arrived_at + 1) if newest else clock.now()
        earlier = [row for row in tables.lifecycle if _of_same_event(row, draft)]
        sequence = newest.sequence + 1 if newest else 1
        row = LifecycleRow(
            tenant_id=draft.tenant_id,
            id=lifecycle_id(draft.tenant_id, sequence, arrived_at),
            sequence=sequence,
            name=draft.name,
            scope=draft.scope,
            event_id=draft.event_id,
            job_id=draft.job_id,
            number=len(earlier) + 1,
            arrived_at=arrived_at,
            payload=json.loads(compact(dict(draft.payload))),
        )
        tables.lifecycle.append(row)
        tables.lifecycle_rows += 1


def _newest(tables: Tables, tenant_id: str) -> LifecycleRow | None:
    return next((row for row in reversed(tables.lifecycle) if row.tenant_id == tenant_id), None)


def _of_same_event(row: LifecycleRow, draft: LifecycleDraft) -> bool:
    return draft.event_id is not None and (row.tenant_id, row.event_id) == (draft.tenant_id, draft.event_id)


class MemoryLifecycle:
    """``Lifecycle`` over a list in order of arrival."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def get(self, tenant_id: str, lifecycle_id: str) -> LifecycleRow | None:
        """Mirrors ``Lifecycle.get``."""
        for row in self._memory.tables.lifecycle:
            if (row.tenant_id, row.id) == (tenant_id, lifecycle_id):
                return row
        return None

    def query(self, query: LifecycleQuery) -> list[LifecycleRow]:
        """Mirrors ``Lifecycle.query``."""
        return [row for row in self._memory.tables.lifecycle if _wanted(row, query)][: query.limit]

    def last_sequence(self, tenant_id: str) -> int:
        """Mirrors ``Lifecycle.last_sequence``."""
        newest = _newest(self._memory.tables, tenant_id)
        return newest.sequence if newest else 0


def _wanted(row: LifecycleRow, query: LifecycleQuery) -> bool:
    return (
        row.tenant_id == query.tenant_id
        and row.sequence > query.after
        and (query.scopes is None or row.scope in query.scopes)
        and (query.within is None or query.within.contains(row.scope))
        and (query.event_id is None or row.event_id == query.event_id)
        and (query.job_id is None or row.job_id == query.job_id)
        and (query.names is None or row.name in query.names)
        and (query.arrived_from is None or row.arrived_at >= query.arrived_from)
    )
