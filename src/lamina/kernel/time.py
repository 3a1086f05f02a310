"""Instants, intervals and the two time axes.

An instant is an ``int``: microseconds since 1970-01-01T00:00:00Z. It sorts, subtracts and stores as it is; text
appears only at the doors. An interval is half open, ``[from, to)``, and ``None`` means unbounded on that side.

*Valid* time is when a claim is true in the world, *recorded* time is when the log learned it (seed 002, 3.3).
"""

from __future__ import annotations

import re
import time as _time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from lamina.errors import Invalid

__all__ = [
    "DAY_US",
    "FIRST_INSTANT",
    "FOREVER",
    "HOUR_US",
    "LAST_INSTANT",
    "SECOND_US",
    "WAIT_US_MAX",
    "Axes",
    "Clock",
    "Instant",
    "Interval",
    "SystemClock",
    "day_or_instant",
    "doubling_us",
    "duration_text",
    "duration_us",
    "from_datetime",
    "instant",
    "is_day",
    "rfc3339",
    "rfc3339_or_none",
    "to_datetime",
    "waits",
]

Instant = int
"""Microseconds since 1970, UTC."""

SECOND_US: Final = 1_000_000
HOUR_US: Final = 3600 * SECOND_US
DAY_US: Final = 24 * HOUR_US
FOREVER: Final[Instant] = 1 << 62
"""Later than any instant that somebody can name, and small enough for a row."""
WAIT_US_MAX: Final = DAY_US
"""Longer than anything waits for its next attempt."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_PLAIN = datetime(1970, 1, 1)  # noqa: DTZ001 - what is made of it is shown, never compared
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d\d):?(\d\d))",
    re.ASCII,
)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_DURATION = re.compile(
    r"P(?:(?P<years>\d{1,6})Y)?(?:(?P<months>\d{1,6})M)?(?:(?P<weeks>\d{1,6})W)?(?:(?P<days>\d{1,6})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,6})M)?(?:(?P<seconds>\d{1,9})S)?)?",
    re.ASCII,
)
_DURATION_S = {
    "years": 365 * 86_400,
    "months": 30 * 86_400,
    "weeks": 7 * 86_400,
    "days": 86_400,
    "hours": 3600,
    "minutes": 60,
    "seconds": 1,
}


class Clock(Protocol):
    """Tells the time. Passed in: a function that reads the clock itself cannot be replayed."""

    def now(self) -> Instant:
        """The current instant."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> Instant:
        """Mirrors ``Clock.now``."""
        return _time.time_ns() // 1000


