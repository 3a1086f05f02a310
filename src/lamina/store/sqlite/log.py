"""The log, idempotency keys and scopes in SQLite."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from typing import Any

import apsw

from lamina import limits
from lamina.errors import NotFound
from lamina.kernel.canonical import compact
from lamina.kernel.events import Event, EventDraft, Stage
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Clock, Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.idempotency import IdempotencyKey, KeyLocks, Remembered
from lamina.store.ports.log import Appended, AppendedOnce, Capture, EventQuery
from lamina.store.ports.scopes import ScopeRow
from lamina.store.rows import Row
from lamina.store.rules.log import cancellation_of, captured_row
from lamina.store.rules.refusals import check_same
from lamina.store.sqlite.codec import STAGE_NUMBERS, event_row, json_list, read_event, stage_of
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.digits import hash_of, id_of, stored_hash, stored_id
from lamina.store.sqlite.erased import refuse_erased
from lamina.store.sqlite.exclusion import exclude_dependants
from lamina.store.sqlite.lifecycle import LifecycleWriter
from lamina.store.sqlite.unfolding import unfold

__all__ = ["SqliteIdempotency", "SqliteLog", "SqliteScopes"]

_SQL = load_blocks("lamina.store.sqlite")
_CONTENT = 11
"""The column of ``event`` that holds what was told."""
_Rows = Callable[[str, Row], Iterable[Row]]
_Put = Callable[[apsw.Connection, Sequence[Capture]], list[Appended]]


_parsed = lru_cache(maxsize=limits.ROWS_PARSED_MAX)(read_event)


def _read(row: Row) -> Event:
    """The event of a row: what is asked about is asked about again, and a row that has changed is another."""
    return _parsed(row) if len(row[_CONTENT]) <= limits.ROW_PARSED_CHARS_MAX else read_event(row)


class SqliteLog:
    """``EventLog`` over the ``event`` table."""

    def __init__(
        self, writer: Writer, readers: Readers, clock: Clock, ids: IdSource, lifecycle: LifecycleWriter
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._ids = ids
        self._lifecycle = lifecycle

    def append(self, captures: Sequence[Capture]) -> list[Appended]:
        """Mirrors ``EventLog.append``."""
        if len(captures) == 1:
            return self._writer.write(_Append(captures[0], self.put), event_of=_only_event)
        return self._writer.write(lambda connection: self.put(connection, captures), event_of=_only_event)

    def append_once(self, captures: Sequence[Capture], entry: Remembered) -> AppendedOnce:
        """Mirrors ``EventLog.append_once``."""

        def work(connection: apsw.Connection) -> AppendedOnce:
            known = find_key(connection.execute, entry.key, entry.created_at)
            if known is not None:
                check_same(known, entry.body_hash)
                return AppendedOnce(known, [], replayed=True)
            appended = self.put(connection, captures)
            put_key(connection, entry)
            return AppendedOnce(entry, appended, replayed=False)

        return self._writer.write(work, event_of=lambda once: _only_event(once.appended))

    def put(self, connection: apsw.Connection, captures: Sequence[Capture]) -> list[Appended]:
        """``append`` inside somebody's transaction."""
        refuse_erased(connection, (capture.draft for capture in captures))
        now = self._clock.now()
        seq = _value(connection, _SQL["last_seq"])
        marks: dict[str, tuple[int, Instant]] = {}
        appended: list[Appended] = []
        rows: list[tuple[int, Capture, Event]] = []
        seen = _find_keys(connection, [capture.key for capture in captures if capture.key], now)
        stored: dict[str, Event] = {}
        for capture in captures:
            known = seen.get(capture.key) if capture.key else None
            if known is not None and known.event_id is not None:
                check_same(known, capture.body_hash)
                event = stored.get(known.event_id) or find_event(
                    connection, known.key.tenant_id, known.event_id
                )
                appended.append(Appended(event, replayed=True))
                continue
            draft = capture.draft
            position, recorded_at = marks.get(draft.tenant_id) or self._mark(connection, draft.tenant_id)
            position, recorded_at, seq = position + 1, max(now, recorded_at + 1), seq + 1
            marks[draft.tenant_id] = (position, recorded_at)
            event_id = self._ids.stamped(Prefix.EVENT, recorded_at)
            event = _placed(draft, event_id, position, recorded_at)
            rows.append((seq, capture, event))
            appended.append(Appended(event, replayed=False))
            if capture.key:
                stored[event_id] = event
                seen[capture.key] = Remembered(capture.key, capture.body_hash, now, event_id)
        self._insert(connection, rows, now)
        return appended

    def _mark(self, connection: apsw.Connection, tenant_id: str) -> tuple[int, Instant]:
        for position, recorded_at in connection.execute(_SQL["last_event"], (tenant_id,)):
            return position, recorded_at
        return 0, 0

    def _insert(
        self, connection: apsw.Connection, rows: Sequence[tuple[int, Capture, Event]], now: Instant
    ) -> None:
        first = STAGE_NUMBERS[Stage.EXTRACTED]
        connection.executemany(
            _SQL["insert_event"],
            [event_row(seq, event.position, event.id, event.recorded_at, event) for seq, _, event in rows],
        )
        connection.executemany(
            _SQL["insert_job"],
            [(event.tenant_id, event.id, first, event.scope, event.position, seq) for seq, _, event in rows],
        )
        self._lifecycle.put(connection, [captured_row(event) for _, _, event in rows], first_of_event=True)
        keyed = [(c.key, c.body_hash, e) for _, c, e in rows if c.key is not None]
        connection.executemany(
            _SQL["put_idempotency"],
            [
                (
                    *(k.tenant_id, k.caller, k.family, k.key),
                    *(stored_hash(body), stored_id(e.id, Prefix.EVENT), None, now),
                )
                for k, body, e in keyed
            ],
        )
        owners = {(event.tenant_id, event.scope): event.caller for _, _, event in reversed(rows)}
        connection.executemany(
            _SQL["insert_scope"], [(tenant, path, caller, now) for (tenant, path), caller in owners.items()]
        )

    def get(self, tenant_id: str, event_ids: Collection[str]) -> dict[str, Event]:
        """Mirrors ``EventLog.get``."""
        if not event_ids:
            return {}
        rows = self._readers.rows(_SQL["events_by_id"], (tenant_id, json_list(event_ids)))
        return {event.id: event for event in map(_read, rows)}

    def query(self, query: EventQuery) -> list[Event]:
        """Mirrors ``EventLog.query``."""
        if query.session is None:
            block = "events_oldest_first" if query.ascending else "events_newest_first"
        else:
            block = "events_of_session_oldest_first" if query.ascending else "events_of_session_newest_first"
        bindings: dict[str, Any] = {
            "tenant_id": query.tenant_id,
            "scopes": json_list(query.scopes),
            "after": query.after,
            "observed_from": query.observed_from,
            "observed_to": query.observed_to,
            "recorded_from": query.recorded_from,
            "recorded_to": query.recorded_to,
            "observed_actor": query.observed_actor,
            "session": query.session,
            "modality": query.modality,
            "with_excluded": query.with_excluded,
            "limit": query.limit,
        }
        return [read_event(row) for row in self._readers.rows(_SQL[block], bindings)]

    def previous(self, event: Event, limit: int) -> list[Event]:
        """Mirrors ``EventLog.previous``."""
        place = (event.tenant_id, event.scope)
        if event.session is None:
            rows = self._readers.rows(_SQL["events_before_in_scope"], (*place, event.position, limit))
        else:
            rows = self._readers.rows(
                _SQL["events_before_in_session"], (*place, event.session, event.position, limit)
            )
        return [read_event(row) for row in reversed(rows)]

    def walk(self, tenant_id: str, after: int, limit: int) -> list[Event]:
        """Mirrors ``EventLog.walk``."""
        return [read_event(row) for row in self._readers.rows(_SQL["walk_events"], (tenant_id, after, limit))]

    def feedback(self, tenant_id: str, limit: int) -> list[Event]:
        """Mirrors ``EventLog.feedback``."""
        return [read_event(row) for row in self._readers.rows(_SQL["feedback_events"], (tenant_id, limit))]

    def tenants(self) -> list[str]:
        """Mirrors ``EventLog.tenants``."""
        return [row[0] for row in self._readers.rows(_SQL["tenants"])]

    def last_recorded(self, tenant_id: str, scopes: Collection[Scope] | None) -> Instant | None:
        """Mirrors ``EventLog.last_recorded``. Recorded instants of a tenant rise with its positions."""
        if scopes is None:
            last = self._readers.row(_SQL["last_event"], (tenant_id,))
            return None if last is None else last[1]
        row = self._readers.row(_SQL["last_recorded"], (tenant_id, json_list(scopes)))
        return None if row is None else row[0]

    def senders_into(self, tenant_id: str, into: Scope) -> list[Scope]:
        """Mirrors ``EventLog.senders_into``."""
        return [Scope(scope) for (scope,) in self._readers.rows(_SQL["senders_into"], (tenant_id, into))]

    def count(self, tenant_id: str, scopes: Collection[Scope]) -> int:
        """Mirrors ``EventLog.count``."""
        row = self._readers.row(_SQL["count_events"], (tenant_id, json_list(scopes)))
        assert row is not None, "a count is always a row"
        return int(row[0])

    def cancel(self, tenant_id: str, event_id: str) -> tuple[Stage, ...]:
        """Mirrors ``EventLog.cancel``."""
        return self._writer.write(
            lambda connection: self._cancel(connection, tenant_id, event_id),
            event_of=lambda _: event_id,
        )

    def _cancel(self, connection: apsw.Connection, tenant_id: str, event_id: str) -> tuple[Stage, ...]:
        event = find_event(connection, tenant_id, event_id)
        if event.cancelled_after is not None:
            return ()
        refuse_erased(connection, [event])
        stages = list(Stage)
        queued = [
            stage_of(row[0]) for row in connection.execute(_SQL["jobs_of_event"], (tenant_id, event_id))
        ]
        dropped = tuple(stages[stages.index(queued[0]) :]) if queued else ()
        done = stages[stages.index(dropped[0]) - 1] if dropped else stages[-1]
        connection.execute(_SQL["drop_jobs"], (tenant_id, event_id))
        connection.execute(_SQL["mark_cancelled"], (tenant_id, event_id, done.value))
        exclude_dependants(connection, tenant_id, event_id, event.scope)
        unfold(connection, event)
        if done is not Stage.CAPTURED:
            # It has its place in the log, where derivation mends what rested on the event.
            self.enter(connection, cancellation_of(event))
        return dropped

    def append_entry(self, draft: EventDraft) -> Event:
        """Mirrors ``EventLog.append_entry``."""
        return self._writer.write(
            lambda connection: self.enter_shown(connection, draft), event_of=lambda entry: entry.id
        )

    def enter_shown(self, connection: apsw.Connection, draft: EventDraft) -> Event:
        """``append_entry`` inside somebody's transaction."""
        refuse_erased(connection, [draft])
        entry_id, _, _ = self.enter(connection, draft)
        entry = find_event(connection, draft.tenant_id, entry_id)
        self._lifecycle.put(connection, [captured_row(entry)], first_of_event=True)
        return entry

    def enter(self, connection: apsw.Connection, draft: EventDraft) -> tuple[str, int, Instant]:
        """``append_entry`` inside somebody's transaction, who tells of it: its id, position and instant."""
        position, recorded_at = self._mark(connection, draft.tenant_id)
        position, recorded_at = position + 1, max(self._clock.now(), recorded_at + 1)
        seq = _value(connection, _SQL["last_seq"]) + 1
        entry_id = self._ids.stamped(Prefix.EVENT, recorded_at)
        connection.execute(_SQL["insert_event"], event_row(seq, position, entry_id, recorded_at, draft))
        place = (draft.tenant_id, entry_id)
        connection.execute(_SQL["mark_cancelled"], (*place, Stage.COMPRESSED.value))
        first = STAGE_NUMBERS[Stage.EXTRACTED]
        connection.execute(_SQL["insert_job"], (*place, first, draft.scope, position, seq))
        return entry_id, position, recorded_at


