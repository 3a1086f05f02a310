"""Sittings and the outbox in SQLite."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import apsw

from lamina import limits
from lamina.kernel.events import Event
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.log import Appended, Capture
from lamina.store.ports.sessions import End, Fold, OutboxRow, Reworded, SessionKey, Sitting, Wording
from lamina.store.ports.writes import FOLD
from lamina.store.rows import Row
from lamina.store.rules.attempts import kept_error
from lamina.store.rules.sessions import advance, closed, ends
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.jobs import next_fence
from lamina.store.sqlite.log import SqliteLog
from lamina.store.sqlite.paths import bounds_within

__all__ = ["SqliteSessions", "read_sitting"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteSessions:
    """``Sessions`` over the ``session`` and ``outbox`` tables."""

    def __init__(self, writer: Writer, readers: Readers, log: SqliteLog) -> None:
        self._writer = writer
        self._readers = readers
        self._log = log

    def take(self, turns: Sequence[Capture], *, end: End | None = None) -> list[Appended]:
        """Mirrors ``Sessions.take``."""

        def work(connection: apsw.Connection) -> list[Appended]:
            appended = self._log.put(connection, turns)
            _move(connection, [entry.event for entry in appended if not entry.replayed])
            if end is not None:
                _end(connection, [entry.event for entry in appended], end)
            return appended

        return self._writer.write(work, event_of=lambda taken: taken[0].event.id if len(taken) == 1 else None)

    def sitting(self, place: SessionKey, number: int | None = None) -> Sitting | None:
        """Mirrors ``Sessions.sitting``."""
        if number is None:
            row = self._readers.row(_SQL["latest_session"], place)
        else:
            row = self._readers.row(_SQL["find_session"], (*place, number))
        return None if row is None else read_sitting(row)

    def newest(self, tenant_id: str, scope: Scope, limit: int) -> list[Sitting]:
        """Mirrors ``Sessions.newest``."""
        return [
            read_sitting(row)
            for row in self._readers.rows(_SQL["newest_sessions"], (tenant_id, scope, limit))
        ]

    def close(
        self, place: SessionKey, at: Instant, *, untouched_since: Instant | None = None
    ) -> Sitting | None:
        """Mirrors ``Sessions.close``."""

        def work(connection: apsw.Connection) -> Sitting | None:
            held = _latest(connection, place)
            if held is None or held.closed_at is not None:
                return None
            if untouched_since is not None and held.touched_at >= untouched_since:
                return None
            return _close(connection, held, at)

        return self._writer.write(work)

    def idle(self, before: Instant, limit: int) -> list[SessionKey]:
        """Mirrors ``Sessions.idle``."""
        rows = self._readers.rows(_SQL["idle_sessions"], (before, limit))
        return [SessionKey(tenant_id, Scope(scope), session) for tenant_id, scope, session in rows]

    def claim(self, *, limit: int, lease_until: Instant, now: Instant, owner: str) -> list[OutboxRow]:
        """Mirrors ``Sessions.claim``. Looks for sessions before it takes the write lock."""
        heads = self._readers.rows(_SQL["outbox_heads"], (now, limit))
        if not heads:
            return []
        places = [SessionKey(tenant_id, Scope(scope), session) for tenant_id, scope, session in heads]
        return self._writer.write(
            lambda connection: _claim(connection, places, limit, lease_until, now, owner)
        )

    def fold(self, fold: Fold) -> bool:
        """Mirrors ``Sessions.fold``."""
        count = len(fold.ids)

        def work(connection: apsw.Connection) -> bool:
            ids = json.dumps(fold.ids)
            connection.execute(
                _SQL["fold_outbox"],
                (fold.place.tenant_id, ids, fold.at, fold.number, int(fold.sent), fold.fence),
            )
            if connection.changes() != count:
                raise _FoldedBefore
            told = (fold.summary, count, fold.bridge, bool(fold.inquiries), fold.revision)
            connection.execute(_SQL["fold_session"], (*fold.place, fold.number, *told))
            if not connection.changes():
                raise _FoldedBefore
            connection.executemany(
                _SQL["insert_inquiry"],
                [
                    (i.tenant_id, i.event_id, i.task, i.scope, i.position, i.created_at)
                    for i in fold.inquiries
                ],
            )
            return True

        return self._landed(work)

    def left(self, tenant_id: str, event_id: str) -> Sitting | None:
        """Mirrors ``Sessions.left``."""
        left = self._readers.row(_SQL["outbox_of_event"], (tenant_id, event_id))
        if left is None:
            return None
        scope, session, number = left
        return self.sitting(SessionKey(tenant_id, Scope(scope), session), number)

    def wording(self, tenant_id: str, event_id: str) -> Wording | None:
        """Mirrors ``Sessions.wording``."""
        sitting = self.left(tenant_id, event_id)
        if sitting is None or sitting.worded is None:
            return None
        most = limits.SESSION_WORDING_READ_MAX + 1
        rows = self._readers.rows(_SQL["turns_to_word"], (*sitting.place, sitting.number, FOLD, most))
        return Wording(sitting, tuple(row[0] for row in rows))

    def reword(self, reworded: Reworded) -> bool:
        """Mirrors ``Sessions.reword``."""
        sitting, inquiry = reworded.sitting, reworded.inquiry

        def work(connection: apsw.Connection) -> bool:
            connection.execute(_SQL["end_inquiry"], (inquiry.tenant_id, inquiry.id, inquiry.fence))
            if not connection.changes():
                return False
            told = (reworded.worded, reworded.summary, reworded.bridge, sitting.revision)
            connection.execute(_SQL["word_session"], (*sitting.place, sitting.number, *told))
            if not connection.changes():
                raise _FoldedBefore
            return True

        return self._landed(work)

    def _landed(self, work: Callable[[apsw.Connection], bool]) -> bool:
        try:
            return self._writer.write(work)
        except _FoldedBefore:
            return False

    def walk(self, after: Sitting | None, limit: int) -> list[Sitting]:
        """Mirrors ``Sessions.walk``."""
        behind = ("", "", "", 0) if after is None else (*after.place, after.number)
        return list(map(read_sitting, self._readers.rows(_SQL["sittings_after"], (*behind, limit))))

    def folded(self, place: SessionKey, number: int) -> list[str]:
        """Mirrors ``Sessions.folded``."""
        return [row[0] for row in self._readers.rows(_SQL["folded_turns"], (*place, number))]

    def retell(self, sitting: Sitting, summary: str, bridge: str | None) -> bool:
        """Mirrors ``Sessions.retell``."""
        told = (sitting.worded, summary, bridge, sitting.revision)
        return self._writer.change(_SQL["word_session"], (*sitting.place, sitting.number, *told)) > 0

    def unfolded(self, place: SessionKey, number: int, limit: int) -> list[str]:
        """Mirrors ``Sessions.unfolded``."""
        rows = self._readers.rows(_SQL["outbox_unfolded"], (*place, number, limit))
        return [row[0] for row in reversed(rows)]

    def sent(self, rows: Collection[OutboxRow], at: Instant) -> None:
        """Mirrors ``Sessions.sent``."""
        self._writer.change(_SQL["send_outbox"], (_leases(rows), at))

    def put_off(self, row: OutboxRow, error: str, *, retry_at: Instant | None, failed: bool) -> None:
        """Mirrors ``Sessions.put_off``."""
        self._writer.change(_SQL["put_off_outbox"], (row.id, kept_error(error), retry_at, failed, row.fence))

    def release(self, rows: Collection[OutboxRow]) -> None:
        """Mirrors ``Sessions.release``."""
        self._writer.change(_SQL["release_outbox"], (_leases(rows),))

    def take_over(self) -> int:
        """Mirrors ``Sessions.take_over``."""
        return self._writer.change(_SQL["outbox_leases_left"])

    def revive(self, tenant_id: str, within: Scope) -> int:
        """Mirrors ``Sessions.revive``."""
        return self._writer.change(_SQL["revive_outbox"], (tenant_id, *bounds_within(within)))

    def outbox(self, tenant_id: str, within: Scope | None, limit: int) -> list[OutboxRow]:
        """Mirrors ``Sessions.outbox``."""
        rows = self._readers.rows(_SQL["outbox_left"], (tenant_id, *bounds_within(within), limit))
        return [_outbox_row(row) for row in rows]


class _FoldedBefore(Exception):
    """Takes a fold, or a model's words, back: the summary is another by now."""


