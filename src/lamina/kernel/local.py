"""Local time: an instant with the offset from UTC of the clock by which it was told.

Which day "yesterday" is depends on that clock, and a day in UTC is nobody's day west or east of it. An offset is enough: what a zone
says of other instants is never asked, so neither reading a stored time nor replaying a log takes tables of zones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from typing import Final

from lamina.errors import Invalid
from lamina.kernel.time import (
    FIRST_INSTANT,
    LAST_INSTANT,
    SECOND_US,
    Instant,
    instant,
    is_day,
    rfc3339,
    to_datetime,
)

__all__ = [
    "LocalTime",
    "Offset",
    "day_text",
    "local_bound",
    "local_time",
    "midnight_text",
    "minute_text",
    "offset_of",
    "offset_of_or_none",
    "offset_text",
    "offset_text_or_none",
    "to_local",
    "whole_days",
]

Offset = int
"""Minutes east of UTC, from -1439 to 1439."""

_OFFSET = re.compile(r"([+-])([01]\d|2[0-3]):?([0-5]\d)", re.ASCII)
_UNKNOWN: Final = ("-00:00", "-0000")
"""RFC 3339, 4.3: the instant is known and the offset of whoever told it is not."""


@dataclass(frozen=True, slots=True, order=True)
class LocalTime:
    """An instant, and the offset that was written with it; None where none was: ``Z``, or ``-00:00``."""

    at: Instant
    offset: Offset | None = None

    def __str__(self) -> str:
        """RFC 3339 in that offset, or in UTC with ``Z``."""
        if self.offset is None:
            return rfc3339(self.at)
        wall = self.at + self.offset * 60 * SECOND_US
        return f"{rfc3339(wall)[:-1]}{offset_text(self.offset)}" if _is_instant(wall) else rfc3339(self.at)


def local_time(text: str, *, field: str = "timestamp") -> LocalTime:
    """Mirrors ``instant``, and keeps the offset.

    >>> local_time("2026-06-30T00:30:00+05:30").offset, local_time("2026-06-30T00:30:00Z").offset
    (330, None)
    """
    at = instant(text, field=field)
    written = None if text[-1] in "Zz" else text[-6:] if text[-3] == ":" else text[-5:]
    return LocalTime(at, None if written is None or written in _UNKNOWN else offset_of(written, field=field))


def local_bound(text: str, *, field: str = "timestamp") -> LocalTime:
    """As ``local_time``; a bare date is its midnight in UTC. For bounds that a reader asks for."""
    return local_time(f"{text}T00:00:00Z" if is_day(text) else text, field=field)


def midnight_text(day: str, offset: Offset) -> str:
    """The midnight of a bare date by a clock, as RFC 3339."""
    return f"{day}T00:00:00{offset_text(offset)}"


def offset_of(text: str, *, field: str = "offset") -> Offset:
    """The offset that ``+05:30`` writes. Raises ``Invalid`` (INVALID_TIMESTAMP) naming ``field``."""
    match = _OFFSET.fullmatch(text)
    if match is None:
        raise Invalid(
            "INVALID_TIMESTAMP",
            f"{field} is not an offset from UTC: {text[:64]!r}",
            hint="write hours and minutes east of UTC, for example +05:30 or -08:00",
            details={"field": field},
        )
    minutes = int(match[2]) * 60 + int(match[3])
    return minutes if match[1] == "+" else -minutes


def offset_of_or_none(text: str | None) -> Offset | None:
    """``offset_of`` that passes None through."""
    return None if text is None else offset_of(text)


def offset_text(offset: Offset) -> str:
    """``+05:30``.

    >>> offset_text(-210), offset_text(0)
    ('-03:30', '+00:00')
    """
    hours, minutes = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}"


def offset_text_or_none(offset: Offset | None) -> str | None:
    """``offset_text`` that passes None through."""
    return None if offset is None else offset_text(offset)


def to_local(value: Instant, offset: Offset | None) -> datetime:
    """The aware datetime of an instant by a clock with that offset; in UTC without one, and where the calendar ends before it."""
    try:
        return to_datetime(value).astimezone(timezone(timedelta(minutes=offset or 0)))
    except OverflowError:
        return to_datetime(value)


def day_text(value: Instant, offset: Offset | None) -> str:
    """The day of an instant by that clock: ``2026-06-29``."""
    return to_local(value, offset).date().isoformat()


def minute_text(value: Instant, offset: Offset | None) -> str:
    """The minute of an instant by that clock: ``2026-06-30 00:30``."""
    return to_local(value, offset).isoformat(sep=" ")[:16]


def whole_days(start: LocalTime, end: LocalTime) -> tuple[date, date] | None:
    """The first day, and the day after the last, of what begins and ends at midnight by its clocks; None for anything else."""
    first, last = to_local(start.at, start.offset), to_local(end.at, end.offset)
    return (first.date(), last.date()) if first.time() == last.time() == time() and first < last else None


def _is_instant(wall: Instant) -> bool:
    return FIRST_INSTANT <= wall <= LAST_INSTANT
