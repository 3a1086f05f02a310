"""Runs of operators' jobs in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lamina import limits
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.job_runs import JobRun
from lamina.store.rules.job_runs import job_is_running

__all__ = ["MemoryJobRuns"]


class MemoryJobRuns:
    """``JobRuns`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def begin(self, run: JobRun) -> None:
        """Mirrors ``JobRuns.begin``."""
        with self._memory.change() as tables:
            for place, each in list(tables.job_runs.items()):
                if each.tenant_id != run.tenant_id or each.status != "running":
                    continue
                if not each.holds(run.started_at):
                    ended_at = each.lease_until
                    if ended_at is not None and ended_at > run.started_at:
                        ended_at = each.started_at
                    tables.job_runs[place] = replace(each, status="abandoned", finished_at=ended_at)
                elif each.job_id == run.job_id and run.status == "running":
                    raise job_is_running(each)
            tables.job_runs[run.tenant_id, run.run_id] = run
            for old in _sorted(tables, run.tenant_id)[limits.OPS_RUNS_KEPT_MAX :]:
                if old.status != "running":
                    del tables.job_runs[old.tenant_id, old.run_id]

    def end(self, run: JobRun) -> None:
        """Mirrors ``JobRuns.end``."""
        with self._memory.change() as tables:
            known = tables.job_runs.get((run.tenant_id, run.run_id))
            if known is not None and known.status == "running":
                tables.job_runs[run.tenant_id, run.run_id] = run

    def listed(self, tenant_id: str, limit: int) -> list[JobRun]:
        """Mirrors ``JobRuns.listed``."""
        return _sorted(self._memory.tables, tenant_id)[:limit]

    def newest(self, tenant_id: str) -> Mapping[str, JobRun]:
        """Mirrors ``JobRuns.newest``."""
        return {
            each.job_id: each
            for each in reversed(_sorted(self._memory.tables, tenant_id))
            if not each.dry_run
        }


def _sorted(tables: Tables, tenant_id: str) -> list[JobRun]:
    runs = [each for each in tables.job_runs.values() if each.tenant_id == tenant_id]
    return sorted(runs, key=lambda each: (each.started_at, each.run_id), reverse=True)
