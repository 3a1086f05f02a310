"""Which days the words of a turn mean: "yesterday" of a turn from May 8 is May 7, and a reader years later cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from lamina.kernel.local import LocalTime, to_local
from lamina.language.temporal import each_time
from lamina.language.temporal.values import TemporalMatch

__all__ = ["days_meant"]

_NOTES_MAX: Final = 2
_WEEK_DAYS: Final = 7
_DAY: Final = timedelta(days=1)


def days_meant(text: str, observed: LocalTime) -> str:
    """A note for the line of a turn: `` (yesterday: 2023-05-07)``; empty where its words name their days themselves, or mean
    the day of the turn, which the line begins with. Days are those of the speaker's clock."""
    notes = list(islice(_notes(text, to_local(observed.at, observed.offset)), _NOTES_MAX))
    return f" ({'; '.join(dict.fromkeys(notes))})" if notes else ""


def _notes(text: str, said_at: datetime) -> Iterator[str]:
    for match in each_time(text, said_at):
        meant = _meant(match)
        if meant and meant != said_at.date().isoformat() and meant.split("-")[0] not in match.text:
            yield f"{match.text}: {'about ' if match.approximate else ''}{meant}"


def _meant(match: TemporalMatch) -> str:
    """The day, the stretch of days, the month or the year that an expression stands for; of a day that may be past or coming none."""
    if match.earliest is None or match.latest is None or match.kind in ("duration", "set", "time"):
        return ""
    if len(match.readings) > 1:
        return ""
    first, last = match.earliest.date(), (match.latest - timedelta(microseconds=1)).date()
    days = (last - first) // _DAY + 1
    if days == 1:
        return first.isoformat()
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return str(first.year) if first.year == last.year else f"{first.year} to {last.year}"
    if first.day == 1 and (last + _DAY).day == 1 and days > _WEEK_DAYS:
        months = f"{first:%B %Y}"
        return months if (first.year, first.month) == (last.year, last.month) else f"{months} to {last:%B %Y}"
    return f"{first.isoformat()} to {last.isoformat()}"
