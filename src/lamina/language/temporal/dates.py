"""Dates that name themselves: months, weekdays, years, decades, quarters, seasons and holidays."""

from __future__ import annotations

from dataclasses import replace

from lamina.language.tables import table
from lamina.language.temporal import calendar
from lamina.language.temporal.lexicon import (
    DECADE_WORDS,
    HOLIDAY,
    HOLIDAY_RULES,
    HOLIDAY_STARTERS,
    MONTHS,
    PREPOSITIONS,
    SEASONS,
    SHY_MONTHS,
    SHY_SEASONS,
    SHY_WEEKDAYS,
    WEEKDAYS,
)
from lamina.language.temporal.nodes import Node, Partial, dated, fixed, longest
from lamina.language.temporal.numeric import existing, inside_number, numeric_date
from lamina.language.temporal.tokens import (
    TokenizedText,
    begun_by,
    day_number,
    ordinal,
    remembered,
    two_digit_year,
    year_number,
)

_TABLE = table(__name__)
_AFTER_THE_NTH = _TABLE.words("after_the_nth")
_BEFORE_COUNTS = _TABLE.words("before_counts")
_BEFORE_AMOUNTS = _TABLE.words("before_amounts")


def day_and_month(r: TokenizedText, i: int) -> Node | None:
    """``7 May 2023``, ``the 7th of May``, ``second of Aug``, ``29. Sept``."""
    start = r.skip(i, "the")
    if r.words[start].isdigit() and inside_number(r, start):
        return None
    day = day_number(r, start)
    if day is None:
        return None
    j = r.skip(day.stop, ".", "-", "/")
    j = r.skip(r.skip(r.skip(j, "day"), "of"), "the")
    month = MONTHS.get(r.words[j])
    if month is None or (r.words[j] == "second"):
        return None
    return with_year(r, j + 1, Partial(None, month, int(day.value)))


def with_year(r: TokenizedText, i: int, partial: Partial) -> Node | None:
    """The node for a month, or day and month, that ends before ``i``, with a year that may follow."""
    j = r.skip(i, ".") if r.words[i] == "." and year_number(r, i + 1) and not r.glued(i + 1) else i
    j = r.skip(j, ",", "/", "-")
    j = r.skip(j, "of", "in", "the")
    j = r.skip(j, "year")
    year = year_number(r, j)
    # 24 Aug 1915-2015
    hours = partial.day and year and r.words[year.stop] == "-" and len(r.words[year.stop + 1]) == 4
    if year is not None and not hours and not _clock_follows(r, year.stop):
        return dated(r, year.stop, replace(partial, year=int(year.value)))
    if r.words[j - 1] == "of" and len(r.words[j]) == 2 and r.words[j].isdigit():
        return dated(r, j + 1, replace(partial, year=two_digit_year(int(r.words[j]), r.now.year)))
    return dated(r, i, partial)


def _clock_follows(r: TokenizedText, i: int) -> bool:
    return r.words[i] in ("am", "pm", "hrs", "h") or (r.words[i] == ":" and r.glued(i))


@remembered
def month_date(r: TokenizedText, i: int) -> Node | None:
    """``May 7th, 2023``, ``Oct/2``, ``April the ninth``, ``Sep-23-2020``, ``May 2023``, ``May``."""
    month = MONTHS.get(r.words[i])
    if month is None or (i and r.glued(i) and r.words[i - 1] in ("$", "#", "@", "_")):
        return None
    bare = with_year(r, i + 1, Partial(None, month))
    if bare and bare.stop > i + 1 and not day_number(r, bare.stop):
        return bare
    j = r.skip(i + 1, ".", ",", "/", "-")
    if r.words[j] == "-" or (r.words[j - 1] in ("/", "-") and not r.glued(j - 1)):
        j = i + 1
    year = year_number(r, j)
    day = day_number(r, r.skip(j, "the"))
    if (
        day
        and (bare is None or bare.stop <= i + 1)
        and not _is_clock_number(r, day.stop)
        and not (year and year.stop > day.stop)
    ):
        if r.words[day.stop] in ("-", "/") and (y := year_number(r, day.stop + 1)):
            return dated(r, y.stop, Partial(int(y.value), month, int(day.value)))
        return with_year(r, day.stop, Partial(None, month, int(day.value)))
    return bare if r.words[i] not in SHY_MONTHS or (bare and bare.stop > i + 1) or in_context(r, i) else None


