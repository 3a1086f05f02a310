"""Rederivation of the store in memory, whose rows only a caller that changes its mind finds old."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from lamina.kernel.events import Stage
from lamina.kernel.ids import IdSource
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Clock
from lamina.store.memory.audit import put_audits
from lamina.store.memory.erasing import fill_frozen, forget_aside
from lamina.store.memory.lifecycle import put_lifecycle
from lamina.store.memory.tables import JobRow, Memory, Tables
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.rederivation import RederivationState, ScopeGroup, Versions
from lamina.store.ports.store import Store
from lamina.store.rules.rederivation import VECTORS, closure, earlier_of

__all__ = ["MemoryRederivation"]


class MemoryRederivation:
    """``Rederivation`` over copies of tables; ``opened`` makes a store over such a copy."""

    def __init__(
        self, memory: Memory, clock: Clock, ids: IdSource, opened: Callable[[Memory], Store]
    ) -> None:
        self._memory = memory
        self._clock = clock
        self._ids = ids
        self._opened = opened
        self._noted = RederivationState({}, {})
        self._derived = 0
        self._aside: tuple[ScopeGroup, Memory] | None = None

    @property
    def _stale(self) -> dict[tuple[str, Scope], int]:
        return self._memory.tables.stale

    def begin(self, versions: Versions) -> RederivationState:
        """Mirrors ``Rederivation.begin``."""
        if self._noted.versions != versions:
            tables = self._memory.tables
            counted = Counter((event.tenant_id, event.scope) for event in tables.events.values())
            derived: list[Any] = [*tables.records.values(), *tables.mentions.values(), *tables.texts.values()]
            for place in {(row.tenant_id, row.scope) for row in derived}:
                self._stale[place] = counted[place]
            self._noted = RederivationState(dict(versions), earlier_of(self.state()))
            self._aside, self._derived = None, 0
        return self.state()

    def ask(self, tenant_id: str, scopes: Collection[Scope]) -> None:
        """Mirrors ``Rederivation.ask``."""
        counted = Counter((event.tenant_id, event.scope) for event in self._memory.tables.events.values())
        self._stale.update({(tenant_id, scope): counted[tenant_id, scope] for scope in scopes})
        self._aside, self._derived = None, 0

    def note_all(self, versions: Versions) -> None:
        """Mirrors ``Rederivation.note_all``."""
        self._noted = RederivationState(dict(versions), {})
        self._stale.clear()
        self._aside, self._derived = None, 0

    def state(self) -> RederivationState:
        """Mirrors ``Rederivation.state``."""
        events = sum(self._stale.values())
        return replace(self._noted, scopes=len(self._stale), events=events, derived=self._derived)

    def next_group(self) -> ScopeGroup | None:
        """Mirrors ``Rederivation.next_group``."""
        if not self._stale:
            return None
        if self._aside is not None:
            return self._aside[0]
        tenant_id, scope = min(self._stale, key=lambda place: (self._stale[place], place))
        return ScopeGroup(tenant_id, self._joined(tenant_id, [scope]))

    def _joined(self, tenant_id: str, scopes: list[Scope] | tuple[Scope, ...]) -> tuple[Scope, ...]:
        links = {
            (event.scope, event.directives.consolidate_into)
            for event in self._memory.tables.events.values()
            if event.tenant_id == tenant_id and event.directives.consolidate_into is not None
        }
        return closure(scopes, links)

    def aside(self, group: ScopeGroup) -> Store:
        """Mirrors ``Rederivation.aside``."""
        if self._aside is None or self._aside[0] != group:
            self._aside = (group, self._filled(group))
        return self._opened(self._aside[1])

    def _filled(self, group: ScopeGroup) -> Memory:
        live, filled = self._memory.tables, Tables()
        ours = {key: event for key, event in live.events.items() if _of(group, event)}
        waiting = [
            ours[key].position for key, job in live.jobs.items() if key in ours and job.state != "failed"
        ]
        end = min(waiting, default=1 << 62)
        filled.events = {key: event for key, event in ours.items() if event.position < end}
        _queue(filled, filled.events.values())
        newest = max((event.position for event in filled.events.values()), default=0)
        filled.inquiries = _applied(live, group, newest)
        filled.definitions = {
            key: each for key, each in live.definitions.items() if key[0] == group.tenant_id
        }
        fill_frozen(filled, live, group.tenant_id, group.scopes)
        filled.outputs, filled.output_sources = dict(live.outputs), set(live.output_sources)
        memory = Memory()
        memory.tables = filled
        return memory

    def note_derived(self, group: ScopeGroup, events: int) -> None:  # noqa: ARG002 - the port's shape
        """Mirrors ``Rederivation.note_derived``."""
        self._derived = events

    def swap(self, group: ScopeGroup) -> bool:
        """Mirrors ``Rederivation.swap``."""
        assert self._aside is not None, "something was derived aside"
        aside = self._aside[1].tables
        self._aside, self._derived = None, 0
        if self._joined(group.tenant_id, group.scopes) != group.scopes:
            return False
        with self._memory.change() as tables:
            newest = max((event.position for event in aside.events.values()), default=0)
            if _changed_below(tables, aside, group, newest):
                return False
            failed = [event_id for (_, event_id), job in tables.jobs.items() if _of(group, job.event)
                      and job.state == "failed"]  # fmt: skip
            forget_aside(aside, tables, group.tenant_id, group.scopes)
            self._swap_rows(tables, aside, group)
            for key in [key for key, job in tables.jobs.items() if _of(group, job.event)]:
                del tables.jobs[key]
            tables.jobs.update({key: job for key, job in aside.jobs.items() if job.state == "failed"})
            ours = [event for event in tables.events.values() if _of(group, event)]
            _queue(tables, [event for event in ours if event.position > newest])
            told = {(row.event_id, row.name) for row in tables.lifecycle}
            drafts = [
                LifecycleDraft(
                    tenant_id=row.tenant_id, name=row.name, scope=row.scope, event_id=row.event_id, job_id=row.job_id,
                    payload=row.payload,
                )
                for row in aside.lifecycle
                if row.event_id in failed and (row.event_id, row.name) not in told
            ]  # fmt: skip
            put_lifecycle(tables, drafts, self._clock)
            put_audits(tables, [row.draft for row in aside.audit.values()])
            for scope in group.scopes:
                tables.note_index_change(group.tenant_id, scope)
                tables.stale.pop((group.tenant_id, scope), None)
        return True

    def _swap_rows(self, tables: Tables, aside: Tables, group: ScopeGroup) -> None:
        old = {key[1] for key, record in tables.records.items() if _of(group, record)}
        old |= {key[1] for key, event in tables.events.items() if _of(group, event)}
        tables.supports = {
            key: edge
            for key, edge in tables.supports.items()
            if (key[0], key[1] in old) != (group.tenant_id, True)
        } | aside.supports
        tables.records = {k: row for k, row in tables.records.items() if not _of(group, row)} | aside.records
        named = {row.entity_id for row in tables.mentions.values() if _of(group, row)}
        named |= {key[1] for key in aside.entities}
        tables.mentions = {
            k: row for k, row in tables.mentions.items() if not _of(group, row)
        } | aside.mentions
        tables.entities = aside.entities | tables.entities
        for entity_id in named:
            mentions = [
                m
                for m in tables.mentions.values()
                if (m.tenant_id, m.entity_id) == (group.tenant_id, entity_id)
            ]
            key = (group.tenant_id, entity_id)
            first = min(mentions, key=lambda mention: (mention.position, mention.event_id), default=None)
            if first is None:
                tables.entities.pop(key, None)
            elif first.type is not None:
                tables.entities[key] = replace(tables.entities[key], type=first.type)
        model = self._noted.versions.get(VECTORS)
        tables.vectors = {
            key: row
            for key, row in tables.vectors.items()
            if not _of(group, row[1]) or model is None or key[2] == model
        }
        hidden = {key for key in tables.hidden_texts if not _of(group, tables.texts[key])}
        kept = {key: row for key, row in tables.texts.items() if not _of(group, row)}
        embedded = {key[:2] for key in tables.vectors}
        for key, row in aside.texts.items():
            number = tables.texts[key].row if key in tables.texts else tables.next_row()
            kept[key] = row._replace(row=number, wants_vector=row.wants_vector and key not in embedded)
        tables.texts, tables.hidden_texts = kept, hidden | aside.hidden_texts


def _of(group: ScopeGroup, row: Any) -> bool:  # whatever has a tenant and a scope
    return row.tenant_id == group.tenant_id and row.scope in group.scopes


def _queue(tables: Tables, events: Any) -> None:
    for event in events:
        if event.redacted_by is None and event.cancelled_after is not Stage.CAPTURED:
            tables.jobs[event.tenant_id, event.id] = JobRow(event=event, stage=Stage.EXTRACTED)


def _applied(tables: Tables, group: ScopeGroup, newest: int) -> dict[int, Any]:
    return {
        number: inquiry
        for number, inquiry in tables.inquiries.items()
        if _of(group, inquiry) and inquiry.state == "applied" and (inquiry.applied_after or 0) <= newest
    }


def _changed_below(tables: Tables, aside: Tables, group: ScopeGroup, newest: int) -> bool:
    ours = [event for event in tables.events.values() if _of(group, event) and event.position <= newest]
    jobs = [job for job in tables.jobs.values() if _of(group, job.event)]
    return (
        {event.id: (event.cancelled_after, event.redacted_by) for event in ours}
        != {event.id: (event.cancelled_after, event.redacted_by) for event in aside.events.values()}
        or any(
            job.state == "running" or (job.state == "pending" and job.event.position <= newest)
            for job in jobs
        )
        or len(_applied(tables, group, newest)) != len(aside.inquiries)
        or not {key for key in aside.outputs if key[0] == group.tenant_id} <= set(tables.outputs)
        # What was kept without its words may be forgotten, and no event tells of that.
        or any(tables.frozen_records.get(key) != row for key, row in aside.frozen_records.items())
        or any(tables.frozen_supports.get(key) != row for key, row in aside.frozen_supports.items())
        or any(tables.frozen_mentions.get(key) != row for key, row in aside.frozen_mentions.items())
    )
