"""The log and scopes in SQLite."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import apsw

from lamina import limits
from lamina.errors import NotFound
from lamina.kernel.events import Event, EventDraft, Stage
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Posted
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Clock, Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.log import Appended, AppendedOnce, Capture, EventQuery
from lamina.store.ports.scopes import ScopeRow
from lamina.store.rows import Row
from lamina.store.rules.log import cancellation_of, captured_row
from lamina.store.rules.refusals import check_same
from lamina.store.sqlite.codec import STAGE_NUMBERS, EventRows, event_row, json_list, read_event, stage_of
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.digits import id_bytes, stored_hash
from lamina.store.sqlite.erasure_guards import refuse_erased
from lamina.store.sqlite.exclusion import exclude_dependants
from lamina.store.sqlite.keys import find_key, find_keys, put_key, stored_key
from lamina.store.sqlite.lifecycle import LifecycleWriter
from lamina.store.sqlite.many import put_rows
from lamina.store.sqlite.paths import bounds_within
from lamina.store.sqlite.unfolding import unfold
from lamina.store.sqlite.words import stored_word

__all__ = ["SqliteLog", "SqliteScopes", "find_event"]

_SQL = load_blocks("lamina.store.sqlite")
_FIRST_STAGE = STAGE_NUMBERS[Stage.EXTRACTED]
_CONTENT = 11
"""The column of ``event`` that holds what was told."""
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

    def post(self, capture: Capture) -> Posted:
        """Mirrors ``EventLog.post``."""
        return self._writer.posted(_Append(capture, self.put), event_of=_only_event, calls=False)

    def append_once(self, captures: Sequence[Capture], entry: IdempotencyEntry) -> AppendedOnce:
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
        rows = _Rows(seq, now)
        marks: dict[str, tuple[int, Instant]] = {}
        appended: list[Appended] = []
        known = find_keys(connection, [capture.key for capture in captures if capture.key], now)
        landed: dict[IdempotencyKey, tuple[str, Appended]] = {}
        for draft, key, body_hash in captures:
            if key is not None and (key in landed or key in known):
                again = _again(connection, key, body_hash, known, landed)
                if again is not None:
                    appended.append(again)
                    continue
            tenant_id = draft.tenant_id
            position, recorded_at = marks.get(tenant_id) or self._mark(connection, tenant_id)
            marks[tenant_id] = position, recorded_at = position + 1, max(now, recorded_at + 1)
            event_id = self._ids.stamped(Prefix.EVENT, recorded_at)
            one = Appended(draft, event_id, position, recorded_at, replayed=False)
            rows.add(one, key, body_hash)
            appended.append(one)
            if key is not None:
                landed[key] = body_hash, one
        rows.insert(connection)
        self._lifecycle.captured(connection, [one for one in appended if not one.replayed])
        return appended

    def _mark(self, connection: apsw.Connection, tenant_id: str) -> tuple[int, Instant]:
        for position, recorded_at in connection.execute(_SQL["last_event"], (tenant_id,)):
            return position, recorded_at
        return 0, 0

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
            "modality_stored": None if query.modality is None else stored_word(query.modality),
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

    def told_last(self, limit: int) -> list[tuple[str, Scope]]:
        """Mirrors ``EventLog.told_last``."""
        rows = self._readers.rows(_SQL["told_last"], (limit,))
        return [(tenant_id, Scope(scope)) for tenant_id, scope in rows]

    def senders_into(self, tenant_id: str, into: Scope) -> list[Scope]:
        """Mirrors ``EventLog.senders_into``."""
        return [Scope(scope) for (scope,) in self._readers.rows(_SQL["senders_into"], (tenant_id, into))]

    def count(self, tenant_id: str, scopes: Collection[Scope], *, seen_at: Instant | None = None) -> int:
        """Mirrors ``EventLog.count``."""
        row = self._readers.row(_SQL["count_events"], (tenant_id, json_list(scopes), seen_at))
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
        entry = self.entry(draft, *self._mark(connection, draft.tenant_id))
        self.put_entry(connection, entry)
        return entry.id, entry.position, entry.recorded_at

    def entry(self, draft: EventDraft, position: int, recorded_at: Instant) -> Event:
        """An entry at its place behind what is at this position and instant, the newest of its tenant; ``put_entry`` lands it."""
        recorded_at = max(self._clock.now(), recorded_at + 1)
        *row, observed_offset = event_row(
            0, position + 1, self._ids.stamped(Prefix.EVENT, recorded_at), recorded_at, draft
        )
        return read_event((*row, Stage.COMPRESSED.value, observed_offset, None, None, 0))

    def put_entry(self, connection: apsw.Connection, entry: Event) -> None:
        """Land an entry in the transaction in which it got its place."""
        seq = _value(connection, _SQL["last_seq"]) + 1
        row = event_row(seq, entry.position, entry.id, entry.recorded_at, entry)
        connection.execute(_SQL["insert_event"], row)
        place = (entry.tenant_id, entry.id)
        connection.execute(_SQL["mark_cancelled"], (*place, Stage.COMPRESSED.value))
        connection.execute(_SQL["insert_job"], (*place, _FIRST_STAGE, entry.scope, entry.position, seq))


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


class _Rows:
    """The rows of what is appended, each made once, as it is stored: a batch has a thousand, and all who write wait for them."""

    def __init__(self, seq: int, now: Instant) -> None:
        """``seq`` is that of the newest row of the log."""
        self._seq = seq
        self._now = now
        self._events: list[Row] = []
        self._jobs: list[Row] = []
        self._keys: list[Row] = []
        self._owners: dict[tuple[str, str], str] = {}
        self._written = EventRows()

    def add(self, one: Appended, key: IdempotencyKey | None, body_hash: str) -> None:
        """Those of an event."""
        draft, event_id, position, recorded_at, _ = one
        self._seq = seq = self._seq + 1
        place = draft.tenant_id, draft.scope
        self._events.append(self._written.of(seq, position, event_id, recorded_at, draft))
        self._jobs.append((draft.tenant_id, event_id, _FIRST_STAGE, draft.scope, position, seq))
        self._owners.setdefault(place, draft.caller)
        if key is not None:
            self._keys.append((*stored_key(key), stored_hash(body_hash), id_bytes(event_id), None, self._now))

    def insert(self, connection: apsw.Connection) -> None:
        """All of them, by few statements for each table."""
        put_rows(connection, _SQL["insert_event"], self._events)
        put_rows(connection, _SQL["insert_job"], self._jobs)
        put_rows(connection, _SQL["put_idempotency"], self._keys)
        scopes = [(*place, caller, self._now) for place, caller in self._owners.items()]
        put_rows(connection, _SQL["insert_scope"], scopes)


def _again(
    connection: apsw.Connection,
    key: IdempotencyKey,
    body_hash: str,
    known: Mapping[IdempotencyKey, IdempotencyEntry],
    landed: Mapping[IdempotencyKey, tuple[str, Appended]],
) -> Appended | None:
    """What a key led to before, on disk or in the same batch; raises ``Conflict`` where that was another body's."""
    if (entry := known.get(key)) is not None and entry.event_id is not None:
        check_same(entry, body_hash)
        return Appended.of(find_event(connection, key.tenant_id, entry.event_id), replayed=True)
    if key not in landed:
        return None
    first_hash, first = landed[key]
    check_same(IdempotencyEntry(key, first_hash, first.recorded_at, first.event_id), body_hash)
    return first._replace(replayed=True)


def _only_event(appended: Sequence[Appended]) -> str | None:
    return appended[0].event_id if len(appended) == 1 else None


def _value(connection: apsw.Connection, sql: str, bindings: Row = ()) -> int:
    for row in connection.execute(sql, bindings):
        return int(row[0])
    raise AssertionError("an aggregate is always a row")


def find_event(connection: apsw.Connection, tenant_id: str, event_id: str) -> Event:
    """An event by its id; raises ``NotFound``."""
    for row in connection.execute(_SQL["find_event"], (tenant_id, event_id)):
        return read_event(row)
    raise NotFound("NOT_FOUND", "there is no such event", details={"event_id": event_id})


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

    def below(
        self, tenant_id: str, path: Scope, limit: int, *, seen_at: Instant | None = None
    ) -> list[Scope]:
        """Mirrors ``Scopes.below``."""
        wanted = (tenant_id, *bounds_within(path), limit)
        if seen_at is None:
            rows = self._readers.rows(_SQL["scopes_below"], wanted)
        else:
            rows = self._readers.rows(_SQL["scopes_below_at"], (*wanted, seen_at))
        return [Scope(row[0]) for row in rows]
