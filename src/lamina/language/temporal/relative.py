"""Dates told from the present or from another date: "last Friday", "two weeks ago", "the Sunday before 25 May".

``last``/``past`` before a weekday, month, season or holiday is the latest one that lies wholly before today, ``next``
before a weekday is that day of next week, before the others the first one ahead; ``this`` is the one of the current
week or year. "Last N days" ends now, "next N days" begins tomorrow, "last N quarters" are whole quarters.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from lamina.language.tables import table
from lamina.language.temporal import calendar
from lamina.language.temporal.calendar import DateRange, day_span, midnight, unit_span
from lamina.language.temporal.dates import calendar_date, day_of_month, holiday_date
from lamina.language.temporal.durations import Length, amount_at, first_part, length_at, unit_at
from lamina.language.temporal.lexicon import LAST, MONTHS, NEXT, SEASONS, THIS, UNITS, WEEKDAYS
from lamina.language.temporal.nodes import Node, Partial, complete, dated, fixed, longest
from lamina.language.temporal.tokens import TokenizedText, begun_by, ordinal
from lamina.language.temporal.values import Grain, Period

_TABLE = table(__name__)
_DAY_WORDS = {"today": 0, "yesterday": -1, "yday": -1, "tomorrow": 1, "tmrw": 1, "otd": 0}
_ANY_ONE = _TABLE.words("any_one")
_BEFORE_VERB = _TABLE.words("before_verb")
_OWNERS = _TABLE.words("owners")
_DURING = _TABLE.words("during")
WHOLE_UNITS = _TABLE.words("whole_units")


def days_away(r: TokenizedText, stop: int, days: int) -> Node:
    return fixed(stop, "day", day_span((r.now + timedelta(days=days)).date()))


def day_word(r: TokenizedText, i: int) -> Node | None:
    """``today``, ``yesterday``, ``the day before yesterday``, ``for the day``."""
    word = r.words[i]
    if word in _DAY_WORDS:
        return days_away(r, i + 1, _DAY_WORDS[word])
    j = r.skip(i, "the")
    if r.words[j] == "current" and r.words[j + 1] in ("date", "day"):
        return days_away(r, j + 2, 0)
    if r.words[j] == "day" and r.words[j + 1] == "before" and r.words[j + 2] == "yesterday":
        return days_away(r, j + 3, -2)
    if r.words[j] == "day" and r.words[j + 1] == "after" and r.words[j + 2] == "tomorrow":
        return days_away(r, j + 3, 2)
    if j > i and r.words[j] in ("next", "following") and r.words[j + 1] == "day":
        return days_away(r, j + 2, 1)
    if (
        j > i
        and r.words[j] == "day"
        and r.words[j + 1] in ("before", "after")
        and r.words[j + 2] in ("", ".", "?", "!", ",")
    ):
        return days_away(r, j + 2, -1 if r.words[j + 1] == "before" else 1)
    if j > i and r.words[j] == "day" and r.words[i - 1] == "for":
        return days_away(r, j + 1, 0)
    return None


def _direction(word: str) -> int | None:
    return -1 if word in LAST else 1 if word in NEXT else 0 if word in THIS else None


@begun_by("SHIFTED")
def shifted(r: TokenizedText, i: int) -> Node | None:
    """``last week``, ``the next three months``, ``2 upcoming months``, ``this summer``, ``next Friday``."""
    j = r.skip(i, "the", "these", "those")
    direction = _direction(r.words[j])
    if direction is None:
        return _counted_first(r, j)
    if r.words[j] == "last" and (r.words[j - 1] in _BEFORE_VERB or _is_final(r, i, j)):
        return None
    if r.words[j] in LAST | THIS and r.words[j + 1] in NEXT | LAST:  # "this upcoming", "this past"
        k, direction = j + 2, _direction(r.words[j + 1]) or 0
        upcoming = True
    else:
        k, upcoming = j + 1, r.words[j] in ("coming", "upcoming", "past", "previous", "last")
    if direction and (node := _counted(r, k, direction)):
        return node
    if r.words[k - 1] == "past" and r.words[k] in ("week", "month", "year"):
        # It ends now; "last week" ended on Sunday.
        return _stretch(r, Length(Period(((1, r.words[k]),)), k + 1, False), -1)
    return _shifted_name(r, k, direction, nearest=upcoming)


def _is_final(r: TokenizedText, i: int, last: int) -> bool:
    """ "My last day at work", "the last day of it": the one that nothing follows; "in the last day" tells when."""
    if r.words[last - 1] in _OWNERS:
        return True
    alone = i == 0 and not r.words[last + 2]  # a phrase of time and no sentence
    return r.words[last + 1] == "day" and not alone and r.words[i - 1] not in _DURING


def _counted_first(r: TokenizedText, i: int) -> Node | None:
    amount = amount_at(r, i)
    direction = _direction(r.words[amount.stop]) if amount else None
    if not amount or not direction or r.words[i] in ("a", "an"):
        return None
    unit = unit_at(r, amount.stop + 1)
    if unit is None or (amount.value > 1 and not r.words[unit.stop - 1].endswith("s")):
        return None
    return _stretch(r, Length(Period(((amount.value, unit.name),)), unit.stop, amount.approximate), direction)


def _counted(r: TokenizedText, i: int, direction: int) -> Node | None:
    length = length_at(r, r.skip(i, "of"))
    if length is not None and r.words[length.stop] in ("ago", "later", "earlier"):
        length = first_part(r, r.skip(i, "of"))  # "for the last three months, and two days ago ..."
    if length is None or r.words[i] in ("a", "an"):
        return None
    if length.unit in ("month", "week", "day", "year") and r.words[length.stop] == "of" and direction < 0:
        inside = _container(r, length.stop + 1)
        if inside:
            return _ends_of(inside, length, -1)
    return _stretch(r, length, direction)


def _stretch(r: TokenizedText, length: Length, direction: int) -> Node | None:
    now, unit, grain = r.now, length.unit, length.grain
    if unit == "quarter" or (unit in ("weekend", "decade") and direction):
        here, there = unit_span(now, unit)
        assert here is not None
        assert there is not None
        edge = there if direction > 0 else here
        if unit == "weekend" and direction < 0:
            edge = there if there <= now else here - timedelta(days=5)
        other = calendar.shift(edge, length.period, direction)
        return fixed(length.stop, "quarter", _in_order(edge, other), approximate=length.approximate)
    if grain == "day" and direction > 0:
        now = midnight(now.date()) + timedelta(days=1)
        if unit == "business day":
            first = calendar.add_business_days(now - timedelta(days=1), 1)
            last = calendar.add_business_days(first, int(length.period.parts[0][0]) - 1)
            return Node(
                length.stop, "daterange", "day", ((first, last + timedelta(days=1)),), None, length.period
            )
    other = calendar.shift(now, length.period, direction)
    kind = "daterange" if grain == "day" else "datetimerange"
    return Node(length.stop, kind, grain, (_in_order(now, other),), None, length.period, length.approximate)  # type: ignore[arg-type]  # a Kind


def _in_order(a: datetime, b: datetime) -> DateRange:
    return (a, b) if a <= b else (b, a)


def _shifted_name(r: TokenizedText, i: int, direction: int, *, nearest: bool) -> Node | None:
    word = r.words[i]
    if word in WEEKDAYS:
        return _shifted_weekday(r, i, direction, nearest=nearest)
    if word in ("working", "business", "work", "workweek"):
        stop = i + 1 if word == "workweek" else i + 2 if r.words[i + 1] == "week" else 0
        if not stop:
            return None
        monday = midnight(calendar.week_start(r.now.date())) + timedelta(days=7 * direction)
        return fixed(stop, "week", (monday, monday + timedelta(days=5)))
    if word in ("calendar", "fiscal", "financial", "school") and r.words[i + 1] == "year":
        return shifted_unit(r, i + 2, "year", direction)
    if word in UNITS and word not in ("second", "seconds", "days", "weeks", "months", "years"):
        return shifted_unit(r, i + 1, UNITS[word], direction)
    if word in MONTHS:
        if (
            direction == 0
            and word in ("may", "march")
            and r.text[r.starts[i]].islower()
            and r.words[i + 1].isalpha()
        ):
            return None  # "this may be"
        node = calendar_date(r, i) or dated(r, i + 1, partial_of_month(r, i))
        if node is None or node.partial is None or node.partial.year:
            return None
        return _pick(r, node, direction)
    node = calendar_date(r, i)
    if node is None or node.kind == "set" or len(node.spans) < 2:
        return None
    if node.partial and node.partial.day and node.partial.month is None:
        return None
    return _pick(r, node, direction) if word in SEASONS or node.grain == "day" else None


def partial_of_month(r: TokenizedText, i: int) -> Partial:
    return Partial(month=MONTHS[r.words[i]])


def _pick(r: TokenizedText, node: Node, direction: int) -> Node:
    """The past, the coming or this year's one of a name that returns every year."""
    past, coming = node.spans[0], node.spans[-1]
    if direction == 0:
        chosen = next((s for s in (coming, past) if s[0] and s[0].year == r.now.year), coming)
    elif direction > 0:
        chosen = coming
    else:
        chosen = past
        if (
            past[1] and past[1] > r.now and past[0]
        ):  # it is still running: "last summer" in July is a year ago
            chosen = calendar.add_months(past[0], -12), calendar.add_months(past[1], -12)
    return Node(node.stop, node.kind, node.grain, (chosen,), approximate=node.approximate)


