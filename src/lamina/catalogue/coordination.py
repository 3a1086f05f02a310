"""The codes of what agents hand over, share and dispute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import COORDINATION, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "INVALID_COORDINATION": ErrorCode(
        "Malformed",
        COORDINATION,
        "A request about handoffs, shared artifacts or reconciliations is refused: `details.field` names what, the message says why. "
        "Nothing was stored.",
        hint="docs/reference/coordination.md has the fields, their bounds and what must agree",
    ),
    "UNTRUSTED_PEER": ErrorCode(
        "Conflict",
        COORDINATION,
        "A peer that the request names is registered as untrusted.",
        hint="an operator changes that with `POST /v1/peers/{peer_id}/trust`",
    ),
    "ARTIFACT_NOT_FOUND": ErrorCode(
        "NotFound", COORDINATION, "No handoff, shared artifact or reconciliation has this id."
    ),
    "ARTIFACT_NOT_YOURS": ErrorCode(
        "Forbidden",
        COORDINATION,
        "The artifact is for whom it names: its sender and recipient, its owner and participants. Some changes are for one of them alone.",
        hint="a handoff is consumed by its recipient, a shared artifact is updated by its owner, a dispute is ended by who opened it",
    ),
    "PEER_FILTER_DENIED": ErrorCode(
        "Forbidden",
        COORDINATION,
        "A query names somebody else than the caller, or does not name the caller. Who administers peers may name anybody.",
        hint="put your own peer id into one of the fields of `details.fields`",
    ),
    "HANDOFF_CONSUMED": ErrorCode(
        "Conflict",
        COORDINATION,
        "The handoff was consumed before, with another status or reason: `details.status` is the one that stands.",
        hint="read the handoff; what was said once stays",
    ),
    "ARTIFACT_CHANGED": ErrorCode(
        "Conflict",
        COORDINATION,
        "The shared artifact or the reconciliation is at another version than the caller has seen: `details.version`. Nothing was stored.",
        hint="read it again, then decide again",
    ),
    "RECONCILIATION_RESOLVED": ErrorCode(
        "Conflict",
        COORDINATION,
        "The dispute was ended before, with another outcome or summary: `details.outcome` is the one that stands.",
        hint="read the reconciliation; a new dispute is opened by itself",
    ),
    "TASK_EXISTS": ErrorCode(
        "Conflict",
        COORDINATION,
        "There is a task of this id, done or not: `details.path` is its file.",
        hint="choose another task_id, or change the task that there is",
    ),
    "TASK_NOT_FOUND": ErrorCode(
        "NotFound", COORDINATION, "No task has this id.", hint="`GET /v1/tasks/query` lists them"
    ),
    "TASK_DONE": ErrorCode(
        "Conflict",
        COORDINATION,
        "A task that is done stays done.",
        hint="create another task that goes on with it",
    ),
    "PATCH_EXISTS": ErrorCode(
        "Conflict", COORDINATION, "There is a patch of this id.", hint="leave patch_id out, or choose another"
    ),
    "PATCH_NOT_FOUND": ErrorCode(
        "NotFound",
        COORDINATION,
        "No patch of this id was proposed.",
        hint="send the patch_id that proposing it answered",
    ),
    "PATCH_NOT_PROPOSED": ErrorCode(
        "Conflict",
        COORDINATION,
        "The patch was applied before, or is otherwise at an end: `details.status`. Nothing was changed.",
        hint="propose another patch",
    ),
    "PATCH_BASE_CHANGED": ErrorCode(
        "Conflict",
        COORDINATION,
        "The file is not what it was at the commit that the patch was made for. Nothing was changed.",
        hint="read the file, and propose a patch of what stands now",
    ),
    "PATCH_MISSES": ErrorCode(
        "Conflict",
        COORDINATION,
        "A hunk of the patch does not stand in the file where it says; the message names it. Nothing was changed.",
        hint="make the diff of the file as it stands, with its exact lines",
    ),
    "STORED_ARTIFACT_INVALID": ErrorCode(
        "Malformed",
        COORDINATION,
        "What stands where the artifact should be is none: it was written as a file, or restored so.",
        hint="read it with `GET /v1/read`, and write or remove it as a file",
    ),
}
