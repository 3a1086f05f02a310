"""Dates told from the present or from another date: "last Friday", "two weeks ago", "the Sunday before 25 May".

``last``/``past`` before a weekday, month, season or holiday is the latest one that lies wholly before today, ``next``
before a weekday is that day of next week, before the others the first one ahead; ``this`` is the one of the current
week or year. "Last N days" ends now, "next N days" begins tomorrow, "last N quarters" are whole quarters.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from lamina.language.temporal import calendar
from lamina.language.temporal.calendar import Span, day_span, midnight, unit_span
from lamina.language.temporal.dates import calendar_date, day_of_month, holiday_date
from lamina.language.temporal.durations import Length, amount_at, first_part, length_at, unit_at
from lamina.language.temporal.lexicon import LAST, MONTHS, NEXT, SEASONS, THIS, UNITS, WEEKDAYS
from lamina.language.temporal.nodes import Node, Partial, dated, fixed, longest
from lamina.language.temporal.tokens import Reading, ordinal, remembered
from lamina.language.temporal.values import Grain, Period

_DAY_WORDS = {"today": 0, "yesterday": -1, "yday": -1, "tomorrow": 1, "tmrw": 1, "otd": 0}
_BEFORE_VERB = frozenset("will to would can could should might may must t not did does".split())
_WHOLE_UNITS = frozenset("week month quarter year decade century weekend".split())


def _days(r: Reading, stop: int, days: int) -> Node:
    return fixed(stop, "day", day_span((r.now + timedelta(days=days)).date()))


def day_word(r: Reading, i: int) -> Node | None:
    """``today``, ``yesterday``, ``the day before yesterday``, ``for the day``."""
    word = r.words[i]
    if word in _DAY_WORDS:
        return _days(r, i + 1, _DAY_WORDS[word])
    j = r.skip(i, "the")
    if r.words[j] == "current" and r.words[j + 1] in ("date", "day"):
        return _days(r, j + 2, 0)
    if r.words[j] == "day" and r.words[j + 1] == "before" and r.words[j + 2] == "yesterday":
        return _days(r, j + 3, -2)
    if r.words[j] == "day" and r.words[j + 1] == "after" and r.words[j + 2] == "tomorrow":
        return _days(r, j + 3, 2)
    if j > i and r.words[j] == "day" and r.words[i - 1] == "for":
        return _days(r, j + 1, 0)
    if j > i and r.words[j] in ("next", "following") and r.words[j + 1] == "day":
        return _days(r, j + 2, 1)
    if j > i and r.words[j] == "day" and r.words[j + 1] in ("before", "after") and r.words[j + 2] in ("", ".", "?", "!", ","):
        return _days(r, j + 2, -1 if r.words[j + 1] == "before" else 1)
    return None


def _direction(word: str) -> int | None:
    return -1 if word in LAST else 1 if word in NEXT else 0 if word in THIS else None


@remembered
def shifted(r: Reading, i: int) -> Node | None:
    """``last week``, ``the next three months``, ``2 upcoming months``, ``this summer``, ``next Friday``."""
    j = r.skip(i, "the", "these", "those")
    direction = _direction(r.words[j])
    if direction is None:
        return _counted_first(r, j)
    if r.words[j] == "last" and r.words[j - 1] in _BEFORE_VERB:
        return None
    if r.words[j] in LAST | THIS and r.words[j + 1] in NEXT | LAST:  # "this upcoming", "this past"
        k, direction = j + 2, _direction(r.words[j + 1]) or 0
        upcoming = True
    else:
        k, upcoming = j + 1, r.words[j] in ("coming", "upcoming", "past", "previous", "last")
    if direction and (node := _counted(r, k, direction)):
        return node
    return _shifted_name(r, k, direction, nearest=upcoming)


def _counted_first(r: Reading, i: int) -> Node | None:
    amount = amount_at(r, i)
    direction = _direction(r.words[amount.stop]) if amount else None
    if not amount or not direction or r.words[i] in ("a", "an"):
        return None
    unit = unit_at(r, amount.stop + 1)
    if unit is None or (amount.value > 1 and not r.words[unit.stop - 1].endswith("s")):
        return None
    return _stretch(r, Length(Period(((amount.value, unit.name),)), unit.stop, amount.approximate), direction)


def _counted(r: Reading, i: int, direction: int) -> Node | None:
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


def _stretch(r: Reading, length: Length, direction: int) -> Node | None:
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
            return Node(length.stop, "daterange", "day", ((first, last + timedelta(days=1)),), None, length.period)
    other = calendar.shift(now, length.period, direction)
    kind = "daterange" if grain == "day" else "datetimerange"
    return Node(length.stop, kind, grain, (_in_order(now, other),), None, length.period, length.approximate)  # type: ignore[arg-type]  # a Kind


def _in_order(a: datetime, b: datetime) -> Span:
    return (a, b) if a <= b else (b, a)


def _shifted_name(r: Reading, i: int, direction: int, *, nearest: bool) -> Node | None:
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
        return _shifted_unit(r, i + 2, "year", direction)
    if word in UNITS and word not in ("second", "seconds", "days", "weeks", "months", "years"):
        return _shifted_unit(r, i + 1, UNITS[word], direction)
    if word in MONTHS:
        if direction == 0 and word in ("may", "march") and r.text[r.starts[i]].islower() and r.words[i + 1].isalpha():
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


def partial_of_month(r: Reading, i: int) -> Partial:
    return Partial(month=MONTHS[r.words[i]])


def _pick(r: Reading, node: Node, direction: int) -> Node:
    """The past, the coming or this year's one of a name that returns every year."""
    past, coming = node.spans[0], node.spans[-1]
    if direction == 0:
        chosen = next((s for s in (coming, past) if s[0] and s[0].year == r.now.year), coming)
    elif direction > 0:
        chosen = coming
    else:
        chosen = past
        if past[1] and past[1] > r.now and past[0]:  # it is still running: "last summer" in July is a year ago
            chosen = calendar.add_months(past[0], -12), calendar.add_months(past[1], -12)
    return Node(node.stop, node.kind, node.grain, (chosen,), approximate=node.approximate)


