"""How the schedule's contract words a refusal: one object with its lower-snake code, on every door (seed 000)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lamina.errors import LaminaError, outcome_of

__all__ = ["Refusal", "refusal"]

_OWN: Final = frozenset(
    {
        "DUE_AT_NOT_FUTURE",
        "IDEMPOTENCY_KEY_CONFLICT",
        "SCHEDULE_ID_CONFLICT",
        "SCHEDULE_NOT_FOUND",
        "SCHEDULE_STATUS_CONFLICT",
        "SCHEDULE_VERSION_CONFLICT",
    }
)
_OF_THE_REQUEST: Final = frozenset({"INVALID_BODY", "INVALID_REQUEST", "MISSING_REQUIRED_FIELD"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status and the ``detail`` object."""

    status: int
    detail: Mapping[str, Any]


def refusal(error: LaminaError) -> Refusal | None:
    """What the contract says of an error; None for those that are not the schedule's, such as a missing token."""
    said = {"field": error.details.get("field"), "message": error.message}
    if error.code == "SCHEDULE_NOT_FOUND":
        found = {"schedule_id": error.details["schedule_id"], "message": error.message, "warnings": []}
        return Refusal(404, {"code": "schedule_not_found", **found})
    if error.code in _OWN or error.code.startswith("INVALID_SCHEDULE_"):
        return Refusal(outcome_of(error).status, {"code": error.code.lower(), **said})
    if error.code in _OF_THE_REQUEST:
        said["field"] = said["field"] or "body"
        return Refusal(422, {"code": "invalid_schedule_payload", **said})
    if error.code == "WAL_UNAVAILABLE":
        code = "schedule_db_unavailable"
        return Refusal(503, {"code": code, "message": error.message, "warnings": [code]})
    return None
