"""Request and result types of operators' calls (Relay contract 1.15, 1.16)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from lamina import limits
from lamina.coordination.operators import bounds
from lamina.kernel.wire import Request, Result, Text
from lamina.store.ports.job_runs import RunStatus

__all__ = [
    "ActiveLock",
    "Alarm",
    "CheckRotation",
    "CompactionPlanned",
    "DeliveryFigures",
    "ExpiringToken",
    "ExportJobSchedule",
    "JobList",
    "JobRunShown",
    "JobSchedule",
    "JobShown",
    "JobStatus",
    "ListJobs",
    "NewestRun",
    "PlanCompaction",
    "ReadJobStatus",
    "ReadRelayMetrics",
    "RelayMetrics",
    "RotationChecked",
    "RunJob",
    "RunJobResult",
]

_Note = Annotated[Text, Field(max_length=bounds.OPS_NOTE_LENGTH_MAX)]
_Path = Annotated[Text, Field(max_length=bounds.OPS_PATH_LENGTH_MAX)]


class ReadRelayMetrics(Request):
    """Nothing to ask."""


class DeliveryFigures(Result):
    """Messages whose delivery is followed, by state. ``ack_success_ratio`` is that of those that came to an end, 1 before the first."""

    summary: dict[str, int]
    backlog_depth: int
    ack_success_ratio: float
    by_recipient: dict[str, dict[str, int]]


class Alarm(Result):
    """Something to look at: which figure is beyond which bound."""

    type: Literal["delivery_backlog_growth", "verification_failures", "replication_drift"]
    severity: Literal["warning"] = "warning"
    message: str
    metric: str
    source_peer: str | None = None


class RelayMetrics(Result):
    """The figures of the tenant, as of ``generated_at``. ``audit`` counts the newest calls, by operation and by caller."""

    ok: bool = True
    generated_at: str
    delivery: DeliveryFigures
    checks: dict[str, Any]  # Any: JSON
    audit: dict[str, dict[str, int]]
    security: dict[str, int]
    replication: dict[str, Any]  # Any: JSON
    alarms: list[Alarm]
    degraded: bool = False
    warnings: list[str] = Field(default_factory=list)


class PlanCompaction(Request):
    """Plan what of the memory files to look at. ``source_path`` is put down with the plan, and chooses nothing."""

    source_path: _Path | None = None
    note: _Note | None = None


class CompactionPlanned(Result):
    """Where the plan stands, as JSON and as a page; nothing else was changed."""

    ok: bool = True
    report_id: str
    paths: list[str]
    committed_files: list[str]
    latest_commit: str | None
    planner_only: Literal[True] = True
    summary_counts: dict[str, int]
    degraded: bool = False
    warnings: list[str] = Field(default_factory=list)


class ListJobs(Request):
    """Nothing to ask."""


class JobShown(Result):
    """A job: what it does, what it needs from outside, how often to run it, and whether twice does no more than once."""

    job_id: str
    description: str
    local_only: Literal[True] = True
    external_factors: list[str]
    recommended_schedule: str
    idempotent: bool
    request_schema: dict[str, Any]  # Any: a JSON Schema


class JobList(Result):
    """Every job that can be run here."""

    ok: bool = True
    local_only: Literal[True] = True
    security: dict[str, str]
    jobs: list[JobShown]


class ReadJobStatus(Request):
    """How many of the newest runs."""

    limit: Annotated[int, Field(ge=1, le=bounds.OPS_RUNS_LISTED_MAX)] = limits.PAGE_LIMIT_DEFAULT


class ActiveLock(Result):
    """A run that goes on: nobody else runs its job before it ends, or before ``expires_at``."""

    job_id: str
    run_id: str
    started_at: str
    expires_at: str | None


class JobRunShown(Result):
    """One run. ``abandoned`` is one whose lock was over before it ended."""

    run_id: str
    job_id: str
    status: RunStatus
    started_at: str
    finished_at: str | None
    duration_seconds: float | None
    dry_run: bool
    force: bool
    client_ip: str | None
    initiator: str
    error: str | None
    result_summary: dict[str, Any]  # Any: JSON


class NewestRun(Result):
    """The newest run of a job."""

    status: RunStatus
    started_at: str
    finished_at: str | None
    run_id: str


class JobStatus(Result):
    """What runs, and what ran: the newest first, and of each job the newest that was no rehearsal."""

    ok: bool = True
    local_only: Literal[True] = True
    client_ip: str | None
    active_locks: list[ActiveLock]
    recent_runs: list[JobRunShown]
    last_by_job: dict[str, NewestRun]


class ExportJobSchedule(Request):
    """For which scheduler."""

    format: Annotated[Text, Field(max_length=32)]


class JobSchedule(Result):
    """Files for a scheduler of this machine, by their names: they call ``POST /v1/ops/run`` with a token from a file."""

    ok: bool = True
    local_only: Literal[True] = True
    format: Literal["systemd", "cron"]
    jobs: list[str]
    examples: dict[str, str]


class RunJob(Request):
    """Run a job, or show with ``dry_run`` what it would be run with. ``force`` is put down, and changes nothing."""

    job_id: Annotated[Text, Field(max_length=64)]
    dry_run: bool = False
    force: bool = False
    arguments: dict[str, Any] = Field(default_factory=dict)  # Any: what the job's own request type takes


class RunJobResult(Result):
    """That the job ran, and what it answered."""

    ok: bool = True
    run_id: str
    job_id: str
    status: Literal["succeeded"] = "succeeded"
    local_only: Literal[True] = True
    job_result: dict[str, Any]  # Any: the job's own answer


class CheckRotation(Request):
    """Which tokens end soon."""

    lookahead_hours: Annotated[int, Field(ge=1, le=bounds.OPS_LOOKAHEAD_HOURS_MAX)] = 24


class ExpiringToken(Result):
    """A token that ends soon."""

    model_config = ConfigDict(extra="forbid")

    token_id: str
    peer_id: str
    expires_at: str


class RotationChecked(Result):
    """The key that is signed with, and the tokens that end within the time."""

    ok: bool = True
    checked_at: str
    lookahead_hours: int
    active_key_id: str | None
    active_key_status: str
    expiring_tokens: list[ExpiringToken]
    expiring_token_count: int
