"""Which days the words of a turn mean: "yesterday" of a turn from May 8 is May 7, and a reader years later cannot tell.

They hang on nothing but the words and when they were said. So whoever derives notes them beside the row of the turn (``note_of``), and
who words a line takes them from there where the note is of just these words and of this finder.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple
from zlib import crc32

from lamina.kernel.local import LocalTime, to_local
from lamina.kernel.shown import unquoted, without_markers
from lamina.language.temporal import each_time
from lamina.language.temporal.values import TemporalMatch

__all__ = ["NOTED_CHARS_MAX", "DayNote", "days_meant", "days_of_line", "note_of", "read_note"]

FINDER: Final = "1"
"""The version of what is found: raise it with whatever makes ``days_meant`` say anything else. Notes of another are not used."""
NOTED_CHARS_MAX: Final = 480
"""A longer text is shown in part, as the question asks."""
_NOTES_MAX: Final = 2
_WEEK_DAYS: Final = 7
_DAY: Final = timedelta(days=1)


def days_meant(text: str, observed: LocalTime) -> str:
    """A note for the line of a turn: `` (yesterday: 2023-05-07)``; empty where its words name their days themselves, or mean
    the day of the turn, which the line begins with. Days are those of the speaker's clock."""
    notes = list(islice(_notes(text, to_local(observed.at, observed.offset)), _NOTES_MAX))
    return f" ({'; '.join(dict.fromkeys(notes))})" if notes else ""


class DayNote(NamedTuple):
    """What ``days_meant`` says of the words that ``of`` stands for."""

    of: int
    days: str


def days_of_line(words: str, observed: LocalTime, note: DayNote | None) -> str:
    """As ``days_meant``, from a note where it is of these words."""
    if note is not None and note.of == _check(words, observed):
        return note.days
    return days_meant(words, observed)


def note_of(text: str, observed: LocalTime) -> str:
    """What is kept beside a turn of the days that it means: the finder, what the words are known again by and, where there are any, the
    days. Of a text that is not shown whole nothing."""
    if len(text) > NOTED_CHARS_MAX:
        return ""
    words = unquoted(without_markers(text))
    return f"{FINDER} {_check(words, observed):08x}{days_meant(words, observed)}"


def read_note(noted: str) -> DayNote | None:
    """The note, None where there is none or it is another finder's."""
    finder, _, rest = noted.partition(" ")
    return DayNote(int(rest[:8], 16), rest[8:]) if finder == FINDER else None


def _check(words: str, observed: LocalTime) -> int:
    """Not 0, which stands for no note."""
    return crc32(f"{observed.at} {observed.offset} {words}".encode()) or 1


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