def _shifted_weekday(r: TokenizedText, i: int, direction: int, *, nearest: bool) -> Node | None:
    node = calendar_date(r, i)
    if node is not None and node.partial is not None and node.partial.day is not None and node.stop > i + 1:
        return _pick(r, node, direction) if node.partial.month and not node.partial.year else node
    today = r.now.date()
    offset = WEEKDAYS[r.words[i]] - today.weekday()
    if direction < 0:
        offset = offset if offset < 0 else offset - 7
    elif direction > 0 and nearest:
        offset = offset if offset > 0 else offset + 7
    else:
        offset += 7 * direction
    return days_away(r, i + 1, offset)


def shifted_unit(r: TokenizedText, stop: int, unit: str, direction: int) -> Node | None:
    if unit in ("day", "hour", "minute"):
        if unit == "day":
            return days_away(r, stop, direction) if direction else None
        if direction == 0:
            return None
        return Node(stop, "datetimerange", unit, (_in_order(r.now, r.now + direction * _delta(unit)),))  # type: ignore[arg-type]
    if unit == "fortnight":
        return _stretch(r, Length(Period(((1, "fortnight"),)), stop, False), direction) if direction else None
    here, there = unit_span(r.now, unit)
    assert here is not None
    if unit == "weekend":
        if direction < 0 and there is not None and there <= r.now:
            direction = 0
        here += timedelta(days=7 * direction)
        spans = [(here, here + timedelta(days=2))]
        if direction == 0 and here > r.now:  # "I went there over the weekend", said before the next one
            spans.append((here - timedelta(days=7), here - timedelta(days=5)))
        return Node(stop, "daterange", "weekend", tuple(spans))
    moved = calendar.shift(here, Period(((1, unit),)), direction) if direction else here
    return fixed(stop, unit, unit_span(moved, unit))  # type: ignore[arg-type]  # the whole units are grains