class _Append:
    """One capture as a work of the writer, which is put together with others that wait beside it."""

    def __init__(self, capture: Capture, put: _Put) -> None:
        self._capture = capture
        self._put = put

    def __call__(self, connection: apsw.Connection) -> list[Appended]:
        return self._put(connection, [self._capture])

    @staticmethod
    def together(connection: apsw.Connection, appends: Sequence[_Append]) -> list[list[Appended]]:
        """What each of them would have answered."""
        appended = appends[0]._put(connection, [each._capture for each in appends])
        return [[each] for each in appended]


def _placed(draft: EventDraft, event_id: str, position: int, recorded_at: Instant) -> Event:
    return Event(
        tenant_id=draft.tenant_id,
        scope=draft.scope,
        caller=draft.caller,
        observed_actor=draft.observed_actor,
        subject=draft.subject,
        session=draft.session,
        modality=draft.modality,
        content=draft.content,
        context=draft.context,
        directives=draft.directives,
        origin=draft.origin,
        batch_id=draft.batch_id,
        id=event_id,
        position=position,
        recorded_at=recorded_at,
    )


def _only_event(appended: Sequence[Appended]) -> str | None:
    return appended[0].event.id if len(appended) == 1 else None


def _value(connection: apsw.Connection, sql: str, bindings: Row = ()) -> int:
    for row in connection.execute(sql, bindings):
        return int(row[0])
    raise AssertionError("an aggregate is always a row")


