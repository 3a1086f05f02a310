"""How far a capsule may still be believed: a phase from the time since it was verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lamina.continuity.capsule.moments import EPOCH, age_s, moment
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.kernel.time import Instant

__all__ = ["SEVERITY", "Freshness", "freshness", "known_age_s", "stale_after_s"]

_STALE_AFTER_S: Final[Mapping[str, int | None]] = {
    "persistent": None,
    "durable": 15_552_000,
    "situational": 2_592_000,
    "ephemeral": 259_200,
}
_DEFAULT: Final = "situational"
_EXPIRED_WARNING: Final = "continuity_expired"

SEVERITY: Final[Mapping[str, int]] = {
    "fresh": 0,
    "stale_soft": 1,
    "stale_hard": 2,
    "expired_by_age": 3,
    "expired": 4,
}
"""The phases, from best to worst."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """A phase, and the warning that goes with it."""

    phase: str
    warning: str | None = None

    @property
    def expired(self) -> bool:
        """Whether a retrieval leaves the capsule out."""
        return SEVERITY[self.phase] >= SEVERITY["expired_by_age"]


def stale_after_s(capsule: CapsuleObject) -> int | None:
    """After how many seconds the capsule begins to be stale; None for never."""
    own = capsule.get("freshness", {})
    if "stale_after_seconds" in own:
        return int(own["stale_after_seconds"])
    return _STALE_AFTER_S[own.get("freshness_class", _DEFAULT)]


def known_age_s(text: object, now: Instant) -> int | None:
    """Whole seconds since a timestamp; None where it is none, or stands for one that was lost."""
    return None if text == EPOCH else age_s(text, now)


def freshness(capsule: CapsuleObject, now: Instant) -> Freshness:
    """The phase now. A capsule without a believable ``verified_at`` is expired."""
    verified_at = moment(capsule.get("verified_at"))
    if verified_at is None or capsule["verified_at"] == EPOCH or _is_over(capsule, now):
        return Freshness("expired", _EXPIRED_WARNING)
    limit_s = stale_after_s(capsule)
    if limit_s is None:
        return Freshness("fresh")
    age_us, limit_us = now - verified_at, limit_s * 1_000_000
    if age_us <= limit_us:
        return Freshness("fresh")
    if 2 * age_us <= 3 * limit_us:
        return Freshness("stale_soft", "continuity_stale_soft")
    if age_us <= 2 * limit_us:
        return Freshness("stale_hard", "continuity_stale_hard")
    return Freshness("expired_by_age", _EXPIRED_WARNING)


def _is_over(capsule: CapsuleObject, now: Instant) -> bool:
    """Whether the capsule's own end has come; an end that cannot be read has."""
    text = capsule.get("freshness", {}).get("expires_at")
    expires_at = moment(text)
    return text is not None and (expires_at is None or now > expires_at)