def _move(connection: apsw.Connection, events: Sequence[Event]) -> None:
    """Let fresh turns move the windows of their sessions."""
    held: dict[SessionKey, Sitting] = {}
    for event in events:
        assert event.session is not None, "a turn names its session"
        place = SessionKey(event.tenant_id, event.scope, event.session)
        step = advance(held.get(place) or _latest(connection, place), event)
        if step.closed is not None:
            connection.execute(_SQL["put_session"], _row(step.closed))
        _evict(connection, place, step.evicted, event.recorded_at)
        held[place] = step.sitting
    connection.executemany(_SQL["put_session"], [_row(sitting) for sitting in held.values()])


def _end(connection: apsw.Connection, turns: Sequence[Event], end: End) -> None:
    """Close the sitting of turns that were taken in, if they end it."""
    event = turns[0]
    assert event.session is not None, "a turn names its session"
    held = _latest(connection, SessionKey(event.tenant_id, event.scope, event.session))
    if held is not None and ends(held, turns, end):
        _close(connection, held, end.told_at)


def _close(connection: apsw.Connection, held: Sitting, at: Instant) -> Sitting:
    ended = closed(held, at)
    _evict(connection, held.place, [(held.number, event_id) for event_id in held.window], at)
    connection.execute(_SQL["put_session"], _row(ended))
    return ended


