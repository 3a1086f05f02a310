"""Scheduled items in memory."""

from __future__ import annotations

from dataclasses import replace

from lamina.kernel.time import Instant
from lamina.store.memory.erasures import refuse_erased_actor
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.schedule import Created, ItemPage, ItemQuery, ItemSubject, ScheduleItem
from lamina.store.rules.schedule import about, standing, version_moved

__all__ = ["MemorySchedule"]


class MemorySchedule:
    """``Schedule`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def get(self, tenant_id: str, schedule_id: str) -> ScheduleItem | None:
        """Mirrors ``Schedule.get``."""
        return self._memory.tables.schedule.get((tenant_id, schedule_id))

    def matching(self, item: ScheduleItem) -> ScheduleItem | None:
        """Mirrors ``Schedule.matching``."""
        return standing(item, _in_place(self._memory.tables, item))

    def create(self, item: ScheduleItem) -> Created:
        """Mirrors ``Schedule.create``."""
        with self._memory.change() as tables:
            refuse_erased_actor(tables, item.tenant_id, item.updated_by)
            known = standing(item, _in_place(tables, item))
            if known is not None:
                return Created(known, created=False)
            tables.schedule[item.tenant_id, item.schedule_id] = item
            return Created(item, created=True)

    def replace(self, item: ScheduleItem, *, expected_version: int) -> None:
        """Mirrors ``Schedule.replace``."""
        key = (item.tenant_id, item.schedule_id)
        with self._memory.change() as tables:
            refuse_erased_actor(tables, item.tenant_id, item.updated_by)
            known = tables.schedule.get(key)
            if known is None or known.version != expected_version:
                raise version_moved(item.schedule_id, expected_version)
            tables.schedule[key] = replace(
                item,
                idempotency_key=known.idempotency_key,
                identity=known.identity,
                identity_hash=known.identity_hash,
                created_at=known.created_at,
                created_by=known.created_by,
            )

    def query(self, query: ItemQuery) -> ItemPage:
        """Mirrors ``Schedule.query``."""
        found = self._sorted([item for item in self._of(query.tenant_id) if _wanted(query, item)])
        return ItemPage(found[query.offset : query.offset + query.limit], len(found))

    def pending_about(
        self, tenant_id: str, subject: ItemSubject, *, after: Instant | None, until: Instant, limit: int
    ) -> list[ScheduleItem]:
        """Mirrors ``Schedule.pending_about``."""
        found = [
            item
            for item in self._of(tenant_id)
            if item.status == "pending"
            and about(item, subject)
            and (after is None or item.due_at > after)
            and item.due_at <= until
        ]
        return self._sorted(found)[:limit]

    def _of(self, tenant_id: str) -> list[ScheduleItem]:
        return [item for (tenant, _), item in self._memory.tables.schedule.items() if tenant == tenant_id]

    @staticmethod
    def _sorted(items: list[ScheduleItem]) -> list[ScheduleItem]:
        return sorted(items, key=lambda item: (item.due_at, item.schedule_id))


def _in_place(tables: Tables, item: ScheduleItem) -> list[ScheduleItem]:
    return [
        row
        for (tenant, schedule_id), row in tables.schedule.items()
        if tenant == item.tenant_id
        and (
            schedule_id == item.schedule_id
            or (item.idempotency_key is not None and row.idempotency_key == item.idempotency_key)
        )
    ]


def _wanted(query: ItemQuery, item: ScheduleItem) -> bool:
    return (
        item.status in query.statuses
        and (query.due_after is None or item.due_at > query.due_after)
        and (query.due_until is None or item.due_at <= query.due_until)
        and query.task_id in (None, item.task_id)
        and query.thread_id in (None, item.thread_id)
        and query.subject in (None, item.subject)
    )
