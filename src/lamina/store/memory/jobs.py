"""Jobs in memory: claimed in order inside a scope, finished together with what they derived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from lamina import limits
from lamina.kernel.audit import AuditDraft
from lamina.kernel.events import Event, Stage
from lamina.kernel.expiry import expiry_of
from lamina.kernel.ids import IdSource
from lamina.kernel.time import Clock, Instant, waits
from lamina.store.memory.audit import put_audits
from lamina.store.memory.erasing import lay_frozen
from lamina.store.memory.exclusion import exclude_dependants, hide_event
from lamina.store.memory.lifecycle import put_lifecycle
from lamina.store.memory.records import put_writes
from lamina.store.memory.tables import JobRow, Memory, Tables
from lamina.store.ports.jobs import LEASE_LOST, Job, JobState
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.writes import Writes
from lamina.store.rules.attempts import JOBS, kept_error, lost_wait_us
from lamina.store.rules.batches import ScopeKey, ScopeRotation, shared_batch

__all__ = ["MemoryJobs"]

_ORDER = list(Stage)


@dataclass(frozen=True, slots=True)
class _Due:
    """A job that can run now, and its place in the log."""

    row: JobRow
    order: int

    @property
    def place(self) -> ScopeKey:
        return self.row.event.tenant_id, self.row.event.scope

    @property
    def alone(self) -> bool:
        return self.row.last_error == LEASE_LOST


class MemoryJobs:
    """``Jobs`` over one row for each event that is not done."""

    def __init__(self, memory: Memory, clock: Clock, ids: IdSource) -> None:
        self._memory = memory
        self._clock = clock
        self._ids = ids
        self._turns = ScopeRotation()

    def claim(self, stage: Stage, *, limit: int, lease_until: Instant, now: Instant, owner: str) -> list[Job]:
        """Mirrors ``Jobs.claim``."""
        with self._memory.change() as tables:
            for place, row in tables.jobs.items():
                if row.stage is stage and _lease_ran_out(row, now):
                    tables.jobs[place] = _lost(row, now)
            due = [_Due(row, order) for order, row in enumerate(_claimable(tables, stage, now))]
            # Later stages follow the first: what one batch lets through is little.
            turns = self._turns if stage is Stage.EXTRACTED and limit >= limits.JOB_SHARES else None
            claimed = [each.row for each in _batch(due, limit, turns)]
            fence = tables.next_fence() if claimed else 0
            for row in claimed:
                place = (row.event.tenant_id, row.event.id)
                tables.jobs[place] = replace(
                    row, state="running", lease_until=lease_until, lease_owner=owner, fence=fence
                )
            return [Job(row.event, stage, row.attempts, row.last_error, owner, fence) for row in claimed]

    def finish(self, results: Sequence[tuple[Job, Writes]]) -> int:
        """Mirrors ``Jobs.finish``."""
        with self._memory.change() as tables:
            lifecycle: list[LifecycleDraft] = []
            audits: list[AuditDraft] = []
            together = Writes()
            settled = 0
            for job, writes in results:
                settled += 1
                place = (job.event.tenant_id, job.event.id)
                row = tables.jobs.get(place)
                if row is None or row.stage is not job.stage or row.fence != job.fence:
                    break
                del tables.jobs[place]
                event = tables.events[place]
                if job.stage.next is not None and event.cancelled_after is not job.stage:
                    tables.jobs[place] = JobRow(event=event, stage=job.stage.next)
                together.add(writes)
                lifecycle += writes.lifecycle
                audits += writes.audits
                if event.excluded:
                    put_writes(tables, together)
                    together = Writes()
                    if event.counts or expiry_of(event) is not None:
                        hide_event(tables, event)
                    else:
                        exclude_dependants(tables, event)
            put_writes(tables, together)
            put_lifecycle(tables, lifecycle, self._clock)
            put_audits(tables, audits)
            return settled

    def fail(self, job: Job, error: str, *, retry_at: Instant | None, writes: Writes | None = None) -> None:
        """Mirrors ``Jobs.fail``."""
        with self._memory.change() as tables:
            place = (job.event.tenant_id, job.event.id)
            row = tables.jobs.get(place)
            if row is None or row.stage is not job.stage:
                return
            if row.state != "running" or row.fence != job.fence:
                return
            tables.jobs[place] = JobRow(
                event=row.event,
                stage=row.stage,
                state="failed" if retry_at is None else "pending",
                attempts=min(row.attempts + 1, JOBS.attempts_max),
                next_attempt_at=retry_at,
                last_error=kept_error(error),
            )
            if writes is not None:
                put_writes(tables, writes)

    def of_event(self, tenant_id: str, event_id: str) -> list[JobState]:
        """Mirrors ``Jobs.of_event``."""
        row = self._memory.tables.jobs.get((tenant_id, event_id))
        if row is None:
            return []
        return [
            JobState(
                tenant_id, event_id, row.stage, row.state, row.attempts, row.next_attempt_at, row.last_error
            )
        ]

    def backlog(self) -> dict[str, int]:
        """Mirrors ``Jobs.backlog``."""
        counted = Counter(row.state for row in self._memory.tables.jobs.values())
        return {state: counted[state] for state in ("pending", "running", "failed")}

    def release(self, owner: str) -> int:
        """Mirrors ``Jobs.release``."""
        return self._change(lambda row: row.state == "running" and row.lease_owner == owner, _released)

    def take_over(self, now: Instant, owner: str | None = None) -> int:
        """Mirrors ``Jobs.take_over``."""
        return self._change(
            lambda row: row.state == "running" and owner in (None, row.lease_owner),
            lambda row: _lost(row, now),
        )

    def retry_failed(self) -> int:
        """Mirrors ``Jobs.retry_failed``."""
        return self._change(
            lambda row: row.state == "failed", lambda row: JobRow(event=row.event, stage=row.stage)
        )

    def _change(self, wanted: Callable[[JobRow], bool], changed: Callable[[JobRow], JobRow]) -> int:
        with self._memory.change() as tables:
            rows = {place: changed(row) for place, row in tables.jobs.items() if wanted(row)}
            tables.jobs.update(rows)
            return len(rows)

    def reset(self) -> int:
        """Mirrors ``Jobs.reset``."""
        with self._memory.change() as tables:
            held = {(row.tenant_id, row.scope) for row in tables.texts.values()}
            held |= {(row.tenant_id, row.scope) for _, row in tables.vectors.values()}
            for tenant_id, scope in held:
                tables.note_index_change(tenant_id, scope)
            for derived in (
                tables.records, tables.supports, tables.entities, tables.mentions, tables.texts,
                tables.hidden_texts, tables.vectors, tables.jobs,
            ):  # fmt: skip
                derived.clear()
            for place, stone in list(tables.tombstones.items()):
                if stone.cascade == "derived_only":
                    del tables.tombstones[place]
            lay_frozen(tables, tables)
            for place, event in tables.events.items():
                if event.redacted_by is None and event.cancelled_after is not Stage.CAPTURED:
                    tables.jobs[place] = JobRow(event=event, stage=Stage.EXTRACTED)
            return len(tables.jobs)


def _claimable(tables: Tables, stage: Stage, now: Instant) -> Iterator[JobRow]:
    """Jobs of a stage that nothing earlier in their scope holds back, in the order of the log. Where beliefs are
    drawn that other scopes draw too, what is earlier there holds back as well."""
    held_back: set[tuple[str, str]] = set()
    joined = _joined(tables) if stage is Stage.CONSOLIDATED else {}
    for place, event in tables.events.items():
        row = tables.jobs.get(place)
        scope = (event.tenant_id, event.scope)
        if row is None or row.state == "failed" or scope in held_back:
            continue
        others = {other for into in _believed_in(tables, event) for other in joined.get(into, ())}
        if row.stage is stage and _is_due(row, now) and not others & held_back:
            yield row
        elif _ORDER.index(row.stage) <= _ORDER.index(stage):
            held_back.add(scope)


def _joined(tables: Tables) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """The scopes that make beliefs in each: it and those that are consolidated into it."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for event in tables.events.values():
        into = event.directives.consolidate_into
        if into is not None and into != event.scope:
            ends = {(event.tenant_id, into), (event.tenant_id, event.scope)}
            found.setdefault((event.tenant_id, into), set()).update(ends)
    return found


