"""Another day for what is open: "sorry, I meant Tuesday", "the appointment moved to next Tuesday"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from lamina.kernel.time import Instant, from_datetime
from lamina.language.questions import is_asked
from lamina.language.tables import table
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.loops.dues import due_of, horizon_of
from lamina.pipeline.loops.values import Move

__all__ = ["move_in"]

_TABLE: Final = table(__name__)
_MEANT: Final = _TABLE.patterns("meant")
_IT_MOVED: Final = _TABLE.pattern("it_moved")
_MOVED: Final = _TABLE.patterns("moved")
_OTHERS: Final = _TABLE.pattern("others")
_NOT_MEANT = re.compile(r"^\s?,?\s?(?:not|rather than|instead of)\b", re.IGNORECASE)
_DAYS: Final = ("day", "part", "hour", "minute")
_TOLD: Final = _TABLE.pattern("told")
_CLOCKS: Final = ("time", "timerange", "duration", "set")


def move_in(
    said: str, start: int, moments: Sequence[TemporalMatch], now: datetime, earlier: str = ""
) -> Move | None:
    """The new day that a sentence names, and for what; it is read from ``start`` on. "Moved it" speaks of what was said
    ``earlier`` in the turn."""
    if is_asked(said):
        return None
    told = _TOLD.match(said, start)
    start = start if told is None else told.end()
    for moment in moments:
        due = None if moment.kind in _CLOCKS or moment.start < start else due_of(moment, now)
        if due is None:
            continue
        if moment.grain == "week" and _led(moment) in ("until ", "till "):
            due += timedelta(days=7)  # what can wait until next week is due in that week
        before, after = said[start : moment.start], said[moment.end :].strip(" .!")
        if after and not _NOT_MEANT.match(after) and after[0] not in ",;(":
            continue
        before = re.sub(r"\b(?:by|until|till)\s*$", "", f"{before}{_led(moment)}")
        if any(pattern.match(before) for pattern in _MEANT):
            return Move("", from_datetime(due), horizon_of(due, now), _day(moment, due))
        if _IT_MOVED.match(before):
            return Move("", from_datetime(due), horizon_of(due, now), _day(moment, due), earlier.strip())
        for pattern in _MOVED:
            match = pattern.match(before)
            if match is not None and _OTHERS.search(match["what"]) is None:
                return Move(match["what"], from_datetime(due), horizon_of(due, now), _day(moment, due))
    return None


def _day(moment: TemporalMatch, due: datetime) -> tuple[Instant, Instant] | None:
    spans = [(each.valid_from, each.valid_to) for each in moment.readings] + [
        (moment.earliest, moment.latest)
    ]
    begun = next((begins for begins, ends in spans if ends == due and begins is not None), None)
    if begun is None or _led(moment) in ("by ", "until ", "till ") or moment.grain not in _DAYS:
        return None
    return from_datetime(begun), from_datetime(due)


def _led(moment: TemporalMatch) -> str:
    """The word that a time begins with where the finder took it in: "until next week"."""
    first = moment.text.split(" ", 1)[0].casefold()
    return f"{first} " if first in ("by", "until", "till", "on", "for") else ""