def _shifted_weekday(r: Reading, i: int, direction: int, *, nearest: bool) -> Node | None:
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
    return _days(r, i + 1, offset)


def _shifted_unit(r: Reading, stop: int, unit: str, direction: int) -> Node | None:
    if unit in ("day", "hour", "minute"):
        if unit == "day":
            return _days(r, stop, direction) if direction else None
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
        return fixed(stop, "weekend", (here, here + timedelta(days=2)))
    moved = calendar.shift(here, Period(((1, unit),)), direction) if direction else here
    return fixed(stop, unit, unit_span(moved, unit))  # type: ignore[arg-type]  # the whole units are grains


def _delta(unit: str) -> timedelta:
    return timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)


def the_unit(r: Reading, i: int) -> Node | None:
    """``the week after next``, ``the month``, ``weekend``, ``year to date``; ``the weekend of <date>``."""
    j = r.skip(i, "the")
    word = r.words[j]
    unit = UNITS.get(word)
    if unit not in _WHOLE_UNITS or word.endswith("s") and word != "s":
        return None
    if r.words[j + 1] == "before" and r.words[j + 2] == "last":
        return _shifted_unit(r, j + 3, unit, -2)
    if r.words[j + 1] == "after" and r.words[j + 2] == "next":
        return _shifted_unit(r, j + 3, unit, 2)
    if word == "year" and r.words[j + 1] == "to" and r.words[j + 2] == "date":
        return Node(j + 3, "daterange", "day", ((unit_span(r.now, "year")[0], midnight(r.now.date())),))
    if word == "weekend" and (j > i or r.words[i - 1] not in ("a", "every", "each", "long", "per", "that", "one")):
        return _shifted_unit(r, j + 1, "weekend", 0)
    if j > i and r.words[i - 1] in ("for", "in", "of", "during", "throughout") and word != "quarter":
        return _shifted_unit(r, j + 1, unit, 0)
    return None


def week_of(r: Reading, i: int) -> Node | None:
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
        within = _container(r, r.skip(r.skip(k + 1, "of", ","), "in")) if r.words[k + 1] in ("of", ",", "in") else None
        year = within.span[0].year if within and within.grain == "year" and within.span[0] else r.now.year
        stop = within.stop if within and within.grain == "year" else k + 1
        return fixed(stop, "week", calendar.iso_week(year, int(r.words[k])))
    if r.words[k] in ("of", "starting", "commencing", "beginning"):
        return _around(r, r.skip(r.skip(k + 1, "on"), "from"), UNITS[r.words[j]])
    return None