def _delta(unit: str) -> timedelta:
    return timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)


def the_unit(r: TokenizedText, i: int) -> Node | None:
    """``the week after next``, ``the month``, ``weekend``, ``year to date``; ``the weekend of <date>``."""
    j = r.skip(i, "the")
    word = r.words[j]
    unit = UNITS.get(word)
    if unit not in WHOLE_UNITS or (word.endswith("s") and word != "s"):
        return None
    if r.words[j + 1] == "before" and r.words[j + 2] == "last":
        return shifted_unit(r, j + 3, unit, -2)
    if r.words[j + 1] == "after" and r.words[j + 2] == "next":
        return shifted_unit(r, j + 3, unit, 2)
    if word == "year" and r.words[j + 1] == "to" and r.words[j + 2] == "date":
        return Node(j + 3, "daterange", "day", ((unit_span(r.now, "year")[0], midnight(r.now.date())),))
    if word == "weekend" and (j > i or not ({r.words[i - 1], r.words[i - 2]} & _ANY_ONE)):
        return shifted_unit(r, j + 1, "weekend", 0)
    if r.words[j + 1] == "of" and r.words[j + 2] in MONTHS:
        return None  # "in the month of May"
    if word == "year" and r.words[i - 1] == "of" and r.words[i - 2] in ("time", "times", "part", "parts"):
        return None  # "a time of the year" is in each
    if j > i and r.words[i - 1] in ("for", "in", "of", "during", "throughout") and word != "quarter":
        return shifted_unit(r, j + 1, unit, 0)
    return None


