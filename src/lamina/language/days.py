"""Which days the words of a turn mean: "yesterday" of a turn from May 8 is May 7, and a reader years later cannot tell.

They hang on nothing but the words and when they were said. So whoever derives notes them beside the row of the turn (``note_of``), each with
where it stands in the words. Who words a line takes those that stand in what the line shows, where the note is of just these words and of this
finder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Final, NamedTuple
from zlib import crc32

from lamina.kernel.local import LocalTime, to_local
from lamina.kernel.shown import unquoted, without_markers
from lamina.language.dated import hangs_on_another
from lamina.language.temporal import each_time
from lamina.language.temporal.finder import TEXT_CHARS_MAX
from lamina.language.temporal.values import TemporalMatch

__all__ = ["DayNote", "NotedDays", "days_meant", "note_of", "noted_days", "read_note"]

FINDER: Final = "7"
"""The version of what is found and of how it is noted: raise it with whatever makes these say anything else. Notes of another are not used."""
_TOLD_MAX: Final = 2
_NOTED_MAX: Final = 64
"""Of a text that means more days those behind the first so many are found when they are shown."""
_WEEK_DAYS: Final = 7
_DAY: Final = timedelta(days=1)
_NO_DAY: Final = re.compile(r"within\b|week \d+$", re.IGNORECASE)
"""A bound, and a name that weeks of any plan have."""


class _Day(NamedTuple):
    """Where in a text an expression stands, half-open, and which days it means."""

    start: int
    end: int
    meant: str


class DayNote(NamedTuple):
    """What is noted of the line that ``of`` stands for: its days as they are written, ``start-end:meant`` with semicolons between."""

    of: int
    days: str


class NotedDays(NamedTuple):
    """The noted days of a line, and up to where it was read."""

    line: str
    days: Sequence[_Day]
    reach: int

    def within(self, start: int, end: int) -> str | None:
        """As ``days_meant``, of the part of the line that is shown; None where that reaches beyond what was read."""
        if end > self.reach:
            return None
        days = [each for each in self.days if start <= each.start and each.end <= end]
        return _told(unquoted(self.line), days[:_TOLD_MAX]) if days else ""


def days_meant(text: str, observed: LocalTime) -> str:
    """A note for the line of a turn: `` (yesterday: 2023-05-07)``; empty where its words name their days themselves, or mean
    the day of the turn, which the line begins with. Days are those of the speaker's clock."""
    return _told(text, list(islice(_days(text, observed), _TOLD_MAX)))


def noted_days(line: str, observed: LocalTime, note: DayNote | None) -> NotedDays | None:
    """What a note tells of a line; None where there is none, or it is of other words."""
    if note is None or note.of != _check(line, observed):
        return None
    days = [_day_of(each) for each in note.days.split(";")] if note.days else []
    return NotedDays(line, days, days[-1].end if len(days) == _NOTED_MAX else TEXT_CHARS_MAX)


def note_of(text: str, observed: LocalTime) -> str:
    """What is kept beside a turn of the days that it means: the finder, what its line is known again by and, where there are any, the days."""
    line = without_markers(text)
    words = unquoted(line)
    if len(words) != len(line):
        return ""  # a place in the one would not be that in the other
    days = islice(_days(words, observed), _NOTED_MAX)
    return f"{FINDER} {_check(line, observed):08x}{';'.join(f'{day.start}-{day.end}:{day.meant}' for day in days)}"


def read_note(noted: str) -> DayNote | None:
    """The note, None where there is none or it is another finder's."""
    finder, _, rest = noted.partition(" ")
    return DayNote(int(rest[:8], 16), rest[8:]) if finder == FINDER else None


def _day_of(written: str) -> _Day:
    place, _, meant = written.partition(":")
    start, _, end = place.partition("-")
    return _Day(int(start), int(end), meant)


def _check(line: str, observed: LocalTime) -> int:
    """Not 0, which stands for no note."""
    return crc32(f"{observed.at} {observed.offset} {line}".encode()) or 1


def _told(words: str, days: list[_Day]) -> str:
    told = dict.fromkeys(f"{words[day.start : day.end]}: {day.meant}" for day in days)
    return f" ({'; '.join(told)})" if told else ""


def _days(text: str, observed: LocalTime) -> Iterator[_Day]:
    said_at = to_local(observed.at, observed.offset)
    for match in each_time(text, said_at):
        meant = _meant(match)
        if meant and meant != said_at.date().isoformat() and meant.split("-")[0] not in match.text:
            yield _Day(match.start, match.end, f"{'about ' if match.approximate else ''}{meant}")


def _meant(match: TemporalMatch) -> str:
    """The day, the stretch of days, the month or the year that an expression stands for; of a day that may be past or coming none."""
    if match.earliest is None or match.latest is None or match.kind in ("duration", "set", "time"):
        return ""
    if len(match.readings) > 1 or hangs_on_another(match.text) or _NO_DAY.match(match.text):
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