def _around(r: Reading, i: int, unit: str) -> Node | None:
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
        saturday = start + timedelta(days=(5 - start.weekday() if start.weekday() > 1 else -2 - start.weekday()))
        first = start if start.weekday() in (3, 4) else saturday
        last = start + timedelta(days=1) if start.weekday() == 0 else saturday + timedelta(days=2)
        spans.append((first, last))
    return Node(stop, "daterange", "weekend", tuple(spans))


@remembered
def nth_of(r: Reading, i: int) -> Node | None:
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
    if r.words[k + 1] not in ("of", "in"):
        return None
    inside = _container(r, k + 2)
    if inside is None:
        return None
    if word == "week":
        j = r.skip(r.skip(r.skip(inside.stop, "."), "on"), ",")
        if r.words[j] in WEEKDAYS and j > inside.stop:
            return _nth(inside, j + 1, position, r.words[j])
    return _nth(inside, inside.stop, position, word)


def _container(r: Reading, i: int) -> Node | None:
    """A month, season or year that something is counted in."""
    i = r.skip(i, "the") if r.words[i + 1] in ("month", "year") else i
    if r.words[i] in ("month", "year") and r.words[i - 1] == "the":
        return _shifted_unit(r, i + 1, r.words[i], 0)
    node = longest(shifted(r, i), calendar_date(r, i))
    if node is None and r.words[i] in MONTHS:
        node = dated(r, i + 1, partial_of_month(r, i))
    if node is None or node.kind != "daterange" or node.grain not in ("month", "year", "decade", "season", "quarter"):
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
    spans = [span for start, end in inside.spans if start and end and (span := _nth_span(start, end, position, word))]
    if not spans:
        return None
    grain: Grain = "day" if word == "day" or word in WEEKDAYS else word  # type: ignore[assignment]  # words are units
    return Node(stop, "date" if grain == "day" else "daterange", grain, tuple(spans))


def _nth_span(start: datetime, end: datetime, position: int, word: str) -> Span | None:
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


def day_of_container(r: Reading, i: int) -> Node | None:
    """``Tuesday of next week``, ``next week on Monday``, ``Monday next week``, ``the 21st this month``."""
    if r.words[i] in WEEKDAYS:
        j = r.skip(r.skip(i + 1, "of", ","), "the")
        if r.words[j - 1] == "the" and r.words[j] in THIS:
            return None
        node = shifted(r, j)
        if node is None and r.words[i + 1] in ("before", "after") and r.words[i + 2] in ("last", "next"):
            return _days(r, i + 3, _offset(r, WEEKDAYS[r.words[i]], r.words[i + 2]))
        return _weekday_in(node, node.stop, WEEKDAYS[r.words[i]]) if node and node.grain == "week" else None
    if node := shifted(r, i):
        if node.grain == "week":
            j = r.skip(r.skip(r.skip(node.stop, "'"), "-", ","), "on")
            return _weekday_in(node, j + 1, WEEKDAYS[r.words[j]]) if r.words[j] in WEEKDAYS else None
        return None
    if node := day_of_month(r, i):
        month = shifted(r, r.skip(node.stop, "of"))
        if month and month.grain == "month" and node.partial and node.partial.day and month.span[0]:
            return fixed(month.stop, "day", day_span(month.span[0].replace(day=node.partial.day).date()))
    return None


def _offset(r: Reading, weekday: int, word: str) -> int:
    offset = weekday - r.now.weekday()
    if word == "last":
        return (offset if offset < 0 else offset - 7) - 7
    return offset + 14


def _weekday_in(node: Node, stop: int, weekday: int) -> Node | None:
    start = node.span[0]
    return fixed(stop, "day", day_span((start + timedelta(days=weekday)).date())) if start else None


@remembered
def plain_date(r: Reading, i: int) -> Node | None:
    """Every date that is not told from another date that follows it."""
    return longest(
        day_word(r, i), day_of_container(r, i), nth_of(r, i), shifted(r, i), week_of(r, i), the_unit(r, i), calendar_date(r, i)
    )


