"""Runs of operators' jobs in SQLite."""

from __future__ import annotations

import json
from collections.abc import Mapping

import apsw

from lamina import limits
from lamina.store.blocks import load_blocks
from lamina.store.ports.job_runs import JobRun
from lamina.store.rows import Row
from lamina.store.rules.job_runs import job_is_running
from lamina.store.sqlite.connection import Readers, Writer

__all__ = ["SqliteJobRuns"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteJobRuns:
    """``JobRuns`` over their table."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def begin(self, run: JobRun) -> None:
        """Mirrors ``JobRuns.begin``."""

        def work(connection: apsw.Connection) -> None:
            connection.execute(_SQL["abandon_job_runs"], (run.tenant_id, run.started_at))
            held = connection.execute(_SQL["running_job"], (run.tenant_id, run.job_id)).fetchone()
            if held is not None and run.status == "running":
                raise job_is_running(_run(held))
            connection.execute(_SQL["insert_job_run"], _row(run))
            connection.execute(_SQL["forget_job_runs"], (run.tenant_id, limits.OPS_RUNS_KEPT_MAX))

        self._writer.write(work)

    def end(self, run: JobRun) -> None:
        """Mirrors ``JobRuns.end``."""
        ended = (run.status, run.finished_at, run.error, json.dumps(run.result_keys))
        self._writer.write(
            lambda connection: connection.execute(_SQL["end_job_run"], (run.tenant_id, run.run_id, *ended))
        )

    def listed(self, tenant_id: str, limit: int) -> list[JobRun]:
        """Mirrors ``JobRuns.listed``."""
        return [_run(row) for row in self._readers.rows(_SQL["job_runs"], (tenant_id, limit))]

    def newest(self, tenant_id: str) -> Mapping[str, JobRun]:
        """Mirrors ``JobRuns.newest``."""
        runs = [_run(row) for row in self._readers.rows(_SQL["newest_job_runs"], (tenant_id,))]
        return {run.job_id: run for run in runs}


def _row(run: JobRun) -> Row:
    times = (run.started_at, run.finished_at, run.lease_until)
    flags = (int(run.dry_run), int(run.force))
    keys = json.dumps(run.result_keys)
    return (
        run.tenant_id, run.run_id, run.job_id, run.status, *times, *flags, run.client_ip, run.initiator, run.error, keys,
    )  # fmt: skip


def _run(row: Row) -> JobRun:
    tenant_id, run_id, job_id, status, started_at, finished_at, lease_until, *rest = row
    dry_run, force, client_ip, initiator, error, result_keys = rest
    return JobRun(
        tenant_id=tenant_id,
        run_id=run_id,
        job_id=job_id,
        status=status,
        started_at=started_at,
        finished_at=finished_at,
        lease_until=lease_until,
        dry_run=bool(dry_run),
        force=bool(force),
        client_ip=client_ip,
        initiator=initiator,
        error=error,
        result_keys=tuple(json.loads(result_keys)),
    )
