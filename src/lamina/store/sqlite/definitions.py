"""What tenants define, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import apsw

from lamina.kernel.canonical import compact
from lamina.kernel.events import EventDraft
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.definitions import Definition, DefinitionKind
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.log import SqliteLog

__all__ = ["SqliteDefinitions"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteDefinitions:
    """``Definitions`` over their table and the log."""

    def __init__(self, writer: Writer, readers: Readers, log: SqliteLog) -> None:
        self._writer = writer
        self._readers = readers
        self._log = log

    def define(
        self,
        entry: EventDraft,
        definition: tuple[DefinitionKind, str],
        check: Callable[[Sequence[Definition]], None],
    ) -> Definition:
        """Mirrors ``Definitions.define``."""
        place = (entry.tenant_id, *definition)

        def work(connection: apsw.Connection) -> Definition:
            check([_definition(row) for row in connection.execute(_SQL["standing_definitions"], place[:2])])
            entry_id, position, recorded_at = self._log.enter(connection, entry)
            body = compact(entry.content)
            connection.execute(_SQL["end_definition"], (*place, recorded_at))
            row = (*place, body, entry_id, position, recorded_at)
            connection.execute(_SQL["insert_definition"], row)
            return _definition((*row, None))

        return self._writer.write(work, event_of=lambda made: made.event_id)

    def withdraw(self, entry: EventDraft, definition: tuple[DefinitionKind, str]) -> Definition | None:
        """Mirrors ``Definitions.withdraw``."""
        place = (entry.tenant_id, *definition)

        def work(connection: apsw.Connection) -> Definition | None:
            standing = [
                _definition(row) for row in connection.execute(_SQL["standing_definitions"], place[:2])
            ]
            known = next((each for each in standing if each.name == place[2]), None)
            if known is not None:
                _, _, recorded_at = self._log.enter(connection, entry)
                connection.execute(_SQL["end_definition"], (*place, recorded_at))
            return known

        return self._writer.write(work)

    def held(
        self, tenant_id: str, kind: DefinitionKind, *, seen_at: Instant | None = None
    ) -> list[Definition]:
        """Mirrors ``Definitions.held``."""
        if seen_at is None:
            return [
                _definition(row)
                for row in self._readers.rows(_SQL["standing_definitions"], (tenant_id, kind))
            ]
        rows = self._readers.rows(_SQL["definitions_at"], (tenant_id, kind, seen_at))
        return [_definition(row) for row in rows]


def _definition(row: Sequence[Any]) -> Definition:  # Any: columns
    tenant_id, kind, name, body, event_id, position, recorded_from, recorded_to = row
    return Definition(
        tenant_id=tenant_id,
        kind=kind,
        name=name,
        body=json.loads(body),
        event_id=event_id,
        position=position,
        recorded_from=recorded_from,
        recorded_to=recorded_to,
    )