def anchored(r: Reading, i: int) -> Node | None:
    """``two weeks ago``, ``in 3 days``, ``3 days after Easter``, ``the Sunday before 25 May 2023``."""
    return longest(_from_now(r, i), _from_date(r, i), _weekday_by_date(r, i), _weekday_then_length(r, i))


_AGO = frozenset(("ago", "back", "earlier", "previously"))


def _from_now(r: Reading, i: int) -> Node | None:
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
            return _weekday_of(r, k + 2, calendar.shift(r.now, length.period, 1), WEEKDAYS[r.words[k + 1]])
        if leading == "within":
            kind = "daterange" if grain == "day" else "datetimerange"
            end = calendar.shift(r.now, length.period, 1)
            return Node(stop, kind, grain, ((r.now, end),), None, length.period, rough)  # type: ignore[arg-type]
        return _moment(r, stop, r.now, length, 1, rough)
    if leading and leading != "about":
        return None
    if r.words[k] in _AGO and not (r.words[k] == "earlier" and r.words[k + 1] in ("this", "in")):
        return _moment(r, k + 1, r.now, length, -1, rough)
    if r.words[k] in ("later", "earlier") and r.words[k + 1] in ("this", "in", "today", "next", "on"):
        return None
    if r.words[k] in ("later", "hence") or (r.words[k] == "from" and r.words[k + 1] == "now"):
        return _moment(r, k + (2 if r.words[k] == "from" else 1), r.now, length, 1, rough)
    return None


def _moment(r: Reading, stop: int, anchor: datetime, length: Length, sign: int, rough: bool) -> Node:
    """The day or minute ``length`` away; a rough length allows half of its last unit to either side."""
    moved = calendar.shift(anchor, length.period, sign)
    if length.grain != "day":
        return Node(stop, "datetime", "minute", ((moved, moved + timedelta(minutes=1)),), None, None, rough)
    return Node(stop, "date", "day", (day_span(moved.date()),), None, None, rough)


def _from_date(r: Reading, i: int) -> Node | None:
    j = r.skip(i, "the")
    length = length_at(r, j)
    if length is None and r.words[j] in UNITS and r.words[j + 1] in ("before", "after", "following"):
        unit = UNITS[r.words[j]]
        length = Length(Period(((1, unit),)), j + 1, False)
        return _unit_by_date(r, length, unit)
    if length is None or length.grain != "day" or r.words[length.stop] not in ("before", "after", "from", "following", "prior"):
        return None
    sign = -1 if r.words[length.stop] in ("before", "prior") else 1
    anchor = _anchor(r, r.skip(length.stop + 1, "to"))
    if anchor is None or anchor.grain != "day":
        return None
    if r.words[length.stop] == "from" and r.words[i - 1] == "for":
        return None
    start = _anchor_start(r, anchor, sign)
    if start is None:
        return None
    if r.words[anchor.stop] == "on" and r.words[anchor.stop + 1] in WEEKDAYS:
        moved = calendar.shift(start, length.period, sign)
        return _weekday_of(r, anchor.stop + 2, moved, WEEKDAYS[r.words[anchor.stop + 1]])
    return _moment(r, anchor.stop, start, length, sign, length.approximate)


def _anchor(r: Reading, i: int) -> Node | None:
    node = plain_date(r, i)
    if node is None and r.words[i] == "now":
        node = _days(r, i + 1, 0)
    return node if node and node.spans else None


def _anchor_start(r: Reading, anchor: Node, sign: int) -> datetime | None:
    """Counting forward from an ambiguous day starts at the coming one, back from it too: both speak of a plan."""
    return anchor.spans[-1][0]


def _unit_by_date(r: Reading, length: Length, unit: str) -> Node | None:
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
            moved = here if sign > 0 and here > start else here - timedelta(days=7) if sign < 0 else here + timedelta(days=7)
        else:
            moved = calendar.shift(here, length.period, sign)
        spans.append(unit_span(moved, unit))
    grain: Grain = unit if unit in _WHOLE_UNITS else "day"  # type: ignore[assignment]  # whole units are grains
    return Node(anchor.stop, "date" if grain == "day" else "daterange", grain, tuple(spans))


