"""The log, idempotency keys and scopes in memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from lamina import limits
from lamina.errors import NotFound
from lamina.kernel.canonical import compact
from lamina.kernel.events import Event, EventDraft, Modality, Stage
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Posted
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Clock, Instant
from lamina.store.memory.erasures import refuse_erased
from lamina.store.memory.exclusion import exclude_dependants
from lamina.store.memory.lifecycle import put_lifecycle
from lamina.store.memory.tables import JobRow, Memory, Tables
from lamina.store.memory.unfolding import unfold
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.log import Appended, AppendedOnce, Capture, EventQuery
from lamina.store.ports.scopes import ScopeRow
from lamina.store.rules.log import cancellation_of, captured_row
from lamina.store.rules.refusals import check_same
from lamina.store.rules.waiting import Waiting, key_unavailable

__all__ = ["MemoryIdempotency", "MemoryLog", "MemoryScopes"]


class MemoryLog:
    """``EventLog`` over a dictionary that keeps the order of appending."""

    def __init__(self, memory: Memory, clock: Clock, ids: IdSource) -> None:
        self._memory = memory
        self._clock = clock
        self._ids = ids

    def append(self, captures: Sequence[Capture]) -> list[Appended]:
        """Mirrors ``EventLog.append``."""
        with self._memory.change() as tables:
            return self.put(tables, captures)

    def post(self, capture: Capture) -> Posted:
        """Mirrors ``EventLog.post``: it lands at once."""
        return _AtOnce(partial(self.append, [capture]))

    def append_once(self, captures: Sequence[Capture], entry: IdempotencyEntry) -> AppendedOnce:
        """Mirrors ``EventLog.append_once``."""
        with self._memory.change() as tables:
            known = find_key(tables, entry.key, entry.created_at)
            if known is not None:
                check_same(known, entry.body_hash)
                return AppendedOnce(known, [], replayed=True)
            tables.keys[entry.key] = entry
            return AppendedOnce(entry, self.put(tables, captures), replayed=False)

    def put(self, tables: Tables, captures: Sequence[Capture]) -> list[Appended]:
        """``append`` inside somebody's change."""
        refuse_erased(tables, (capture.draft for capture in captures))
        now = self._clock.now()
        appended = [self._append_one(tables, capture, now) for capture in captures]
        fresh = [entry.event for entry in appended if not entry.replayed]
        put_lifecycle(tables, [captured_row(event) for event in fresh], self._clock)
        tables.about = appended[0].event_id if len(appended) == 1 else None
        return appended

    def _append_one(self, tables: Tables, capture: Capture, now: Instant) -> Appended:
        known = find_key(tables, capture.key, now) if capture.key else None
        if known is not None and known.event_id is not None:
            check_same(known, capture.body_hash)
            return Appended.of(_event(tables, known.key.tenant_id, known.event_id), replayed=True)
        event = self._stamped(tables, capture.draft, now)
        place = (event.tenant_id, event.id)
        tables.events[place] = event
        tables.jobs[place] = JobRow(event=event, stage=Stage.EXTRACTED)
        made = ScopeRow(
            tenant_id=event.tenant_id,
            path=event.scope,
            auto_provisioned=True,
            created_by=event.caller,
            created_at=now,
        )
        known_scope = tables.scopes.get((event.tenant_id, event.scope), made)
        tables.scopes[event.tenant_id, event.scope] = replace(known_scope, pruned=False)
        if capture.key:
            tables.keys[capture.key] = IdempotencyEntry(capture.key, capture.body_hash, now, event.id)
        return Appended.of(event, replayed=False)

    def _stamped(self, tables: Tables, draft: EventDraft, now: Instant) -> Event:
        log = _of_tenant(tables, draft.tenant_id)
        ends = [(event.position, event.recorded_at) for event in log[-1:]]
        position, recorded_at = max([*ends, tables.log_ends.get(draft.tenant_id, (0, 0))])
        recorded_at = max(now, recorded_at + 1)
        # The log keeps JSON, not the caller's objects, which the caller may still change.
        kept = replace(draft, content=json.loads(compact(draft.content)))
        return Event.placed(kept, self._ids.stamped(Prefix.EVENT, recorded_at), position + 1, recorded_at)

    def get(self, tenant_id: str, event_ids: Collection[str]) -> dict[str, Event]:
        """Mirrors ``EventLog.get``."""
        events = self._memory.tables.events
        return {key: events[tenant_id, key] for key in event_ids if (tenant_id, key) in events}

    def query(self, query: EventQuery) -> list[Event]:
        """Mirrors ``EventLog.query``."""
        found = [event for event in _of_tenant(self._memory.tables, query.tenant_id) if _wanted(event, query)]
        return (found if query.ascending else found[::-1])[: query.limit]

    def previous(self, event: Event, limit: int) -> list[Event]:
        """Mirrors ``EventLog.previous``."""
        earlier = [
            other
            for other in _of_tenant(self._memory.tables, event.tenant_id)
            if other.position < event.position
            and (other.scope, other.session) == (event.scope, event.session)
        ]
        return earlier[max(0, len(earlier) - limit) :]

    def walk(self, tenant_id: str, after: int, limit: int) -> list[Event]:
        """Mirrors ``EventLog.walk``."""
        return [e for e in _of_tenant(self._memory.tables, tenant_id) if e.position > after][:limit]

    def feedback(self, tenant_id: str, limit: int) -> list[Event]:
        """Mirrors ``EventLog.feedback``."""
        found = [each for each in _of_tenant(self._memory.tables, tenant_id) if not each.excluded]
        return [each for each in reversed(found) if each.modality == Modality.FEEDBACK][:limit]

    def tenants(self) -> list[str]:
        """Mirrors ``EventLog.tenants``."""
        return sorted({tenant_id for tenant_id, _ in self._memory.tables.events})

    def last_recorded(self, tenant_id: str, scopes: Collection[Scope] | None) -> Instant | None:
        """Mirrors ``EventLog.last_recorded``."""
        events = _of_tenant(self._memory.tables, tenant_id)
        recorded = [e.recorded_at for e in events if scopes is None or e.scope in scopes]
        if scopes is None and tenant_id in self._memory.tables.log_ends:
            recorded.append(self._memory.tables.log_ends[tenant_id][1])
        return max(recorded, default=None)

    def told_last(self, limit: int) -> list[tuple[str, Scope]]:
        """Mirrors ``EventLog.told_last``."""
        newest = islice(reversed(self._memory.tables.events.values()), limit)
        return list(dict.fromkeys((event.tenant_id, event.scope) for event in newest))

    def senders_into(self, tenant_id: str, into: Scope) -> list[Scope]:
        """Mirrors ``EventLog.senders_into``."""
        events = _of_tenant(self._memory.tables, tenant_id)
        return sorted({e.scope for e in events if e.directives.consolidate_into == into} - {into})

    def count(self, tenant_id: str, scopes: Collection[Scope], *, seen_at: Instant | None = None) -> int:
        """Mirrors ``EventLog.count``."""
        return sum(
            event.scope in scopes and not event.excluded and (seen_at is None or event.recorded_at <= seen_at)
            for event in _of_tenant(self._memory.tables, tenant_id)
        )

    def cancel(self, tenant_id: str, event_id: str) -> tuple[Stage, ...]:
        """Mirrors ``EventLog.cancel``."""
        with self._memory.change() as tables:
            event = _event(tables, tenant_id, event_id)
            tables.about = event_id
            if event.excluded:
                return ()
            refuse_erased(tables, [event])
            stages = list(Stage)
            job = tables.jobs.pop((tenant_id, event_id), None)
            dropped = tuple(stages[stages.index(job.stage) :]) if job else ()
            done = stages[len(stages) - len(dropped) - 1]
            tables.events[tenant_id, event_id] = replace(event, cancelled_after=done)
            exclude_dependants(tables, event)
            unfold(tables, event)
            if done is not Stage.CAPTURED:
                self.enter(tables, cancellation_of(event))
            return dropped

    def append_entry(self, draft: EventDraft) -> Event:
        """Mirrors ``EventLog.append_entry``."""
        with self._memory.change() as tables:
            return self.enter_shown(tables, draft)

    def enter_shown(self, tables: Tables, draft: EventDraft) -> Event:
        """``append_entry`` inside somebody's change."""
        refuse_erased(tables, [draft])
        entry = self.enter(tables, draft)
        put_lifecycle(tables, [captured_row(entry)], self._clock)
        tables.about = entry.id
        return entry

    def enter(self, tables: Tables, draft: EventDraft) -> Event:
        """``append_entry`` inside somebody's change, who tells of it."""
        entry = self._stamped(tables, draft, self._clock.now())
        entry = replace(entry, cancelled_after=Stage.COMPRESSED)
        tables.events[entry.tenant_id, entry.id] = entry
        tables.jobs[entry.tenant_id, entry.id] = JobRow(event=entry, stage=Stage.EXTRACTED)
        return entry


