"""What tenants define, in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lamina.kernel.events import EventDraft
from lamina.kernel.time import Instant
from lamina.store.memory.log import MemoryLog
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.definitions import Definition, DefinitionKind

__all__ = ["MemoryDefinitions"]


class MemoryDefinitions:
    """``Definitions`` over a dictionary and the log."""

    def __init__(self, memory: Memory, log: MemoryLog) -> None:
        self._memory = memory
        self._log = log

    def define(
        self,
        entry: EventDraft,
        definition: tuple[DefinitionKind, str],
        check: Callable[[Sequence[Definition]], None],
    ) -> Definition:
        """Mirrors ``Definitions.define``."""
        kind, name = definition
        with self._memory.change() as tables:
            check(_standing(tables, entry.tenant_id, kind))
            event = self._log.enter(tables, entry)
            _end(tables, entry.tenant_id, kind, name, event.recorded_at)
            made = Definition(
                tenant_id=entry.tenant_id,
                kind=kind,
                name=name,
                body=event.content,
                event_id=event.id,
                position=event.position,
                recorded_from=event.recorded_at,
            )
            tables.definitions[entry.tenant_id, kind, name, event.position] = made
            tables.about = event.id
            return made

    def withdraw(self, entry: EventDraft, definition: tuple[DefinitionKind, str]) -> Definition | None:
        """Mirrors ``Definitions.withdraw``."""
        kind, name = definition
        with self._memory.change() as tables:
            known = next((e for e in _standing(tables, entry.tenant_id, kind) if e.name == name), None)
            if known is not None:
                _end(tables, entry.tenant_id, kind, name, self._log.enter(tables, entry).recorded_at)
            return known

    def held(
        self, tenant_id: str, kind: DefinitionKind, *, seen_at: Instant | None = None
    ) -> list[Definition]:
        """Mirrors ``Definitions.held``."""
        if seen_at is None:
            return _standing(self._memory.tables, tenant_id, kind)
        found = [
            each
            for each in _of(self._memory.tables, tenant_id, kind)
            if each.recorded_from <= seen_at and (each.recorded_to is None or each.recorded_to > seen_at)
        ]
        return sorted(found, key=lambda each: each.name)


def _of(tables: Tables, tenant_id: str, kind: DefinitionKind) -> list[Definition]:
    return [each for each in tables.definitions.values() if (each.tenant_id, each.kind) == (tenant_id, kind)]


def _standing(tables: Tables, tenant_id: str, kind: DefinitionKind) -> list[Definition]:
    found = [each for each in _of(tables, tenant_id, kind) if each.recorded_to is None]
    return sorted(found, key=lambda each: each.name)


def _end(tables: Tables, tenant_id: str, kind: DefinitionKind, name: str, at: Instant) -> None:
    for each in _standing(tables, tenant_id, kind):
        if each.name == name:
            tables.definitions[tenant_id, kind, name, each.position] = replace(each, recorded_to=at)
