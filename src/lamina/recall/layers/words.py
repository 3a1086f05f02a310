"""What words of time mean to a reader: ``natural``, by the clock of the request."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from lamina.errors import Invalid
from lamina.kernel.local import LocalTime, to_local
from lamina.kernel.time import Axes, Instant, Interval, from_datetime
from lamina.language.temporal import UnparseableTemporal, parse_window
from lamina.recall.layers.pages import Place
from lamina.recall.layers.requests import TimedReads

__all__ = ["Phrases", "axes_of", "window_asked", "window_of"]

Phrases = Mapping[str, tuple[datetime, datetime]]
"""The words of a tenant's own for stretches of time."""


def window_of(phrase: str, reference: LocalTime, phrases: Phrases, *, field: str = "natural") -> Interval:
    """The stretch of valid time that words name; raises ``Invalid`` (UNPARSEABLE_TEMPORAL) for words that name none."""
    try:
        start, end = parse_window(phrase, to_local(reference.at, reference.offset), phrases=phrases)
    except UnparseableTemporal as error:
        raise Invalid(
            "UNPARSEABLE_TEMPORAL",
            f"{field} is not understood",
            hint='write for example "last 30 days", "yesterday", "this week", "since May 2026", "between 1 May and 3 May"',
            details={"field": field},
        ) from error
    return Interval(from_datetime(start), from_datetime(end))


def window_asked(request: TimedReads, asked_at: Instant) -> Interval | None:
    """What ``natural`` names, None without it; raises ``Invalid`` (UNPARSEABLE_TEMPORAL).

    ``asked_at`` is the time of the request.
    """
    if request.natural is None:
        return None
    return window_of(request.natural, request.reference_date or LocalTime(asked_at), {})


def axes_of(request: TimedReads, place: Place) -> Axes:
    """Where the reader of a page stands on both axes."""
    return request.axes(place.snapshot, window_asked(request, place.asked_at))
