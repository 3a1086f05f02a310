"""Erasing in memory: what the rules say of a step, over dictionaries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from lamina.kernel.events import Event, Stage
from lamina.kernel.ids import IdSource
from lamina.kernel.records import Claim, Entity, Layer, Mention, Record, Support, order_of
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Clock, Instant
from lamina.store.memory.index import put_text
from lamina.store.memory.lifecycle import put_lifecycle
from lamina.store.memory.log import MemoryLog
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.erasing import Erased, Erasure, Frozen, Tombstone
from lamina.store.ports.index import TextRow
from lamina.store.ports.writes import Closing
from lamina.store.rules.erasing import changes_of
from lamina.store.rules.erasing_rows import ErasureChanges
from lamina.store.rules.traces import unguessable

__all__ = ["MemoryErasing", "fill_frozen", "forget_aside", "lay_frozen"]


class MemoryErasing:
    """``Erasing`` over dictionaries."""

    def __init__(self, memory: Memory, clock: Clock, ids: IdSource, log: MemoryLog) -> None:
        self._memory = memory
        self._clock = clock
        self._ids = ids
        self._log = log

    def erase(self, erasure: Erasure) -> Erased:
        """Mirrors ``Erasing.erase``."""
        with self._memory.change() as tables:
            reading = _Reading(tables, erasure.tenant_id)
            changes = changes_of(
                reading, erasure, lambda draft: self._log.enter(tables, draft), self._clock.now()
            )
            changes.tombstones = unguessable(changes.tombstones, erasure, self._ids)
            put_lifecycle(tables, changes.lifecycle, self._clock)
            _land(tables, erasure.tenant_id, changes)
            return changes.erased

    def mark(self, stones: Sequence[Tombstone]) -> None:
        """Mirrors ``Erasing.mark``."""
        with self._memory.change() as tables:
            tables.tombstones |= {(each.tenant_id, each.id): each for each in stones}

    def tombstone(self, tenant_id: str, record_id: str) -> Tombstone | None:
        """Mirrors ``Erasing.tombstone``."""
        tables = self._memory.tables
        if any(key[:2] == (tenant_id, record_id) for key in tables.records):
            return None
        return tables.tombstones.get((tenant_id, record_id))

    def derived_once(self, tenant_id: str, event_id: str) -> Sequence[str]:
        """Mirrors ``Erasing.derived_once``."""
        return sorted(self._memory.tables.derived_once.get((tenant_id, event_id), ()))

    def has_frozen(self, tenant_id: str) -> bool:
        """Mirrors ``Erasing.has_frozen``."""
        tables = self._memory.tables
        return any(tenant == tenant_id for tenant, _ in tables.frozen) or any(
            event.redacted_by is not None
            for (tenant, _), event in tables.events.items()
            if tenant == tenant_id
        )

    def frozen_until(self, tenant_id: str, record_ids: Collection[str]) -> dict[str, Instant]:
        """Mirrors ``Erasing.frozen_until``."""
        frozen = self._memory.tables.frozen
        return {key: frozen[tenant_id, key][1] for key in record_ids if (tenant_id, key) in frozen}

    def frozen_matters(
        self, tenant_id: str, scope: Scope, matters: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Instant]:
        """Mirrors ``Erasing.frozen_matters``."""
        tables, found = self._memory.tables, dict[tuple[str, str], Instant]()
        for row in tables.frozen_records.values():
            if (row.tenant_id, row.scope) == (tenant_id, scope) and isinstance(row, Claim):
                matter = (row.subject.id, row.predicate)
                if matter in matters:
                    found[matter] = max(found.get(matter, 0), tables.frozen[tenant_id, row.id][1])
        return found

    def frozen_at(self, event: Event) -> Frozen:
        """Mirrors ``Erasing.frozen_at``."""
        tables, at = self._memory.tables, event.recorded_at
        ours = [row for _, row in sorted(tables.frozen_records.items()) if row.tenant_id == event.tenant_id]
        return Frozen(
            [row for row in ours if row.recorded_from == at],
            [Closing.of(row, at, row.closed_by) for row in ours if row.recorded_to == at],
            [
                edge
                for _, edge in sorted(tables.frozen_supports.items())
                if (edge.tenant_id, edge.recorded_at) == (event.tenant_id, at)
            ],
        )


class _Reading:
    """``ErasureReads`` over tables that are being changed."""

    def __init__(self, tables: Tables, tenant_id: str) -> None:
        self._tables = tables
        self._tenant_id = tenant_id

    def events(self, ids: Collection[str]) -> dict[str, Event]:
        """Mirrors ``ErasureReads.events``."""
        events = self._tables.events
        return {key: events[self._tenant_id, key] for key in ids if (self._tenant_id, key) in events}

    def dependants(self, ids: Collection[str]) -> list[Support]:
        """Mirrors ``ErasureReads.dependants``."""
        wanted = set(ids)
        return sorted(
            (
                edge
                for edge in self._tables.supports.values()
                if edge.tenant_id == self._tenant_id and edge.source_id in wanted
            ),
            key=lambda edge: (edge.source_id, edge.record_id, edge.relation),
        )

    def supports(self, ids: Collection[str]) -> list[Support]:
        """Mirrors ``ErasureReads.supports``."""
        wanted = set(ids)
        return sorted(
            (
                edge
                for edge in self._tables.supports.values()
                if edge.tenant_id == self._tenant_id and edge.record_id in wanted
            ),
            key=lambda edge: (edge.record_id, *order_of(edge)),
        )

    def versions(self, ids: Collection[str]) -> list[Record]:
        """Mirrors ``ErasureReads.versions``."""
        wanted = set(ids)
        return [
            row
            for key, row in sorted(self._tables.records.items())
            if key[0] == self._tenant_id and key[1] in wanted
        ]

    def changed_at(self, instants: Collection[Instant], scopes: Collection[Scope]) -> set[str]:
        """Mirrors ``ErasureReads.changed_at``."""
        wanted = set(instants)
        return {
            row.id
            for row in self._tables.records.values()
            if row.tenant_id == self._tenant_id
            and (
                row.recorded_to in wanted
                or (isinstance(row, Claim) and row.scope in scopes and row.recorded_from in wanted)
            )
        }

    def within(self, scopes: Collection[Scope], limit: int) -> list[str]:
        """Mirrors ``ErasureReads.within``."""
        found = {
            row.id
            for row in self._tables.records.values()
            if row.tenant_id == self._tenant_id and row.scope in scopes
        }
        return sorted(found)[:limit]

    def sent_into(self, scopes: Collection[Scope]) -> list[Event]:
        """Mirrors ``ErasureReads.sent_into``."""
        return [
            event
            for (tenant, _), event in self._tables.events.items()
            if tenant == self._tenant_id
            and event.directives.consolidate_into in scopes
            and event.scope not in scopes
        ]

    def claims_of(self, scope: Scope, matters: Collection[tuple[str, str]]) -> set[str]:
        """Mirrors ``ErasureReads.claims_of``."""
        return {
            row.id
            for row in self._tables.records.values()
            if (row.tenant_id, row.scope) == (self._tenant_id, scope)
            and isinstance(row, Claim)
            and (row.subject.id, row.predicate) in matters
        }

    def frozen_until(self, ids: Collection[str]) -> dict[str, Instant]:
        """Mirrors ``ErasureReads.frozen_until``."""
        frozen = self._tables.frozen
        return {key: frozen[self._tenant_id, key][1] for key in ids if (self._tenant_id, key) in frozen}

    def last_changes(self, ids: Collection[str]) -> dict[str, tuple[Scope, Instant]]:
        """Mirrors ``ErasureReads.last_changes``."""
        found: dict[str, tuple[Scope, Instant]] = {}
        borne_out = [(edge.record_id, edge.recorded_at) for edge in self.supports(ids)]
        for row in self.versions(ids):
            at = [row.recorded_to or row.recorded_from, *(at for key, at in borne_out if key == row.id)]
            found[row.id] = (row.scope, max(*at, found.get(row.id, (row.scope, 0))[1], 0))
        return found

    def texts(self, ids: Collection[str]) -> list[TextRow]:
        """Mirrors ``ErasureReads.texts``."""
        texts = self._tables.texts
        return [texts[self._tenant_id, key] for key in sorted(ids) if (self._tenant_id, key) in texts]

    def mentions(self, ids: Collection[str]) -> list[Mention]:
        """Mirrors ``ErasureReads.mentions``."""
        wanted = set(ids)
        return sorted(
            (
                row
                for row in self._tables.mentions.values()
                if row.tenant_id == self._tenant_id and row.event_id in wanted
            ),
            key=lambda row: (row.event_id, row.entity_id, row.surface),
        )

    def senders(self, into: Scope) -> list[Scope]:
        """Mirrors ``ErasureReads.senders``."""
        found = {
            event.scope
            for (tenant, _), event in self._tables.events.items()
            if tenant == self._tenant_id and event.directives.consolidate_into == into
        }
        return sorted(found - {into})

    def waiting_since(self, scopes: Collection[Scope]) -> Instant | None:
        """Mirrors ``ErasureReads.waiting_since``."""
        return min(
            (
                job.event.recorded_at
                for (tenant, _), job in self._tables.jobs.items()
                if tenant == self._tenant_id and job.event.scope in scopes and job.state != "failed"
            ),
            default=None,
        )  # fmt: skip


def _land(tables: Tables, tenant_id: str, changes: ErasureChanges) -> None:
    worded = {event.id for event in (*changes.deleted, *changes.redacted)}
    _drop_events(tables, tenant_id, changes, worded)
    for key in {*worded, *changes.gone}:
        tables.texts.pop((tenant_id, key), None)
        tables.hidden_texts.discard((tenant_id, key))
        tables.frozen_texts.pop((tenant_id, key), None)
        tables.frozen.pop((tenant_id, key), None)
    away = {*worded, *changes.gone}
    tables.vectors = {key: row for key, row in tables.vectors.items() if not _names(key, tenant_id, away)}
    tables.records = {k: row for k, row in tables.records.items() if not _names(k, tenant_id, changes.gone)}
    tables.frozen_records = {
        key: row for key, row in tables.frozen_records.items() if not _names(key, tenant_id, changes.gone)
    }
    unsupported = {*changes.gone, *(event.id for event in changes.deleted)}
    cut = {each[:4] for each in changes.cut}
    for held in (tables.supports, tables.frozen_supports):
        for edge in [edge for edge in held if _names(edge, tenant_id, unsupported) or edge in cut]:
            del held[edge]
    tables.records |= {(row.tenant_id, row.id, row.version): row for row in changes.records}
    tables.supports |= {edge[:4]: edge for edge in changes.supports}
    _freeze(tables, tenant_id, changes)
    tables.tombstones |= {(each.tenant_id, each.id): each for each in changes.tombstones}
    for event in changes.deleted:
        tables.derived_once.pop((tenant_id, event.id), None)
    for event_id, record_id in changes.derived_once:
        once = tables.derived_once.get((tenant_id, event_id), frozenset())
        tables.derived_once[tenant_id, event_id] = once | {record_id}
    for scope in changes.erased.remade:
        events = sum((e.tenant_id, e.scope) == (tenant_id, scope) for e in tables.events.values())
        if events:
            tables.stale[tenant_id, scope] = events
    for scope in sorted(changes.touched):
        tables.note_index_change(tenant_id, scope)


def _names(key: tuple[object, ...], tenant_id: str, ids: Collection[str]) -> bool:
    return key[0] == tenant_id and key[1] in ids


def _drop_events(tables: Tables, tenant_id: str, changes: ErasureChanges, worded: Collection[str]) -> None:
    if changes.deleted:
        log = [event for event in tables.events.values() if event.tenant_id == tenant_id]
        last = max((event.position, event.recorded_at) for event in log)
        tables.log_ends[tenant_id] = max(last, tables.log_ends.get(tenant_id, (0, 0)))
    for key in worded:
        tables.jobs.pop((tenant_id, key), None)
    tables.lifecycle = [
        row for row in tables.lifecycle if row.tenant_id != tenant_id or row.event_id not in worded
    ]
    for event in changes.deleted:
        del tables.events[tenant_id, event.id]
    for event in (*changes.unsent, *changes.redacted, *changes.wordless):
        tables.events[tenant_id, event.id] = event


def _freeze(tables: Tables, tenant_id: str, changes: ErasureChanges) -> None:
    for key, (scope, until) in changes.until.items():
        _, before = tables.frozen.get((tenant_id, key), (scope, until))
        tables.frozen[tenant_id, key] = (scope, max(before, until))
    tables.frozen_records |= {(row.tenant_id, row.id, row.version): row for row in changes.frozen_records}
    tables.frozen_supports |= {edge[:4]: edge for edge in changes.frozen_supports}
    tables.frozen_texts |= {(row.tenant_id, row.record_id): row for row in changes.frozen_texts}
    for each in changes.unmentioned:
        tables.mentions.pop(_mention_key(each), None)
        tables.frozen_mentions.pop(_mention_key(each), None)
    for each in changes.frozen_mentions:
        entity = tables.entities[tenant_id, each.entity_id]
        tables.frozen_mentions[_mention_key(each)] = (each, entity)
    named = {row.entity_id for row in tables.mentions.values() if row.tenant_id == tenant_id}
    for each in changes.unmentioned:
        if each.entity_id not in named:
            tables.entities.pop((tenant_id, each.entity_id), None)


def _mention_key(each: Mention) -> tuple[str, str, Scope, str, str]:
    return each.tenant_id, each.entity_id, each.scope, each.event_id, each.surface


# ---- what a replay takes from there


def lay_frozen(tables: Tables, live: Tables) -> None:
    """Put what is frozen beside the rows of a replay that begins; ``live`` is the whole log."""
    replayed = {
        (event.tenant_id, event.recorded_at)
        for event in live.events.values()
        if event.redacted_by is None and event.cancelled_after is not Stage.CAPTURED
    }
    for key, row in tables.frozen_records.items():
        if (row.tenant_id, row.recorded_from) not in replayed:
            ends = row.recorded_to is not None and (row.tenant_id, row.recorded_to) in replayed
            tables.records.setdefault(key, replace(row, recorded_to=None, closed_by=None) if ends else row)
    for edge in tables.frozen_supports.values():
        if (edge.tenant_id, edge.recorded_at) not in replayed:
            tables.supports.setdefault(edge[:4], edge)
    laid: list[tuple[Mention, Entity]] = sorted(
        tables.frozen_mentions.values(),
        key=lambda each: (each[0].position, each[0].event_id, each[0].surface),
    )
    for mention, entity in laid:
        kind = entity.type if mention.type is None else mention.type
        tables.entities.setdefault((entity.tenant_id, entity.id), replace(entity, type=kind))
        tables.mentions.setdefault(_mention_key(mention), mention)
    for _, text in sorted(tables.frozen_texts.items()):
        put_text(tables, text)


def fill_frozen(aside: Tables, live: Tables, tenant_id: str, scopes: Collection[Scope]) -> None:
    """Copy what is frozen of a group's scopes into tables aside, and put it beside what is derived there."""
    aside.frozen = {
        key: held for key, held in live.frozen.items() if key[0] == tenant_id and held[0] in scopes
    }
    aside.frozen_records = {key: row for key, row in live.frozen_records.items() if key[:2] in aside.frozen}
    aside.frozen_supports = {key: row for key, row in live.frozen_supports.items() if key[:2] in aside.frozen}
    aside.frozen_texts = {key: row for key, row in live.frozen_texts.items() if key in aside.frozen}
    aside.frozen_mentions = {
        key: held for key, held in live.frozen_mentions.items() if key[0] == tenant_id and key[2] in scopes
    }
    lay_frozen(aside, live)


