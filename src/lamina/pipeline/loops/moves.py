"""Another day for what is open: "sorry, I meant Tuesday", "the appointment moved to next Tuesday"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from lamina.kernel.time import Instant, from_datetime
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.loops.dues import due_of, horizon_of
from lamina.pipeline.loops.patterns import NAMED_CHAR
from lamina.pipeline.loops.values import Move

__all__ = ["move_in"]

_MEANT: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:(?:sorry|no|oops|wait|ah|oh|actually|well|hmm|correction)[\s,.:!]*)*(?:i meant(?: to say)?|i "
        r"mean)[\s,:]*(?:on |by |for )?$",
        r"^(?:(?:sorry|no|oops|wait|ah|oh|actually|well|hmm|ok|please)[\s,.:!]*)*(?:(?:let's |can you |could you "
        r")?(?:make|change|move|push) (?:that|it|this)(?: to| back to)?|let's say)[\s,:]*(?:on |by |for )?$",
        r"^(?:(?:sorry|oops|correction)[\s,.:!]*)+(?:(?:it's|its|that's|on|by)[\s,:]*)?$",
    )
)
_IT_MOVED = re.compile(
    r"^(?:(?:so|but|and) )?(?:(?:i|we|they|he|she)(?:'ve| have|'s| has|'d)? )?(?:had to )?(?:(?:just|already|now) )?"
    r"(?:moved?|push(?:ed)?|rescheduled?|postponed?|shift(?:ed)?|delayed|put|brought) (?:it|that|this)(?: back| out|"
    r" off| forward)? (?:to|until|till)(?: the)? ?$",
    re.IGNORECASE,
)
_WHAT: Final = rf"(?P<what>{NAMED_CHAR}+?)"
_MOVED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{_WHAT}(?: has| have|'s| was| is| got| has been| had to be)?(?: now| been)? (?:moved|postponed|"
        rf"rescheduled|pushed(?: back| out)?|put (?:back|off)|brought forward|delayed|changed|shifted)(?: to| until|"
        rf" till)? ?(?:on |for )?$",
        rf"^{_WHAT} can wait(?: until| till)? ?$",
        rf"^{_WHAT}(?: is|'s) (?:now|actually|due) ?(?:on |by |due |at )*$",
        rf"^(?:they|we|he|she|i)(?:'ve| have)? (?:moved|postponed|rescheduled|pushed|shifted) {_WHAT}(?: back)? "
        rf"?(?:to|until|till) ?$",
    )
)
_OTHERS = re.compile(
    r"\b(?:if|he|she|they|you|who|hasn't|not|never|might|may|could|would|should|was)\b|n't", re.IGNORECASE
)
_NOT_MEANT = re.compile(r"^\s?,?\s?(?:not|rather than|instead of)\b", re.IGNORECASE)
_DAYS: Final = ("day", "part", "hour", "minute")
_TOLD: Final = re.compile(
    r"^(?:[^,:;.!?]|\.(?= [A-Z])){1,60}? (?:called|rang|phoned|texted|emailed|wrote|messaged|confirmed)(?: me| us| "
    r"back)*(?:: |, )(?:(?:so|and|that) )?",
    re.IGNORECASE,
)
_CLOCKS: Final = ("time", "timerange", "duration", "set")


def move_in(
    said: str, start: int, moments: Sequence[TemporalMatch], now: datetime, earlier: str = ""
) -> Move | None:
    """The new day that a sentence names, and for what; it is read from ``start`` on. "Moved it" speaks of what was said
    ``earlier`` in the turn."""
    if said.rstrip().endswith("?"):
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