def _of_tenant(tables: Tables, tenant_id: str) -> list[Event]:
    return [event for (tenant, _), event in tables.events.items() if tenant == tenant_id]


class _AtOnce:
    """A write that is over before anybody waits for it."""

    def __init__(self, write: Callable[[], list[Appended]]) -> None:
        self._appended: list[Appended] = []
        self._failure: Exception | None = None
        try:
            self._appended = write()
        except Exception as failure:
            self._failure = failure

    def send(self) -> None:
        """Mirrors ``Posted.send``."""

    def tell(self, told: Callable[[], None]) -> None:
        """Mirrors ``Posted.tell``."""
        told()

    def result(self) -> list[Appended]:
        """Mirrors ``Posted.result``."""
        if self._failure is not None:
            raise self._failure
        return self._appended


def _event(tables: Tables, tenant_id: str, event_id: str) -> Event:
    event = tables.events.get((tenant_id, event_id))
    if event is None:
        raise NotFound("NOT_FOUND", "there is no such event", details={"event_id": event_id})
    return event


def _wanted(event: Event, query: EventQuery) -> bool:
    past = query.after is None or (
        event.position > query.after if query.ascending else event.position < query.after
    )
    return (
        past
        and event.scope in query.scopes
        and (query.with_excluded or not event.excluded)
        and _between(event.context.observed_at, query.observed_from, query.observed_to)
        and _between(event.recorded_at, query.recorded_from, query.recorded_to)
        and _any_or(query.observed_actor, event.observed_actor.id)
        and _any_or(query.session, event.session)
        and _any_or(query.modality, event.modality)
    )


