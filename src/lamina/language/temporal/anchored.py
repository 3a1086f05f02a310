"""Dates told from another date or cut out of a period: "two weeks ago", "the Sunday before 25 May", "late July"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from lamina.language.temporal import calendar
from lamina.language.temporal.calendar import DateRange, day_span, midnight, unit_span
from lamina.language.temporal.dates import calendar_date
from lamina.language.temporal.durations import Length, length_at
from lamina.language.temporal.lexicon import MONTHS, UNITS, WEEKDAYS
from lamina.language.temporal.nodes import Node, dated, fixed, longest
from lamina.language.temporal.relative import (
    WHOLE_UNITS,
    day_of_container,
    days_away,
    partial_of_month,
    plain_date,
    shifted,
    shifted_unit,
)
from lamina.language.temporal.tokens import TokenizedText, begun_by
from lamina.language.temporal.values import Grain, Period


@begun_by("ANCHORED")
def anchored(r: TokenizedText, i: int) -> Node | None:
    """``two weeks ago``, ``in 3 days``, ``3 days after Easter``, ``the Sunday before 25 May 2023``."""
    return longest(_from_now(r, i), _from_date(r, i), _weekday_by_date(r, i), _weekday_then_length(r, i))


_COARSE = frozenset(("week", "month", "quarter", "year", "decade", "century"))
_AGO = frozenset(("ago", "back", "earlier", "previously"))


def _from_now(r: TokenizedText, i: int) -> Node | None:
    j = r.skip(r.skip(i, "in", "within"), "about", "around", "the")
    leading = r.words[i] if j > i else ""
    over = r.words[j] in ("over", "almost", "nearly")
    length = length_at(r, j + 1 if over else j)
    if length is None:
        return None
    k = length.stop
    grain, rough = length.grain, length.approximate or over or r.words[i + 1] in ("about", "around")
    if leading in ("in", "within") and r.words[j - 1] != "the":
        if r.words[k] in _AGO:
            return None
        stop = k
        if r.words[k] == "'" and r.words[k + 1] == "time":
            stop = k
        elif r.words[k] == "from" and r.words[k + 1] in ("now", "today"):
            return None
        elif r.words[k] == "on" and r.words[k + 1] in WEEKDAYS:
            return _weekday_of(k + 2, calendar.shift(r.now, length.period, 1), WEEKDAYS[r.words[k + 1]])
        if leading == "within":
            kind = "daterange" if grain == "day" else "datetimerange"
            end = calendar.shift(r.now, length.period, 1)
            return Node(stop, kind, grain, ((r.now, end),), None, length.period, rough)  # type: ignore[arg-type]
        return replace(_moment(stop, r.now, length, 1, rough), took=length.period)
    if leading and leading != "about":
        return None
    if r.words[k] in _AGO and not (r.words[k] == "earlier" and r.words[k + 1] in ("this", "in")):
        return _moment(k + 1, r.now, length, -1, rough)
    if r.words[k] in ("later", "earlier") and r.words[k + 1] in ("this", "in", "today", "next", "on"):
        return None
    if r.words[k] in ("later", "hence") or (r.words[k] == "from" and r.words[k + 1] == "now"):
        return _moment(k + (2 if r.words[k] == "from" else 1), r.now, length, 1, rough)
    return None


def _moment(stop: int, anchor: datetime, length: Length, sign: int, rough: bool) -> Node:
    """The day ``length`` away, or the minute where the length counts hours or less; the grain is the length's unit."""
    if length.unit == "weekend":
        return _weekend_away(stop, anchor, sign * int(length.period.parts[-1][0]), rough)
    moved = calendar.shift(anchor, length.period, sign)
    if length.grain != "day":
        return Node(stop, "datetime", "minute", ((moved, moved + timedelta(minutes=1)),), None, None, rough)
    grain: Grain = length.unit if length.unit in _COARSE else "day"  # type: ignore[assignment]  # coarse units are grains
    return Node(stop, "date", grain, (day_span(moved.date()),), None, None, rough)


def _weekend_away(stop: int, anchor: datetime, count: int, rough: bool) -> Node:
    """The so-manieth before this week's, or from the first that is to come."""
    start, _ = unit_span(anchor, "weekend")
    assert start is not None
    if count > 0 and start > anchor:
        count -= 1
    return fixed(stop, "weekend", unit_span(start + timedelta(days=7 * count), "weekend"), approximate=rough)


