"""Timestamps inside capsules: kept as they were written, compared as instants."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from lamina.errors import Malformed
from lamina.kernel.time import SECOND_US, Instant, from_datetime

__all__ = ["EPOCH", "age_s", "check_moment", "moment", "utc_text", "whole_second"]

EPOCH = "1970-01-01T00:00:00Z"
_UTC = ("Z", "+00:00")
_KEPT_LENGTH_MAX = 40  # no timestamp of ours is longer


def moment(text: Any) -> Instant | None:  # Any: stored or sent by anybody
    """The instant that an ISO 8601 text names, UTC where it names no zone; None when it is no timestamp."""
    if not isinstance(text, str):
        return None
    return _read_before(text) if len(text) <= _KEPT_LENGTH_MAX else _read(text)


def _read(text: str) -> Instant | None:
    try:
        value = datetime.fromisoformat(text)
        return from_datetime(value if value.tzinfo else value.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


# A list asks for those of a thousand capsules, and soon again.
_read_before = lru_cache(8192)(_read)


def check_moment(text: str, field: str) -> Instant:
    """The instant of a text that must be UTC, ending in ``Z`` or ``+00:00``; raises ``Malformed``."""
    value = moment(text) if text.endswith(_UTC) else None
    if value is None:
        raise Malformed(
            "INVALID_CAPSULE",
            f"{field} must be an ISO 8601 timestamp in UTC, ending in Z or +00:00",
            hint="write for example 2026-05-13T15:42:00Z",
            details={"field": field},
        )
    return value


def age_s(text: Any, now: Instant) -> int | None:  # Any: stored or sent by anybody
    """Whole seconds since a timestamp, 0 for the future; None when it is no timestamp."""
    value = moment(text)
    return None if value is None else max(0, (now - value) // SECOND_US)


def utc_text(text: str) -> str:
    """A UTC timestamp with its zone written as ``Z``."""
    return f"{text.removesuffix('+00:00')}Z" if text.endswith("+00:00") else text


def whole_second(now: Instant) -> Instant:
    """The instant without what is below the second."""
    return now - now % SECOND_US