def _is_clock_number(r: TokenizedText, i: int) -> bool:
    """Whether the number before ``i`` is an hour: ``May 5pm``, ``May 5:30``."""
    return r.words[i] in ("am", "pm", "a", "p", "oclock") or (
        r.words[i] in (":", ".") and r.glued(i) and r.words[i + 1].isdigit() and r.glued(i + 1)
    )


def in_context(r: TokenizedText, i: int) -> bool:
    """Whether the word at ``i`` stands where a date would stand."""
    before = r.words[i - 1] if i else ""
    if before == "the":
        before = r.words[i - 2] if i > 1 else ""
    if before in ("-", "/"):
        return r.words[i - 2] in MONTHS or r.words[i - 2].isdigit() if i > 1 else False
    follows = r.words[i + 1] in ("to", "-", "through", "until", "till") and r.words[i + 2] in MONTHS
    if (
        r.text[r.starts[i]].islower()
        and r.words[i] in ("march", "may", "mar", "dec", "sep")
        and before in ("to", "this")
    ):
        return False
    return before in PREPOSITIONS or follows or (i == 0 and r.words[i + 1] == "")


@remembered
def weekday_date(r: TokenizedText, i: int) -> Node | None:
    """``Friday``, ``Friday the 26th``, ``Tuesday, 14 May 2023``, ``Friday (Jun-15)``."""
    weekday = WEEKDAYS.get(r.words[i])
    if weekday is None:
        return None
    stop = r.skip(i + 1, ".") if len(r.words[i]) <= 4 and r.words[i + 2] in MONTHS else i + 1
    j = r.skip(r.skip(stop, ",", "-"), "(")
    node = longest(numeric_date(r, j), day_and_month(r, j), month_date(r, j))
    day_told = node.partial if node and node.partial and node.partial.day is not None else None
    if node and day_told and not _hours_after_weekday(r, j, node, weekday):
        end = r.skip(node.stop, ")") if r.words[j - 1] == "(" else node.stop
        return _fitting(r, end, day_told, weekday)
    k = r.skip(stop, "the") if r.words[stop] == "the" else r.skip(r.skip(stop, ","), "the")
    day = day_number(r, k)
    if day and not _is_clock_number(r, day.stop) and _plain_day(r, k, day.stop):
        node = dated(r, day.stop, Partial(None, None, int(day.value), weekday))
        if node and node.spans:
            return node
    return dated(r, stop, Partial(weekday=weekday))


def _hours_after_weekday(r: TokenizedText, i: int, node: Node, weekday: int) -> bool:
    """Whether ``11-4`` after a weekday means hours: unless as a date, of the next weeks, it falls on that weekday."""
    if not (r.words[i].isdigit() and r.words[i + 1] == "-" and node.stop == i + 3 and node.partial):
        return False
    found = _fitting(r, node.stop, node.partial, weekday)
    near = [start for start, _ in found.spans if start and abs((start - r.now).days) < 45] if found else []
    return not any(start.weekday() == weekday for start in near)


def _plain_day(r: TokenizedText, i: int, stop: int) -> bool:
    """Whether the number after a weekday is its day: an ordinal, or digits that begin no hour or range of hours."""
    if ordinal(r, i):
        return r.words[stop] not in ("-",)
    return (
        r.words[i].isdigit()
        and r.words[stop] not in ("-", "to", ":", ".", "/", "oclock", "o", "a", "p", "h", "minutes")
    ) or (r.words[i].isdigit() and r.words[stop] == "." and not r.words[stop + 1].isdigit())


def _fitting(r: TokenizedText, stop: int, partial: Partial, weekday: int) -> Node | None:
    """A date beside a weekday: the order of day and month that makes them agree, if one does."""
    said = dated(r, stop, replace(partial, weekday=weekday))
    swapped = None
    if r.words[stop - 1].isdigit() and partial.day and partial.month:
        swapped = dated(r, stop, Partial(partial.year, partial.day, partial.month, weekday))
    for node in (said, swapped):
        if node and any(start and start.weekday() == weekday for start, _ in node.spans):
            return node
    return said


def day_of_month(r: TokenizedText, i: int) -> Node | None:
    """``the 3rd``, ``on the 17`` (a following noun makes it something else: "the 3rd time")."""
    if r.words[i] != "the":
        return None
    day = ordinal(r, i + 1)
    if day is None and r.words[i + 1].isdigit() and r.words[i - 1] == "on":
        day = day_number(r, i + 1)
    if day is None or not r.words[i + 1].isdigit() or day.value > 31:
        return None
    after = r.words[day.stop]
    if after.isalpha() and after not in _AFTER_THE_NTH:
        return None
    return existing(dated(r, day.stop, Partial(None, None, int(day.value))))