def _believed_in(tables: Tables, event: Event) -> set[tuple[str, str]]:
    """The scopes whose beliefs an event may change."""
    told = [event]
    if event.cancels is not None:
        told.append(tables.events[event.tenant_id, event.cancels])
    into = [each.directives.consolidate_into for each in told]
    return {(event.tenant_id, scope) for scope in (event.scope, *into) if scope is not None}


def _batch(due: Sequence[_Due], limit: int, turns: ScopeRotation | None) -> list[_Due]:
    """Those of what is due that go together, by turns where there are more."""
    oldest = _together(due)
    if turns is None or len(oldest) <= limit:
        return oldest[:limit]
    places: dict[ScopeKey, list[_Due]] = {}
    for each in due:
        places.setdefault(each.place, []).append(each)
    return shared_batch(
        oldest[:limit],
        limit,
        turns,
        lambda behind, count: sorted(place for place in places if place > behind)[:count],
        lambda place, count: _together(places[place][:count]),
    )


def _together(due: Sequence[_Due]) -> list[_Due]:
    """The first of what is due; a job whose worker went away is a batch of its own."""
    if due and due[0].alone:
        return [due[0]]
    return list(takewhile(lambda each: not each.alone, due))


def _is_due(row: JobRow, now: Instant) -> bool:
    return row.state == "pending" and row.next_attempt_at is not None and not waits(row.next_attempt_at, now)


def _lease_ran_out(row: JobRow, now: Instant) -> bool:
    return row.state == "running" and row.lease_until is not None and not waits(row.lease_until, now)


def _lost(row: JobRow, now: Instant) -> JobRow:
    lost = min(row.attempts + 1, JOBS.attempts_max)
    due = now + lost_wait_us(row.attempts + 1) if row.attempts else row.next_attempt_at
    return replace(_released(row), attempts=lost, last_error=LEASE_LOST, next_attempt_at=due)


def _released(row: JobRow) -> JobRow:
    return replace(row, state="pending", lease_until=None, lease_owner=None, fence=0)
