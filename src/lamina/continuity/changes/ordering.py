"""Which of two versions of a capsule is the newer one: by the dates that clients give, while these can be believed.

The contract takes a date that lies in the future, and a later write must bring a later date. A client with a wrong clock
would lock a capsule that way. So a date ahead of the server's clock orders only dates that are as far ahead; for all
others the capsule is as old as its writing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lamina import limits
from lamina.continuity.capsule.moments import check_moment, moment
from lamina.continuity.capsule.requests import Patch
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.errors import Conflict, Malformed
from lamina.kernel.time import SECOND_US, Instant, rfc3339

__all__ = ["WriteTimes", "ahead_warnings", "check_newer", "check_not_older", "next_moment", "stale"]


@dataclass(frozen=True, slots=True)
class WriteTimes:
    """What the server's clock says: the present, and when the stored capsule was written."""

    now: Instant
    written_at: Instant

    def ahead(self, at: Instant) -> bool:
        """Whether a client's date lies too far in the future to be believed."""
        return _ahead_us(at, self.now) > 0


def check_newer(updated_at: str, stored: CapsuleObject, clock: WriteTimes | None = None) -> None:
    """Nothing when a date is after that of the stored capsule; ``Conflict`` (STALE_CAPSULE) otherwise.

    Without a clock every date is believed.
    """
    at = check_moment(updated_at, "updated_at")
    base = _base(at, stored, clock)
    if at <= base:
        raise stale(stored, base)


def check_not_older(updated_at: str, stored: CapsuleObject, clock: WriteTimes | None = None) -> None:
    """As ``check_newer``, but the same date will do."""
    at = check_moment(updated_at, "updated_at")
    base = _base(at, stored, clock)
    if at < base:
        raise stale(stored, base)


def next_moment(request: Patch, stored: CapsuleObject, clock: WriteTimes | None) -> str:
    """The date of a patch that names none: the server's time, later than what stands. Only appends may leave it out.

    Raises ``Malformed`` (INVALID_PATCH): what removes or replaces means the capsule as somebody has read it.
    """
    if clock is None or any(operation.action != "append" for operation in request.operations):
        raise Malformed(
            "INVALID_PATCH",
            "updated_at is required where an operation removes or replaces",
            hint="set updated_at to the current time, or send only operations that append",
            details={"field": "updated_at"},
        )
    return rfc3339(max(clock.now, _base(clock.now, stored, clock) + 1))


def stale(stored: CapsuleObject, base: Instant | None = None) -> Conflict:
    """The error for a capsule that is not newer than the one that stands, or than its writing."""
    than = f"that of the stored capsule, {stored['updated_at']}"
    if base not in (None, moment(stored["updated_at"])):
        than = f"{rfc3339(base)}, when the stored capsule was written"
    return Conflict(
        "STALE_CAPSULE",
        f"updated_at must be later than {than}",
        hint="read the capsule, apply the change to what stands now, and set updated_at to the current time",
        details={"stored_updated_at": stored["updated_at"]},
    )


def ahead_warnings(capsule: CapsuleObject, now: Instant, path: str) -> Iterator[dict[str, Any]]:
    """A warning for each date of a written capsule that lies ahead of the server's clock."""
    for field in ("updated_at", "verified_at"):
        at = moment(capsule[field])
        if at is not None and _ahead_us(at, now) > 0:
            ahead_s = (at - now) // SECOND_US
            yield {
                "code": "time_ahead_of_clock",
                "detail": f"{field} is kept as it came, {ahead_s} s ahead of the server's clock",
                "path": path,
                "segment_id": None,
                "field": field,
                "ahead_seconds": ahead_s,
            }


def _base(at: Instant, stored: CapsuleObject, clock: WriteTimes | None) -> Instant:
    """What a date must be after."""
    own = moment(stored["updated_at"])
    assert own is not None, "loading repairs what is no timestamp"
    if clock is None or clock.ahead(at) or not clock.ahead(own):
        return own
    return clock.written_at


def _ahead_us(at: Instant, now: Instant) -> int:
    """By how much a date is ahead of the clock, beyond what clocks may differ."""
    return at - now - limits.CAPSULE_CLOCK_SKEW_S * SECOND_US
