"""What is past its time to live, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import apsw

from lamina.kernel.events import Event, Stage
from lamina.kernel.expiry import Expiry
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Clock, Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.expiries import OldEvent, OldRecord
from lamina.store.rules.log import expired_row, expiry_entry
from lamina.store.sqlite.codec import json_list, read_event
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.erasure_guards import refuse_erased
from lamina.store.sqlite.exclusion import hide_event
from lamina.store.sqlite.lifecycle import LifecycleWriter
from lamina.store.sqlite.log import SqliteLog, find_event
from lamina.store.sqlite.unfolding import unfold

__all__ = ["SqliteExpiries"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteExpiries:
    """``Expiries`` over the log and the records."""

    def __init__(
        self, writer: Writer, readers: Readers, clock: Clock, log: SqliteLog, lifecycle: LifecycleWriter
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._log = log
        self._lifecycle = lifecycle

    def scopes(self, tenant_id: str, *, after: str = "", limit: int) -> list[Scope]:
        """Mirrors ``Expiries.scopes``."""
        return [
            Scope(path) for (path,) in self._readers.rows(_SQL["written_scopes"], (tenant_id, after, limit))
        ]

    def due(
        self, tenant_id: str, now: Instant, *, after: tuple[Instant, str] = (0, ""), limit: int
    ) -> list[OldEvent]:
        """Mirrors ``Expiries.due``."""
        rows = self._readers.rows(_SQL["events_due"], (tenant_id, now, *after, limit))
        return [
            OldEvent(id_, Scope(scope), position, Scope(into) if into else None, expires_at, excluded=False)
            for id_, scope, position, into, expires_at in rows
        ]

    def through(self, tenant_id: str, scope: Scope) -> int:
        """Mirrors ``Expiries.through``."""
        row = self._readers.row(_SQL["expired_through"], (tenant_id, scope))
        return 0 if row is None or row[0] is None else int(row[0])

    def older(
        self, tenant_id: str, scope: Scope, before: Instant, *, after: int, limit: int
    ) -> list[OldEvent]:
        """Mirrors ``Expiries.older``. Instants rise with positions, so the page ends at the first that is too young."""
        found: list[OldEvent] = []
        for id_, position, into, recorded_at, excluded, waits in self._readers.rows(
            _SQL["events_past"], (tenant_id, scope, after, limit)
        ):
            if recorded_at >= before or waits:
                break
            place = Scope(into) if into else None
            found.append(OldEvent(id_, scope, position, place, 0, excluded=bool(excluded)))
        return found

    def unrenewed(
        self,
        tenant_id: str,
        scope: Scope,
        layer: Layer,
        before: Instant,
        *,
        after: OldRecord | None = None,
        limit: int,
    ) -> list[OldRecord]:
        """Mirrors ``Expiries.unrenewed``."""
        past = after or OldRecord(0, "")
        bindings = (tenant_id, scope, layer.value, before, *past, limit)
        return [OldRecord(*row) for row in self._readers.rows(_SQL["records_unrenewed"], bindings)]

    def is_waiting(self, tenant_id: str, scope: Scope) -> bool:
        """Mirrors ``Expiries.is_waiting``."""
        return self._readers.row(_SQL["expiry_waiting"], (tenant_id, scope)) is not None

    def expire(self, tenant_id: str, scope: Scope, into: Scope | None, expiry: Expiry) -> Event | None:
        """Mirrors ``Expiries.expire``."""

        def work(connection: apsw.Connection) -> Event | None:
            refuse_erased(connection, [expiry_entry(tenant_id, scope, into, expiry, self._clock.now())])
            over = expiry
            if expiry.layer is Layer.EVENTS:
                places = (tenant_id, scope, json_list(expiry.ids))
                events = list(map(read_event, list(connection.execute(_SQL["expirable"], places))))
                for event in events:
                    connection.execute(_SQL["mark_expired"], (tenant_id, event.id, Stage.COMPRESSED.value))
                    hide_event(connection, tenant_id, event.id, scope)
                    unfold(connection, event)
                over = replace(expiry, ids=tuple(event.id for event in events))
            if not over.ids:
                return None
            draft = expiry_entry(tenant_id, scope, into, over, self._clock.now())
            entry = find_event(connection, tenant_id, self._log.enter(connection, draft)[0])
            self._lifecycle.put(connection, [expired_row(entry, over)], first_of_event=True)
            return entry

        return self._writer.write(work, event_of=lambda entry: entry.id if entry else None)

    def entered(self, tenant_id: str, *, after: int) -> dict[Scope, int]:
        """Mirrors ``Expiries.entered``."""
        rows = self._readers.rows(_SQL["expiry_scopes"], (tenant_id, after))
        return {Scope(scope): int(newest) for scope, newest in rows}

    def entries(self, tenant_id: str, scope: Scope, *, after: int, limit: int) -> Sequence[Event]:
        """Mirrors ``Expiries.entries``."""
        rows = self._readers.rows(_SQL["expiry_entries"], (tenant_id, scope, after, limit))
        return [read_event(row) for row in rows]
