"""The jobs of derivation: one for each stage that an event has still to pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lamina.kernel.events import Event, Stage
from lamina.kernel.time import Instant
from lamina.store.ports.writes import Writes

__all__ = ["LEASE_LOST", "Job", "JobState", "Jobs"]

LEASE_LOST = "lease lost"
"""The ``last_error`` of a job whose worker went away in the middle of it."""


@dataclass(frozen=True, slots=True)
class Job:
    """A stage of an event that is still to be done, or that failed for good."""

    event: Event
    stage: Stage
    attempts: int
    last_error: str | None = None
    owner: str | None = None
    """Who leased it."""
    fence: int = 0
    """The number of its lease: no other lease has it, and later ones have higher ones."""


@dataclass(frozen=True, slots=True)
class JobState:
    """A job as those who watch see it: ``pending``, ``running`` or ``failed``."""

    tenant_id: str
    event_id: str
    stage: Stage
    state: str
    attempts: int
    next_attempt_at: Instant | None
    last_error: str | None


class Jobs(Protocol):
    """Durable work, claimed in the order of the log inside a scope and free across scopes."""

    def claim(self, stage: Stage, *, limit: int, lease_until: Instant, now: Instant, owner: str) -> list[Job]:
        """Lease up to ``limit`` due jobs of a stage, under one new fence.

        A job is due when no earlier event of its scope is still before or in this stage. To be consolidated it also waits for earlier
        events of every scope that makes beliefs where it does: of the scope that it is consolidated into, or its own where others are
        consolidated into it, and of all that are consolidated there (decision 0030). A lease that ran out
        is an attempt that failed (``LEASE_LOST``): its job is due again, by itself, since it may be what ended its
        worker and what was leased with it should not be blamed twice. From the second time on it waits before
        (``store.rules.attempts.lost_wait_us``): a worker that is restarted in quick succession has not tried anything.
        """
        ...

    def finish(self, results: Sequence[tuple[Job, Writes]]) -> int:
        """End jobs, land what each derived and queue each event's next stage, in one transaction.

        A job that is no longer there (cancelled meanwhile, or done by another), or that is not held under its fence any more,
        lands nothing of its own, and nothing behind it lands: that was derived from what it would have landed. How many results are settled, that one too.
        """
        ...

    def fail(self, job: Job, error: str, *, retry_at: Instant | None, writes: Writes | None = None) -> None:
        """Note a failed attempt: due again at ``retry_at``, or failed for good and visible when None; ``writes`` land with it.

        Nothing happens when the lease of ``job`` ran out and was taken back, as its fence tells: then this attempt was counted,
        and somebody else may be at work.
        """
        ...

    def of_event(self, tenant_id: str, event_id: str) -> list[JobState]:
        """What is left to do for an event, and what failed."""
        ...

    def backlog(self) -> dict[str, int]:
        """How many jobs stand in each state, over all tenants."""
        ...

    def release(self, owner: str) -> int:
        """Give an owner's leases back: its jobs are due again, and how many."""
        ...

    def take_over(self, now: Instant, owner: str | None = None) -> int:
        """For a worker that knows it is alone: the others are dead, so their leases have run out. How many.

        With ``owner`` for one that takes the place, and the name, of another that is dead.
        """
        ...

    def retry_failed(self) -> int:
        """Make the jobs that failed for good due again, as if they had never been tried; how many."""
        ...

    def reset(self) -> int:
        """Drop every derived row and queue every event anew from its first stage; how many events."""
        ...
