"""What tenants define, in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from lamina.kernel.belief_rules import BELIEF_RULES
from lamina.kernel.events import EventDraft, Stage
from lamina.kernel.records import Fact
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.vocabularies import ACTIVE_VOCABULARIES
from lamina.store.memory.log import MemoryLog
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.definitions import Definition, DefinitionKind, TermsLost
from lamina.store.rules.definitions import changes_activation, changes_rules
from lamina.store.rules.log import deprecation_of

__all__ = ["MemoryDefinitions", "activate", "lay_down"]


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
        *,
        lost: TermsLost | None = None,
    ) -> Definition:
        """Mirrors ``Definitions.define``."""
        kind, name = definition
        with self._memory.change() as tables:
            standing = _standing(tables, entry.tenant_id, kind)
            check(standing)
            made = _put(tables, self._log, entry, definition)
            known = next((each for each in standing if each.name == name), None)
            gone = [] if lost is None else lost(known)
            for scope in _scopes_with(tables, entry.tenant_id, name, gone) if gone else ():
                self._log.enter(tables, deprecation_of(entry, scope, name, gone))
            tables.about = made.event_id
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

    def named(
        self, tenant_id: str, kind: DefinitionKind, names: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, Definition]:
        """Mirrors ``Definitions.named``."""
        found = self.held(tenant_id, kind, seen_at=seen_at)
        return {each.name: each for each in found if each.name in names}


def activate(tables: Tables, log: MemoryLog, entry: EventDraft, name: str) -> None:
    """Put what a policy says of the vocabularies that are active, inside somebody's change; nothing where it says the same."""
    if not changes_activation(_named(tables, entry.tenant_id, (ACTIVE_VOCABULARIES, name)), entry):
        return
    if entry.content["vocabularies"] is None:
        at = log.enter(tables, entry).recorded_at
        _end(tables, entry.tenant_id, ACTIVE_VOCABULARIES, name, at)
    else:
        _put(tables, log, entry, (ACTIVE_VOCABULARIES, name))


def lay_down(tables: Tables, log: MemoryLog, entry: EventDraft) -> None:
    """Put what a policy lays down for beliefs, inside somebody's change; nothing where it says the same."""
    if changes_rules(_named(tables, entry.tenant_id, BELIEF_RULES), entry):
        _put(tables, log, entry, BELIEF_RULES)


def _named(tables: Tables, tenant_id: str, definition: tuple[DefinitionKind, str]) -> Definition | None:
    kind, name = definition
    return next((each for each in _standing(tables, tenant_id, kind) if each.name == name), None)


def _put(
    tables: Tables, log: MemoryLog, entry: EventDraft, definition: tuple[DefinitionKind, str]
) -> Definition:
    kind, name = definition
    event = log.enter(tables, entry)
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
    return made


def _scopes_with(tables: Tables, tenant_id: str, vocabulary: str, predicates: Sequence[str]) -> list[Scope]:
    """The scopes that hold facts by terms of a vocabulary, or may once their events are derived."""
    held = {
        record.scope
        for record in tables.records.values()
        if isinstance(record, Fact)
        and record.tenant_id == tenant_id
        and record.recorded_to is None
        and record.predicate in predicates
        and record.binding is not None
        and record.binding.vocabulary == vocabulary
    }
    waiting = {
        job.event.scope
        for job in tables.jobs.values()
        if (job.event.tenant_id, job.stage) == (tenant_id, Stage.EXTRACTED) and not job.event.defines
    }
    return sorted(held | waiting)


def _of(tables: Tables, tenant_id: str, kind: DefinitionKind) -> list[Definition]:
    return [each for each in tables.definitions.values() if (each.tenant_id, each.kind) == (tenant_id, kind)]


def _standing(tables: Tables, tenant_id: str, kind: DefinitionKind) -> list[Definition]:
    found = [each for each in _of(tables, tenant_id, kind) if each.recorded_to is None]
    return sorted(found, key=lambda each: each.name)


def _end(tables: Tables, tenant_id: str, kind: DefinitionKind, name: str, at: Instant) -> None:
    for each in _standing(tables, tenant_id, kind):
        if each.name == name:
            tables.definitions[tenant_id, kind, name, each.position] = replace(each, recorded_to=at)
