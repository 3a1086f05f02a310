"""Plans: which capsules should be looked at again, and which archives may go to cold storage. They change nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import ArchiveName, Subject
from lamina.continuity.judgements.freshness import known_age_s
from lamina.continuity.judgements.trust import health, verification_status
from lamina.kernel.time import SECOND_US, Instant

__all__ = ["DAY_S", "is_stale", "refresh_candidate", "refresh_order", "retention_candidate"]

DAY_S: Final = 86_400
_VERIFIED_MAX_S: Final = 30 * DAY_S
_PRIORITY: Final = {"high": 0, "medium": 1, "low": 2}
_URGENT: Final = frozenset({"health_degraded", "health_conflicted", "fallback_only"})
_SOON: Final = frozenset({"verification_unverified", "verification_self_attested", "stale_verified_at"})


def refresh_candidate(
    capsule: CapsuleObject, now: Instant, *, used: bool, fallback_only: bool
) -> dict[str, Any]:
    """A row of the refresh plan; no ``reason_codes`` means that there is nothing to do."""
    reasons = list(_reasons(capsule, now, used=used, fallback_only=fallback_only))
    return {
        "subject_kind": capsule["subject_kind"],
        "subject_id": capsule["subject_id"],
        "path": Subject(capsule["subject_kind"], capsule["subject_id"]).active_path,
        "health_status": health(capsule).status,
        "verification_status": verification_status(capsule),
        "last_revalidated_at": capsule.get("verification_state", {}).get("last_revalidated_at"),
        "updated_at": capsule["updated_at"],
        "reason_codes": reasons,
        "recommended_priority": _priority(frozenset(reasons)),
    }


def refresh_order(rows: Iterable[dict[str, Any]], *, include_healthy: bool) -> list[dict[str, Any]]:
    """The rows that need somebody, or all of them, the most urgent first."""
    wanted = [row for row in rows if include_healthy or row["reason_codes"] not in ([], ["recently_used"])]
    return sorted(
        wanted,
        key=lambda row: (_PRIORITY[row["recommended_priority"]], row["subject_kind"], row["subject_id"]),
    )


def is_stale(archived_at: Instant, now: Instant, archive_days: int) -> bool:
    """Whether an archive is past its days."""
    return now - archived_at > archive_days * DAY_S * SECOND_US


def retention_candidate(
    name: ArchiveName, subject_id: str, archived_at: Instant, archived_at_text: str, now: Instant
) -> dict[str, Any]:
    """A row of the retention plan: an archive that may go cold."""
    return {
        "subject_kind": name.kind,
        "subject_id": subject_id,
        "source_archive_path": name.path,
        "artifact_state": "archived",
        "retention_class": "archive_stale",
        "policy_action": "cold_store",
        "archived_at": archived_at_text,
        "age_days": (now - archived_at) // (DAY_S * SECOND_US),
        "cold_storage_path": name.cold_path,
        "cold_stub_path": name.stub_path,
        "reason_codes": ["archive_stale"],
    }


def _reasons(capsule: CapsuleObject, now: Instant, *, used: bool, fallback_only: bool) -> Sequence[str]:
    reasons = []
    judged, status = health(capsule).status, verification_status(capsule)
    if judged != "healthy":
        reasons.append(f"health_{judged}")
    if status in ("unverified", "self_attested"):
        reasons.append(f"verification_{status}")
    age_s = known_age_s(capsule.get("verified_at"), now)
    if age_s is None or age_s > _VERIFIED_MAX_S:
        reasons.append("stale_verified_at")
    if used:
        reasons.append("recently_used")
    if fallback_only:
        reasons.append("fallback_only")
    return reasons


def _priority(reasons: frozenset[str]) -> str:
    if reasons & _URGENT:
        return "high"
    return "medium" if reasons & _SOON else "low"
