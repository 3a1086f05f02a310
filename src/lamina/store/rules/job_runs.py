"""What every engine does alike with the runs of jobs."""

from __future__ import annotations

from lamina.errors import Conflict
from lamina.kernel.time import rfc3339
from lamina.store.ports.job_runs import JobRun

__all__ = ["job_is_running"]


def job_is_running(run: JobRun) -> Conflict:
    """The refusal of a job that another run holds."""
    until = None if run.lease_until is None else rfc3339(run.lease_until)
    return Conflict(
        "JOB_RUNNING",
        f"the job {run.job_id} runs already, as {run.run_id}",
        hint="wait until it has ended; where its process died, its lock ends by itself",
        details={"job_id": run.job_id, "run_id": run.run_id, "lease_until": until},
    )
