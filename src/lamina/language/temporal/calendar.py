"""Arithmetic on the Gregorian calendar: spans of weeks, months and seasons, and the dates of holidays.

All values are naive wall-clock times; weeks begin on Monday; intervals are half-open. A result outside the years
1 to 9999 raises ``OverflowError`` or ``ValueError``, which the reader turns into "not a date".
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Final

from lamina.language.tables import table
from lamina.language.temporal.values import UNIT_SECONDS, Period

DateRange = tuple[datetime | None, datetime | None]

_LAST_INSTANT = datetime.combine(date.max, time.max)
SEASON_MONTH = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}  # meteorological, northern


def midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def day_span(day: date) -> DateRange:
    start = midnight(day)
    return start, (_LAST_INSTANT if day == date.max else start + timedelta(days=1))


def day_after(moment: datetime) -> datetime:
    """The same time a day later, or the last instant of the calendar; as aware or naive as ``moment``."""
    try:
        return moment + timedelta(days=1)
    except OverflowError:
        return datetime.max.replace(tzinfo=moment.tzinfo)


def last_day(end: datetime) -> date:
    """The last day of what ends before ``end``, or the first of the calendar."""
    try:
        return (end - timedelta(microseconds=1)).date()
    except OverflowError:
        return end.date()


def week_start(day: date) -> date:
    return day - timedelta(days=day.weekday())


def add_months(moment: datetime, months: int) -> datetime:
    """The same day ``months`` later, or the last day of that month where it is shorter."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def month_span(year: int, month: int, months: int = 1) -> DateRange:
    start = midnight(date(year, month, 1))
    if year == 9999 and month + months > 12:
        return start, _LAST_INSTANT
    return start, add_months(start, months)


def year_span(year: int, years: int = 1) -> DateRange:
    return month_span(year, 1, 12 * years)


def season_span(year: int, season: str) -> DateRange:
    """The season that begins in ``year``: the winter of 2022 is December 2022 to February 2023."""
    return month_span(year, SEASON_MONTH[season], 3)


def shift(moment: datetime, period: Period, sign: int) -> datetime:
    """``moment`` moved by ``period``; whole months and years move on the calendar, fractions by their length."""
    for amount, unit in period.parts:
        months = amount * {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}.get(unit, 0)
        if unit == "business day":
            moment = add_business_days(moment, sign * int(amount))
        elif months and months == int(months):
            moment = add_months(moment, sign * int(months))
        else:
            moment += timedelta(seconds=sign * amount * UNIT_SECONDS[unit])
    return moment


def add_business_days(moment: datetime, count: int) -> datetime:
    """``count`` working days (Monday to Friday, no holidays) later, earlier when negative."""
    weeks, rest = divmod(abs(count), 5)
    step = timedelta(days=1 if count >= 0 else -1)
    moment += step * 7 * weeks
    while rest:
        moment += step
        rest -= moment.weekday() < 5
    return moment


def unit_span(moment: datetime, unit: str) -> DateRange:
    """The day, week, weekend, month, quarter, year, decade or century around ``moment``."""
    day = moment.date()
    if unit == "week":
        start = midnight(week_start(day))
        return start, start + timedelta(days=7)
    if unit == "weekend":
        start = midnight(week_start(day) + timedelta(days=5))
        return start, start + timedelta(days=2)
    if unit == "month":
        return month_span(day.year, day.month)
    if unit == "quarter":
        return month_span(day.year, (day.month - 1) // 3 * 3 + 1, 3)
    if unit == "year":
        return year_span(day.year)
    if unit == "decade":
        return year_span(max(day.year // 10 * 10, 1), 10)
    if unit == "century":
        return year_span(max(day.year // 100 * 100, 1), 100)
    if unit == "day":
        return day_span(day)
    size = timedelta(seconds=UNIT_SECONDS[unit])
    return moment, moment + size


def iso_week(year: int, week: int) -> DateRange:
    start = midnight(date.fromisocalendar(year, week, 1))
    return start, start + timedelta(days=7)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """The ``nth`` such weekday of a month, counted from the end when negative; ``ValueError`` if there is none."""
    days = monthrange(year, month)[1]
    if nth > 0:
        day = 1 + (weekday - date(year, month, 1).weekday()) % 7 + 7 * (nth - 1)
    else:
        day = days - (date(year, month, days).weekday() - weekday) % 7 + 7 * (nth + 1)
    return date(year, month, day)


def easter(year: int) -> date:
    """Western Easter Sunday, by the anonymous Gregorian algorithm (Meeus, Astronomical Algorithms, chapter 8)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def _fixed(month: int, day: int) -> Callable[[int], date]:
    return lambda year: date(year, month, day)


def _weekday(month: int, weekday: int, nth: int, days: int = 0) -> Callable[[int], date]:
    return lambda year: nth_weekday(year, month, weekday, nth) + timedelta(days=days)


def _easter(days: int) -> Callable[[int], date]:
    return lambda year: easter(year) + timedelta(days=days)


_RULES: Final[Mapping[str, Callable[..., Callable[[int], date]]]] = {
    "fixed": _fixed,
    "weekday": _weekday,
    "easter": _easter,
}
HOLIDAYS: Final = {
    name: _RULES[rule](*map(int, numbers.split())) for name, rule, numbers in table(__name__).rows("holidays")
}
"""Keys are regular expressions for the lower-cased name; a longer name stands before the one it begins with. Movable civil holidays follow
the United States."""
