"""How the schedule's contract words a refusal: one object with its lower-snake code, on every door (seed 000)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lamina.errors import LaminaError, outcome_of

__all__ = ["Refusal", "refusal", "refusal_status"]

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


def refusal_status(code: str, usual: int) -> int | None:
    """The HTTP status of a code; ``usual`` is that of its class. None for codes that are not the schedule's."""
    if code in _OF_THE_REQUEST:
        return 422
    own = code in _OWN or code.startswith("INVALID_SCHEDULE_") or code == "WAL_UNAVAILABLE"
    return usual if own else None


def refusal(error: LaminaError) -> Refusal | None:
    """What the contract says of an error; None for those that are not the schedule's, such as a missing token."""
    status = refusal_status(error.code, outcome_of(error).status)
    return None if status is None else Refusal(status, _detail(error))


def _detail(error: LaminaError) -> Mapping[str, Any]:
    said = {"field": error.details.get("field"), "message": error.message}
    if error.code == "SCHEDULE_NOT_FOUND":
        found = {"schedule_id": error.details["schedule_id"], "message": error.message, "warnings": []}
        return {"code": "schedule_not_found", **found}
    if error.code in _OF_THE_REQUEST:
        return {"code": "invalid_schedule_payload", **said, "field": said["field"] or "body"}
    if error.code == "WAL_UNAVAILABLE":
        code = "schedule_db_unavailable"
        return {"code": code, "message": error.message, "warnings": [code]}
    return {"code": error.code.lower(), **said}
