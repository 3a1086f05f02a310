"""Jobs in SQLite: claimed in order inside a scope, finished together with what they derived."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw

from lamina import limits
from lamina.kernel.audit import AuditDraft
from lamina.kernel.events import Stage
from lamina.kernel.expiry import expiry_of
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.jobs import LEASE_LOST, Job, JobState
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.writes import Writes
from lamina.store.rules.attempts import JOBS, kept_error, lost_wait_us
from lamina.store.rules.batches import ScopeRotation
from lamina.store.sqlite.audit import AuditRiders
from lamina.store.sqlite.claims import due_in_turn, due_jobs
from lamina.store.sqlite.codec import ALL_STAGES, STAGE_NUMBERS, stage_of
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.erasing import lay_frozen
from lamina.store.sqlite.exclusion import exclude_dependants, hide_event
from lamina.store.sqlite.lifecycle import LifecycleWriter
from lamina.store.sqlite.log import find_event
from lamina.store.sqlite.records import put_writes

__all__ = ["SqliteJobs", "backlog_of", "next_fence"]

_SQL = load_blocks("lamina.store.sqlite")
_DERIVED = (
    "record_row",
    "support_row",
    "entity",
    "mention_row",
    "text_row",
    "token_piece",
    "vector_row",
    "job",
)


def backlog_of(path: Path) -> dict[str, int]:
    """``Jobs.backlog`` of a database file, only read: for looking at a store that others run."""
    readers = Readers(path)
    try:
        return _backlog(readers)
    finally:
        readers.close()


def _backlog(readers: Readers) -> dict[str, int]:
    return dict(readers.rows(_SQL["backlog"], (ALL_STAGES,)))


class SqliteJobs:
    """``Jobs`` over the ``job`` table."""

    def __init__(
        self, writer: Writer, readers: Readers, lifecycle: LifecycleWriter, riders: AuditRiders
    ) -> None:
        self._writer = writer
        self._riders = riders
        self._readers = readers
        self._lifecycle = lifecycle
        self._turns = ScopeRotation()

    def claim(self, stage: Stage, *, limit: int, lease_until: Instant, now: Instant, owner: str) -> list[Job]:
        """Mirrors ``Jobs.claim``. Looks before it takes the write lock: nothing due costs no transaction."""
        number = STAGE_NUMBERS[stage]
        if self._readers.row(_SQL["any_lease_lost"], (number, now)) is None and not due_jobs(
            self._readers.rows, number, 1, now
        ):
            return []
        # Later stages follow the first: what one batch lets through is little.
        turns = self._turns if number == 1 and limit >= limits.JOB_SHARES else None
        return self._writer.write(
            lambda connection: _claim(connection, number, limit, lease_until, now, owner, turns)
        )

    def finish(self, results: Sequence[tuple[Job, Writes]]) -> int:
        """Mirrors ``Jobs.finish``."""

        def work(connection: apsw.Connection) -> int:
            lifecycle: list[LifecycleDraft] = []
            audits: list[AuditDraft] = []
            together = Writes()
            settled = 0
            for job, writes in results:
                settled += 1
                place = (job.event.tenant_id, job.event.id)
                number = STAGE_NUMBERS[job.stage]
                connection.execute(_SQL["end_job"], (*place, number, job.fence))
                if not connection.changes():
                    break
                if job.stage.next is not None and job.event.cancelled_after is not job.stage:
                    connection.execute(_SQL["next_job"], (*place, number + 1, job.stage.value))
                together.add(writes)
                lifecycle += writes.lifecycle
                audits += writes.audits
                if job.event.excluded:
                    # In a replay. At its end would be too late: it may be interrupted, or a stage tried again later.
                    put_writes(connection, together)
                    together = Writes()
                    if job.event.counts or expiry_of(job.event) is not None:
                        hide_event(connection, *place, job.event.scope)  # it takes nothing out with it
                    else:
                        exclude_dependants(connection, *place, job.event.scope)
            put_writes(connection, together)
            self._lifecycle.put(connection, lifecycle)
            for draft in audits:
                self._riders.board_once(connection, draft)
            return settled

        return self._writer.write(work)

    def fail(self, job: Job, error: str, *, retry_at: Instant | None, writes: Writes | None = None) -> None:
        """Mirrors ``Jobs.fail``."""
        place = (job.event.tenant_id, job.event.id, STAGE_NUMBERS[job.stage])

        def work(connection: apsw.Connection) -> None:
            connection.execute(
                _SQL["fail_job"], (*place, retry_at, kept_error(error), JOBS.attempts_max, job.fence)
            )
            if writes is not None and connection.changes():
                put_writes(connection, writes)

        self._writer.write(work)

    def of_event(self, tenant_id: str, event_id: str) -> list[JobState]:
        """Mirrors ``Jobs.of_event``."""
        rows = self._readers.rows(_SQL["jobs_of_event"], (tenant_id, event_id))
        return [JobState(tenant_id, event_id, stage_of(stage), *rest) for stage, *rest in rows]

    def backlog(self) -> dict[str, int]:
        """Mirrors ``Jobs.backlog``."""
        return _backlog(self._readers)

    def release(self, owner: str) -> int:
        """Mirrors ``Jobs.release``."""
        return self._writer.change(_SQL["release_jobs"], (owner, ALL_STAGES))

    def take_over(self, now: Instant, owner: str | None = None) -> int:
        """Mirrors ``Jobs.take_over``."""

        def work(connection: apsw.Connection) -> int:
            connection.execute(_SQL["leases_left"], (now, ALL_STAGES, owner))
            return sum(_lose_leases(connection, stage, now) for stage in STAGE_NUMBERS.values())

        return self._writer.write(work)

    def retry_failed(self) -> int:
        """Mirrors ``Jobs.retry_failed``."""
        return self._writer.change(_SQL["retry_failed"], (ALL_STAGES,))

    def reset(self) -> int:
        """Mirrors ``Jobs.reset``."""

        def work(connection: apsw.Connection) -> int:
            # Followers hold rows by scope and must learn that these are gone.
            connection.execute(_SQL["note_index_reset"])
            for table in _DERIVED:
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names from the tuple above
            connection.execute(_SQL["drop_derivable_tombstones"])
            lay_frozen(connection)
            connection.execute(_SQL["requeue_all"])
            return connection.changes()

        return self._writer.write(work)


def _claim(
    connection: apsw.Connection,
    stage: int,
    limit: int,
    lease_until: Instant,
    now: Instant,
    owner: str,
    turns: ScopeRotation | None,
) -> list[Job]:
    _lose_leases(connection, stage, now)
    claimed = []
    rows = connection.execute
    found = (
        due_jobs(rows, stage, limit, now) if turns is None else due_in_turn(rows, stage, limit, now, turns)
    )
    fence = next_fence(connection) if found else 0
    for due in found:
        connection.execute(_SQL["lease_job"], (due.tenant_id, due.event_id, stage, lease_until, owner, fence))
        event = find_event(connection, due.tenant_id, due.event_id)
        claimed.append(Job(event, stage_of(stage), due.attempts, due.last_error, owner, fence))
    return claimed


def next_fence(connection: apsw.Connection) -> int:
    """The number of a lease that begins in this transaction, higher than every one before."""
    for (fence,) in connection.execute(_SQL["next_fence"]):
        return int(fence)
    raise AssertionError("what is written is returned")


def _lose_leases(connection: apsw.Connection, stage: int, now: Instant) -> int:
    """Count the leases that ran out as failed attempts; how many."""
    bindings = (stage, now, JOBS.attempts_max, LEASE_LOST, lost_wait_us(2))
    connection.execute(_SQL["lost_leases"], bindings)
    return connection.changes()