def from_datetime(value: datetime) -> Instant:
    """The instant of an aware datetime, the first or last there is where it lies outside of the years 1 to 9999 in UTC; a naive
    one is a bug of the caller."""
    assert value.tzinfo is not None, "an instant needs a zone"
    return _within((value - _EPOCH) // timedelta(microseconds=1))


def _within(value: Instant) -> Instant:
    return max(FIRST_INSTANT, min(value, LAST_INSTANT))


def to_datetime(value: Instant) -> datetime:
    """The aware UTC datetime of an instant; of one outside of the calendar, as what is put right before its first is, that of its end."""
    try:
        return _EPOCH + timedelta(microseconds=value)
    except OverflowError:
        return _EPOCH + timedelta(microseconds=_within(value))


def rfc3339(value: Instant) -> str:
    """``2026-05-13T15:42:00Z``, with as many digits below the second as the instant has (none, 3 or 6). Outside of the calendar as in
    ``to_datetime``."""
    # Without a zone, since a pack has two hundred of them and the zone takes a third of the time.
    try:
        moment = _EPOCH_PLAIN + timedelta(0, 0, value)
    except OverflowError:
        return rfc3339(_within(value))
    if value % 1000 or value % SECOND_US == 0:
        return f"{moment.isoformat()}Z"
    return f"{moment.isoformat(timespec='milliseconds')}Z"


def rfc3339_or_none(value: Instant | None) -> str | None:
    """``rfc3339`` that passes None through."""
    return None if value is None else rfc3339(value)


def instant(text: str, *, field: str = "timestamp") -> Instant:
    """The instant written in ``text`` as RFC 3339 with a zone.

    Digits past the microsecond are cut. Raises ``Invalid`` (INVALID_TIMESTAMP) naming ``field``.
    """
    match = _RFC3339.fullmatch(text)
    if not match:
        raise _invalid(field, f"{text[:64]!r} is not RFC 3339 with a time zone")
    if match[4] == "24":  # later versions of Python take it for the midnight that follows
        raise _invalid(field, f"{text[:64]!r} is no date: hour must be in 0..23")
    # RFC 3339 5.6 allows a leap second; it counts as the last one before it.
    wall = f"{text[:17]}59" if match[6] == "60" else text[:19]
    try:
        # Without a zone, as in ``rfc3339``: each write has one of these.
        since = datetime.fromisoformat(wall) - _EPOCH_PLAIN
    except ValueError as error:
        raise _invalid(field, f"{text[:64]!r} is no date: {error}") from error
    offset_s = 0
    if match[9]:
        offset_hours, offset_minutes = int(match[10]), int(match[11])
        if offset_hours > 23 or offset_minutes > 59:
            raise _invalid(field, f"{text[:64]!r} has an impossible offset")
        offset_s = (offset_hours * 3600 + offset_minutes * 60) * (1 if match[9] == "+" else -1)
    fraction_us = int(match[7].ljust(6, "0")[:6]) if match[7] else 0
    value = (since.days * 86_400 + since.seconds - offset_s) * SECOND_US + fraction_us
    if not FIRST_INSTANT <= value <= LAST_INSTANT:
        raise _invalid(field, f"{text[:64]!r} lies outside of the years 1 to 9999 in UTC")
    return value


def is_day(text: str) -> bool:
    """Whether a text is a bare date, such as ``2026-06-29``."""
    return _DATE.fullmatch(text) is not None


def day_or_instant(text: str, *, field: str = "timestamp") -> Instant:
    """As ``instant``; a bare date is its midnight in UTC. For bounds that a reader asks for, not for what happened."""
    return instant(f"{text}T00:00:00Z" if is_day(text) else text, field=field)


FIRST_INSTANT: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
"""The beginning of the year 1: nothing earlier can be written."""
LAST_INSTANT: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
"""The end of the year 9999: nothing later can be written."""


def waits(next_attempt_at: Instant, now: Instant, most_us: int = WAIT_US_MAX) -> bool:
    """Whether the time of the next attempt is still to come. One that is further away than anything of its kind waits was noted by a clock
    that was ahead, and is no time to wait for.

    >>> [waits(at, 0) for at in (0, 1, WAIT_US_MAX, WAIT_US_MAX + 1)]
    [False, True, True, False]
    """
    return 0 < next_attempt_at - now <= most_us


def doubling_us(base_s: float, failures: int, most_s: float = 86_400.0) -> int:
    """How long to wait after a number of failures in a row, at least one: the base, twice that, four times and so on.

    >>> [doubling_us(5, failures, 60) // SECOND_US for failures in (1, 2, 3, 4, 5, 5000)]
    [5, 10, 20, 40, 60, 60]
    """
    return int(min(base_s * 2.0 ** min(failures - 1, 64), most_s) * SECOND_US)


def duration_us(text: str, *, field: str = "duration") -> int:
    """The length of an ISO 8601 duration such as ``P30D`` or ``PT5M``, in microseconds.

    A year counts 365 days and a month 30: these are retention and cool-down periods, not calendar sums.
    """
    match = _DURATION.fullmatch(text) if len(text) <= 64 else None
    parts = {name: int(value) for name, value in match.groupdict().items() if value} if match else {}
    if not parts:
        raise Invalid(
            "INVALID_DURATION",
            f"{field} is not an ISO 8601 duration: {text[:64]!r}",
            hint="write for example P30D, P3M or PT5M",
            details={"field": field},
        )
    return sum(_DURATION_S[name] * count for name, count in parts.items()) * SECOND_US


def duration_text(length_us: int) -> str:
    """A length of time as ISO 8601 in days, hours, minutes and whole seconds: ``P2DT3H``, ``PT0S``; never negative."""
    minutes, seconds = divmod(max(0, length_us) // SECOND_US, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    clock = "".join(
        f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if count
    )
    if not clock:
        return f"P{days}D" if days else "PT0S"
    return f"P{days}DT{clock}" if days else f"PT{clock}"


def _invalid(field: str, reason: str) -> Invalid:
    return Invalid(
        "INVALID_TIMESTAMP",
        f"{field} is not a timestamp: {reason}",
        hint="write RFC 3339 with a zone, for example 2026-05-13T15:42:00Z",
        details={"field": field, "reason": reason},
    )


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open stretch of time ``[start, end)``; None is unbounded on that side."""

    start: Instant | None = None
    end: Instant | None = None

    def overlaps(self, start: Instant | None, end: Instant | None) -> bool:
        """Whether ``[start, end)`` shares a moment with this interval."""
        return (self.end is None or start is None or start < self.end) and (
            self.start is None or end is None or end > self.start
        )


@dataclass(frozen=True, slots=True)
class Axes:
    """Where a reader stands on both axes (seed 002, 12.2 and 12.3).

    ``seen_at`` clips what had been recorded. Exactly one of ``valid_at`` and ``valid_during`` says which claims
    are wanted; both None means every validity. ``recorded_during`` asks for what was learned in a stretch.
    ``superseded`` also shows the versions that were replaced by ``seen_at``.
    """

    seen_at: Instant
    valid_at: Instant | None = None
    valid_during: Interval | None = None
    recorded_during: Interval | None = None
    superseded: bool = False

    @classmethod
    def at(cls, moment: Instant) -> Axes:
        """Both axes pinned to one moment: what ``as_of`` means, and what now means without it."""
        return cls(seen_at=moment, valid_at=moment)

    @classmethod
    def asked(
        cls,
        now: Instant,
        *,
        as_of: Instant | None = None,
        valid_during: Interval | None = None,
        recorded_during: Interval | None = None,
        superseded: bool = False,
    ) -> Axes:
        """The axes behind a caller's words; every word narrows what the others leave.

        ``as_of`` pins both axes, now does without it. ``valid_during`` takes the place of the pin on validity.
        ``recorded_during`` reads from its own end, "as seen from then"; alone it leaves validity open.
        """
        seen_at = now if as_of is None else as_of
        valid_at: Instant | None = seen_at
        if recorded_during is not None:
            if recorded_during.end is not None:
                seen_at = min(seen_at, recorded_during.end - 1)
            valid_at = as_of
        if valid_during is not None:
            valid_at = None
        return cls(seen_at, valid_at, valid_during, recorded_during, superseded)

    def sees_recorded(self, recorded_from: Instant, recorded_to: Instant | None) -> bool:
        """Whether a version with these recorded bounds is visible from here."""
        if recorded_from > self.seen_at:
            return False
        current = recorded_to is None or recorded_to > self.seen_at
        if not current and not self.superseded:
            return False
        return self.recorded_during is None or self.recorded_during.overlaps(recorded_from, recorded_from + 1)

    def sees_valid(
        self,
        valid_from: Instant | None,
        valid_to: Instant | None,
        *,
        may_lie_ahead: bool = False,
        fades_at: Instant | None = None,
    ) -> bool:
        """Whether a claim that holds in ``[valid_from, valid_to)`` is among those wanted.

        A reader who stands at an instant sees what ``may_lie_ahead`` before its time, too, and what fades no more from ``fades_at`` on.
        """
        if self.valid_during is not None:
            return self.valid_during.overlaps(valid_from, valid_to)
        if self.valid_at is None:
            return True
        starts = may_lie_ahead or valid_from is None or valid_from <= self.valid_at
        return (
            starts
            and (fades_at is None or self.valid_at < fades_at)
            and (valid_to is None or self.valid_at < valid_to)
        )
