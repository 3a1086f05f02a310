"""Files for the scheduler of this machine, as text. They ask the server itself, so that a job runs under its locks and its audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lamina.coordination.operators.jobs import OperatorJob, Times

__all__ = ["cron_files", "systemd_files"]

_RUNNER: Final = """#!/bin/sh
# Runs one job: lamina-job JOB_ID [ARGUMENTS]. The token stands in a file that only this user may read.
set -eu
TOKEN_FILE="${LAMINA_OPS_TOKEN_FILE:-/etc/lamina/ops.token}"
URL="${LAMINA_URL:-@URL@}"
ARGUMENTS="${2:-}"
printf 'header = "Authorization: Bearer %s"\\n' "$(cat "$TOKEN_FILE")" |
  curl --fail-with-body --silent --show-error --max-time 3600 --config - \\
    --header 'Content-Type: application/json' \\
    --data "{\\"job_id\\": \\"$1\\", \\"arguments\\": ${ARGUMENTS:-{\\}}}" "$URL/v1/ops/run"
"""


def systemd_files(jobs: Mapping[str, OperatorJob], url: str) -> dict[str, str]:
    """A runner, a template of a service, and a timer for each job that has times. The server is at ``url``."""
    files = {
        "/usr/local/bin/lamina-job": _RUNNER.replace("@URL@", url),
        "/etc/systemd/system/lamina-job@.service": _unit(
            [
                ("Unit", ["Description=Lamina job %I", "After=network.target"]),
                ("Service", ["Type=oneshot", "User=lamina", "ExecStart=/usr/local/bin/lamina-job %I"]),
            ]
        ),
    }
    for job_id, times in _timed(jobs):
        name = f"lamina-{job_id.replace('.', '-').replace('_', '-')}"
        timer = [f"OnCalendar={times.on_calendar}", "Persistent=true", "RandomizedDelaySec=60"]
        files[f"/etc/systemd/system/{name}.timer"] = _unit(
            [
                ("Unit", [f"Description={jobs[job_id].description}"]),
                ("Timer", [*timer, f"Unit=lamina-job@{job_id}.service"]),
                ("Install", ["WantedBy=timers.target"]),
            ]
        )
    return files


def cron_files(jobs: Mapping[str, OperatorJob], url: str) -> dict[str, str]:
    """A runner, and a table with a line for each job that has times. The server is at ``url``."""
    lines = [f"{times.cron} lamina /usr/local/bin/lamina-job {job_id}" for job_id, times in _timed(jobs)]
    table = "\n".join(["# Jobs of Lamina: minute, hour, day, month, weekday, user, command.", *lines]) + "\n"
    return {"/usr/local/bin/lamina-job": _RUNNER.replace("@URL@", url), "/etc/cron.d/lamina": table}


def _timed(jobs: Mapping[str, OperatorJob]) -> list[tuple[str, Times]]:
    return [(job_id, job.times) for job_id, job in jobs.items() if job.times is not None]


def _unit(sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "\n".join("\n".join([f"[{name}]", *lines, ""]) for name, lines in sections)
