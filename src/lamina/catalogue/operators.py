"""The codes of operators' jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CALLERS, REQUESTS, STATE, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "UNKNOWN_JOB": ErrorCode(
        "Invalid",
        CALLERS,
        "There is no job of this id here: jobs are offered where the operation that they run is. Nothing was run.",
        hint="`GET /v1/ops/catalog` lists them",
    ),
    "INVALID_JOB_ARGUMENTS": ErrorCode(
        "Malformed",
        REQUESTS,
        "The `arguments` of a job are not what it takes. The message names the field. Nothing was run.",
        hint="`GET /v1/ops/catalog` has the schema of each job's arguments",
    ),
    "INVALID_JOB_SCHEDULE": ErrorCode(
        "Malformed",
        REQUESTS,
        "Schedules are written for systemd and for cron.",
        hint="ask with `format=systemd` or `format=cron`",
    ),
    "HISTORY_NOT_FOUND": ErrorCode(
        "NotFound",
        STATE,
        "The unit of history that a job was to move is not there, or its stub is not. Nothing was moved.",
        hint="its stub, below `index`, says by `payload_path` where it stands",
    ),
    "HISTORY_CONFLICT": ErrorCode(
        "Conflict",
        STATE,
        "The unit of history stands where it was to be moved to, or its stub names another place than the one it was found at. Nothing was moved.",
        hint="look at the stub, and remove the copy that it does not name",
    ),
    "INVALID_HISTORY": ErrorCode(
        "Malformed",
        REQUESTS,
        "The path is not that of a unit of this history, or the unit, its stub or its compressed copy is damaged or too large. The message says which. Nothing was moved.",
        hint="name a path that a stub of this history has as its `payload_path`",
    ),
    "INVALID_DOCUMENT_BACKUP": ErrorCode(
        "Malformed",
        REQUESTS,
        "The path is not that of a backup of documents, or the archive there is damaged, cut off, or holds what no backup does: links, folders, or paths that lead "
        "outside. Nothing was written.",
        hint="name a `backup_path` that `POST /v1/backup/create` answered",
    ),
    "JOB_RUNNING": ErrorCode(
        "Conflict",
        STATE,
        "Another run of the job goes on and holds its lock, whose end `lease_until` says. Where the process of that run died, the lock ends by itself.",
        hint="wait until it has ended: `GET /v1/ops/status` shows it",
    ),
}
