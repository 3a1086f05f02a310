"""Whole expressions: ranges, windows open on one side, recurrences with their hour.

A range counts its last day, month or year in ("from 3 to 5 May" ends as 6 May begins). "Before", "by" and "until" X end
where X begins; "since" and "from" X begin with X, "after" X where X ends.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from lamina.language.tables import table
from lamina.language.temporal import calendar
from lamina.language.temporal.anchored import any_date
from lamina.language.temporal.calendar import DateRange, midnight
from lamina.language.temporal.clocks import Hours, clock_at, hours_at
from lamina.language.temporal.durations import duration_at, length_at, set_at
from lamina.language.temporal.lexicon import ABOUT, MEALS, MONTHS
from lamina.language.temporal.moments import moment, on_day
from lamina.language.temporal.nodes import Node, Partial, complete, dated, fixed, longest, partial_spans
from lamina.language.temporal.tokens import TokenizedText, begun_by, day_number, remembered
from lamina.language.temporal.values import Kind

_TO = frozenset(("to", "-", "till", "until", "through", "thru", "~", "and"))


@begun_by("DATE_RANGE")
def date_range(r: TokenizedText, i: int) -> Node | None:
    """``from 3 to 5 May``, ``between March and June 2020``, ``2014-2018``, ``May 3 to 5``."""
    opened = r.words[i] if r.words[i] in ("from", "between", "in") else ""
    j = i + 1 if opened else i
    left = moment(r, j)
    if left and left.spans:
        for k in _ends_of_left(r, left):
            found = _closed(r, left, k, opened)
            if found:
                return found
    return _days_of_one_month(r, j, opened)


def _ends_of_left(r: TokenizedText, left: Node) -> tuple[int, ...]:
    k = r.skip(left.stop, ",", ".")
    return (k,) if r.words[k] in _TO else (left.stop,)


def _closed(r: TokenizedText, left: Node, k: int, opened: str) -> Node | None:
    joiner = r.words[k]
    if joiner not in _TO or (joiner == "and" and opened != "between") or left.kind in ("duration", "set"):
        return None
    if joiner == "-" and left.grain in ("minute", "part") and left.kind == "time":
        return None
    right = moment(r, k + 1)
    if right is None and r.words[k + 1] == "date" and joiner != "and":
        right = fixed(k + 2, "day", (midnight(r.now.date()), midnight(r.now.date())))
    if right is None and r.words[k + 1] in MONTHS:
        right = dated(r, k + 2, Partial(month=MONTHS[r.words[k + 1]]))
    bare_day = _bare_day(r, left, k + 1)
    if bare_day and (right is None or bare_day.stop >= right.stop):
        right = bare_day
    if right is None or not right.spans or (left.kind == "time" and right.kind not in ("time", "datetime")):
        return None
    if right.kind == "time":
        right = _same_day(left, right)
    return _between(r, left, right)


def _bare_day(r: TokenizedText, left: Node, i: int) -> Node | None:
    """The second day in ``May 3 to 5``: it takes month and year from the first."""
    if left.partial is None or not (left.partial.month and left.partial.day) or left.kind != "date":
        return None
    j = r.skip(i, "the")
    day = day_number(r, j)
    if day is None or day.value < left.partial.day or r.words[day.stop] in ("am", "pm", ":", "/"):
        return None
    k = r.skip(day.stop, ",")
    year = int(r.words[k]) if r.words[k].isdigit() and len(r.words[k]) == 4 else left.partial.year
    stop = k + 1 if year and not left.partial.year else day.stop
    return dated(r, stop, Partial(year, left.partial.month, int(day.value)))


def _same_day(left: Node, right: Node) -> Node:
    spans = []
    for start, _ in left.spans:
        assert start is not None
        for time_start, time_end in right.spans:
            assert time_start is not None
            assert time_end is not None
            moved = midnight(start.date()) + (time_start - midnight(time_start.date()))
            if moved > start:
                spans.append((moved, moved + (time_end - time_start)))
    return replace(right, kind="datetime", spans=tuple(spans) or right.spans)


def _between(r: TokenizedText, left: Node, right: Node) -> Node | None:
    if left.partial and right.partial and right.partial.year and not left.partial.year:
        same = complete(r, left, right.partial.year)
        first, last = same.spans[0][0], right.spans[0][0]
        left = complete(r, left, right.partial.year - 1) if first and last and first > last else same
    pairs: list[DateRange] = []
    for start, _ in left.spans:
        if right.partial and right.partial.weekday is not None and right.partial.day is None and start:
            right = replace(right, spans=partial_spans(right.partial, start.date())[1:])
        closing = sorted(
            (span for span in right.spans if span[0] and start and span[0] >= start),
            key=lambda s: s[0] or r.now,
        )
        end = closing[0][1] if closing else _a_year_on(right, start)
        if start and end:
            if right.grain in ("minute", "second") and right.kind in ("datetime", "time"):
                end = (closing[0][0] if closing else None) or end
            pairs.append((start, end))
    if not pairs:
        return None
    by_days = all(node.kind in ("date", "daterange") or node.timex == "PRESENT_REF" for node in (left, right))
    kind: Kind = "daterange" if by_days else "datetimerange"
    return Node(
        right.stop, kind, right.grain, tuple(dict.fromkeys(pairs)), None, None,
        left.approximate or right.approximate, stated_range=True,
    )  # fmt: skip


def _a_year_on(right: Node, start: datetime | None) -> datetime | None:
    end = right.spans[-1][1]
    returns = right.partial is not None and right.partial.year is None and right.partial.month is not None
    return calendar.add_months(end, 12) if end and start and returns and end < start else None


def _days_of_one_month(r: TokenizedText, j: int, opened: str) -> Node | None:
    """``from 3 to 5 May``, ``12-15 October 2017``, ``29 / 30 August``, ``between the 9th and the 17th of April``."""
    first = day_number(r, r.skip(j, "the"))
    if first is None or (r.glued(j) and r.words[j - 1] in (".", "/", "-", ":", "$")):
        return None
    k = first.stop
    k = k + 1 if r.words[k] == "." and r.words[k + 1] in _TO else k
    joiner = r.words[k]
    if joiner not in _TO | {"/"} or (joiner == "and" and opened != "between"):
        return None
    right = any_date(r, k + 1)
    if right is None or right.kind != "date" or not right.spans:
        return None
    if right.partial is None or not right.partial.day:
        return None
    if right.partial.month is None:
        if right.partial.weekday is not None or not opened:
            return None
        left = dated(r, k, Partial(day=int(first.value)))
    else:
        left = dated(r, k, Partial(right.partial.year, right.partial.month, int(first.value)))
    if left is None or not left.spans or first.value > right.partial.day:
        return None
    return _between(r, left, right)


def open_window(r: TokenizedText, i: int) -> Node | None:
    """``since May``, ``before 2010``, ``by the end of this month``, ``2012 or later``, ``after lunch``."""
    words = tuple(r.words[i : i + 4])
    for lead, side, edge in _LEADS_BY_WORD.get(words[0], ()):
        if words[: len(lead)] == lead:
            found = _opened(r, i, i + len(lead), side, edge)
            if found:
                return found
    return _or_later(r, i)


_LEADS = tuple((tuple(words.split()), side, edge) for words, side, edge in table(__name__).rows("leads"))
"""Words, the open side, and where the window is cut: at the start or the end of what follows."""
_LEADS_BY_WORD = {
    word: [each for each in _LEADS if each[0][0] == word] for word in {lead[0] for lead, _, _ in _LEADS}
}


def _opened(r: TokenizedText, i: int, j: int, side: str, edge: str) -> Node | None:
    if (
        r.words[j] in ("date", "now")
        and r.words[i] in ("till", "until", "to", "up")
        and (edge != "date" or r.words[j] == "date")
    ):
        if r.words[i - 1] == "-" or (
            r.words[i] == "to" and r.words[j + 1] not in ("", ".", ",", "?", "!", "and")
        ):
            return None
        today = r.now if r.words[j] == "now" else midnight(r.now.date())
        return Node(j + 1, "daterange", "day", ((None, today),), timex="PRESENT_REF")
    if edge == "date":
        return None
    inside = moment(r, j)
    rough = r.words[j] in ABOUT
    if r.words[j] in MEALS and r.words[i] in ("before", "after"):
        start, end = MEALS[r.words[j]]
        inside = Node(
            j + 1,
            "timerange",
            "part",
            tuple(on_day(midnight(r.now.date()), Hours(j, (start * 3600,), (end * 3600,)))),
        )
    if inside is None and r.words[j] in MONTHS:
        inside = dated(r, j + 1, Partial(month=MONTHS[r.words[j]]))
    if inside is None or not inside.spans or inside.kind in ("duration", "set"):
        return _bare_hour(r, i, j, side)
    if inside.kind == "datetime" and inside.grain == "second" and r.words[i] == "by":
        return None
    words = r.words[j : inside.stop]
    if edge == "start" and side == "from" and inside.grain != "day" and "end" in words:
        edge = "end"
    if edge == "end" and inside.grain in ("minute", "second"):
        edge = "start"
    bound = [span[0] if edge == "start" else span[1] for span in inside.spans]
    spans: tuple[DateRange, ...] = tuple((b, None) if side == "to" else (None, b) for b in bound)
    kind = {"date": "daterange", "datetime": "datetimerange", "time": "timerange"}.get(
        inside.kind, inside.kind
    )
    return replace(inside, kind=kind, spans=spans, approximate=inside.approximate or rough, timex=None)  # type: ignore[arg-type]


def _bare_hour(r: TokenizedText, i: int, j: int, side: str) -> Node | None:
    if r.words[i] not in ("as", "no") or not (hours := clock_at(r, j)):
        return None
    spans = tuple((s, None) if side == "to" else (None, s) for s, _ in on_day(midnight(r.now.date()), hours))
    return Node(hours.stop, "timerange", "minute", spans)


def _or_later(r: TokenizedText, i: int) -> Node | None:
    node = moment(r, i)
    if node is None or not node.spans or r.words[node.stop] not in ("or", "and"):
        return None
    after = r.words[node.stop + 1]
    kind = {"date": "daterange", "datetime": "datetimerange", "time": "timerange"}.get(node.kind, node.kind)
    if after in ("after", "before") and r.words[node.stop + 2] not in ("", ".", ",", "?", "!"):
        return None
    if after in ("later", "after", "greater", "above", "onwards", "onward"):
        spans: tuple[DateRange, ...] = tuple((start, None) for start, _ in node.spans)
    elif after in ("earlier", "before"):
        spans = tuple((None, end) for _, end in node.spans)
    else:
        return None
    found = replace(node, stop=node.stop + 2, kind=kind, spans=spans)  # type: ignore[arg-type]  # a Kind
    j = r.skip(found.stop, "on")
    if (
        node.kind == "time"
        and j > found.stop
        and (date := any_date(r, j))
        and date.kind == "date"
        and node.spans[0][0]
    ):
        since = node.spans[0][0] - midnight(node.spans[0][0].date())
        return replace(
            found,
            stop=date.stop,
            kind="datetimerange",
            spans=tuple((s + since, None) for s, _ in date.spans if s),
        )
    return found


def date_with_open_hours(r: TokenizedText, i: int) -> Node | None:
    """``Thursday before 5pm``, ``14 September after 19:00``: open on the side that the words leave open."""
    date = any_date(r, i)
    if date is None or date.kind != "date" or not date.spans:
        return None
    window = open_window(r, r.skip(date.stop, ","))
    if window is None or window.kind != "timerange" or window.grain == "part":
        return None
    today = midnight(r.now.date())
    spans: list[DateRange] = []
    for start, _ in date.spans:
        for low, high in window.spans:
            assert start is not None
            spans.append((start + (low - today) if low else None, start + (high - today) if high else None))
    return Node(window.stop, "datetimerange", "minute", tuple(spans), date.partial, None, window.approximate)


def length_from_date(r: TokenizedText, i: int) -> Node | None:
    """``3 days starting from next Monday``, ``for 1 week, from 20 December``, ``14 Feb for 7 hours from 9:30am``."""
    j = r.skip(i, "for")
    length = length_at(r, j)
    if length and length.grain == "day":
        k = r.skip(length.stop, ",")
        if r.words[k] in ("starting", "beginning") or (r.words[k] == "from" and j > i):
            k = r.skip(r.skip(k + 1, "from"), "on")
            date = any_date(r, k)
            if date and date.kind == "date" and date.spans:
                spans = tuple((s, calendar.shift(s, length.period, 1)) for s, _ in date.spans if s)
                return Node(date.stop, "daterange", "day", spans, None, length.period)
    if (early := r.words[i]) in ("more", "less") and r.words[i + 1] == "than":
        date = any_date(r, i + 2)
        if date is None or date.kind != "date" or not date.spans:
            return None
        start, end = date.spans[0]
        before = "before" in r.words[i : date.stop] or "ago" in r.words[i : date.stop]
        today = midnight(r.now.date())
        if early == "more":
            return replace(date, kind="daterange", spans=((None, start),) if before else ((start, None),))
        return (
            replace(date, kind="daterange", spans=((start, today),) if before else ((today, start),))
            if end
            else None
        )
    return None


def set_with_time(r: TokenizedText, i: int) -> Node | None:
    """``every day at 7:13 p.m.``, ``Tuesdays at 9am``, ``3pm each day``."""
    node = set_at(r, i)
    if node is None:
        clock = clock_at(r, i)
        after = set_at(r, clock.stop) if clock and not clock.bare else None
        if clock and after and r.words[clock.stop] in ("every", "each", "daily"):
            return replace(after, timex=_timex_at(after.timex or "", clock))
        return None
    j = r.skip(node.stop, "at", "@")
    clock = clock_at(r, j)
    if clock and (j > node.stop or not clock.bare) and not hours_at(r, j):
        return Node(clock.stop, "set", "minute", timex=_timex_at(node.timex or "", clock))
    return node


def _timex_at(base: str, clock: Hours) -> str:
    hour, rest = divmod(clock.starts[0], 3600)
    time = f"T{hour:02d}" + (f":{rest // 60:02d}" if rest else "")
    return time if base == "P1D" else base + time


@remembered
def expression(r: TokenizedText, i: int) -> Node | None:
    """The longest time expression that begins at token ``i``."""
    return longest(
        set_with_time(r, i),
        date_range(r, i),
        open_window(r, i),
        date_with_open_hours(r, i),
        length_from_date(r, i),
        moment(r, i),
        duration_at(r, i),
    )
