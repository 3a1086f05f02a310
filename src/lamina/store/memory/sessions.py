"""Sittings and the outbox in memory."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace

from lamina import limits
from lamina.kernel.events import Event
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.memory.log import MemoryLog
from lamina.store.memory.records import put_inquiries
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.log import Appended, Capture
from lamina.store.ports.sessions import End, Fold, OutboxRow, Reworded, SessionKey, Sitting, Wording
from lamina.store.ports.writes import FOLD
from lamina.store.rules.attempts import kept_error
from lamina.store.rules.sessions import advance, closed, ends

__all__ = ["MemorySessions"]


class MemorySessions:
    """``Sessions`` over dictionaries."""

    def __init__(self, memory: Memory, log: MemoryLog) -> None:
        self._memory = memory
        self._log = log

    def take(self, turns: Sequence[Capture], *, end: End | None = None) -> list[Appended]:
        """Mirrors ``Sessions.take``."""
        with self._memory.change() as tables:
            appended = self._log.put(tables, turns)
            for event in (entry.event for entry in appended if not entry.replayed):
                assert event.session is not None, "a turn names its session"
                place = SessionKey(event.tenant_id, event.scope, event.session)
                step = advance(_latest(tables, place), event)
                for sitting in filter(None, (step.closed, step.sitting)):
                    tables.sittings[place, sitting.number] = sitting
                _evict(tables, place, step.evicted, event.recorded_at)
            if end is not None:
                _end(tables, [entry.event for entry in appended], end)
            return appended

    def sitting(self, place: SessionKey, number: int | None = None) -> Sitting | None:
        """Mirrors ``Sessions.sitting``."""
        tables = self._memory.tables
        return _latest(tables, place) if number is None else tables.sittings.get((place, number))

    def newest(self, tenant_id: str, scope: Scope, limit: int) -> list[Sitting]:
        """Mirrors ``Sessions.newest``."""
        found = [
            s for (place, _), s in self._memory.tables.sittings.items() if place[:2] == (tenant_id, scope)
        ]
        return sorted(found, key=lambda sitting: -sitting.last_position)[:limit]

    def close(
        self, place: SessionKey, at: Instant, *, untouched_since: Instant | None = None
    ) -> Sitting | None:
        """Mirrors ``Sessions.close``."""
        with self._memory.change() as tables:
            held = _latest(tables, place)
            if held is None or held.closed_at is not None:
                return None
            if untouched_since is not None and held.touched_at >= untouched_since:
                return None
            return _close(tables, held, at)

    def idle(self, before: Instant, limit: int) -> list[SessionKey]:
        """Mirrors ``Sessions.idle``."""
        found = [
            sitting
            for sitting in self._memory.tables.sittings.values()
            if sitting.closed_at is None and sitting.touched_at < before
        ]
        return [sitting.place for sitting in sorted(found, key=lambda sitting: sitting.touched_at)[:limit]]

    def claim(self, *, limit: int, lease_until: Instant, now: Instant, owner: str) -> list[OutboxRow]:
        """Mirrors ``Sessions.claim``."""
        with self._memory.change() as tables:
            waiting: dict[SessionKey, list[OutboxRow]] = {}
            for row in sorted(tables.outbox.values(), key=lambda row: row.id):
                if row.state == "pending":
                    waiting.setdefault(row.place, []).append(row)
            claimed: list[OutboxRow] = []
            for rows in waiting.values():
                most = min(limit - len(claimed), limits.OUTBOX_SESSION_ROWS_MAX)
                claimed += itertools.takewhile(lambda row: row.is_due(now), rows[:most])
            fence = tables.next_fence() if claimed else 0
            leased = [
                replace(row, lease_until=lease_until, lease_owner=owner, fence=fence) for row in claimed
            ]
            tables.outbox |= {row.id: row for row in leased}
            return leased

    def fold(self, fold: Fold) -> bool:
        """Mirrors ``Sessions.fold``."""
        with self._memory.change() as tables:
            rows = [tables.outbox[row_id] for row_id in fold.ids if row_id in tables.outbox]
            if len(rows) != len(fold.ids) or any(
                row.folded_at is not None or row.fence != fold.fence for row in rows
            ):
                return False
            held = tables.sittings[fold.place, fold.number]
            if held.revision != fold.revision:
                return False
            for row in rows:
                folded = replace(row, folded_at=fold.at, next_attempt_at=None, last_error=None)
                sent = _sent(folded, fold.at) if fold.sent else replace(folded, attempts=0)
                tables.outbox[row.id] = sent
            base = held.summary if held.worded is None else held.worded
            tables.sittings[fold.place, fold.number] = replace(
                held,
                summary=fold.summary,
                folded=held.folded + len(rows),
                bridge=held.bridge if fold.bridge is None else fold.bridge,
                worded=base if fold.inquiries else None,
                revision=held.revision + 1,
            )
            put_inquiries(tables, fold.inquiries)
            return True

    def left(self, tenant_id: str, event_id: str) -> Sitting | None:
        """Mirrors ``Sessions.left``."""
        tables = self._memory.tables
        rows = tables.outbox.values()
        left = [row for row in rows if (row.place.tenant_id, row.event_id) == (tenant_id, event_id)]
        return tables.sittings[left[0].place, left[0].sitting] if left else None

    def wording(self, tenant_id: str, event_id: str) -> Wording | None:
        """Mirrors ``Sessions.wording``."""
        tables = self._memory.tables
        left = {(row.place.tenant_id, row.event_id): row for row in tables.outbox.values()}
        row = left.get((tenant_id, event_id))
        sitting = None if row is None else tables.sittings[row.place, row.sitting]
        if sitting is None or sitting.worded is None:
            return None
        asked = sorted(
            (each for each in tables.inquiries.values() if each.task == FOLD and each.state == "pending"),
            key=lambda each: (each.position, each.id),
        )
        there = [left.get((each.tenant_id, each.event_id)) for each in asked]
        place = (sitting.place, sitting.number)
        waiting = [row.event_id for row in there if row is not None and (row.place, row.sitting) == place]
        return Wording(sitting, tuple(waiting[: limits.SESSION_WORDING_READ_MAX + 1]))

    def reword(self, reworded: Reworded) -> bool:
        """Mirrors ``Sessions.reword``."""
        with self._memory.change() as tables:
            place = (reworded.sitting.place, reworded.sitting.number)
            held, asked = tables.sittings[place], tables.inquiries.get(reworded.inquiry.id)
            if asked is None or asked.state != "pending" or asked.fence != reworded.inquiry.fence:
                return False
            if held.revision != reworded.sitting.revision:
                return False
            del tables.inquiries[asked.id]
            tables.sittings[place] = replace(
                held,
                worded=reworded.worded,
                summary=held.summary if reworded.summary is None else reworded.summary,
                bridge=held.bridge if reworded.bridge is None else reworded.bridge,
                revision=held.revision + 1,
            )
            return True

    def walk(self, after: Sitting | None, limit: int) -> list[Sitting]:
        """Mirrors ``Sessions.walk``."""
        behind = None if after is None else (after.place, after.number)
        ordered = sorted(self._memory.tables.sittings.items())
        return [sitting for key, sitting in ordered if behind is None or key > behind][:limit]

    def folded(self, place: SessionKey, number: int) -> list[str]:
        """Mirrors ``Sessions.folded``."""
        rows = sorted(self._memory.tables.outbox.values(), key=lambda row: row.id)
        of_sitting = [row for row in rows if (row.place, row.sitting) == (place, number)]
        return [row.event_id for row in of_sitting if row.folded_at is not None]

    def retell(self, sitting: Sitting, summary: str, bridge: str | None) -> bool:
        """Mirrors ``Sessions.retell``."""
        with self._memory.change() as tables:
            held = tables.sittings.get((sitting.place, sitting.number))
            if held is None or held.revision != sitting.revision:
                return False
            tables.sittings[held.place, held.number] = replace(
                held,
                summary=summary,
                bridge=held.bridge if bridge is None else bridge,
                revision=held.revision + 1,
            )
            return True

    def unfolded(self, place: SessionKey, number: int, limit: int) -> list[str]:
        """Mirrors ``Sessions.unfolded``."""
        rows = sorted(self._memory.tables.outbox.values(), key=lambda row: row.id)
        of_sitting = [row for row in rows if (row.place, row.sitting) == (place, number)]
        return [row.event_id for row in of_sitting if row.folded_at is None][-limit:]

    def sent(self, rows: Collection[OutboxRow], at: Instant) -> None:
        """Mirrors ``Sessions.sent``."""
        with self._memory.change() as tables:
            for held in _held(tables, rows):
                if held.state != "sent":
                    tables.outbox[held.id] = _sent(held, at)

    def put_off(self, row: OutboxRow, error: str, *, retry_at: Instant | None, failed: bool) -> None:
        """Mirrors ``Sessions.put_off``."""
        with self._memory.change() as tables:
            for held in _held(tables, [row]):
                if held.state != "pending":
                    continue
                tables.outbox[held.id] = replace(
                    _free(held),
                    attempts=held.attempts + 1,
                    last_error=kept_error(error),
                    next_attempt_at=retry_at,
                    state="failed" if failed else "pending",
                )

    def release(self, rows: Collection[OutboxRow]) -> None:
        """Mirrors ``Sessions.release``."""
        with self._memory.change() as tables:
            for held in _held(tables, rows):
                tables.outbox[held.id] = _free(held)

    def take_over(self) -> int:
        """Mirrors ``Sessions.take_over``."""
        with self._memory.change() as tables:
            leased = [held for held in tables.outbox.values() if held.lease_until is not None]
            tables.outbox |= {held.id: _free(held) for held in leased}
            return len(leased)

    def revive(self, tenant_id: str, within: Scope) -> int:
        """Mirrors ``Sessions.revive``."""
        with self._memory.change() as tables:
            failed = [
                row
                for row in tables.outbox.values()
                if row.state == "failed"
                and row.place.tenant_id == tenant_id
                and within.contains(row.place.scope)
            ]
            for row in failed:
                tables.outbox[row.id] = replace(row, state="pending", attempts=0, next_attempt_at=None)
            return len(failed)

    def outbox(self, tenant_id: str, within: Scope | None, limit: int) -> list[OutboxRow]:
        """Mirrors ``Sessions.outbox``."""
        found = [
            row
            for row in self._memory.tables.outbox.values()
            if row.state != "sent"
            and row.place.tenant_id == tenant_id
            and (within is None or within.contains(row.place.scope))
        ]
        return sorted(found, key=lambda row: -row.id)[:limit]


def _end(tables: Tables, turns: Sequence[Event], end: End) -> None:
    event = turns[0]
    assert event.session is not None, "a turn names its session"
    held = _latest(tables, SessionKey(event.tenant_id, event.scope, event.session))
    if held is not None and ends(held, turns, end):
        _close(tables, held, end.told_at)


def _close(tables: Tables, held: Sitting, at: Instant) -> Sitting:
    ended = tables.sittings[held.place, held.number] = closed(held, at)
    _evict(tables, held.place, [(held.number, event_id) for event_id in held.window], at)
    return ended


def _latest(tables: Tables, place: SessionKey) -> Sitting | None:
    found = [sitting for (held, _), sitting in tables.sittings.items() if held == place]
    return max(found, key=lambda sitting: sitting.number, default=None)


def _evict(tables: Tables, place: SessionKey, evicted: Sequence[tuple[int, str]], at: Instant) -> None:
    for number, event_id in evicted:
        row_id = tables.last_outbox = tables.last_outbox + 1
        tables.outbox[row_id] = OutboxRow(
            id=row_id, place=place, sitting=number, event_id=event_id, created_at=at
        )


def _held(tables: Tables, rows: Collection[OutboxRow]) -> list[OutboxRow]:
    """Rows as they stand, of those whose lease is still the same."""
    found = [(tables.outbox.get(row.id), row.fence) for row in rows]
    return [held for held, fence in found if held is not None and held.fence == fence]


def _free(row: OutboxRow) -> OutboxRow:
    return replace(row, lease_until=None, lease_owner=None, fence=0)


def _sent(row: OutboxRow, at: Instant) -> OutboxRow:
    return replace(
        _free(row),
        state="sent",
        attempts=row.attempts + 1,
        sent_at=at,
        next_attempt_at=None,
        last_error=None,
    )
