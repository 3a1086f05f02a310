"""What the grammar builds before one reading is chosen, and how a part of a date finds its year."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta

from lamina.language.temporal.calendar import DateRange, day_span, month_span, year_span
from lamina.language.temporal.tokens import TokenizedText
from lamina.language.temporal.values import Grain, Kind, Period


@dataclass(frozen=True, slots=True)
class Partial:
    """The fields of a date that were said. A range lends a missing field from its other end."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One reading of the tokens up to ``stop``. ``spans`` are its alternatives, oldest first."""

    stop: int
    kind: Kind
    grain: Grain
    spans: tuple[DateRange, ...] = ()
    partial: Partial | None = None
    period: Period | None = None
    approximate: bool = False
    timex: str | None = None
    stated_range: bool = False  # "from X to Y": both ends were named
    counted: bool = False  # from days that return: without a tense around them the coming one is meant
    took: Period | None = None  # "in two days", told of what is past, is no day but how long that took

    @property
    def span(self) -> DateRange:
        """The oldest alternative; for nodes that have one only."""
        return self.spans[0]


def longest(*nodes: Node | None) -> Node | None:
    """The node that reads furthest; the earlier one of two that read equally far."""
    best: Node | None = None
    for node in nodes:
        if node is not None and (best is None or node.stop > best.stop):
            best = node
    return best


def fixed(stop: int, grain: Grain, span: DateRange, *, approximate: bool = False) -> Node:
    kind: Kind = "date" if grain == "day" else "daterange"
    return Node(stop, kind, grain, (span,), approximate=approximate)


def dated(r: TokenizedText, stop: int, partial: Partial) -> Node | None:
    """The node for a partial date, or ``None`` if no calendar can have such fields."""
    if partial.month is not None and not 1 <= partial.month <= 12:
        return None
    if partial.year is not None and not 1 <= partial.year <= 9999:
        return None
    if partial.day is not None and not 1 <= partial.day <= 31:
        return None
    spans = partial_spans(partial, r.now.date())
    if partial.day is None and partial.weekday is None:
        grain: Grain = "year" if partial.month is None else "month"
        return Node(stop, "daterange", grain, spans, partial)
    return Node(stop, "date", "day", spans, partial)


def partial_spans(partial: Partial, today: date) -> tuple[DateRange, ...]:
    """Past and coming reading of a partial date; today and the current month count as past.

    A weekday beside a day and month picks the year in which they agree, if one of the two does. No span at all means
    a day that does not exist, such as 30 February.
    """
    year, month, day, weekday = partial.year, partial.month, partial.day, partial.weekday
    if day is None and weekday is not None:
        back = (today.weekday() - weekday) % 7
        past = today - timedelta(days=back or 7)
        return day_span(past), day_span(past + timedelta(days=7))
    if day is None:
        if year is not None:
            return (month_span(year, month) if month else year_span(year),)
        assert month is not None
        past_year = today.year if month <= today.month else today.year - 1
        return month_span(past_year, month), month_span(past_year + 1, month)
    if month is None:
        return _day_of_month(day, weekday, today)
    if year is not None:
        exact = _date(year, month, day)
        return (day_span(exact),) if exact else ()
    years = range(max(today.year - 8, 1), min(today.year + 8, 9999) + 1)
    days = [found for y in years if (found := _date(y, month, day))]
    return _nearest(days, today, weekday)


def _day_of_month(day: int, weekday: int | None, today: date) -> tuple[DateRange, ...]:
    months = range(today.year * 12 + today.month - 1 - 12, today.year * 12 + today.month + 12)
    days = [found for m in months if 1 <= m // 12 <= 9999 and (found := _date(m // 12, m % 12 + 1, day))]
    if weekday is not None:
        days = [found for found in days if found.weekday() == weekday]
    return _nearest(days, today, None)


def _nearest(days: list[date], today: date, weekday: int | None) -> tuple[DateRange, ...]:
    past = [found for found in days if found <= today][-1:]
    near = past + [found for found in days if found > today][:1]
    agreeing = [found for found in near if found.weekday() == weekday]
    return tuple(day_span(found) for found in (agreeing or near))


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def complete(r: TokenizedText, node: Node, year: int | None, month: int | None = None) -> Node:
    """``node`` with the year (and month) it lacks."""
    partial = node.partial
    if partial is None or (partial.day is None and partial.month is None and partial.weekday is not None):
        return node
    filled = replace(partial, year=partial.year or year, month=partial.month or month)
    found = dated(r, node.stop, filled)
    return replace(node, spans=found.spans, partial=filled) if found and found.spans else node
