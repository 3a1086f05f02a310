"""What a step of erasing reads in SQLite, as the rules ask for it."""

from __future__ import annotations

from collections.abc import Collection

import apsw

from lamina.kernel.canonical import compact
from lamina.kernel.events import Event, EventDraft
from lamina.kernel.records import Mention, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.index import TextRow
from lamina.store.rows import Row, read_mention, read_record, read_text
from lamina.store.sqlite.codec import ALL_STAGES, json_list, read_event
from lamina.store.sqlite.folding import all_whole
from lamina.store.sqlite.log import SqliteLog

__all__ = ["SqliteReading"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteReading:
    """``ErasureReads`` over the writer's connection, as if the entries of the step had landed: they get their places while it reads, and land
    with the rest, since the first change takes the lock.

    It keeps what was answered. Where others wrote before the step landed, it is asked again in a fraction of the time that the
    rules took, and mostly others wrote of something else (``again``).
    """

    def __init__(self, connection: apsw.Connection, tenant_id: str, log: SqliteLog) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._log = log
        self._answers: dict[tuple[str, Row], list[Row]] = {}
        self.entries: list[Event] = []

    def again(self) -> bool:
        """Whether everything that was asked has the same answer in the transaction of now."""
        return all(
            list(self._connection.execute(_SQL[block], bindings)) == rows
            for (block, bindings), rows in self._answers.items()
        )

    def enter(self, draft: EventDraft) -> Event:
        """The entry of a draft, behind those that were made before."""
        if self.entries:
            last = self.entries[-1].position, self.entries[-1].recorded_at
        else:
            last = next(iter(self._asked("last_event", self._tenant_id)), (0, 0))
        self.entries.append(self._log.entry(draft, *last))
        return self.entries[-1]

    def _asked(self, block: str, *bindings: object) -> list[Row]:
        rows = list(self._connection.execute(_SQL[block], bindings))
        self._answers[block, bindings] = rows
        return rows

    def _of(self, block: str, ids: Collection[str]) -> list[Row]:
        return self._asked(block, self._tenant_id, json_list(sorted(ids))) if ids else []

    def events(self, ids: Collection[str]) -> dict[str, Event]:
        """Mirrors ``ErasureReads.events``."""
        return {event.id: event for event in map(read_event, self._of("events_by_id", ids))}

    def dependants(self, ids: Collection[str]) -> list[Support]:
        """Mirrors ``ErasureReads.dependants``."""
        return list(map(Support._make, self._of("dependants_of", ids)))

    def supports(self, ids: Collection[str]) -> list[Support]:
        """Mirrors ``ErasureReads.supports``."""
        rows = self._asked("supports_of", self._tenant_id, json_list(sorted(ids)), None)
        return list(map(Support._make, rows))

    def versions(self, ids: Collection[str]) -> list[Record]:
        """Mirrors ``ErasureReads.versions``."""
        return list(map(read_record, all_whole(self._of("versions_of_records", ids))))

    def changed_at(self, instants: Collection[Instant], scopes: Collection[Scope]) -> set[str]:
        """Mirrors ``ErasureReads.changed_at``."""
        places = json_list(sorted(instants)), json_list(sorted(scopes))
        return {row[0] for row in self._asked("changed_at", self._tenant_id, *places)}

    def within(self, scopes: Collection[Scope], limit: int) -> list[str]:
        """Mirrors ``ErasureReads.within``."""
        rows = self._asked("records_within", self._tenant_id, json_list(sorted(scopes)), limit)
        return [row[0] for row in rows]

    def sent_into(self, scopes: Collection[Scope]) -> list[Event]:
        """Mirrors ``ErasureReads.sent_into``."""
        return list(map(read_event, self._of("events_sent_into", scopes)))

    def claims_of(self, scope: Scope, matters: Collection[tuple[str, str]]) -> set[str]:
        """Mirrors ``ErasureReads.claims_of``."""
        rows = self._asked("claims_of", self._tenant_id, scope, compact(sorted(matters)))
        return {row[0] for row in rows}

    def frozen_until(self, ids: Collection[str]) -> dict[str, Instant]:
        """Mirrors ``ErasureReads.frozen_until``."""
        return dict(self._asked("frozen_until", self._tenant_id, json_list(sorted(ids))))

    def last_changes(self, ids: Collection[str]) -> dict[str, tuple[Scope, Instant]]:
        """Mirrors ``ErasureReads.last_changes``."""
        return {str(key): (Scope(str(scope)), at) for key, scope, at in self._of("last_changes", ids)}

    def texts(self, ids: Collection[str]) -> list[TextRow]:
        """Mirrors ``ErasureReads.texts``."""
        return list(map(read_text, self._of("texts_of_records", ids)))

    def mentions(self, ids: Collection[str]) -> list[Mention]:
        """Mirrors ``ErasureReads.mentions``."""
        rows = self._asked("mentions_of_events", self._tenant_id, json_list(sorted(ids)))
        return list(map(read_mention, rows))

    def senders(self, into: Scope) -> list[Scope]:
        """Mirrors ``ErasureReads.senders``."""
        return [Scope(row[0]) for row in self._asked("senders_into", self._tenant_id, into)]

    def waiting_since(self, scopes: Collection[Scope]) -> Instant | None:
        """Mirrors ``ErasureReads.waiting_since``."""
        rows = self._asked("waiting_in", self._tenant_id, json_list(scopes), ALL_STAGES)
        waiting = [row[0] for row in rows]
        waiting += [entry.recorded_at for entry in self.entries if entry.scope in scopes]
        return min((since for since in waiting if since is not None), default=None)