def week_of(r: TokenizedText, i: int) -> Node | None:
    """``the week of April 10th``, ``w/c Feb 4``, ``week 36``, ``the weekend of Halloween``, ``Labor Day weekend``."""
    j = r.skip(i, "the")
    if r.words[j] == "w" and r.words[j + 1] == "/" and r.words[j + 2] == "c":
        return _around(r, j + 3, "week")
    if r.words[j] not in ("week", "weekend", "wk"):
        holiday = holiday_date(r, i)
        if holiday and r.words[holiday.stop] == "weekend":
            return _weekends(holiday, holiday.stop + 1)
        return None
    k = j + 1
    if r.words[k].isdigit() and r.words[j] != "weekend" and 1 <= int(r.words[k][:4]) <= 53:
        within = (
            _container(r, r.skip(r.skip(k + 1, "of", ","), "in"))
            if r.words[k + 1] in ("of", ",", "in")
            else None
        )
        year = within.span[0].year if within and within.grain == "year" and within.span[0] else r.now.year
        stop = within.stop if within and within.grain == "year" else k + 1
        return fixed(stop, "week", calendar.iso_week(year, int(r.words[k])))
    if r.words[k] in ("of", "starting", "commencing", "beginning"):
        return _around(r, r.skip(r.skip(k + 1, "on"), "from"), UNITS[r.words[j]])
    return None


def _around(r: TokenizedText, i: int, unit: str) -> Node | None:
    node = calendar_date(r, i) or day_word(r, i)
    if node is None or node.grain != "day" or not node.spans:
        return None
    if unit == "weekend":
        return _weekends(node, node.stop)
    spans = tuple(unit_span(start, unit) for start, _ in node.spans if start)
    return Node(node.stop, "daterange", "week", spans)


def _weekends(node: Node, stop: int) -> Node:
    """The weekend nearest to a day: of its week, or the one before for a Monday or Tuesday; a bridge day joins it."""
    spans = []
    for start, _ in node.spans:
        assert start is not None
        saturday = start + timedelta(
            days=(5 - start.weekday() if start.weekday() > 1 else -2 - start.weekday())
        )
        first = start if start.weekday() in (3, 4) else saturday
        last = start + timedelta(days=1) if start.weekday() == 0 else saturday + timedelta(days=2)
        spans.append((first, last))
    return Node(stop, "daterange", "weekend", tuple(spans))


@begun_by("NTH_OF")
def nth_of(r: TokenizedText, i: int) -> Node | None:
    """``the first week of 2015``, ``the last Friday of May``, ``first ten days of last year``, ``15th day of June``."""
    j = r.skip(i, "the")
    last = r.words[j] == "last"
    nth = None if last else ordinal(r, j)
    if not last and nth is None:
        return None
    k = j + 1 if last else nth.stop  # type: ignore[union-attr]  # one of the two is set
    position = -1 if last else int(nth.value)  # type: ignore[union-attr]
    length = length_at(r, k) if position == 1 else None
    if length and r.words[length.stop] in ("of", "in"):
        inside = _container(r, length.stop + 1)
        return _ends_of(inside, length, 1) if inside else None
    word = r.words[k]
    if word not in WEEKDAYS and word not in ("day", "week", "month", "weekend", "year", "decade"):
        return None
    if r.words[k + 1] != "of" and (r.words[k + 1] != "in" or word in ("year", "month", "decade")):
        return None
    inside = _container(r, k + 2)
    if inside is None:
        return None
    if word == "week":
        j = r.skip(r.skip(r.skip(inside.stop, "."), "on"), ",")
        if r.words[j] in WEEKDAYS and j > inside.stop:
            return _nth(inside, j + 1, position, r.words[j])
    return _nth(inside, inside.stop, position, word)


def _container(r: TokenizedText, i: int) -> Node | None:
    """A month, season or year that something is counted in."""
    i = r.skip(i, "the") if r.words[i + 1] in ("month", "year") else i
    if r.words[i] in ("month", "year") and r.words[i - 1] == "the":
        return shifted_unit(r, i + 1, r.words[i], 0)
    node = longest(shifted(r, i), calendar_date(r, i))
    if node is None and r.words[i] in MONTHS:
        node = dated(r, i + 1, partial_of_month(r, i))
    if (
        node is None
        or node.kind != "daterange"
        or node.grain not in ("month", "year", "decade", "season", "quarter")
    ):
        return None
    return node


def _ends_of(inside: Node, length: Length, position: int) -> Node:
    spans = []
    for start, end in inside.spans:
        assert start is not None
        assert end is not None
        edge = start if position > 0 else end
        spans.append(_in_order(edge, calendar.shift(edge, length.period, position)))
    return Node(inside.stop, "daterange", "day", tuple(spans))


def _nth(inside: Node, stop: int, position: int, word: str) -> Node | None:
    spans = [
        span
        for start, end in inside.spans
        if start and end and (span := _nth_span(start, end, position, word))
    ]
    if not spans:
        return None
    grain: Grain = "day" if word == "day" or word in WEEKDAYS else word  # type: ignore[assignment]  # words are units
    return Node(stop, "date" if grain == "day" else "daterange", grain, tuple(spans))