def _weekday_by_date(r: Reading, i: int) -> Node | None:
    j = r.skip(i, "the")
    weekday = WEEKDAYS.get(r.words[j])
    if weekday is None or r.words[j + 1] not in ("before", "after", "following", "prior", "preceding"):
        return None
    sign = 1 if r.words[j + 1] in ("after", "following") else -1
    anchor = _anchor(r, r.skip(j + 2, "to"))
    if anchor is None or (j == i and anchor.partial and anchor.partial.day is None and anchor.partial.month is None):
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


def _weekday_then_length(r: Reading, i: int) -> Node | None:
    """``Monday two weeks from now``: that weekday of the week it leads to."""
    weekday = WEEKDAYS.get(r.words[i])
    if weekday is None:
        return None
    node = _from_now(r, i + 1)
    if node is None or node.grain != "day" or r.words[i + 1] in ("in", "within"):
        return None
    start = node.span[0]
    return _days(r, node.stop, (start.date() - r.now.date()).days + weekday - start.weekday()) if start else None


def _weekday_of(r: Reading, stop: int, moment: datetime, weekday: int) -> Node:
    day = moment + timedelta(days=(weekday - moment.weekday()) % 7)
    return fixed(stop, "day", day_span(day.date()))


_NEEDS_OF = frozenset("beginning start end middle".split())
_EARLY = frozenset("early beginning start".split())
_LATE = frozenset("late end".split())


@remembered
def partial_period(r: Reading, i: int) -> Node | None:
    """``early 2022``, ``mid-July``, ``the end of the month``, ``earlier this week``, ``late last year``."""
    j = r.skip(i, "the")
    word = r.words[j]
    third = "early" if word in _EARLY else "late" if word in _LATE else "mid" if word in ("mid", "middle") else ""
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
    inside = longest(shifted(r, k), calendar_date(r, k), day_of_the(r, k))
    if inside is None and r.words[k] in MONTHS:
        inside = dated(r, k + 1, partial_of_month(r, k))
    if inside is None or inside.kind != "daterange" or not inside.spans:
        return None
    if word in ("earlier", "later") and (start := inside.span[0]) and (end := inside.span[1]) and start < r.now < end:
        around = (start, r.now) if word == "earlier" else (r.now, end)
        return Node(inside.stop, "daterange", "day", (around,), approximate=True)
    spans = tuple(_third(start, end, inside.grain, third) for start, end in inside.spans if start and end)
    return Node(inside.stop, "daterange", inside.grain, spans, approximate=True)


def _end_of_day(r: Reading, i: int) -> Node | None:
    """The last second of a day: ``end of the day``, ``end of Sunday``."""
    j = r.skip(i, "the")
    day = _days(r, j + 1, 0) if r.words[j] == "day" else plain_date(r, j)
    if day is None or day.kind != "date":
        return None
    spans = tuple((end - timedelta(seconds=1), end) for _, end in day.spans if end)
    return Node(day.stop, "datetime", "second", spans)


def day_of_the(r: Reading, i: int) -> Node | None:
    j = r.skip(i, "the")
    return _shifted_unit(r, j + 1, r.words[j], 0) if r.words[j] in ("week", "month", "year", "decade") else None


def _third(start: datetime, end: datetime, grain: str, third: str) -> Span:
    """Months are halved on the 16th (the middle is the 11th to 20th), years divided by four months, others evenly."""
    if grain == "month":
        first, half, last = (start + timedelta(days=days) for days in (10, 15, 20))
        return {"early": (start, half), "mid": (first, last), "late": (half, end)}[third]
    if grain == "year":
        first, last = calendar.add_months(start, 4), calendar.add_months(start, 8)
        return {"early": (start, first), "mid": (first, last), "late": (last, end)}[third]
    if grain == "week":
        half = start + timedelta(days=3)
        return {"early": (start, half), "mid": (half - timedelta(days=1), half + timedelta(days=1)), "late": (half, end)}[third]
    step = (end - start) / 3
    first, last = (midnight((start + step * n).date()) for n in (1, 2))
    return {"early": (start, first), "mid": (first, last), "late": (last, end)}[third]


@remembered
def any_date(r: Reading, i: int) -> Node | None:
    """The longest date expression at ``i``, without time of day and without range words."""
    return longest(anchored(r, i), partial_period(r, i), plain_date(r, i))
