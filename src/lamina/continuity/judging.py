"""Comparing a candidate with the capsule that stands, and revalidating that one against signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity import requests
from lamina.continuity.capsules import Capsule, CapsuleObject, Signal, plain
from lamina.continuity.moments import check_moment, whole_second
from lamina.continuity.normalise import normalised, with_tidy_descriptor
from lamina.continuity.salience import VERIFICATION_RANK
from lamina.continuity.stamping import stamped, without_times
from lamina.continuity.subjects import Subject
from lamina.continuity.transitions import with_lifecycle
from lamina.continuity.validate import check_capsule, check_size
from lamina.continuity.writes import Changed, check_not_older
from lamina.errors import Malformed
from lamina.kernel.time import Instant, rfc3339

__all__ = [
    "Comparison",
    "Revalidated",
    "candidate_of",
    "changed_fields",
    "check_revalidation",
    "compared",
    "field_value",
    "revalidated",
    "strongest",
    "uncompared_fields",
]

_EVIDENCE_MAX: Final = 4
_COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    "subject_kind": (),
    "subject_id": (),
    "schema_version": (),
    "updated_at": (),
    "source": ("producer", "update_reason", "inputs"),
    "continuity": (
        "top_priorities",
        "active_concerns",
        "active_constraints",
        "open_loops",
        "stance_summary",
        "drift_signals",
        "working_hypotheses",
        "long_horizon_commitments",
        "session_trajectory",
        "negative_decisions",
        "trailing_notes",
        "curiosity_queue",
        "rationale_entries",
        "related_documents",
        "relationship_model",
        "retrieval_hints",
    ),
    "confidence": ("continuity", "relationship_model"),
    "attention_policy": ("early_load", "presence_bias_overrides"),
    "freshness": ("freshness_class", "expires_at", "stale_after_seconds"),
    "canonical_sources": (),
    "metadata": (),
    "thread_descriptor": (
        "label",
        "keywords",
        "scope_anchors",
        "identity_anchors",
        "lifecycle",
        "superseded_by",
    ),
}
_INSIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "relationship_model": ("trust_level", "preferred_style", "sensitivity_notes"),
    "retrieval_hints": ("must_include", "avoid", "load_next"),
}
_STATUS: Final[Mapping[str, str]] = {
    "self_review": "self_attested",
    "external_observation": "externally_supported",
    "peer_confirmation": "peer_confirmed",
    "user_confirmation": "user_confirmed",
    "system_check": "system_confirmed",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs, and what the signals speak for."""

    changed_fields: tuple[str, ...]
    strongest_signal: str
    recommended_outcome: str


@dataclass(frozen=True, slots=True)
class Revalidated:
    """A capsule after its revalidation, and the outcome that was applied."""

    changed: Changed
    outcome: str
    updated: bool


def candidate_of(candidate: Capsule, subject: Subject) -> CapsuleObject:
    """A candidate as a capsule object, checked whole; raises ``Malformed``."""
    if (candidate.subject_kind, Subject(candidate.subject_kind, candidate.subject_id).slug) != (
        subject.kind,
        subject.slug,
    ):
        raise Malformed(
            "SUBJECT_MISMATCH",
            "the candidate is about another subject than the request",
            details={"field": "candidate_capsule.subject_id"},
        )
    capsule = with_tidy_descriptor(plain(candidate))
    check_capsule(capsule)
    return capsule


def strongest(signals: Sequence[Signal]) -> str:
    """The kind of the strongest signal; the first of equals. Raises ``Malformed`` for a time that is none."""
    for signal in signals:
        check_moment(signal.observed_at, "signals[].observed_at")
    return max(signals, key=lambda signal: VERIFICATION_RANK[signal.kind]).kind


def compared(stored: CapsuleObject, candidate: CapsuleObject, signals: Sequence[Signal]) -> Comparison:
    """How a candidate differs from the capsule that stands, and which outcome its signals recommend."""
    changed, kind = changed_fields(stored, candidate), strongest(signals)
    outcome = "confirm" if not changed else "conflict" if kind == "self_review" else "correct"
    return Comparison(changed, kind, outcome)


def changed_fields(stored: CapsuleObject, candidate: CapsuleObject) -> tuple[str, ...]:
    """The dotted names of what differs, in the order of the shape; judgements and entry times do not count."""
    old, new = without_times(stored), without_times(candidate)
    changed: list[str] = []
    for name, parts in _COMPARED.items():
        before, after = old.get(name), new.get(name)
        if name == "metadata":
            keys = sorted((before or {}).keys() | (after or {}).keys())
            changed += _changed_inside(name, keys, before or {}, after or {})
        elif parts:
            changed += _changed_inside(name, parts, before or {}, after or {})
        elif before != after:
            changed.append(name)
    return tuple(changed)


def uncompared_fields(stored: CapsuleObject, candidate: CapsuleObject) -> tuple[str, ...]:
    """The names of what differs and does not count in a comparison, such as preferences and judgements."""
    old, new = without_times(stored), without_times(candidate)
    names = sorted((old.keys() | new.keys()) - _COMPARED.keys())
    return tuple(name for name in names if old.get(name) != new.get(name))


def field_value(capsule: CapsuleObject, field: str) -> Any:  # Any: whatever a capsule holds
    """What stands at a dotted name as ``changed_fields`` gives them; None where nothing does."""
    top, _, rest = field.partition(".")
    value: Any = capsule.get(top)
    # A key of metadata may have dots of its own.
    for part in [rest] if top == "metadata" else rest.split(".") if rest else []:
        value = (value or {}).get(part)
    return value


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


def revalidated(stored: CapsuleObject, request: requests.Revalidate, now: Instant) -> Revalidated:
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
            check_not_older(candidate["updated_at"], stored)
            tidy = normalised(without_times(candidate))
            capsule = with_lifecycle(stamped(tidy.capsule, stored), stored, None, None)
            applied, updated = tidy.applied, True
        else:
            outcome = "confirm"
    at = rfc3339(whole_second(now))
    capsule |= {"verified_at": at, "verification_kind": kind} | _judgement(request, outcome, kind, at)
    check_capsule(capsule)
    return Revalidated(Changed(capsule, check_size(capsule), applied), outcome, updated)


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


def _changed_inside(
    name: str, inner: Sequence[str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> list[str]:
    changed: list[str] = []
    for part in inner:
        if old.get(part) == new.get(part):
            continue
        if name == "continuity" and part in _INSIDE:
            changed += _changed_inside(
                f"{name}.{part}", _INSIDE[part], old.get(part) or {}, new.get(part) or {}
            )
        else:
            changed.append(f"{name}.{part}")
    return changed


def _wrong(reason: str, field: str) -> Malformed:
    return Malformed("INVALID_REVALIDATION", reason, details={"field": field})
