"""Times as Mem0's clients send them: seconds since 1970, a day, or RFC 3339."""

from __future__ import annotations

import math

from lamina.errors import Invalid
from lamina.kernel.time import SECOND_US, Instant, day_or_instant

__all__ = ["bound"]

_LAST_S = 253_402_300_799  # the end of the year 9999


def bound(value: object, field: str) -> Instant:
    """The instant that is meant, the midnight in UTC of a bare day; raises ``Invalid`` (INVALID_TIMESTAMP)."""
    if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
        text = value if value.endswith("Z") or "T" not in value or _has_offset(value) else f"{value}Z"
        return day_or_instant(text, field=field)
    try:
        seconds = (
            float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
        )
    except (ValueError, OverflowError):
        seconds = math.nan
    if not 0 <= seconds <= _LAST_S:
        raise Invalid(
            "INVALID_TIMESTAMP",
            f"{field} must be seconds since 1970, a day such as 2026-05-13, or RFC 3339",
            details={"field": field},
        )
    return int(seconds * SECOND_US)


def _has_offset(text: str) -> bool:
    """Whether a time says by whose clock it is. One that does not is taken to be in UTC, as Mem0 takes it."""
    return any(sign in text.rpartition("T")[2] for sign in "+-")
