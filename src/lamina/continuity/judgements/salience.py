"""Salience: which capsules matter most for a decision now, as a total order over six signals. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.judgements.freshness import SEVERITY, freshness, known_age_s
from lamina.continuity.judgements.trust import HEALTH_RANK, health, resume_adequate
from lamina.kernel.time import Instant

__all__ = ["VERIFICATION_RANK", "Salience", "salience", "salience_metadata"]

_LIFECYCLE_RANK: Final[Mapping[str, int]] = {"active": 0, "suspended": 1, "concluded": 2, "superseded": 3}
_NO_LIFECYCLE: Final = 99
_NO_AGE_S: Final = 2_147_483_647
VERIFICATION_RANK: Final[Mapping[str, int]] = {
    "self_review": 0,
    "external_observation": 1,
    "peer_confirmation": 2,
    "user_confirmation": 3,
    "system_check": 4,
}
"""How strong a signal is; none counts as the weakest."""


class Salience(NamedTuple):  # no frozen dataclass: a thousand of them are made for one list
    """The signals of one capsule, each in its natural direction."""

    lifecycle_rank: int
    health_rank: int
    freshness_rank: int
    resume_adequate: bool
    verification_rank: int
    updated_age_s: int
    subject_kind: str
    subject_id: str

    @property
    def key(self) -> tuple[int, int, int, bool, int, int, str, str]:
        """What capsules are sorted by: the smallest is the most salient."""
        return (
            self.lifecycle_rank,
            self.health_rank,
            self.freshness_rank,
            not self.resume_adequate,
            -self.verification_rank,
            self.updated_age_s,
            self.subject_kind,
            self.subject_id,
        )

    def block(self, rank: int) -> dict[str, Any]:
        """The block that a returned capsule carries; ``rank`` counts from 0."""
        return {
            "rank": rank,
            "sort_key": {
                "lifecycle_rank": self.lifecycle_rank,
                "health_rank": self.health_rank,
                "freshness_rank": self.freshness_rank,
                "resume_adequate": self.resume_adequate,
                "verification_rank": self.verification_rank,
                "updated_age_seconds": self.updated_age_s,
            },
        }


def salience(capsule: CapsuleObject, now: Instant) -> Salience:
    """The signals of a capsule now."""
    lifecycle = capsule.get("thread_descriptor", {}).get("lifecycle")
    age_s = known_age_s(capsule.get("updated_at"), now)
    return Salience(
        lifecycle_rank=_LIFECYCLE_RANK.get(lifecycle, _NO_LIFECYCLE),
        health_rank=HEALTH_RANK[health(capsule).status],
        freshness_rank=SEVERITY[freshness(capsule, now).phase],
        resume_adequate=resume_adequate(capsule),
        verification_rank=VERIFICATION_RANK.get(capsule.get("verification_kind", ""), 0),
        updated_age_s=_NO_AGE_S if age_s is None else age_s,
        subject_kind=capsule["subject_kind"],
        subject_id=capsule["subject_id"],
    )


def salience_metadata(ranked: Sequence[Salience]) -> dict[str, Any] | None:
    """The block about all capsules of a result; None for an empty one."""
    if not ranked:
        return None
    return {
        "sort_applied": True,
        "capsule_count": len(ranked),
        "best_lifecycle_rank": min(one.lifecycle_rank for one in ranked),
        "worst_health_rank": max(one.health_rank for one in ranked),
        "worst_freshness_rank": max(one.freshness_rank for one in ranked),
        "all_resume_adequate": all(one.resume_adequate for one in ranked),
    }
