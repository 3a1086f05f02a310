"""Lifecycle rows in SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from lamina.kernel.events import LifecycleRow, Stage
from lamina.kernel.ids import instant_of
from lamina.kernel.time import Clock
from lamina.store.blocks import load_blocks
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery
from lamina.store.ports.log import Appended
from lamina.store.rows import Row
from lamina.store.sqlite.codec import json_list, read_lifecycle
from lamina.store.sqlite.connection import Readers
from lamina.store.sqlite.many import put_rows
from lamina.store.sqlite.paths import bounds_within
from lamina.store.sqlite.payloads import CapturedPayloads, short_payload

__all__ = ["LifecycleWriter", "SqliteLifecycle"]

_SQL = load_blocks("lamina.store.sqlite")
_CAPTURED = Stage.CAPTURED.value


class LifecycleWriter:
    """Puts rows inside somebody's transaction. Sequence and arrival rise strictly in a tenant, so its ids sort as its rows
    arrived. The one writer makes the newest row the counter: rows go with what is erased, but what tells of that lands
    before they do, so no number is given twice."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def put(
        self, connection: apsw.Connection, drafts: Sequence[LifecycleDraft], *, first_of_event: bool = False
    ) -> None:
        """Append rows in the order given. ``first_of_event`` spares looking up how far each event has come."""
        if not drafts:
            return
        newest: dict[str, tuple[int, int]] = {}
        now = self._clock.now()
        numbers: dict[tuple[str, str], int] = {}
        words = _Words(connection)
        rows = []
        for draft in drafts:
            last = newest.get(draft.tenant_id) or _newest(connection, draft.tenant_id)
            newest[draft.tenant_id] = sequence, arrived_at = last[0] + 1, max(now, last[1] + 1)
            number, position = 1, draft.position
            if draft.event_id is not None:
                event = (draft.tenant_id, draft.event_id)
                if position is None:
                    position = _value(connection, "event_place", event)
                if not first_of_event:
                    last_number = numbers.get(event) or _value(connection, "last_number", (*event, position))
                    numbers[event] = number = (last_number or 0) + 1
            rows.append(
                (
                    *words.of(draft.tenant_id, draft.name, draft.scope),
                    sequence,
                    draft.event_id if position is None else None,
                    draft.job_id,
                    number,
                    arrived_at,
                    short_payload(draft.payload),
                    position,
                )
            )
        put_rows(connection, _SQL["insert_lifecycle"], rows)

    def captured(self, connection: apsw.Connection, appended: Sequence[Appended]) -> None:
        """Append the row that lands with each new event, as ``put`` would append ``captured_row`` of it."""
        newest: dict[str, tuple[int, int]] = {}
        now = self._clock.now()
        words, payloads = _Words(connection), CapturedPayloads()
        rows: list[Row] = []
        for draft, _, position, _, _ in appended:
            tenant_id = draft.tenant_id
            last = newest.get(tenant_id) or _newest(connection, tenant_id)
            newest[tenant_id] = sequence, arrived_at = last[0] + 1, max(now, last[1] + 1)
            payload = payloads.of(draft.observed_actor.id, draft.modality, position)
            event = (None, draft.batch_id, 1, arrived_at, payload, position)
            said = words.of(tenant_id, _CAPTURED, draft.scope)
            rows.append((*said, sequence, *event))
        put_rows(connection, _SQL["insert_lifecycle"], rows)


class _Words:
    """The numbers by which rows name tenant, name and scope; looked up once a transaction, since another that fails takes its own back."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str, str], Row] = {}

    def of(self, tenant_id: str, name: str, scope: str) -> Row:
        words = (tenant_id, name, scope)
        found = self._known.get(words)
        if found is None:
            found = self._known[words] = self._find(words) or self._made(words)
        return found

    def _find(self, words: tuple[str, str, str]) -> Row | None:
        for tenant, happening, place in self._connection.execute(_SQL["lifecycle_numbers"], words):
            return tenant, happening, place
        return None

    def _made(self, words: tuple[str, str, str]) -> Row:
        tenant_id, name, scope = words
        self._connection.execute(_SQL["number_tenant"], (tenant_id,))
        self._connection.execute(_SQL["number_happening"], (name,))
        self._connection.execute(_SQL["number_place"], (tenant_id, scope))
        made = self._find(words)
        assert made is not None, "what is numbered has a number"
        return made


def _value(connection: apsw.Connection, block: str, bindings: Row) -> int | None:
    for (value,) in connection.execute(_SQL[block], bindings):
        return None if value is None else int(value)
    raise AssertionError("an aggregate is always a row")


def _newest(connection: apsw.Connection, tenant_id: str) -> tuple[int, int]:
    for sequence, arrived_at in connection.execute(_SQL["last_lifecycle"], (tenant_id,)):
        return sequence, arrived_at
    return 0, 0


class SqliteLifecycle:
    """``Lifecycle`` over its table."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def get(self, tenant_id: str, lifecycle_id: str) -> LifecycleRow | None:
        """Mirrors ``Lifecycle.get``."""
        arrived_at = instant_of(lifecycle_id)
        row = (
            None if arrived_at is None else self._readers.row(_SQL["find_lifecycle"], (tenant_id, arrived_at))
        )
        found = None if row is None else read_lifecycle(row)
        return found if found is not None and found.id == lifecycle_id else None

    def query(self, query: LifecycleQuery) -> list[LifecycleRow]:
        """Mirrors ``Lifecycle.query``."""
        block = "query_lifecycle"
        if query.event_id is not None:
            block = "query_lifecycle_of_event"
        elif query.job_id is not None:
            block = "query_lifecycle_of_job"
        within, within_from, within_to = bounds_within(query.within)
        bindings = {
            "tenant_id": query.tenant_id,
            "after": query.after,
            "scopes": None if query.scopes is None else json_list(query.scopes),
            "within": within,
            "within_from": within_from,
            "within_to": within_to,
            "event_id": query.event_id,
            "job_id": query.job_id,
            "names": None if query.names is None else json_list(query.names),
            "arrived_from": query.arrived_from,
            "limit": query.limit,
        }
        return [read_lifecycle(row) for row in self._readers.rows(_SQL[block], bindings)]

    def last_sequence(self, tenant_id: str) -> int:
        """Mirrors ``Lifecycle.last_sequence``."""
        row = self._readers.row(_SQL["last_lifecycle"], (tenant_id,))
        return int(row[0]) if row else 0