def _between(moment: Instant, start: Instant | None, end: Instant | None) -> bool:
    return (start is None or moment >= start) and (end is None or moment < end)


def _any_or(wanted: Any, value: Any) -> bool:  # Any: two of the same type
    return wanted is None or bool(wanted == value)


# ---- idempotency


def find_key(tables: Tables, key: IdempotencyKey, now: Instant) -> IdempotencyEntry | None:
    known = tables.keys.get(key)
    fresh = known is not None and known.created_at > now - limits.IDEMPOTENCY_TTL_S * SECOND_US
    return known if fresh else None


class MemoryIdempotency:
    """``Idempotency`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._guard = threading.Lock()
        # One lock for each key, as often as somebody wants it.
        self._inside: dict[IdempotencyKey, list[threading.Lock]] = {}
        self._waiting = Waiting()

    @contextmanager
    def alone(self, key: IdempotencyKey) -> Iterator[None]:
        """Mirrors ``Idempotency.alone``."""
        with self._guard:
            wanted = self._inside.setdefault(key, [])
            wanted.append(wanted[0] if wanted else threading.Lock())
        try:
            if not wanted[0].acquire(blocking=False):
                with self._waiting.place(key.tenant_id):
                    if not wanted[0].acquire(timeout=limits.WAIT_S_MAX):
                        raise key_unavailable("another call with the key has not ended")
            try:
                yield
            finally:
                wanted[0].release()
        finally:
            with self._guard:
                wanted.pop()
                if not wanted:
                    del self._inside[key]

    def find(self, key: IdempotencyKey, now: Instant) -> IdempotencyEntry | None:
        """Mirrors ``Idempotency.find``."""
        return find_key(self._memory.tables, key, now)

    def remember(self, entry: IdempotencyEntry, *, erases: bool = False) -> IdempotencyEntry:
        """Mirrors ``Idempotency.remember``."""
        with self._memory.change() as tables:
            known = find_key(tables, entry.key, entry.created_at)
            cleared = tables.packs_cleared.get(entry.key.tenant_id, entry.created_at)
            if known is None and (erases or cleared <= entry.created_at):
                tables.keys[entry.key] = entry
            return known or entry

    def prune(self, before: Instant) -> int:
        """Mirrors ``Idempotency.prune``."""
        with self._memory.change() as tables:
            old = [key for key, entry in tables.keys.items() if entry.created_at < before]
            for key in old:
                del tables.keys[key]
            return len(old)


class MemoryScopes:
    """``Scopes`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def get(self, tenant_id: str, path: Scope) -> ScopeRow | None:
        """Mirrors ``Scopes.get``."""
        return self._memory.tables.scopes.get((tenant_id, path))

    def below(
        self, tenant_id: str, path: Scope, limit: int, *, seen_at: Instant | None = None
    ) -> list[Scope]:
        """Mirrors ``Scopes.below``."""
        scopes = self._memory.tables.scopes
        begun = {
            event.scope
            for event in self._memory.tables.events.values()
            if seen_at is not None and event.tenant_id == tenant_id and event.recorded_at <= seen_at
        }
        found = [
            scope
            for (tenant, scope), row in scopes.items()
            if tenant == tenant_id and path.contains(scope) and not row.pruned
            if seen_at is None or row.created_at <= seen_at or scope in begun
        ]
        return sorted(found)[:limit]
