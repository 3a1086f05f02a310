"""Trust signals: what can be said mechanically of a capsule's age, completeness, integrity and match. No score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.judgements.freshness import SEVERITY, freshness, known_age_s, stale_after_s
from lamina.kernel.time import Instant

__all__ = [
    "HEALTH_RANK",
    "STANCE_LENGTH_MIN",
    "Health",
    "TrustSignals",
    "aggregate",
    "compact",
    "health",
    "resume_adequate",
    "trust_signals",
    "verification_status",
]

TrustSignals = dict[str, Any]
"""Trust signals as they are shown."""

STANCE_LENGTH_MIN: Final = 30
"""A shorter stance orients nobody."""

HEALTH_RANK: Final[Mapping[str, int]] = {"healthy": 0, "degraded": 1, "conflicted": 2}
_RESUMED_BY: Final = ("open_loops", "top_priorities", "active_constraints")
_ORIENTATION: Final = (
    "top_priorities",
    "active_constraints",
    "open_loops",
    "active_concerns",
    "stance_summary",
    "drift_signals",
)


@dataclass(frozen=True, slots=True)
class Health:
    """A capsule's health as it was last judged; healthy where nobody did."""

    status: str
    reasons: tuple[str, ...] = ()


def health(capsule: CapsuleObject) -> Health:
    """The stored health; degraded where what is stored cannot be read."""
    stored = capsule.get("capsule_health")
    if stored is None:
        return Health("healthy")
    if not isinstance(stored, dict) or stored.get("status") not in HEALTH_RANK:
        return Health("degraded")
    return Health(stored["status"], tuple(stored.get("reasons", ())))


def verification_status(capsule: CapsuleObject) -> str:
    """The stored status of the verification, ``unverified`` where there is none."""
    return str(capsule.get("verification_state", {}).get("status", "unverified"))


def resume_adequate(capsule: CapsuleObject) -> bool:
    """Whether an agent could go on from this capsule: loops, priorities, constraints, and a stance of some length."""
    state = capsule["continuity"]
    return all(state.get(name) for name in _RESUMED_BY) and not _empty(state, "stance_summary")


def trust_signals(capsule: CapsuleObject, now: Instant, source_state: str) -> TrustSignals:
    """The full signals of a capsule that was read as ``active`` or ``fallback``, of which nothing is trimmed yet."""
    own = capsule.get("freshness", {})
    state = capsule["continuity"]
    judged = health(capsule)
    return {
        "recency": {
            "updated_age_seconds": known_age_s(capsule.get("updated_at"), now),
            "verified_age_seconds": known_age_s(capsule.get("verified_at"), now),
            "phase": freshness(capsule, now).phase,
            "freshness_class": own.get("freshness_class"),
            "stale_threshold_seconds": stale_after_s(capsule),
        },
        "completeness": {
            "orientation_adequate": resume_adequate(capsule),
            "empty_orientation_fields": [name for name in _ORIENTATION if _empty(state, name)],
            "trimmed": False,
            "trimmed_fields": [],
        },
        "integrity": {
            "source_state": source_state,
            "health_status": judged.status,
            "health_reasons": list(judged.reasons),
            "verification_status": verification_status(capsule),
        },
        "scope_match": {"exact": source_state == "active"},
    }


def compact(signals: TrustSignals) -> TrustSignals:
    """The least of the signals, for a budget that the full ones do not fit."""
    return {
        "compact": True,
        "recency": {"phase": signals["recency"]["phase"]},
        "completeness": {name: signals["completeness"][name] for name in ("orientation_adequate", "trimmed")},
        "integrity": {name: signals["integrity"][name] for name in ("source_state", "health_status")},
        "scope_match": {"exact": signals["scope_match"]["exact"]},
    }


def aggregate(signals: Sequence[TrustSignals | None], *, requested: int, returned: int) -> TrustSignals:
    """The signals of several capsules together, full and compact ones alike; None stands for a capsule without."""
    known = [one for one in signals if one is not None]
    adequate = sum(one["completeness"]["orientation_adequate"] for one in known)
    healths = [one["integrity"]["health_status"] for one in known]
    phases = [one["recency"]["phase"] for one in known]
    return {
        "recency": {
            "worst_phase": max(phases, key=SEVERITY.__getitem__, default=None),
            "oldest_updated_age_seconds": _oldest(known, "updated_age_seconds"),
            "oldest_verified_age_seconds": _oldest(known, "verified_age_seconds"),
        },
        "completeness": {
            "all_adequate": bool(known) and adequate == len(known),
            "adequate_count": adequate,
            "total_count": len(known),
            "any_trimmed": any(one["completeness"]["trimmed"] for one in known),
        },
        "integrity": {
            "worst_health": max(healths, key=HEALTH_RANK.__getitem__, default=None),
            "any_fallback": any(one["integrity"]["source_state"] == "fallback" for one in known),
            "any_degraded": "degraded" in healths,
            "any_conflicted": "conflicted" in healths,
        },
        "scope_match": {
            "selectors_requested": requested,
            "selectors_returned": returned,
            "selectors_omitted": requested - returned,
            "all_returned": requested == returned > 0,
        },
    }


def _empty(state: Mapping[str, Any], name: str) -> bool:
    value = state.get(name) or ""
    return len(value) < STANCE_LENGTH_MIN if name == "stance_summary" else not value


def _oldest(known: Sequence[TrustSignals], name: str) -> int | None:
    ages = [one["recency"].get(name) for one in known]
    return max((age for age in ages if age is not None), default=None)
