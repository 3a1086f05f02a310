"""Revalidating the capsule that stands: the judgement that an outcome and its signals lead to."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule import requests
from lamina.continuity.capsule.moments import whole_second
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.validate import check_capsule, check_size
from lamina.continuity.changes.comparing import candidate_of, changed_fields, strongest
from lamina.continuity.changes.deciding import Changed
from lamina.continuity.changes.entry_times import stamped, without_times
from lamina.continuity.changes.normalise import normalised
from lamina.continuity.changes.ordering import WriteTimes, check_not_older
from lamina.continuity.changes.transitions import with_lifecycle
from lamina.errors import Malformed
from lamina.kernel.time import Instant, rfc3339

__all__ = ["Revalidation", "check_revalidation", "revalidated"]

_EVIDENCE_MAX: Final = 4
_STATUS: Final[Mapping[str, str]] = {
    "self_review": "self_attested",
    "external_observation": "externally_supported",
    "peer_confirmation": "peer_confirmed",
    "user_confirmation": "user_confirmed",
    "system_check": "system_confirmed",
}


@dataclass(frozen=True, slots=True)
class Revalidation:
    """A capsule after its revalidation, and the outcome that was applied."""

    changed: Changed
    outcome: str
    updated: bool


def check_revalidation(request: requests.Revalidate) -> None:
    """What an outcome needs and forbids; raises ``Malformed`` (INVALID_REVALIDATION)."""
    if (request.outcome == "correct") != (request.candidate_capsule is not None):
        raise _wrong(
            "a candidate_capsule goes with the outcome correct, and only with it", "candidate_capsule"
        )
    if request.outcome == "confirm" and request.reason is not None:
        raise _wrong("the outcome confirm takes no reason", "reason")
    if request.outcome in ("degrade", "conflict") and request.reason is None:
        raise _wrong(f"the outcome {request.outcome} needs a reason", "reason")


def revalidated(
    stored: CapsuleObject, request: requests.Revalidate, now: Instant, clock: WriteTimes | None = None
) -> Revalidation:
    """The capsule with its new judgement. A correction without a difference is a confirmation.

    A candidate is written as an upsert would write it: not over something newer, tidied and stamped, and with the
    lifecycle that the stored capsule has.
    """
    check_revalidation(request)
    kind, outcome, capsule, updated = strongest(request.signals), request.outcome, deepcopy(stored), False
    applied: tuple[str, ...] = ()
    if request.candidate_capsule is not None:
        candidate = candidate_of(request.candidate_capsule, request.subject)
        if _differs(stored, candidate):
            check_not_older(candidate["updated_at"], stored, clock)
            tidy = normalised(without_times(candidate))
            capsule = with_lifecycle(stamped(tidy.capsule, stored), stored, None, None)
            # The candidate's id may differ in what a normal form leaves out, and would keep the owner out.
            capsule["subject_id"] = stored["subject_id"]
            applied, updated = tidy.applied, True
        else:
            outcome = "confirm"
    at = rfc3339(whole_second(now))
    capsule |= {"verified_at": at, "verification_kind": kind} | _judgement(request, outcome, kind, at)
    check_capsule(capsule)
    return Revalidation(Changed(capsule, check_size(capsule), applied), outcome, updated)


def _judgement(request: requests.Revalidate, outcome: str, kind: str, at: str) -> dict[str, Any]:
    state: dict[str, Any] = {
        "status": "conflicted" if outcome == "conflict" else _STATUS[kind],
        "last_revalidated_at": at,
        "strongest_signal": kind,
        "evidence_refs": [signal.source_ref for signal in request.signals[:_EVIDENCE_MAX]],
    }
    reasons = [] if outcome in ("confirm", "correct") else [request.reason]
    status = {"degrade": "degraded", "conflict": "conflicted"}.get(outcome, "healthy")
    if outcome == "conflict":
        state["conflict_summary"] = request.reason
    return {
        "verification_state": state,
        "capsule_health": {"status": status, "reasons": reasons, "last_checked_at": at},
    }


def _differs(stored: CapsuleObject, candidate: CapsuleObject) -> bool:
    """Whether a correction would change something; preferences count here, or they would be lost in silence."""
    if changed_fields(stored, candidate):
        return True
    old, new = without_times(stored), without_times(candidate)
    return bool(old.get("stable_preferences", []) != new.get("stable_preferences", []))


def _wrong(reason: str, field: str) -> Malformed:
    return Malformed("INVALID_REVALIDATION", reason, details={"field": field})
