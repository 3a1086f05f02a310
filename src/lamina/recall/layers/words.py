"""What words of time mean to a reader: ``natural``, by the clock of the request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from lamina.errors import Invalid
from lamina.kernel.local import LocalTime, to_local
from lamina.kernel.operations import Call
from lamina.kernel.time import Axes, Instant, Interval, from_datetime, to_datetime
from lamina.language.temporal import UnparseableTemporal, parse_window
from lamina.recall.layers.pages import PageStart
from lamina.store.ports.definitions import Definitions
from lamina.types.layer_requests import TimedReads

__all__ = [
    "PHRASE_KIND",
    "Phrases",
    "axes_of",
    "phrases_of",
    "seen_from",
    "spoken_phrases",
    "window_asked",
    "window_of",
]

PHRASE_KIND: Final = "temporal_phrase"

Phrases = Mapping[str, tuple[datetime, datetime]]
"""The words of a tenant's own for stretches of time."""


def spoken_phrases(question: str, phrases: Phrases) -> tuple[str, Interval | None]:
    """A question without the phrases that it holds, and the stretch from the first to the last that they name; None without any.

    The longest come first; none is read inside a word.
    """
    spans = []
    for pattern in sorted(phrases, key=lambda each: (-len(each), each)):
        words = r"\s+".join(map(re.escape, pattern.split()))
        rest, count = re.subn(rf"(?<!\w){words}(?!\w)", " ", question, flags=re.IGNORECASE)
        if count:
            question = rest
            spans.append(phrases[pattern])
    if not spans:
        return question, None
    return question, Interval(
        from_datetime(min(s for s, _ in spans)), from_datetime(max(e for _, e in spans))
    )


def window_of(phrase: str, reference: LocalTime, phrases: Phrases, *, field: str = "natural") -> Interval:
    """The stretch of valid time that words name; raises ``Invalid`` (UNPARSEABLE_TEMPORAL) for words that name none."""
    said = " ".join(phrase.split())  # as patterns are kept
    try:
        start, end = parse_window(said, to_local(reference.at, reference.offset), phrases=phrases)
    except UnparseableTemporal as error:
        raise Invalid(
            "UNPARSEABLE_TEMPORAL",
            f"{field} is not understood",
            hint='write for example "last 30 days", "yesterday", "this week", "since May 2026", "between 1 May and 3 May"',
            details={"field": field},
        ) from error
    return Interval(from_datetime(start), from_datetime(end))


def phrases_of(definitions: Definitions, tenant_id: str, seen_at: Instant | None) -> Phrases:
    """The tenant's phrases as they stand, or as they stood at an instant of the log."""
    held = definitions.held(tenant_id, PHRASE_KIND, seen_at=seen_at)
    return {each.body["pattern"]: _span(each.body["from"], each.body["to"]) for each in held}


def _span(start: Instant, end: Instant) -> tuple[datetime, datetime]:
    return to_datetime(start), to_datetime(end)


def seen_from(as_of: Instant | None, recorded_end: Instant | None) -> Instant | None:
    """The instant of the log whose phrases a reader has; None for those that stand now."""
    ends = [at for at in (as_of, None if recorded_end is None else recorded_end - 1) if at is not None]
    return min(ends, default=None)


def window_asked(
    definitions: Definitions, call: Call, request: TimedReads, place: PageStart
) -> Interval | None:
    """What ``natural`` names, None without it; raises ``Invalid`` (UNPARSEABLE_TEMPORAL).

    A later page has the phrases of the first, whatever became of them meanwhile.
    """
    if request.natural is None:
        return None
    recorded, is_now = request.recorded_during, request.as_of is None and place.number is None
    seen_at = seen_from(None if is_now else place.snapshot, None if recorded is None else recorded.end)
    phrases = phrases_of(definitions, call.principal.tenant_id, seen_at)
    return window_of(request.natural, request.reference_date or LocalTime(place.asked_at), phrases)


def axes_of(definitions: Definitions, call: Call, request: TimedReads, place: PageStart) -> Axes:
    """Where the reader of a page stands on both axes."""
    return request.axes(place.snapshot, window_asked(definitions, call, request, place))