def find_event(connection: apsw.Connection, tenant_id: str, event_id: str) -> Event:
    """An event by its id; raises ``NotFound``."""
    for row in connection.execute(_SQL["find_event"], (tenant_id, event_id)):
        return read_event(row)
    raise NotFound("NOT_FOUND", "there is no such event", details={"event_id": event_id})


# ---- idempotency


def _find_keys(
    connection: apsw.Connection, keys: Sequence[IdempotencyKey], now: Instant
) -> dict[IdempotencyKey, Remembered]:
    """What keys were used for within their lifetime."""
    families: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for key in keys:
        families[key.tenant_id, key.caller, key.family].append(key.key)
    used_after = now - limits.IDEMPOTENCY_TTL_S * SECOND_US
    found: dict[IdempotencyKey, Remembered] = {}
    for family, names in families.items():
        for name, body_hash, event_id, response, created_at in connection.execute(
            _SQL["find_idempotency_keys"], (*family, json_list(names), used_after)
        ):
            key = IdempotencyKey(*family, name)
            answer = json.loads(response) if response else None
            found[key] = Remembered(
                key, hash_of(body_hash), created_at, id_of(event_id, Prefix.EVENT), answer
            )
    return found


def find_key(rows: _Rows, key: IdempotencyKey, now: Instant) -> Remembered | None:
    """What a key was used for within its lifetime."""
    bindings = (key.tenant_id, key.caller, key.family, key.key)
    for body_hash, event_id, response, created_at in rows(_SQL["find_idempotency"], bindings):
        if created_at > now - limits.IDEMPOTENCY_TTL_S * SECOND_US:
            answer = json.loads(response) if response else None
            return Remembered(key, hash_of(body_hash), created_at, id_of(event_id, Prefix.EVENT), answer)
    return None