def _nth_span(start: datetime, end: datetime, position: int, word: str) -> DateRange | None:
    if word in WEEKDAYS:
        first = start + timedelta(days=(WEEKDAYS[word] - start.weekday()) % 7)
        back = (end.weekday() - WEEKDAYS[word] - 1) % 7 + 1
        day = first + timedelta(days=7 * (position - 1)) if position > 0 else end - timedelta(days=back)
        return day_span(day.date()) if start <= day < end else None
    if word == "week":  # ISO: the week that holds the first Thursday, the last one that begins inside
        first = start + timedelta(days=3)
        first = midnight(calendar.week_start(first.date()))
        if position < 0:
            first = midnight(calendar.week_start((end - timedelta(days=1)).date()))
        else:
            first += timedelta(days=7 * (position - 1))
        return first, first + timedelta(days=7)
    step = Period(((1, word),))
    if position < 0:
        return calendar.shift(end, step, -1), end
    edge = start
    for _ in range(min(position, 400) - 1):
        edge = calendar.shift(edge, step, 1)
    if word == "weekend":
        edge = start + timedelta(days=(5 - start.weekday()) % 7 + 7 * (position - 1))
    return (edge, calendar.shift(edge, step, 1)) if start <= edge < end else None


def day_of_container(r: TokenizedText, i: int) -> Node | None:
    """``Tuesday of next week``, ``next week on Monday``, ``the 21st this month``, ``July last year``."""
    if node := _in_told_year(r, i):
        return node
    if r.words[i] in WEEKDAYS:
        j = r.skip(r.skip(i + 1, "of", ","), "the")
        if r.words[j - 1] == "the" and r.words[j] in THIS:
            return None
        node = shifted(r, j)
        if node is None and r.words[i + 1] in ("before", "after") and r.words[i + 2] in ("last", "next"):
            return days_away(r, i + 3, _offset(r, WEEKDAYS[r.words[i]], r.words[i + 2]))
        return _weekday_in(node, node.stop, WEEKDAYS[r.words[i]]) if node and node.grain == "week" else None
    if node := shifted(r, i):
        if node.grain == "week":
            j = r.skip(r.skip(r.skip(node.stop, "'"), "-", ","), "on")
            return _weekday_in(node, j + 1, WEEKDAYS[r.words[j]]) if r.words[j] in WEEKDAYS else None
        return None
    if node := day_of_month(r, i):
        month = _container(r, r.skip(node.stop, "of"))
        if month and month.partial and month.partial.year is None:
            return None  # "the 5th of May" is a date that names itself, past or coming
        if month and month.grain == "month" and node.partial and node.partial.day and month.span[0]:
            return fixed(month.stop, "day", day_span(month.span[0].replace(day=node.partial.day).date()))
    return None


def _in_told_year(r: TokenizedText, i: int) -> Node | None:
    """A month or day with ``last year``, ``this year`` or ``next year`` after it, or before it with ``in``."""
    if r.words[i + 1] == "year" and r.words[i + 2] in ("in", "on"):
        year, named = shifted(r, i), calendar_date(r, i + 3)
        stop = named.stop if named else 0
    else:
        named = calendar_date(r, i)
        if named is None or named.partial is None or named.partial.month is None:
            return None
        year = shifted(r, r.skip(r.skip(named.stop, ","), "of"))
        stop = year.stop if year else 0
    if not year or year.grain != "year" or not year.span[0]:
        return None
    if not named or not named.partial or named.partial.year or not named.partial.month:
        return None
    return replace(complete(r, named, year.span[0].year), stop=stop)


def _offset(r: TokenizedText, weekday: int, word: str) -> int:
    offset = weekday - r.now.weekday()
    if word == "last":
        return (offset if offset < 0 else offset - 7) - 7
    return offset + 14


def _weekday_in(node: Node, stop: int, weekday: int) -> Node | None:
    start = node.span[0]
    return fixed(stop, "day", day_span((start + timedelta(days=weekday)).date())) if start else None


@begun_by("PLAIN_DATE")
def plain_date(r: TokenizedText, i: int) -> Node | None:
    """Every date that is not told from another date that follows it."""
    rules = (day_word, day_of_container, nth_of, shifted, week_of, the_unit, calendar_date)
    return longest(*(rule(r, i) for rule in rules))
