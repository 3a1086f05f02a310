"""Runs of operators' jobs. A run that goes on is the lock of its job, until its lease is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from lamina.kernel.time import Instant

__all__ = ["JobRun", "JobRuns", "RunStatus"]

RunStatus = Literal["running", "succeeded", "failed", "abandoned"]
"""``abandoned`` is a run whose lease was over before it ended: its process died, or it took longer than a job may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One run. ``lease_until`` is None of one that took no lock; ``error`` is a code, ``result_keys`` are the names of what the job answered."""

    tenant_id: str
    run_id: str
    job_id: str
    status: RunStatus
    started_at: Instant
    finished_at: Instant | None = None
    lease_until: Instant | None = None
    dry_run: bool = False
    force: bool = False
    client_ip: str | None = None
    initiator: str = ""
    error: str | None = None
    result_keys: tuple[str, ...] = ()

    def holds(self, now: Instant) -> bool:
        """Whether it locks its job. One that began further ahead than its lease is long does not: the clock was wrong then."""
        if self.status != "running":
            return False
        if self.lease_until is None:
            return True
        return now < self.lease_until and self.started_at - now <= self.lease_until - self.started_at


class JobRuns(Protocol):
    """The runs of each tenant's jobs."""

    def begin(self, run: JobRun) -> None:
        """Keep a run, durably. One that is running takes its job's lock: raises ``Conflict`` (JOB_RUNNING) where another has it
        and holds it at ``started_at``. Of older runs only so many stay as may be listed."""
        ...

    def end(self, run: JobRun) -> None:
        """Keep how a run ended, durably; nothing where it was abandoned before."""
        ...

    def listed(self, tenant_id: str, limit: int) -> list[JobRun]:
        """A tenant's runs, newest first."""
        ...

    def newest(self, tenant_id: str) -> Mapping[str, JobRun]:
        """The newest run of each job that was not a rehearsal."""
        ...