def _from_date(r: TokenizedText, i: int) -> Node | None:
    j = r.skip(i, "the")
    length = length_at(r, j)
    if length is None and r.words[j] in UNITS and r.words[j + 1] in ("before", "after", "following"):
        unit = UNITS[r.words[j]]
        length = Length(Period(((1, unit),)), j + 1, False)
        return _unit_by_date(r, length, unit)
    if (
        length is None
        or length.grain != "day"
        or r.words[length.stop] not in ("before", "after", "from", "following", "prior")
    ):
        return None
    sign = -1 if r.words[length.stop] in ("before", "prior") else 1
    anchor = _anchor(r, r.skip(length.stop + 1, "to"))
    if anchor is None or anchor.kind != "date":
        return None
    if r.words[length.stop] == "from" and r.words[i - 1] == "for":
        return None
    starts = [start for start, _ in anchor.spans if start is not None]
    if r.words[length.stop] == "from":  # which only leads ahead
        del starts[:-1]
    if not starts:
        return None
    if r.words[anchor.stop] == "on" and r.words[anchor.stop + 1] in WEEKDAYS:
        weekday = WEEKDAYS[r.words[anchor.stop + 1]]
        nodes = [
            _weekday_of(anchor.stop + 2, calendar.shift(start, length.period, sign), weekday)
            for start in starts
        ]
    else:
        nodes = [_moment(anchor.stop, start, length, sign, length.approximate) for start in starts]
    return replace(nodes[0], spans=tuple(each.span for each in nodes), counted=True)


def _anchor(r: TokenizedText, i: int) -> Node | None:
    node = plain_date(r, i)
    if node is None and r.words[i] == "now":
        node = days_away(r, i + 1, 0)
    return node if node and node.spans else None


def _unit_by_date(r: TokenizedText, length: Length, unit: str) -> Node | None:
    """``the week before 6 July``, ``the weekend after Easter``, ``the day after Christmas``."""
    sign = 1 if r.words[length.stop] in ("after", "following") else -1
    anchor = _anchor(r, length.stop + 1)
    if anchor is None or unit in ("second", "minute", "hour"):
        return None
    spans = []
    for start, _ in anchor.spans:
        if start is None:
            continue
        here = unit_span(start, unit)[0]
        assert here is not None
        if unit == "weekend":
            moved = here if sign > 0 and here > start else here + sign * timedelta(days=7)
        else:
            moved = calendar.shift(here, length.period, sign)
        spans.append(unit_span(moved, unit))
    grain: Grain = unit if unit in WHOLE_UNITS else "day"  # type: ignore[assignment]  # whole units are grains
    return Node(anchor.stop, "date" if grain == "day" else "daterange", grain, tuple(spans))


def _weekday_by_date(r: TokenizedText, i: int) -> Node | None:
    j = r.skip(i, "the")
    weekday = WEEKDAYS.get(r.words[j])
    if weekday is None or r.words[j + 1] not in ("before", "after", "following", "prior", "preceding"):
        return None
    sign = 1 if r.words[j + 1] in ("after", "following") else -1
    anchor = _anchor(r, r.skip(j + 2, "to"))
    if anchor is None or (
        j == i and anchor.partial and anchor.partial.day is None and anchor.partial.month is None
    ):
        return None
    spans = []
    for start, end in anchor.spans:
        if start is None or end is None:
            continue
        if sign < 0:
            day = start - timedelta(days=(start.weekday() - weekday - 1) % 7 + 1)
        else:
            last = end - timedelta(days=1)
            day = last + timedelta(days=(weekday - last.weekday() - 1) % 7 + 1)
        spans.append(day_span(day.date()))
    return Node(anchor.stop, "date", "day", tuple(spans)) if spans else None


def _weekday_then_length(r: TokenizedText, i: int) -> Node | None:
    """``Monday two weeks from now``: that weekday of the week it leads to."""
    weekday = WEEKDAYS.get(r.words[i])
    if weekday is None:
        return None
    node = _from_now(r, i + 1)
    if node is None or node.kind != "date" or r.words[i + 1] in ("in", "within"):
        return None
    if (start := node.span[0]) is None:
        return None
    return days_away(r, node.stop, (start.date() - r.now.date()).days + weekday - start.weekday())


