"""Time windows asked for: by a whole phrase of the API, or by a question in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from lamina.language.temporal.finder import TEXT_CHARS_MAX, find_times, may_hold_time, read_at, to_match
from lamina.language.temporal.tokens import TokenizedText
from lamina.language.temporal.values import UNIT_SECONDS, TemporalMatch, UnparseableTemporal, Window

PHRASE_CHARS_MAX = 200
_LEAD = re.compile(r"(?:in|on|during|within|over|for|at|throughout)\s+(?=\S)", re.IGNORECASE)
_OPEN_FROM = datetime.min.replace(tzinfo=UTC)
_OPEN_TO = datetime.max.replace(tzinfo=UTC)


def parse_window(
    phrase: str,
    now: datetime,
    *,
    phrases: Mapping[str, tuple[datetime, datetime]] | None = None,
) -> tuple[datetime, datetime]:
    """The half-open window ``(valid_from, valid_to)`` that the whole ``phrase`` names, in the zone of ``now``.

    ``phrases`` are a tenant's own, matched first, exactly but for case and outer spaces. "Last N days" is ``[now - N
    days, now)``; "since X" ends at ``now`` unless X lies ahead; a side that stays open is the first or last instant
    that ``datetime`` can hold, in UTC. A name that returns ("Friday", "May") is the most recent one. Raises
    ``UnparseableTemporal`` when the phrase is anything but one time expression that names a window; ``ValueError``
    for a naive ``now``.
    """
    if now.tzinfo is None:
        raise ValueError("the reference time needs a zone")
    said = phrase.strip()
    for name, window in (phrases or {}).items():
        if name.strip().casefold() == said.casefold():
            return window
    match = _whole(said, now) if len(said) <= PHRASE_CHARS_MAX else None
    if match is None or match.earliest == match.latest:  # both open, or empty as in "last 0 days"
        raise UnparseableTemporal(f"not a time window: {said[:80]!r}; say a date, a range, or last N days")
    low, high = match.earliest, match.latest
    if high is None and low is not None and said.lower().startswith(("since", "ever since")) and low < now:
        high = now
    return low or _OPEN_FROM, high or _OPEN_TO


def _whole(said: str, now: datetime) -> TemporalMatch | None:
    for text in (said, _LEAD.sub("", said, count=1)):
        if not may_hold_time(text):
            continue
        reading = TokenizedText(text, now)
        node = read_at(reading, 0) if reading.size else None
        if node and all(word in ".,!?" for word in reading.words[node.stop : reading.size]):
            return to_match(reading, 0, node, now)
    return None


_WEEK = timedelta(days=7)
_GENERIC = frozenset(("now", "right now", "at the moment", "at present", "at this time", "today"))


def question_window(question: str, reference: datetime) -> Window | None:
    """The window in which a question looks for its answer, or ``None`` if it names none.

    "What did we decide last month?" has one; "When did she move?" only asks for a time. "When did we meet in May?"
    has one again. Durations, recurrences, times of day without a date, and "now" are no windows. Of several dates the
    window spans from the first to the last. A day counted in coarser units is widened by half the unit ("two years
    ago" by half a year to either side), an approximate one by half its distance from the reference, a week at most.
    """
    windows = [m for m in find_times(question[:TEXT_CHARS_MAX], reference) if _bounds(m)]
    if not windows:
        return None
    lows = [_widened(m, reference, -1) for m in windows]
    highs = [_widened(m, reference, 1) for m in windows]
    low = None if any(edge is None for edge in lows) else min(edge for edge in lows if edge)
    high = None if any(edge is None for edge in highs) else max(edge for edge in highs if edge)
    return Window(low, high)


def _bounds(match: TemporalMatch) -> bool:
    if match.kind in ("duration", "set", "time", "timerange") or match.text.lower() in _GENERIC:
        return False
    return match.earliest is not None or match.latest is not None


def _widened(match: TemporalMatch, reference: datetime, side: int) -> datetime | None:
    edge = match.earliest if side < 0 else match.latest
    if edge is None or match.kind != "date" or (match.grain == "day" and not match.approximate):
        return edge
    half = timedelta(seconds=UNIT_SECONDS[match.grain] / 2)
    if match.approximate:
        half = max(half, min(abs(edge - reference) / 2, _WEEK))
    try:
        return edge + side * half
    except OverflowError:
        return None