def forget_aside(aside: Tables, tables: Tables, tenant_id: str, scopes: Collection[Scope]) -> None:
    """Take from what was derived aside what is forgotten and was not told again since: a call alone brings it back, never a release."""
    gone = {
        key
        for (tenant, key), stone in tables.tombstones.items()
        if tenant == tenant_id and stone.scope in scopes and not _is_renewed(aside, stone)
    }
    aside.records = {key: row for key, row in aside.records.items() if not _names(key, tenant_id, gone)}
    aside.supports = {key: row for key, row in aside.supports.items() if not _names(key, tenant_id, gone)}
    aside.texts = {key: row for key, row in aside.texts.items() if not _names(key, tenant_id, gone)}


def _is_renewed(aside: Tables, stone: Tombstone) -> bool:
    """Whether a fact was told again after it was forgotten, or another record rests on such a one or has another version since."""
    tenant_id = stone.tenant_id
    ties = [row for row in aside.supports.values() if row.tenant_id == tenant_id]
    below = {stone.id, *(row.source_id for row in ties if row.record_id == stone.id)}
    told = (row for row in ties if row.record_id in below and row.relation == Tie.EXTRACTED_FROM)
    if any(row.recorded_at > stone.erased_at for row in told):
        return True
    versions = (row for place, row in aside.records.items() if place[:2] == (tenant_id, stone.id))
    return stone.layer is not Layer.FACTS and any(row.recorded_from > stone.erased_at for row in versions)
