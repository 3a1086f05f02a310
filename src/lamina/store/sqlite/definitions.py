"""What tenants define, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

import apsw

from lamina.kernel.belief_rules import BELIEF_RULES
from lamina.kernel.canonical import compact
from lamina.kernel.events import EventDraft, Stage
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.vocabularies import ACTIVE_VOCABULARIES
from lamina.store.blocks import load_blocks
from lamina.store.ports.definitions import Definition, DefinitionKind, TermsLost
from lamina.store.rules.definitions import changes_activation, changes_rules
from lamina.store.rules.log import deprecation_of
from lamina.store.sqlite.codec import STAGE_NUMBERS, json_list
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.log import SqliteLog

__all__ = ["SqliteDefinitions", "activate", "lay_down"]

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
        *,
        lost: TermsLost | None = None,
    ) -> Definition:
        """Mirrors ``Definitions.define``."""
        kind, name = definition

        def work(connection: apsw.Connection) -> Definition:
            standing = _standing(connection, entry.tenant_id, kind)
            check(standing)
            made = _put(connection, self._log, entry, definition)
            known = next((each for each in standing if each.name == name), None)
            gone = [] if lost is None else list(lost(known))
            for scope in _scopes_with(connection, entry.tenant_id, name, gone) if gone else ():
                self._log.enter(connection, deprecation_of(entry, scope, name, gone))
            return made

        return self._writer.write(work, event_of=lambda made: made.event_id)

    def withdraw(self, entry: EventDraft, definition: tuple[DefinitionKind, str]) -> Definition | None:
        """Mirrors ``Definitions.withdraw``."""
        kind, name = definition

        def work(connection: apsw.Connection) -> Definition | None:
            standing = _standing(connection, entry.tenant_id, kind)
            known = next((each for each in standing if each.name == name), None)
            if known is not None:
                _end(connection, self._log, entry, definition)
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

    def named(
        self, tenant_id: str, kind: DefinitionKind, names: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, Definition]:
        """Mirrors ``Definitions.named``."""
        rows = self._readers.rows(_SQL["named_definitions"], (tenant_id, kind, json_list(names), seen_at))
        return {row[2]: _definition(row) for row in rows}


def activate(connection: apsw.Connection, log: SqliteLog, entry: EventDraft, name: str) -> None:
    """Put what a policy says of the vocabularies that are active, inside somebody's transaction; nothing where it says the same."""
    if not changes_activation(_named(connection, entry.tenant_id, (ACTIVE_VOCABULARIES, name)), entry):
        return
    if entry.content["vocabularies"] is None:
        _end(connection, log, entry, (ACTIVE_VOCABULARIES, name))
    else:
        _put(connection, log, entry, (ACTIVE_VOCABULARIES, name))


def lay_down(connection: apsw.Connection, log: SqliteLog, entry: EventDraft) -> None:
    """Put what a policy lays down for beliefs, inside somebody's transaction; nothing where it says the same."""
    if changes_rules(_named(connection, entry.tenant_id, BELIEF_RULES), entry):
        _put(connection, log, entry, BELIEF_RULES)


def _named(
    connection: apsw.Connection, tenant_id: str, definition: tuple[DefinitionKind, str]
) -> Definition | None:
    kind, name = definition
    bindings = (tenant_id, kind, json_list([name]), None)
    return next(map(_definition, connection.execute(_SQL["named_definitions"], bindings)), None)


def _put(
    connection: apsw.Connection, log: SqliteLog, entry: EventDraft, definition: tuple[DefinitionKind, str]
) -> Definition:
    place = (entry.tenant_id, *definition)
    entry_id, position, recorded_at = log.enter(connection, entry)
    body = compact(entry.content)
    connection.execute(_SQL["end_definition"], (*place, recorded_at))
    row = (*place, body, entry_id, position, recorded_at)
    connection.execute(_SQL["insert_definition"], row)
    return _definition((*row, None))


def _end(
    connection: apsw.Connection, log: SqliteLog, entry: EventDraft, definition: tuple[DefinitionKind, str]
) -> None:
    _, _, recorded_at = log.enter(connection, entry)
    connection.execute(_SQL["end_definition"], (entry.tenant_id, *definition, recorded_at))


def _standing(connection: apsw.Connection, tenant_id: str, kind: DefinitionKind) -> list[Definition]:
    return [_definition(row) for row in connection.execute(_SQL["standing_definitions"], (tenant_id, kind))]


def _scopes_with(
    connection: apsw.Connection, tenant_id: str, vocabulary: str, predicates: Sequence[str]
) -> list[Scope]:
    """The scopes that hold facts by terms of a vocabulary, or may once their events are derived."""
    bindings = (tenant_id, vocabulary, json_list(predicates), STAGE_NUMBERS[Stage.EXTRACTED])
    return [Scope(row[0]) for row in list(connection.execute(_SQL["scopes_with_terms"], bindings))]


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