def _weekday_of(stop: int, moment: datetime, weekday: int) -> Node:
    day = moment + timedelta(days=(weekday - moment.weekday()) % 7)
    return fixed(stop, "day", day_span(day.date()))


_NEEDS_OF = frozenset(["beginning", "start", "end", "middle"])
_EARLY = frozenset(["early", "beginning", "start"])
_LATE = frozenset(["late", "end"])


@begun_by("PARTIAL_PERIOD")
def partial_period(r: TokenizedText, i: int) -> Node | None:
    """``early 2022``, ``mid-July``, ``the end of the month``, ``earlier this week``, ``late last year``."""
    j = r.skip(i, "the")
    word = r.words[j]
    third = (
        "early" if word in _EARLY else "late" if word in _LATE else "mid" if word in ("mid", "middle") else ""
    )
    if word in ("earlier", "later") and r.words[j + 1] in ("this", "in", "last", "next"):
        third = "early" if word == "earlier" else "late"
    if word == "eod":
        _, end = day_span(r.now.date())
        return Node(j + 1, "datetime", "second", ((end - timedelta(seconds=1), end),)) if end else None
    if not third:
        return None
    k = r.skip(j + 1, "of") if word in _NEEDS_OF else r.skip(r.skip(j + 1, "-"), "of", "in")
    if word in _NEEDS_OF and k == j + 1:
        return None
    if word == "end" and (day := _end_of_day(r, k)):
        return day
    inside = longest(shifted(r, k), calendar_date(r, k), day_of_the(r, k), day_of_container(r, k))
    if inside is None and r.words[k] in MONTHS:
        inside = dated(r, k + 1, partial_of_month(r, k))
    if inside is None or inside.kind != "daterange" or not inside.spans:
        return None
    if (
        word in ("earlier", "later")
        and (start := inside.span[0])
        and (end := inside.span[1])
        and start < r.now < end
    ):
        around = (start, r.now) if word == "earlier" else (r.now, end)
        return Node(inside.stop, "daterange", "day", (around,), approximate=True)
    spans = tuple(_third(start, end, inside.grain, third) for start, end in inside.spans if start and end)
    return Node(inside.stop, "daterange", inside.grain, spans, approximate=True)


def _end_of_day(r: TokenizedText, i: int) -> Node | None:
    """The last second of a day: ``end of the day``, ``end of Sunday``."""
    j = r.skip(i, "the")
    day = days_away(r, j + 1, 0) if r.words[j] == "day" else plain_date(r, j)
    if day is None or day.kind != "date":
        return None
    spans = tuple((end - timedelta(seconds=1), end) for _, end in day.spans if end)
    return Node(day.stop, "datetime", "second", spans)


def day_of_the(r: TokenizedText, i: int) -> Node | None:
    j = r.skip(i, "the")
    whole = r.words[j] in ("week", "month", "year", "decade")
    return shifted_unit(r, j + 1, r.words[j], 0) if whole else None


def _third(start: datetime, end: datetime, grain: str, third: str) -> DateRange:
    """Months are halved on the 16th (the middle is the 11th to 20th), years divided by four months, others evenly."""
    if grain == "month":
        first, half, last = (start + timedelta(days=days) for days in (10, 15, 20))
        return {"early": (start, half), "mid": (first, last), "late": (half, end)}[third]
    if grain == "year":
        first, last = calendar.add_months(start, 4), calendar.add_months(start, 8)
        return {"early": (start, first), "mid": (first, last), "late": (last, end)}[third]
    if grain == "week":
        half = start + timedelta(days=3)
        return {
            "early": (start, half),
            "mid": (half - timedelta(days=1), half + timedelta(days=1)),
            "late": (half, end),
        }[third]
    step = (end - start) / 3
    first, last = (midnight((start + step * n).date()) for n in (1, 2))
    return {"early": (start, first), "mid": (first, last), "late": (last, end)}[third]


@begun_by("ANY_DATE")
def any_date(r: TokenizedText, i: int) -> Node | None:
    """The longest date expression at ``i``, without time of day and without range words."""
    return longest(anchored(r, i), partial_period(r, i), plain_date(r, i))
