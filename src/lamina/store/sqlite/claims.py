"""Which jobs can run now: those that nothing earlier in their scope holds back, in the order of the log.

A scope is held back while an earlier event of it is still before or in the stage; where beliefs are drawn that other scopes
draw, too, so is an event by theirs (decision 0030). The oldest jobs are looked at first.
Where all of these are held back, or more can run than a batch holds, the backlog behind them may be long, so the scopes
are gone through instead: that costs by the number of scopes, not of jobs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from lamina import limits
from lamina.kernel.events import Stage
from lamina.kernel.time import WAIT_US_MAX, Instant, waits
from lamina.store.blocks import load_blocks
from lamina.store.ports.jobs import LEASE_LOST
from lamina.store.rows import Row
from lamina.store.rules.batches import ScopeKey, ScopeRotation, shared_batch
from lamina.store.sqlite.codec import STAGE_NUMBERS

__all__ = ["Due", "Rows", "due_in_turn", "due_jobs"]

_SQL = load_blocks("lamina.store.sqlite")
_LAST: Final = 2**62
_CONSOLIDATED: Final = STAGE_NUMBERS[Stage.CONSOLIDATED]

Rows = Callable[[str, Row], Iterable[Row]]


@dataclass(frozen=True, slots=True)
class Due:
    """A pending job; ``seq`` is the row of its event in the log."""

    tenant_id: str
    event_id: str
    scope: str
    position: int
    seq: int
    attempts: int
    next_attempt_at: Instant
    last_error: str | None

    @property
    def place(self) -> ScopeKey:
        """Where its event lies."""
        return self.tenant_id, self.scope

    @property
    def order(self) -> int:
        """Mirrors ``Queued.order``."""
        return self.seq

    @property
    def alone(self) -> bool:
        """Mirrors ``Queued.alone``."""
        return self.last_error == LEASE_LOST


def due_jobs(rows: Rows, stage: int, limit: int, now: Instant) -> list[Due]:
    """Up to ``limit`` jobs of a stage that can run now, in the order of the log; none only where there is none.

    A job whose worker went away is a batch of its own.
    """
    return _oldest(rows, stage, limit, now).jobs


def due_in_turn(rows: Rows, stage: int, limit: int, now: Instant, turns: ScopeRotation) -> list[Due]:
    """As ``due_jobs``; where there are more, a scope takes its share at most while others wait."""
    chosen = _oldest(rows, stage, limit + 1, now)
    if len(chosen.jobs) <= limit:
        return chosen.jobs

    def waiting(behind: ScopeKey, count: int) -> Iterable[ScopeKey]:
        return rows(_SQL["free_scopes"], (stage, now, _earlier(stage), count, *behind, WAIT_US_MAX))

    def first_of(place: ScopeKey, count: int) -> list[Due]:
        return chosen.runnable(Due(*row) for row in rows(_SQL["pending_of_scope"], (*place, stage, count)))

    return shared_batch(chosen.jobs[:limit], limit, turns, waiting, first_of)


def _oldest(rows: Rows, stage: int, limit: int, now: Instant) -> _Chosen:
    chosen = _Chosen(rows, stage, limit, now)
    after, size = 0, limit  # nearly always, the first of them can run
    for _ in range(limits.JOB_PAGES_MAX):
        page = [Due(*row) for row in rows(_SQL["pending_jobs"], (stage, after, size))]
        if not chosen.add(page) or len(page) < size:
            return chosen
        after, size = page[-1].seq, limits.JOB_PAGE
    if not chosen.jobs:
        chosen.add(_behind(rows, stage, limit, now))
    return chosen


def _behind(rows: Rows, stage: int, limit: int, now: Instant) -> list[Due]:
    """The first jobs of scopes that nothing holds back, in the order of the log."""
    places = list(rows(_SQL["free_scopes"], (stage, now, _earlier(stage), limit, "", "", WAIT_US_MAX)))
    found = [Due(*row) for place in places for row in rows(_SQL["pending_of_scope"], (*place, stage, limit))]
    return sorted(found, key=attrgetter("seq"))


def _earlier(stage: int) -> str:
    """The stages before one, as a JSON list."""
    return json.dumps(list(range(1, stage)))


class _Chosen:
    """A batch as it grows, from jobs that come in the order of the log."""

    def __init__(self, rows: Rows, stage: int, limit: int, now: Instant) -> None:
        self.jobs: list[Due] = []
        self._rows = rows
        self._stage = stage
        self._running: dict[ScopeKey, int] | None = None
        self._limit = limit
        self._now = now
        self._free_to: dict[ScopeKey, int] = {}
        self._linked: dict[ScopeKey, list[str]] = {}
        self._links = stage == _CONSOLIDATED and any(rows(_SQL["any_sent"], ()))

    def add(self, jobs: Iterable[Due]) -> bool:
        """Take those that can run; whether there is room for more."""
        for job in jobs:
            if not self._can_run(job):
                continue
            if job.alone and self.jobs:
                return False
            self.jobs.append(job)
            if job.alone or len(self.jobs) == self._limit:
                return False
        return True

    def runnable(self, jobs: Iterable[Due]) -> list[Due]:
        """Those of a scope that can run and can stand in a batch together."""
        found: list[Due] = []
        for job in jobs:
            if not self._can_run(job) or (job.alone and found):
                break
            found.append(job)
        return found

    def _can_run(self, job: Due) -> bool:
        if waits(job.next_attempt_at, self._now):
            self._free_to[job.place] = min(self._free_to.get(job.place, _LAST), job.position)
        elif job.place not in self._free_to:
            self._free_to[job.place] = self._held_from(job.place)
        if job.position >= self._free_to[job.place]:
            return False
        if self._links and self._waits_for_others(job):
            self._free_to[job.place] = job.position
            return False
        return True

    def _waits_for_others(self, job: Due) -> bool:
        """Whether an earlier event of another scope that makes beliefs where this one does is not through the stage, nor in the batch."""
        (touched,) = self._rows(_SQL["believed_in"], (job.tenant_id, job.event_id))
        chosen = {each.event_id for each in self.jobs}
        for into in {scope for scope in touched if scope is not None}:
            for scope in self._joined(job.tenant_id, into):
                place = (job.tenant_id, scope, self._stage, job.position, len(chosen))
                if scope != job.scope and any(i not in chosen for (i,) in self._rows(_SQL["held_by"], place)):
                    return True
        return False

    def _joined(self, tenant_id: str, into: str) -> list[str]:
        """The scopes that make beliefs in one: it and those that are consolidated into it."""
        found = self._linked.get((tenant_id, into))
        if found is None:
            senders = [scope for (scope,) in self._rows(_SQL["senders_into"], (tenant_id, into))]
            found = self._linked[tenant_id, into] = [into, *senders] if senders else []
        return found

    def _held_from(self, place: ScopeKey) -> int:
        """The first position of a scope that is not yet past the stage and is not waiting for it either."""
        if self._running is None:
            found = self._rows(_SQL["running_jobs"], (self._stage,))
            self._running = {(tenant_id, scope): position for tenant_id, scope, position in found}
        held_from = self._running.get(place, _LAST)
        if self._stage > 1:
            for (position,) in self._rows(_SQL["first_before"], (*place, _earlier(self._stage))):
                held_from = held_from if position is None else min(held_from, position)
        return held_from
