"""The values that the time parser hands out, and its one error."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lamina.language.tables import table

Kind = Literal["date", "datetime", "time", "daterange", "datetimerange", "timerange", "duration", "set"]
Grain = Literal[
    "second", "minute", "hour", "part", "day", "weekend", "week",
    "month", "season", "quarter", "half", "year", "decade", "century",
]  # fmt: skip

_TABLE = table(__name__)
UNIT_SECONDS = {unit: int(seconds) for unit, seconds in _TABLE.rows("unit_seconds")}
_TIMEX_UNITS: dict[str, str] = dict(_TABLE.rows("timex_units"))
_TIMEX_MULTIPLES = {unit: (int(number), of) for unit, number, of in _TABLE.rows("timex_multiples")}


class UnparseableTemporal(ValueError):
    """A phrase that should name a time window and does not. Say it as a date, a range or "last N days"."""


@dataclass(frozen=True, slots=True)
class Period:
    """A length of time as it was said, largest part first: ``(1, "hour"), (30, "minute")``."""

    parts: tuple[tuple[float, str], ...]

    @property
    def seconds(self) -> float:
        """Length in seconds; a month counts 30 days, a year 365, a weekend two."""
        return sum(amount * UNIT_SECONDS[unit] for amount, unit in self.parts)

    @property
    def timex(self) -> str:
        """The TIMEX3 value, ``P3W`` or ``PT1H30M``."""
        days, clock = "", ""
        for amount, unit in self.parts:
            factor, base = _TIMEX_MULTIPLES.get(unit, (1, unit))
            piece = f"{amount * factor:g}{_TIMEX_UNITS[base]}"
            if base in ("second", "minute", "hour"):
                clock += piece
            else:
                days += piece
        return f"P{days}{'T' + clock if clock else ''}"


@dataclass(frozen=True, slots=True)
class Window:
    """The half-open interval ``[valid_from, valid_to)``; ``None`` is open on that side."""

    valid_from: datetime | None
    valid_to: datetime | None


@dataclass(frozen=True, slots=True)
class TemporalMatch:
    """One time expression in a text.

    ``start``/``end`` are character offsets, ``text`` is what stands between them. ``[earliest, latest)`` is the
    chosen reading in the zone of the reference, half-open, ``None`` where the expression is open ("since May" has no
    ``latest``). A clock time covers its minute. A time of day without a date is placed on the reference's day.
    Durations and sets have no interval, and a day that no calendar has (30 February) has none either.

    ``readings`` are all intervals the words allow, oldest first: a weekday or a date without a year has a past and
    a coming one, an hour without am/pm two. ``grain`` is the smallest unit that was named. ``timex`` follows TIMEX3.
    """

    start: int
    end: int
    text: str
    kind: Kind
    earliest: datetime | None
    latest: datetime | None
    grain: Grain
    duration: Period | None = None
    approximate: bool = False
    timex: str | None = None
    readings: tuple[Window, ...] = ()
