"""The startup view: what an agent reads first after a reset, taken from a capsule as it is. Key order is a promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.judgements.recovery_warnings import descriptor_missing
from lamina.continuity.judgements.trust import TrustSignals

__all__ = ["startup_summary"]


def startup_summary(
    capsule: CapsuleObject | None,
    source_state: str,
    recovery_warnings: Sequence[str],
    trust: TrustSignals | None,
) -> dict[str, Any]:
    """The summary of a capsule, or of its absence: then only ``recovery`` says something."""
    warnings = list(recovery_warnings)
    if capsule is None:
        return {
            "recovery": _recovery(source_state, warnings, None),
            "orientation": None,
            "context": None,
            "updated_at": None,
            "trust_signals": None,
            "stable_preferences": None,
        }
    missing = descriptor_missing(capsule)
    state = capsule["continuity"]
    return {
        "recovery": _recovery(source_state, [*warnings, missing] if missing else warnings, capsule),
        "orientation": {
            "top_priorities": state["top_priorities"],
            "active_constraints": state["active_constraints"],
            "open_loops": state["open_loops"],
            "negative_decisions": state.get("negative_decisions", []),
            "rationale_entries": [
                _with_lists(entry)
                for entry in state.get("rationale_entries", [])
                if entry["status"] == "active"
            ],
        },
        "context": {
            "session_trajectory": state.get("session_trajectory", []),
            "stance_summary": state["stance_summary"],
            "active_concerns": state["active_concerns"],
        },
        "updated_at": capsule["updated_at"],
        "trust_signals": trust,
        "stable_preferences": capsule.get("stable_preferences", []),
    }


def _recovery(source_state: str, warnings: list[str], capsule: CapsuleObject | None) -> dict[str, Any]:
    judged = (capsule or {}).get("capsule_health", {})
    return {
        "source_state": source_state,
        "recovery_warnings": warnings,
        "capsule_health_status": judged.get("status"),
        "capsule_health_reasons": judged.get("reasons", []),
    }


def _with_lists(entry: dict[str, Any]) -> dict[str, Any]:
    return {"alternatives_considered": [], "depends_on": []} | entry if _lacks_lists(entry) else entry


def _lacks_lists(entry: dict[str, Any]) -> bool:
    return not entry.keys() >= {"alternatives_considered", "depends_on"}
