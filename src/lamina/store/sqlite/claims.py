"""Which jobs can run now: those that nothing earlier in their scope holds back, in the order of the log.

A scope is held back while an earlier event of it is still before or in the stage. The oldest jobs are looked at first.
Where all of these are held back, the backlog behind them may be long, so the scopes are gone through instead: that
costs by the number of scopes, not of jobs. So they are where one scope has more than its share of what is oldest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from lamina import limits
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.jobs import LEASE_LOST
from lamina.store.rows import Row

__all__ = ["Due", "Rows", "Turns", "due_jobs"]

_SQL = load_blocks("lamina.store.sqlite")
_LAST: Final = 2**62
_FIRST: Final = ("", "")

Rows = Callable[[str, Row], Iterable[Row]]
Place = tuple[str, str]


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


@dataclass(slots=True)
class Turns:
    """Whose turn it was last: the next batch goes on with the scopes behind."""

    last: Place = ("", "")


def due_jobs(rows: Rows, stage: int, limit: int, now: Instant, turns: Turns | None = None) -> list[Due]:
    """Up to ``limit`` jobs of a stage that can run now, in the order of the log; none only where there is none.

    A job whose worker went away is a batch of its own. With ``turns`` a scope takes its share at most while others wait: one half
    is for the oldest jobs, the rest for the scopes in turn.
    """
    chosen = _Chosen(rows, stage, limit, now, shared=turns is not None)
    after, size = 0, limit  # nearly always, the first of them can run
    for _ in range(limits.JOB_PAGES_MAX):
        page = [Due(*row) for row in rows(_SQL["pending_jobs"], (stage, after, size))]
        if not chosen.add(page):
            return chosen.jobs
        if len(page) < size:
            return chosen.filled()
        if chosen.spare:
            break
        after, size = page[-1].seq, limits.JOB_PAGE
    if not chosen.jobs:
        chosen.add(_behind(rows, stage, limit, now))
    elif turns is not None and chosen.spare:
        _give_turns(chosen, rows, stage, now, turns)
    return chosen.filled()


def _behind(rows: Rows, stage: int, limit: int, now: Instant) -> list[Due]:
    """The first jobs of scopes that nothing holds back, in the order of the log."""
    places = list(rows(_SQL["free_scopes"], (stage, now, _earlier(stage), limit, "", "")))
    found = [Due(*row) for place in places for row in rows(_SQL["pending_of_scope"], (*place, stage, limit))]
    return sorted(found, key=attrgetter("seq"))


def _give_turns(chosen: _Chosen, rows: Rows, stage: int, now: Instant, turns: Turns) -> None:
    """Take the first jobs of the scopes whose turn it is."""
    found: dict[Place, None] = {}
    for start in dict.fromkeys((turns.last, _FIRST)):
        if len(found) < chosen.seats:
            free = rows(_SQL["free_scopes"], (stage, now, _earlier(stage), chosen.limit, *start))
            found |= dict.fromkeys(place for place in free if place not in chosen.taken)
    places = list(found)[: chosen.seats]
    each = min(chosen.share, chosen.seats // max(1, len(places)))
    for place in places:
        jobs = [Due(*row) for row in rows(_SQL["pending_of_scope"], (*place, stage, each))]
        if jobs[0].last_error == LEASE_LOST:
            if place == places[0]:
                turns.last = place
                chosen.leave_all_for(jobs[0])
            return  # otherwise it comes first next time
        turns.last = place
        chosen.add(jobs, up_to=chosen.limit)


def _earlier(stage: int) -> str:
    """The stages before one, as a JSON list."""
    return json.dumps(list(range(1, stage)))


class _Chosen:
    """A batch as it grows, from jobs that come in the order of the log."""

    def __init__(self, rows: Rows, stage: int, limit: int, now: Instant, *, shared: bool) -> None:
        self.jobs: list[Due] = []
        self.spare: list[Due] = []
        self.taken: Counter[Place] = Counter()
        self.limit = limit
        self.share = max(1, limit // limits.JOB_SHARES) if shared else limit
        self._oldest = max(1, limit // 2) if shared else limit
        self._rows = rows
        self._stage = stage
        self._running: dict[Place, int] | None = None
        self._now = now
        self._free_to: dict[Place, int] = {}

    @property
    def seats(self) -> int:
        """How many more there is room for."""
        return self.limit - len(self.jobs)

    def add(self, jobs: Iterable[Due], *, up_to: int | None = None) -> bool:
        """Take those that can run, and put aside what is beyond a share; whether the batch can grow."""
        for job in jobs:
            place = (job.tenant_id, job.scope)
            if job.next_attempt_at > self._now:
                self._free_to[place] = min(self._free_to.get(place, _LAST), job.position)
            elif place not in self._free_to:
                self._free_to[place] = self._held_from(place)
            if job.position >= self._free_to[place]:
                continue
            alone = job.last_error == LEASE_LOST
            if alone and self.jobs:
                return False
            if self.taken[place] >= self.share or len(self.jobs) >= (up_to or self._oldest):
                self.spare.append(job)
                continue
            self._take(job)
            if alone or not self.seats:
                return False
        return True

    def leave_all_for(self, job: Due) -> None:
        """Have one job be the whole batch."""
        self.jobs, self.spare = [job], []

    def filled(self) -> list[Due]:
        """The batch in the order of the log, where there is room with what was put aside: all of it for a scope that is alone."""
        share = self.limit if len(self.taken) == 1 else self.share
        seqs = {job.seq for job in self.jobs}
        for job in self.spare:
            if job.seq not in seqs and self.seats and self.taken[job.tenant_id, job.scope] < share:
                self._take(job)
        return sorted(self.jobs, key=attrgetter("seq"))

    def _take(self, job: Due) -> None:
        self.jobs.append(job)
        self.taken[job.tenant_id, job.scope] += 1

    def _held_from(self, place: tuple[str, str]) -> int:
        """The first position of a scope that is not yet past the stage and is not waiting for it either."""
        if self._running is None:
            found = self._rows(_SQL["running_jobs"], (self._stage,))
            self._running = {(tenant_id, scope): position for tenant_id, scope, position in found}
        held_from = self._running.get(place, _LAST)
        if self._stage > 1:
            for (position,) in self._rows(_SQL["first_before"], (*place, _earlier(self._stage))):
                held_from = held_from if position is None else min(held_from, position)
        return held_from
