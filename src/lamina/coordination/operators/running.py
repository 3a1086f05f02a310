"""Jobs of this machine: which there are, what runs, and running one. A run is the lock of its job, and its lock ends by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from lamina import limits
from lamina.coordination.operators import bounds
from lamina.coordination.operators.exporting import cron_files, systemd_files
from lamina.coordination.operators.jobs import JOBS, OperatorJob
from lamina.coordination.operators.requests import (
    ActiveLock,
    ExportJobSchedule,
    JobList,
    JobRunShown,
    JobSchedule,
    JobShown,
    JobStatus,
    ListJobs,
    NewestRun,
    ReadJobStatus,
    RunJob,
    RunJobResult,
)
from lamina.errors import Invalid, LaminaError, Malformed
from lamina.kernel.hosts import own_url
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call, Operation
from lamina.kernel.time import SECOND_US, Clock, rfc3339, rfc3339_or_none, to_datetime
from lamina.store.ports.job_runs import JobRun, JobRuns

__all__ = ["JobRunner", "stamped_id"]

_SECURITY: Final = {
    "execution": "on this machine, inside the server, one run of a job at a time",
    "required_scope": "admin:peers",
    "network_boundary": "loopback",
    "description": "A call from elsewhere, or through a proxy that says so, is refused whatever its token holds.",
}


def stamped_id(kind: str, ids: IdSource, call: Call) -> str:
    """A new id as the contract has them: ``<kind>_<time>_<8 hex>``."""
    return f"{kind}_{to_datetime(call.now):%Y%m%dT%H%M%SZ}_{ids.stamped(Prefix.JOB, call.now)[-8:]}"


class JobRunner:
    """Handlers over jobs."""

    def __init__(
        self,
        runs: JobRuns,
        ids: IdSource,
        clock: Clock,
        operations: Mapping[str, Operation[Any]],
        url: str = own_url("", 0),
    ) -> None:
        """``operations`` are those that are served, by name, at the ``url``; the ``clock`` says when a run has ended."""
        self._url = url
        self._runs = runs
        self._clock = clock
        self._ids = ids
        self._operations = operations

    @property
    def jobs(self) -> dict[str, OperatorJob]:
        """The jobs whose operation is served."""
        return {job_id: job for job_id, job in JOBS.items() if job.operation in self._operations}

    def catalogue(self, request: ListJobs, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """Every job."""
        shown = [
            JobShown(
                job_id=job_id,
                description=job.description,
                external_factors=list(job.external_factors),
                recommended_schedule=job.schedule,
                idempotent=job.idempotent,
                request_schema=self._operations[job.operation].request.model_json_schema(),
            )
            for job_id, job in self.jobs.items()
        ]
        return Answer(JobList(security=_SECURITY, jobs=shown))

    def status(self, request: ReadJobStatus, call: Call) -> Answer:
        """What runs and ran. A lock whose time is over is none."""
        tenant_id = call.principal.tenant_id
        runs = self._runs.listed(tenant_id, limits.OPS_RUNS_KEPT_MAX)
        newest = self._runs.newest(tenant_id)
        return Answer(
            JobStatus(
                client_ip=call.address,
                active_locks=[_lock(run) for run in runs if run.holds(call.now)],
                recent_runs=[_shown(run) for run in runs[: request.limit]],
                last_by_job={job_id: _newest(run) for job_id, run in sorted(newest.items())},
            )
        )

    def schedule(self, request: ExportJobSchedule, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """Files for systemd or cron."""
        jobs = self.jobs
        timed = [job_id for job_id, job in jobs.items() if job.times is not None]
        if request.format == "systemd":
            return Answer(JobSchedule(format="systemd", jobs=timed, examples=systemd_files(jobs, self._url)))
        if request.format == "cron":
            return Answer(JobSchedule(format="cron", jobs=timed, examples=cron_files(jobs, self._url)))
        raise Malformed(
            "INVALID_JOB_SCHEDULE",
            f"there is no format {request.format!r}",
            hint="the formats are systemd and cron",
            details={"field": "format"},
        )

    def run(self, request: RunJob, call: Call) -> Answer:
        """Run a job as its caller would, and keep how it went."""
        operation, wanted = self._prepared(request)
        begun = JobRun(
            tenant_id=call.principal.tenant_id,
            run_id=stamped_id("ops", self._ids, call),
            job_id=request.job_id,
            status="succeeded" if request.dry_run else "running",
            started_at=call.now,
            finished_at=call.now if request.dry_run else None,
            lease_until=None if request.dry_run else call.now + int(bounds.OPS_LEASE_S * SECOND_US),
            dry_run=request.dry_run,
            force=request.force,
            client_ip=call.address,
            initiator=call.relay.peer_id,
        )
        for need in operation.relay:
            call.relay.require(need.right, need.mode, need.path)
        self._runs.begin(begun)
        if request.dry_run:
            planned = wanted.model_dump(mode="json", exclude_unset=True)
            answered: dict[str, Any] = {
                "ok": True,
                "dry_run": True,
                "job_id": request.job_id,
                "planned_arguments": planned,
            }
        else:
            body = to_json(request.arguments)
            answered = self._worked(begun, operation, wanted, body, call)
        return Answer(RunJobResult(run_id=begun.run_id, job_id=begun.job_id, job_result=answered))

    def _prepared(self, request: RunJob) -> tuple[Operation[Any], BaseModel]:
        job = self.jobs.get(request.job_id)
        if job is None:
            raise Invalid(
                "UNKNOWN_JOB",
                f"there is no job {request.job_id!r} here",
                hint=f"the jobs are {', '.join(self.jobs)}",
                details={"field": "job_id"},
            )
        operation = self._operations[job.operation]
        try:
            wanted: BaseModel = operation.request.model_validate(request.arguments)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            field = ".".join(map(str, ("arguments", *first["loc"])))
            raise Malformed(
                "INVALID_JOB_ARGUMENTS",
                f"{field}: {first['msg']}",
                hint="GET /v1/ops/catalog has the schema of each job's arguments",
                details={"field": field},
            ) from error
        return operation, wanted

    def _worked(
        self, begun: JobRun, operation: Operation[Any], wanted: BaseModel, body: bytes, call: Call
    ) -> dict[str, Any]:  # Any: the job's own answer
        try:
            # The key of the run is not that of what it runs, nor is its body.
            answer = operation.handler(wanted, replace(call, key=None, body=body))
        except Exception as error:
            code = error.code if isinstance(error, LaminaError) else "INTERNAL"
            self._runs.end(replace(begun, status="failed", finished_at=self._clock.now(), error=code))
            raise
        answered: dict[str, Any] = answer.result.model_dump(mode="json", by_alias=True)
        keys = tuple(answered)[: bounds.OPS_RESULT_KEYS_MAX]
        self._runs.end(replace(begun, status="succeeded", finished_at=self._clock.now(), result_keys=keys))
        return answered


def _lock(run: JobRun) -> ActiveLock:
    return ActiveLock(
        job_id=run.job_id,
        run_id=run.run_id,
        started_at=rfc3339(run.started_at),
        expires_at=rfc3339_or_none(run.lease_until),
    )


def _newest(run: JobRun) -> NewestRun:
    return NewestRun(
        status=run.status,
        started_at=rfc3339(run.started_at),
        finished_at=rfc3339_or_none(run.finished_at),
        run_id=run.run_id,
    )


def _shown(run: JobRun) -> JobRunShown:
    took_us = None if run.finished_at is None else run.finished_at - run.started_at
    return JobRunShown(
        **_newest(run).model_dump(),
        job_id=run.job_id,
        duration_seconds=None if took_us is None else took_us / SECOND_US,
        dry_run=run.dry_run,
        force=run.force,
        client_ip=run.client_ip,
        initiator=run.initiator,
        error=run.error,
        result_summary={"ok": run.status == "succeeded", "keys": list(run.result_keys)},
    )
