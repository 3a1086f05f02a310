"""Finding every time expression in running text and choosing one reading for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from lamina.language.temporal.calendar import DateRange
from lamina.language.temporal.durations import length_of
from lamina.language.temporal.grammar import expression
from lamina.language.temporal.lexicon import (
    DETERMINERS,
    FUTURE_HINTS,
    GATE,
    NOUNS_TOO,
    OPEN_WORDS,
    PAST_HINTS,
    STARTERS,
)
from lamina.language.temporal.nodes import Node
from lamina.language.temporal.starts import STARTS
from lamina.language.temporal.tokens import DIGITS, TokenizedText
from lamina.language.temporal.values import TemporalMatch, Window

TEXT_CHARS_MAX = 20_000  # a turn is far shorter; more than this is a document, and is cut

_WORD = re.compile(r"[a-z]+|[0-9½]")
_LEADING = frozenset(["on", "in", "at", "the", "of", "and"])


def find_times(text: str, reference: datetime, *, day_first: bool = False) -> list[TemporalMatch]:
    """All time expressions of ``text`` in order, none overlapping, resolved against ``reference``.

    ``reference`` must be aware; results are in its zone. Only the first ``TEXT_CHARS_MAX`` characters are read. Numeric
    dates are month first unless ``day_first``. Of a past and a coming reading ("on Friday", "in May") the words around
    decide: a future marker (``will``, ``going to``, ``plan``) without a past one nearer takes the coming one, all else
    takes the most recent. An hour without am or pm is from 7 in the morning to 6 in the evening. Never raises on text.

    >>> from datetime import UTC
    >>> [m.earliest.date().isoformat() for m in find_times("I moved two weeks ago", datetime(2023, 5, 15, tzinfo=UTC))]
    ['2023-05-01']
    """
    return list(each_time(text, reference, day_first=day_first))


def each_time(text: str, reference: datetime, *, day_first: bool = False) -> Iterator[TemporalMatch]:
    """As ``find_times``, one by one: who needs but the first few does not wait for the rest."""
    if reference.tzinfo is None:
        raise ValueError("the reference time needs a zone")
    text = text[:TEXT_CHARS_MAX]
    if not may_hold_time(text):
        return
    reading = TokenizedText(text, reference, day_first)
    i = 0
    for place in _places(reading):
        if place < i:
            continue  # within what was read
        node = read_at(reading, place)
        if node is None or node.stop <= place:
            continue
        first = place
        while (
            first < node.stop - 1
            and node.kind != "set"
            and reading.words[first] in _LEADING
            and _same(reading, first + 1, node)
        ):
            first += 1
        yield to_match(reading, first, node, reference)
        i = node.stop


def may_hold_time(text: str) -> bool:
    """The gate: false for a text that cannot hold a time expression, at the cost of one pass of a small regex."""
    words = _WORD.findall(text.lower())
    return not GATE.isdisjoint(words) or any(word[0] < "a" or word[0] == "½" for word in words)


_TIME_WORDS = GATE | {DIGITS, "½"}
_NOTHING: frozenset[str] = frozenset()
_AHEAD = 8  # "from the very beginning of the last month": no expression has more words before a time word
_EXPRESSION = STARTS["EXPRESSION"]


def _places(reading: TokenizedText) -> Iterator[int]:
    """The tokens at which an expression can begin: a word of time or a digit stands among the next few."""
    keys = reading.keys
    near = -1
    for i in range(reading.size):
        behind = _EXPRESSION.get(keys[i], _NOTHING)
        if behind is not None and keys[i + 1] not in behind:
            continue
        while near < i or keys[near] not in _TIME_WORDS:
            near += 1
            if near >= reading.size:
                return
        if near - i <= _AHEAD:
            yield i


def read_at(reading: TokenizedText, i: int) -> Node | None:
    word = reading.words[i]
    if word not in STARTERS and not word.isdigit():
        return None
    try:
        return expression(reading, i)
    except (ValueError, OverflowError):  # a date beyond the calendar, such as "5000 years ago", is no date
        return None


def _same(reading: TokenizedText, i: int, node: Node) -> bool:
    shorter = read_at(reading, i)
    return (
        shorter is not None
        and shorter.stop == node.stop
        and shorter.kind == node.kind
        and shorter.spans == node.spans
    )


def to_match(reading: TokenizedText, first: int, node: Node, reference: datetime) -> TemporalMatch:
    start, end = reading.starts[first], reading.ends[node.stop - 1]
    if node.took is not None and _tense(reading, first, node.stop, but=OPEN_WORDS) == "past":
        node = length_of(node.took, node.stop, approximate=node.approximate)
    spans = node.spans
    if len(spans) > 1 and all(
        low is None or low.date() == reading.now.date() or node.kind in ("time", "timerange")
        for low, _ in spans
    ):
        chosen: DateRange | None = _by_hour(spans)
    elif len(spans) > 1:
        chosen = _by_tense(reading, first, node)
    else:
        chosen = spans[0] if spans else None
    zone = reference.tzinfo
    windows = tuple(Window(_zoned(low, zone), _zoned(high, zone)) for low, high in spans)
    low, high = chosen or (None, None)
    return TemporalMatch(
        start,
        end,
        reading.text[start:end],
        node.kind,
        _zoned(low, zone),
        _zoned(high, zone),
        node.grain,
        node.period,
        node.approximate,
        node.timex or timex_of(node, chosen),
        windows,
    )


def _zoned(moment: datetime | None, zone: object) -> datetime | None:
    return moment.replace(tzinfo=zone) if moment is not None else None  # type: ignore[arg-type]  # the reference's tzinfo


def _by_hour(spans: tuple[DateRange, ...]) -> DateRange:
    waking = [span for span in spans if (edge := span[0] or span[1]) and 7 <= edge.hour < 19]
    return (waking or list(spans))[0]


def _by_tense(reading: TokenizedText, first: int, node: Node) -> DateRange:
    """The past or the coming reading, by tense; among those of one day, the likelier hour."""
    edges = [low or high for low, high in node.spans]
    tense = _tense(reading, first, node.stop)
    future = tense == "future" or (tense is None and (node.counted or node.grain == "weekend"))
    if future and node.counted:
        return node.spans[-1]  # the first that is to come may be counted from a day that is over
    coming = [(low, high) for low, high in node.spans if (end := high or low) and end > reading.now]  # or on
    past = [s for s, edge in zip(node.spans, edges, strict=True) if edge and edge < reading.now]
    pool = (coming or past) if future else (past or coming)
    edge_of = [(low or high) for low, high in pool]
    day = (min if pool is coming else max)(edge.date() for edge in edge_of if edge)  # the nearest
    same_day = tuple(s for s, edge in zip(pool, edge_of, strict=True) if edge and edge.date() == day)
    return _by_hour(same_day) if len(same_day) > 1 else same_day[0]


_SENTENCE_END = frozenset((".", "!", "?", ";"))


def _tense(
    reading: TokenizedText, first: int, stop: int, but: frozenset[str] = frozenset()
) -> Literal["future", "past"] | None:
    """Which tense the hint nearest to the expression within its sentence (at most 25 words away) is of; none where a word of ``but`` is
    nearer. Words that are nouns as well ("the book") only tell where no other hint does."""
    words = reading.words
    by_noun: Literal["future"] | None = None
    for i in range(first - 1, max(first - 25, 0) - 1, -1):
        if words[i] in _SENTENCE_END and not reading.glued(i + 1):
            break
        if words[i] in but:
            return None
        if words[i] in NOUNS_TOO and words[i - 1] in DETERMINERS and i:
            by_noun = "future"
        elif words[i] in FUTURE_HINTS or (
            words[i].endswith("ing") and words[i - 1] in ("m", "am", "are", "re", "is", "s") and i
        ):
            planned = words[i] in ("going", "plan", "planned", "hoping", "planning")
            return "past" if planned and words[i - 1] in ("was", "were", "been") else "future"
        elif _is_past(words[i]):
            return "past"
    for i in range(stop, min(stop + 25, reading.size)):
        if words[i] in _SENTENCE_END:
            break
        if words[i] in FUTURE_HINTS:
            return "future"
        if _is_past(words[i]):
            return "past"
    return by_noun


def _is_past(word: str) -> bool:
    return word in PAST_HINTS or (word.endswith("ed") and len(word) > 4)


def timex_of(node: Node, span: DateRange | None) -> str | None:
    """The TIMEX3 value of the chosen reading."""
    if span is None:
        return None
    low, high = span
    edge = low or high
    if edge is None:
        return None
    if node.stated_range and low and high:
        return f"({_point(low, node)},{_point(high, node)})"
    if node.grain == "week" and low and high and high - low == timedelta(days=7):
        return f"{edge:%G}-W{edge:%V}"
    return _point(edge, node)


def _point(moment: datetime, node: Node) -> str:
    if "time" in node.kind:
        return f"{moment:%Y-%m-%dT%H:%M}" if node.kind.startswith("date") else f"{moment:T%H:%M}"
    if node.grain == "month" and not node.stated_range:
        return f"{moment.year:04d}-{moment:%m}"
    if node.grain == "year" and not node.stated_range:
        return f"{moment.year:04d}"
    return moment.date().isoformat()