@remembered
def year_date(r: TokenizedText, i: int) -> Node | None:
    """``2023``, ``the year 2020``, ``nineteen ninety six``."""
    j = r.skip(r.skip(i, "the"), "calendar")
    named = r.words[j] in ("year", "cy")
    j = r.skip(j, "year", "cy")
    if j > i and not named:
        return None
    if named and r.words[j - 1] == "cy" and len(r.words[j]) == 2 and r.words[j].isdigit():
        return dated(r, j + 1, Partial(two_digit_year(int(r.words[j]), r.now.year)))
    year = year_number(r, j)
    if year is None:
        return None
    digits = r.words[j].isdigit()
    if digits and not named and (inside_number(r, j) or not _plausible_year(r, j, int(year.value))):
        return None
    if not digits and year.stop == j + 2 and not named and not in_context(r, j):
        return None  # "twenty thirty" and "two thousand" are more often plain numbers
    return dated(r, year.stop, Partial(int(year.value)))


def _plausible_year(r: TokenizedText, i: int, year: int) -> bool:
    after = r.words[i + 1]
    if after == "-" and r.words[i + 2].isdigit() and r.glued(i + 2):
        return bool(year_number(r, i + 2)) and r.words[i + 3] != "-"
    before = r.words[i - 1] if i else ""
    counts = after.isalpha() and after not in _AFTER_THE_NTH and after not in ("has", "had", "did", "text")
    if before in _BEFORE_COUNTS and (counts or r.words[i - 2] in _BEFORE_AMOUNTS):
        return False  # "about 2000 steps", "more than 2000"
    if before in PREPOSITIONS or before in ("and", "or", "year", "than", "="):
        return year >= 1000
    return 1900 <= year < 2200 and not counts


def decade_date(r: TokenizedText, i: int) -> Node | None:
    """``the 90s``, ``1990s``, ``the nineties``, ``the 1800s`` (a hundred years, when it ends in 00)."""
    j = r.skip(i, "the")
    word = r.words[j]
    k = r.skip(j, "'") if r.words[j] == "'" else j
    digits = r.words[k]
    if digits.isdigit() and digits.endswith("0") and len(digits) in (2, 4):
        stop = r.skip(k + 1, "'")
        if r.words[stop] != "s" or (not r.glued(stop) and len(digits) == 2) or (len(digits) == 2 and k == i):
            return None
        year = int(digits)
        if len(digits) == 2:
            year = two_digit_year(year, r.now.year)
        if not 1000 <= year < 2200:
            return None
        hundred = year % 100 == 0 and year < 2000
        return fixed(
            stop + 1, "century" if hundred else "decade", calendar.year_span(year, 100 if hundred else 10)
        )
    if word in DECADE_WORDS and j > i:
        return fixed(j + 1, "decade", calendar.year_span(two_digit_year(DECADE_WORDS[word], r.now.year), 10))
    return None


_QUARTER = _TABLE.pattern("quarter", 0)


def quarter_date(r: TokenizedText, i: int) -> Node | None:
    """``Q1``, ``2017 Q1``, ``Q3 of 2019``, ``H2 2020``, ``the first quarter of 2013``."""
    if found := r.match(_QUARTER, i):
        match, stop = found
        size, number = (3, int(match[3])) if match[2] == "q" else (6, int(match[3]))
        year = match[1] or match[4]
        if size == 6 and (number > 2 or not year):
            return None
        return _quarter(r, stop, number, size, int(year) if year else None)
    j = r.skip(i, "the")
    nth = ordinal(r, j)
    if nth is None or r.words[nth.stop] not in ("quarter", "half") or not 1 <= nth.value <= 4:
        return None
    k = r.skip(nth.stop + 1, "of", "in")
    if k == nth.stop + 1:
        return None
    size = 3 if r.words[nth.stop] == "quarter" else 6
    if r.words[k] == "the" and r.words[k + 1] == "year":
        return _quarter(r, k + 2, int(nth.value), size, None)
    said = year_number(r, k)
    return _quarter(r, said.stop, int(nth.value), size, int(said.value)) if said else None


