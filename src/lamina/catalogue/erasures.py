"""The codes of erasures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CLIENTS, SERVER, STATE, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "CANNOT_WRITE_TOMBSTONES": ErrorCode(
        "Unavailable",
        SERVER,
        "The list of what was erased, which restores of older backups need, cannot be written. Nothing was erased; an erasure that had "
        "begun hides its memory and goes on once it can.",
        hint="make its folder writable, or name a file elsewhere with LAMINA_TOMBSTONES",
    ),
    "ERASURE_DRIFTED": ErrorCode(
        "Conflict",
        STATE,
        "What an erasure would take is not what its preview showed: `details.drift` lines differ, and the tenant allows "
        "`details.drift_threshold`. Nothing was erased.",
        hint="make a new preview with POST /v1/erasures/preview, and look at it again",
    ),
    "ERASURE_RUNNING": ErrorCode(
        "Conflict",
        STATE,
        "The memory is being erased by `details.erasure_id`, and takes nothing new until that is over. Nothing was stored.",
        hint="GET /v1/erasures/{erasure_id} says how far it is; send it again once it is completed",
    ),
    "INCOMPLETE_TOMBSTONES": ErrorCode(
        "Conflict",
        CLIENTS,
        "The list of what was erased is not the one that a backup was made beside, or an older copy: what was erased since may be missing "
        "in it. Nothing was restored.",
        hint="name with --tombstones the list that was kept beside the backup, whole; --incomplete-tombstones restores what is in none, and "
        "says so in the audit log",
    ),
    "INVALID_TOMBSTONES": ErrorCode(
        "Invalid",
        CLIENTS,
        "The list of what was erased has a line that this release did not write. Nothing was restored.",
        hint="take a copy of the list that is whole, or the release that wrote it",
    ),
    "LEGAL_HOLD": ErrorCode(
        "Conflict",
        STATE,
        "The tenant's policy keeps everything in `details.scope` (`legal_holds`): no part of it is forgotten. Nothing was changed.",
        hint="an administrator of the tenant lifts it in the tenant's policy (legal_holds)",
    ),
    "PREVIEW_EXPIRED": ErrorCode(
        "Gone",
        STATE,
        "A preview of an erasure, and its manifest, hold for a day.",
        hint="make a new one with POST /v1/erasures/preview",
    ),
    "TOMBSTONES_NOT_FOUND": ErrorCode(
        "NotFound",
        CLIENTS,
        "A backup is restored together with the list of what was erased since it was made, and there is no such list. Nothing was restored.",
        hint="name it with --tombstones, or say --without-tombstones where nothing was erased since the backup",
    ),
}