def put_key(connection: apsw.Connection, entry: Remembered) -> None:
    """Remember a key, in the transaction of what it led to."""
    key = entry.key
    response = None if entry.response is None else compact(dict(entry.response))
    connection.execute(
        _SQL["put_idempotency"],
        (
            key.tenant_id,
            key.caller,
            key.family,
            key.key,
            stored_hash(entry.body_hash),
            None if entry.event_id is None else stored_id(entry.event_id, Prefix.EVENT),
            response,
            entry.created_at,
        ),
    )


class SqliteIdempotency:
    """``Idempotency`` over its table."""

    def __init__(self, writer: Writer, readers: Readers, locks: KeyLocks) -> None:
        self._writer = writer
        self._readers = readers
        self._locks = locks

    def alone(self, key: IdempotencyKey) -> AbstractContextManager[None]:
        """Mirrors ``Idempotency.alone``."""
        return self._locks.held(key.tenant_id, json_list([key.caller, key.family, key.key]))

    def find(self, key: IdempotencyKey, now: Instant) -> Remembered | None:
        """Mirrors ``Idempotency.find``."""
        return find_key(self._readers.rows, key, now)

    def remember(self, entry: Remembered) -> Remembered:
        """Mirrors ``Idempotency.remember``."""

        def work(connection: apsw.Connection) -> Remembered:
            known = find_key(connection.execute, entry.key, entry.created_at)
            if known is None:
                put_key(connection, entry)
            return known or entry

        return self._writer.write(work)

    def prune(self, before: Instant) -> int:
        """Mirrors ``Idempotency.prune``."""
        pruned, after = 0, ("", "", "", "")
        while old := self._readers.rows(_SQL["old_keys"], (before, limits.KEYS_PRUNED_MAX, *after)):
            pruned += self._writer.write(partial(_forget_keys, keys=old, before=before))
            after = old[-1]
        return pruned


def _forget_keys(connection: apsw.Connection, keys: Sequence[Row], before: Instant) -> int:
    changes = connection.total_changes()
    connection.executemany(_SQL["forget_key"], [(*key, before) for key in keys])
    return connection.total_changes() - changes


class SqliteScopes:
    """``Scopes`` over its table."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def get(self, tenant_id: str, path: Scope) -> ScopeRow | None:
        """Mirrors ``Scopes.get``."""
        row = self._readers.row(_SQL["find_scope"], (tenant_id, path))
        if row is None:
            return None
        return ScopeRow(
            tenant_id=row[0],
            path=Scope(row[1]),
            auto_provisioned=bool(row[2]),
            created_by=row[3],
            created_at=row[4],
            pruned=bool(row[5]),
        )

    def below(self, tenant_id: str, path: Scope, limit: int) -> list[Scope]:
        """Mirrors ``Scopes.below``."""
        rows = self._readers.rows(_SQL["scopes_below"], (tenant_id, path, f"{path}/", f"{path}0", limit))
        return [Scope(row[0]) for row in rows]