def _quarter(r: TokenizedText, stop: int, number: int, size: int, year: int | None) -> Node:
    month = size * (number - 1) + 1
    grain = "quarter" if size == 3 else "half"
    if year is not None:
        return Node(stop, "daterange", grain, (calendar.month_span(year, month, size),))  # type: ignore[arg-type]  # both are grains
    spans = [calendar.month_span(y, month, size) for y in range(r.now.year - 1, r.now.year + 2)]
    past = [span for span in spans if span[0] and span[0] <= r.now]
    return Node(stop, "daterange", grain, (past[-1], spans[len(past)]))  # type: ignore[arg-type]


def season_date(r: TokenizedText, i: int) -> Node | None:
    """``the summer``, ``summer of 2022``; without a year the last one begun and the next."""
    j = r.skip(i, "the")
    season = r.words[j]
    if season not in SEASONS:
        return None
    k = r.skip(r.skip(j + 1, ","), "of", "in")
    year = year_number(r, k)
    if year:
        return fixed(year.stop, "season", calendar.season_span(int(year.value), season))
    if season in SHY_SEASONS and not (in_context(r, j) or r.words[i - 1] in ("in", "since", "last", "this")):
        return None
    if season == "spring" and r.words[j + 1] in ("to", "roll", "rolls", "break"):
        return None
    spans = [calendar.season_span(y, season) for y in range(r.now.year - 1, r.now.year + 2)]
    past = [span for span in spans if span[0] and span[0] <= r.now]
    return Node(j + 1, "daterange", "season", (past[-1], spans[len(past)]))


def holiday_date(r: TokenizedText, i: int) -> Node | None:
    """``Christmas``, ``Easter 2018``, ``Independence Day of this year``, ``the weekend of Halloween``."""
    j = r.skip(i, "the")
    if r.words[j] not in HOLIDAY_STARTERS:
        return None
    found = r.match(HOLIDAY, j)
    if found is None or found[0].lastindex is None:
        return None
    stop, rule = found[1], HOLIDAY_RULES[found[0].lastindex - 1]
    k = r.skip(r.skip(stop, ","), "of", "in", "the")
    if r.words[k] in ("this", "last", "next") and r.words[k + 1] == "year":
        year = r.now.year + {"this": 0, "last": -1, "next": 1}[r.words[k]]
        return fixed(k + 2, "day", calendar.day_span(rule(year)))
    said = year_number(r, k)
    if said:
        return fixed(said.stop, "day", calendar.day_span(rule(int(said.value))))
    days = [rule(y) for y in range(r.now.year - 1, r.now.year + 2)]
    past = [day for day in days if day <= r.now.date()]
    return Node(stop, "date", "day", tuple(calendar.day_span(day) for day in (past[-1], days[len(past)])))


@begun_by("CALENDAR_DATE")
def calendar_date(r: TokenizedText, i: int) -> Node | None:
    """The longest of all forms at ``i``."""
    word = r.words[i]
    bare_weekday = weekday_date(r, i)
    if bare_weekday and bare_weekday.stop == i + 1 and word in SHY_WEEKDAYS and not _weekday_in_context(r, i):
        bare_weekday = None
    return longest(
        _then_weekday(r, longest(numeric_date(r, i), day_and_month(r, i), month_date(r, i))),
        bare_weekday,
        day_of_month(r, i),
        decade_date(r, i),
        quarter_date(r, i),
        season_date(r, i),
        holiday_date(r, i),
        year_date(r, i),
    )


def _then_weekday(r: TokenizedText, node: Node | None) -> Node | None:
    """``9 June, Friday``: the weekday belongs to the date when they agree."""
    if node is None or node.partial is None or node.partial.day is None:
        return node
    j = r.skip(node.stop, ",")
    weekday = WEEKDAYS.get(r.words[j])
    if weekday is None:
        return node
    agreeing = tuple(span for span in node.spans if span[0] and span[0].weekday() == weekday)
    return replace(node, stop=j + 1, spans=agreeing) if agreeing else node


def _weekday_in_context(r: TokenizedText, i: int) -> bool:
    if r.text[r.starts[i]].isupper() and r.words[i] not in ("sun", "sat"):
        return True
    before = r.words[i - 1] if i else ""
    after = r.words[i + 1]
    return (
        before in PREPOSITIONS
        or i == 0
        or after in ("at", "morning", "afternoon", "evening", "night")
        or after.isdigit()
    )
