"""The recovery warnings: stable words that say how an answer came about when not all was as it should be."""

from __future__ import annotations

from typing import Final

from lamina.continuity.capsule.shape import CapsuleObject

__all__ = [
    "ACTIVE_INVALID",
    "ACTIVE_MISSING",
    "FALLBACK_MISSING",
    "FALLBACK_USED",
    "SALIENCE_OMITTED",
    "SUMMARY_FAILED",
    "TRUST_AGGREGATE_FAILED",
    "TRUST_COMPACT",
    "TRUST_FAILED",
    "descriptor_missing",
    "superseded",
]

ACTIVE_MISSING: Final = "continuity_active_missing"
ACTIVE_INVALID: Final = "continuity_active_invalid"
FALLBACK_USED: Final = "continuity_fallback_used"
FALLBACK_MISSING: Final = "continuity_fallback_missing"
SUMMARY_FAILED: Final = "startup_summary_build_failed"
TRUST_FAILED: Final = "trust_signals_build_failed"
TRUST_COMPACT: Final = "trust_signals_compact"
TRUST_AGGREGATE_FAILED: Final = "trust_signals_aggregate_failed"
SALIENCE_OMITTED: Final = "continuity_salience_omitted"


def superseded(capsule: CapsuleObject) -> str | None:
    """The warning of a capsule that another one took the place of. The word ``thread`` stands for tasks too."""
    descriptor = capsule.get("thread_descriptor", {})
    if descriptor.get("lifecycle") != "superseded":
        return None
    return (
        f"continuity_capsule_superseded:thread:{capsule['subject_id']}→{descriptor.get('superseded_by', '')}"
    )


def descriptor_missing(capsule: CapsuleObject) -> str | None:
    """The warning of a thread or task that says nothing of what it is; it goes into the startup summary only."""
    if capsule["subject_kind"] not in ("thread", "task") or "thread_descriptor" in capsule:
        return None
    return f"continuity_thread_descriptor_missing:thread:{capsule['subject_id']}"