def _latest(connection: apsw.Connection, place: SessionKey) -> Sitting | None:
    for row in connection.execute(_SQL["latest_session"], place):
        return read_sitting(row)
    return None


def _evict(
    connection: apsw.Connection, place: SessionKey, evicted: Sequence[tuple[int, str]], at: Instant
) -> None:
    connection.executemany(
        _SQL["insert_outbox"], [(*place, number, event_id, at) for number, event_id in evicted]
    )


def _claim(
    connection: apsw.Connection,
    places: Sequence[SessionKey],
    limit: int,
    lease_until: Instant,
    now: Instant,
    owner: str,
) -> list[OutboxRow]:
    claimed: list[OutboxRow] = []
    for place in places:
        most = min(limit - len(claimed), limits.OUTBOX_SESSION_ROWS_MAX)
        rows = map(_outbox_row, connection.execute(_SQL["outbox_of_session"], (*place, most)))
        claimed += itertools.takewhile(lambda row: row.is_due(now), rows)
    fence = next_fence(connection) if claimed else 0
    connection.executemany(_SQL["lease_outbox"], [(row.id, lease_until, owner, fence) for row in claimed])
    return [replace(row, lease_until=lease_until, lease_owner=owner, fence=fence) for row in claimed]


def _leases(rows: Collection[OutboxRow]) -> str:
    return json.dumps([[row.id, row.fence] for row in rows])


def _row(sitting: Sitting) -> Row:
    return (
        *sitting.place,
        sitting.number,
        json.dumps(sitting.window),
        sitting.turns,
        sitting.folded,
        sitting.summary,
        sitting.bridge,
        sitting.opened_at,
        sitting.touched_at,
        sitting.last_turn_at,
        sitting.last_position,
        sitting.closed_at,
    )


def read_sitting(row: Row) -> Sitting:
    """A sitting of its columns."""
    (tenant_id, scope, session, number, window, turns, folded, summary, bridge, opened_at, touched_at,
     last_turn_at, last_position, closed_at, worded, revision) = row  # fmt: skip
    return Sitting(
        place=SessionKey(tenant_id, Scope(scope), session),
        number=number,
        window=tuple(json.loads(window)),
        turns=turns,
        folded=folded,
        summary=summary,
        bridge=bridge,
        opened_at=opened_at,
        touched_at=touched_at,
        last_turn_at=last_turn_at,
        last_position=last_position,
        closed_at=closed_at,
        worded=worded,
        revision=revision,
    )


def _outbox_row(row: Row) -> OutboxRow:
    (row_id, tenant_id, scope, session, sitting, event_id, state, attempts, next_attempt_at, lease_until,
     last_error, folded_at, sent_at, created_at, lease_owner, fence) = row  # fmt: skip
    return OutboxRow(
        id=row_id,
        place=SessionKey(tenant_id, Scope(scope), session),
        sitting=sitting,
        event_id=event_id,
        state=state,
        attempts=attempts,
        next_attempt_at=next_attempt_at,
        lease_until=lease_until,
        last_error=last_error,
        folded_at=folded_at,
        sent_at=sent_at,
        created_at=created_at,
        lease_owner=lease_owner,
        fence=fence,
    )
