"""A date, a time of day, or both joined: "yesterday at 3pm", "5:30 on Friday", "last night", "now"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from lamina.language.tables import table
from lamina.language.temporal import calendar
from lamina.language.temporal.anchored import any_date
from lamina.language.temporal.calendar import DateRange, midnight
from lamina.language.temporal.clocks import Hours, clock_at, hours_at, in_part, part_at
from lamina.language.temporal.lexicon import ABOUT, MONTHS, PARTS
from lamina.language.temporal.nodes import Node, complete, longest
from lamina.language.temporal.tokens import TokenizedText, begun_by, year_number
from lamina.language.temporal.values import UNIT_SECONDS, Grain

_TABLE = table(__name__)
_NOW = (
    ("right", "now"), ("at", "the", "moment"), ("at", "present"), ("at", "this", "time"), ("at", "the", "minute"),
    ("now",),
)  # fmt: skip
_NIGHT_ENDS_AT = 6 * 3600  # "last night at 2" is this morning
_BARE_AFTER = frozenset(["at", "by", "around", "about", "from", "before", "after"]) | ABOUT


def present(r: TokenizedText, i: int) -> Node | None:
    for words in _NOW:
        if tuple(r.words[i : i + len(words)]) == words:
            return Node(
                i + len(words),
                "datetime",
                "second",
                ((r.now, r.now + timedelta(seconds=1)),),
                timex="PRESENT_REF",
            )
    return None


_INSTANT = _TABLE.pattern("instant", 0)


def iso_instant(r: TokenizedText, i: int) -> Node | None:
    """``2024-01-31T10:00:00Z``; with an offset it is moved into the zone of the reference."""
    found = r.match(_INSTANT, i) if len(r.words[i]) == 4 and r.words[i + 1] == "-" else None
    if found is None:
        return None
    said = datetime.fromisoformat(found[0].group().upper())
    start = (
        said.astimezone(r.zone).replace(tzinfo=None) if said.tzinfo and r.zone else said.replace(tzinfo=None)
    )
    grain: Grain = "second" if found[0].group().count(":") > 1 else "minute"
    return Node(found[1], "datetime", grain, ((start, start + timedelta(seconds=UNIT_SECONDS[grain])),))


def tonight(r: TokenizedText, i: int) -> Node | None:
    """``tonight``, ``last night``, ``this morning``, ``next evening at 7``."""
    word = r.words[i]
    edge = i
    if word in ("early", "late", "later", "earlier"):
        i += 1
        word = r.words[i]
    shift = {"this": 0, "last": -1, "next": 1, "yesterday": -1, "tomorrow": 1, "today": 0}.get(word)
    if word in ("tonight", "tonite"):
        part, stop, shift = "night", i + 1, 0
    elif shift is not None and r.words[i + 1] in PARTS and not r.words[i + 1].endswith("s"):
        part, stop = r.words[i + 1], i + 2
    else:
        return None
    day = midnight(r.now.date()) + timedelta(days=shift)
    hours = part_at(r, stop - 1) if word not in ("tonight", "tonite") else None
    start, end = PARTS[part]
    hours = hours or Hours(stop, (start * 3600,), (end * 3600,), part=part)
    if edge < i and hours.ends:
        middle = (hours.starts[0] + hours.ends[0]) // 2
        early = r.words[edge].startswith("ear")
        hours = replace(
            hours, starts=hours.starts if early else (middle,), ends=(middle,) if early else hours.ends
        )
    j = r.skip(r.skip(hours.stop, ","), "at", "@", *ABOUT)
    more = hours_at(r, j) or (clock_at(r, j) if hours.ends else None)
    if more and not (more.bare and j == hours.stop):
        hours = in_part(replace(more, bare=False), part)
        if part == "night" and hours.starts[0] < _NIGHT_ENDS_AT and hours.ends is None and shift == -1:
            day += timedelta(days=1)
    return _timed(Node(stop, "date", "day", (calendar.day_span(day.date()),)), hours, hours.stop)


def _timed(day: Node, hours: Hours, stop: int) -> Node:
    """A day with a time of day: every reading of the one with every reading of the other."""
    spans = tuple(span for start, _ in day.spans if start is not None for span in on_day(start, hours))
    kind = "datetimerange" if hours.ends else "datetime"
    grain = "part" if hours.part and hours.ends and not hours.stated_range else "minute"
    return Node(
        stop, kind, grain, spans, day.partial, None,  # type: ignore[arg-type]  # both are literals of their type
        day.approximate or hours.approximate, stated_range=hours.stated_range,
    )  # fmt: skip


def on_day(day: datetime, hours: Hours) -> list[DateRange]:
    ends = hours.ends or tuple(s + 60 for s in hours.starts)
    spans: list[DateRange] = [
        (day + timedelta(seconds=s), day + timedelta(seconds=e))
        for s, e in zip(hours.starts, ends, strict=True)
    ]
    return spans


@begun_by("TIME_PIECE")
def time_piece(r: TokenizedText, i: int) -> Hours | None:
    """The longest of a stretch, an instant or a part of the day."""
    best: Hours | None = None
    for hours in (hours_at(r, i), part_at(r, i), clock_at(r, i)):
        if hours and (best is None or hours.stop > best.stop):
            best = hours
    return best


@begun_by("OF_TODAY")
def of_today(r: TokenizedText, i: int) -> Node | None:
    """Now, or a part of today, or of a day beside it."""
    return longest(present(r, i), tonight(r, i))


@begun_by("MOMENT")
def moment(r: TokenizedText, i: int) -> Node | None:
    """A date, a time of day, or both in either order."""
    special = longest(of_today(r, i), iso_instant(r, i))
    j = r.skip(i, *ABOUT) if r.words[i] in ABOUT else r.skip(i, "~")
    date = any_date(r, j)
    if date and j > i:
        date = replace(date, approximate=True)
    with_time = _date_then_time(r, date) if date and date.spans and date.kind == "date" else None
    return longest(special, with_time, date, _time_first(r, i))


def _date_then_time(r: TokenizedText, date: Node) -> Node | None:
    j = r.skip(r.skip(date.stop, ",", "-", "t"), "on")
    k = r.skip(r.skip(r.skip(j, "at", "@", "by"), *ABOUT), "at")
    hours = time_piece(r, k)
    if hours is None or (hours.bare and not hours.stated_range and k == j and len(r.words[j]) != 4):
        return None
    if hours.bare and (r.words[hours.stop] in MONTHS or _is_named(r, hours.stop)):
        return None
    if (
        date.partial
        and date.partial.day
        and hours.bare
        and hours.stated_range
        and j == date.stop
        and r.words[j] == "-"
    ):
        return None
    more = r.skip(r.skip(hours.stop, ","), "at", "from", "between", *ABOUT)
    if (
        hours.ends
        and not hours.stated_range
        and (finer := hours_at(r, r.skip(hours.stop, ",")) or clock_at(r, more))
    ):
        if not (finer.bare and more == hours.stop):
            hours = in_part(finer, hours.part)
    elif (
        (part := part_at(r, hours.stop))
        and part.ends
        and (r.words[hours.stop] in ("in", "late", "early") or r.words[hours.stop] in PARTS)
    ):
        hours = replace(in_part(hours, part.part), stop=part.stop)
    if date.partial and date.partial.month and not date.partial.year and (year := year_number(r, hours.stop)):
        return _timed(complete(r, date, int(year.value)), hours, year.stop)  # Wed Oct 26 15:50:06 2016
    return _timed(date, hours, hours.stop)


def _time_first(r: TokenizedText, i: int) -> Node | None:
    lead = r.words[i] in _BARE_AFTER
    hours = time_piece(r, i)
    if hours is None and lead:
        hours = time_piece(r, i + 1)
    if hours is None:
        return None
    j = r.skip(r.skip(hours.stop, ","), "on", "of")
    date = longest(tonight(r, j), any_date(r, j))
    if (
        date
        and date.spans
        and (date.kind == "date" or date.grain == "part")
        and not (hours.bare and not hours.stated_range and not lead)
    ):
        span_part = next((p for p in PARTS if r.words[date.stop - 1] == p), "")
        day = date
        if date.grain == "part":
            day = replace(date, spans=tuple((midnight(s.date()), e) for s, e in date.spans if s))
            hours = in_part(hours, span_part or "night")
        elif (after := part_at(r, date.stop)) and after.ends and r.words[date.stop] in PARTS:
            return _timed(day, in_part(hours, after.part), after.stop)
        return _timed(day, hours, date.stop)
    if hours.bare and not (lead and r.words[i] == "at" and not _counts(r, hours.stop)):
        return None
    start = midnight(r.now.date())
    kind = "timerange" if hours.ends else "time"
    grain = "part" if hours.part and hours.ends and not hours.stated_range else "minute"
    return Node(hours.stop, kind, grain, tuple(on_day(start, hours)), None, None, hours.approximate)  # type: ignore[arg-type]


def _counts(r: TokenizedText, i: int) -> bool:
    """Whether the word after a bare number makes it a count or part of a name: "at 6 percent", "at 12 places", "at 22 Elm Road"."""
    after = r.words[i]
    return (
        after in ("%", "$", "/", "-", "percent", "million", "x")
        or (after.endswith("s") and after not in ("as", "is", "was", "this", "on"))
        or _is_named(r, i)
    )


def _is_named(r: TokenizedText, i: int) -> bool:
    """Whether a word is written as names are, and not as a time zone is."""
    return len(r.words[i]) > 1 and r.text[r.starts[i] : r.ends[i]].istitle()
