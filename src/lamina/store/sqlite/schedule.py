"""Scheduled items in SQLite."""

from __future__ import annotations

from typing import Any, Final

import apsw

from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.schedule import Created, ItemEnding, ItemPage, ItemQuery, ItemSubject, ScheduleItem
from lamina.store.rows import Row
from lamina.store.rules.schedule import standing, version_moved
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.erasure_guards import refuse_erased_actor

__all__ = ["SqliteSchedule"]

_SQL = load_blocks("lamina.store.sqlite")
_EVER: Final = -(1 << 63)


class SqliteSchedule:
    """``Schedule`` over its table."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def get(self, tenant_id: str, schedule_id: str) -> ScheduleItem | None:
        """Mirrors ``Schedule.get``."""
        row = self._readers.row(_SQL["find_schedule_item"], (tenant_id, schedule_id))
        return None if row is None else _item(row)

    def matching(self, item: ScheduleItem) -> ScheduleItem | None:
        """Mirrors ``Schedule.matching``."""
        rows = self._readers.rows(_SQL["schedule_items_in_place"], _place(item))
        return standing(item, map(_item, rows))

    def create(self, item: ScheduleItem) -> Created:
        """Mirrors ``Schedule.create``."""

        def work(connection: apsw.Connection) -> Created:
            refuse_erased_actor(connection, item.tenant_id, item.updated_by)
            rows = connection.execute(_SQL["schedule_items_in_place"], _place(item))
            known = standing(item, map(_item, rows))
            if known is not None:
                return Created(known, created=False)
            connection.execute(_SQL["insert_schedule_item"], tuple(_columns(item).values()))
            return Created(item, created=True)

        return self._writer.write(work)

    def replace(self, item: ScheduleItem, *, expected_version: int) -> None:
        """Mirrors ``Schedule.replace``."""
        bindings = _columns(item) | {"expected_version": expected_version}

        def work(connection: apsw.Connection) -> None:
            refuse_erased_actor(connection, item.tenant_id, item.updated_by)
            if not list(connection.execute(_SQL["replace_schedule_item"], bindings)):
                raise version_moved(item.schedule_id, expected_version)

        self._writer.write(work)

    def query(self, query: ItemQuery) -> ItemPage:
        """Mirrors ``Schedule.query``."""
        bindings = {
            "tenant_id": query.tenant_id,
            "statuses": json_list(query.statuses),
            "due_after": query.due_after,
            "due_until": query.due_until,
            "task_id": query.task_id,
            "thread_id": query.thread_id,
            **_subject(query.subject),
        }
        (total,) = self._readers.row(_SQL["count_schedule"], bindings) or (0,)
        page = {"limit": query.limit, "offset": query.offset}
        rows = self._readers.rows(_SQL["query_schedule"], bindings | page)
        return ItemPage([_item(row) for row in rows], total)

    def pending_about(
        self, tenant_id: str, subject: ItemSubject, *, after: Instant | None, until: Instant, limit: int
    ) -> list[ScheduleItem]:
        """Mirrors ``Schedule.pending_about``."""
        bindings = {
            "tenant_id": tenant_id,
            "due_after": _EVER if after is None else after,
            "due_until": until,
            "task_id": subject.id if subject.kind == "task" else None,
            "thread_id": subject.id if subject.kind == "thread" else None,
            "limit": limit,
            **_subject(subject),
        }
        return [_item(row) for row in self._readers.rows(_SQL["schedule_pending_about"], bindings)]


def _place(item: ScheduleItem) -> tuple[str, str, str | None]:
    return item.tenant_id, item.schedule_id, item.idempotency_key


def _subject(subject: ItemSubject | None) -> dict[str, str | None]:
    return {
        "subject_kind": None if subject is None else subject.kind,
        "subject_id": None if subject is None else subject.id,
    }


def _columns(item: ScheduleItem) -> dict[str, Any]:
    """The item's row, in the order of the table's columns."""
    ending = item.ending
    return {
        "tenant_id": item.tenant_id,
        "schedule_id": item.schedule_id,
        "kind": item.kind,
        "status": item.status,
        "title": item.title,
        "note": item.note,
        "due_at": item.due_at,
        "task_id": item.task_id,
        "thread_id": item.thread_id,
        **_subject(item.subject),
        "idempotency_key": item.idempotency_key,
        "metadata": item.metadata,
        "identity": item.identity,
        "identity_hash": item.identity_hash,
        "version": item.version,
        "created_at": item.created_at,
        "created_by": item.created_by,
        "updated_at": item.updated_at,
        "updated_by": item.updated_by,
        "terminal_at": None if ending is None else ending.at,
        "terminal_by": None if ending is None else ending.by,
        "terminal_reason": None if ending is None else ending.reason,
    }


def _item(row: Row) -> ScheduleItem:
    return ScheduleItem(
        tenant_id=row[0],
        schedule_id=row[1],
        kind=row[2],
        status=row[3],
        title=row[4],
        note=row[5],
        due_at=row[6],
        task_id=row[7],
        thread_id=row[8],
        subject=None if row[9] is None else ItemSubject(row[9], row[10]),
        idempotency_key=row[11],
        metadata=row[12],
        identity=row[13],
        identity_hash=row[14],
        version=row[15],
        created_at=row[16],
        created_by=row[17],
        updated_at=row[18],
        updated_by=row[19],
        ending=None if row[20] is None else ItemEnding(row[20], row[21], row[22]),
    )
