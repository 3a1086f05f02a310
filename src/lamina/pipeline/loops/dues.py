"""When something is due: which of a sentence's times is the day of the deed, and the deed without it.

The present is no day to come, and a time that is part of a name or of a thing ("today's report", ``datetime.now``) or
that is spoken about ("move the visit to Friday") says what is to be done, not when.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from lamina.kernel.records import Horizon
from lamina.language.dated import DATED_THINGS, OF_A_DAY, names_a_thing
from lamina.language.sentences import is_sentence_end
from lamina.language.tables import table
from lamina.language.temporal import TemporalMatch
from lamina.language.temporal.calendar import day_after

__all__ = ["cut_end", "due_of", "due_within", "horizon_of", "is_clock", "masked", "placed", "without_times"]


_TABLE: Final = table(__name__)
_END: Final = _TABLE.pattern("end")
_PREPOSITION: Final = _TABLE.pattern("preposition")
_PRESENT: Final = _TABLE.pattern("present")
_SPOKEN_ABOUT = re.compile(r"\b(?:to|of|about|than|called|and not|not)\s+$", re.IGNORECASE)
_INSIDE = re.compile(r"[\w.@/_-]$")
_GOES_ON = re.compile(r"['’]s\b|[(_@/]|[.-]\w", re.IGNORECASE)
_LIMIT: Final = _TABLE.pattern("limit")
_LIMITED = re.compile(r"(?:by|before|until|till|no later than)\b", re.IGNORECASE)
_LOOSE = re.compile(r"\b(?:for|from|since|during)\s*$", re.IGNORECASE)
_BETWEEN_LEAD = re.compile(r"^,?(?:(?!\b(?:and|but|so|because)\b)[^,.;:!?])*,?\s*$", re.IGNORECASE)
_BEHIND: Final = _TABLE.pattern("behind")
_INSERTED: Final = _TABLE.pattern("inserted")
"""What a sentence says more of a thing before it goes on: ", 4,200 euros, by Friday"."""
_NAMED_LIMIT = re.compile(r"\b(?:deadline|due|expires?|runs out)\b", re.IGNORECASE)
_NEAR: Final = 100
_WEEK: Final = timedelta(days=7)
_SURELY_AHEAD: Final = _TABLE.pattern("surely_ahead")
_PAST_RELATIVE: Final = _TABLE.pattern("past_relative", 0)
"""A thing, and what was done with it once: "the lamp that I bought on". """
_OF_THING = re.compile(rf"\b(?:{DATED_THINGS}){OF_A_DAY}\s*$", re.IGNORECASE)
"""Which one is meant: "the invoice from". """
_ARTICLE_LEFT = re.compile(r" the(?=\W{0,3}$)", re.IGNORECASE)
"""Of "go there the weekend after Easter". """
_NIGHT_BEFORE = re.compile(r"(?<!in )the (?:morning|evening|night) (?:before|after)\b", re.IGNORECASE)
_CLOCKS: Final = ("time", "timerange")


def due_of(moment: TemporalMatch, now: datetime) -> datetime | None:
    """The end of a time that lies ahead: the words of a plan mean a coming day."""
    if moment.kind in ("duration", "set") or _PRESENT.match(moment.text):
        return None
    ends = [window.valid_to or window.valid_from for window in moment.readings]
    ends += [moment.latest or moment.earliest]
    # "By Friday" ends where Friday begins; who says it means to have it done on that day.
    through = moment.grain == "day" and moment.text.lower().startswith(("by ", "until ", "till "))
    told = [day_after(end) if through else end for end in ends if end is not None]
    ahead = [end for end in told if end > now]
    if not ahead and told and max(told) - min(told) == _WEEK:
        return max(told) + _WEEK  # "before Friday", said on a Friday
    return min(ahead, default=None)


def horizon_of(due: datetime | None, now: datetime) -> Horizon:
    """How far the day is."""
    if due is None:
        return "ongoing"
    left = due - now
    return "today" if left <= timedelta(days=1) else "this_week" if left <= timedelta(days=7) else "ongoing"


def placed(moments: Sequence[TemporalMatch], sentence: str) -> list[TemporalMatch]:
    """The times that may say when a deed of the sentence is to be done."""
    recurs = any(moment.kind == "set" for moment in moments)  # "at six on Sundays" is of each
    return [
        moment
        for moment in moments
        if moment.kind != "set" and not (recurs and is_clock(moment)) and not _is_part(moment, sentence)
    ]


def due_within(
    moments: Sequence[TemporalMatch], sentence: str, begins: int, deed: int, now: datetime
) -> datetime | None:
    """The day of a deed that stands from ``deed`` on, in a clause that begins at ``begins``; of several the one that is
    a limit, then the last."""
    end = cut_end(masked(sentence, moments), deed)
    rest = sentence[end:]
    inserted = _INSERTED.match(rest)
    goes_on = end if inserted is None else end + inserted.end()
    best: tuple[tuple[int, int, int], datetime] | None = None
    for moment in placed(moments, sentence):
        before, behind = sentence[: moment.start], sentence[goes_on : moment.start]
        stands = (
            _BETWEEN_LEAD.match(sentence[moment.end : begins])
            if moment.start < begins
            else moment.start < end
            or (moment.start >= goes_on and _BEHIND.match(behind))
            or _NAMED_LIMIT.search(rest)
        )
        due = due_of(moment, now) if stands else None
        if due is None:
            continue
        limit = bool(_LIMIT.search(before) or _LIMITED.match(moment.text)) - bool(_LOOSE.search(before))
        rank = (not is_clock(moment), limit, moment.start)
        if best is None or rank > best[0]:
            best = (rank, due)
    return None if best is None else best[1]


def without_times(sentence: str, start: int, moments: Sequence[TemporalMatch]) -> str:
    """The words of a sentence from ``start`` on, without the times that the deed has and what only goes with them."""
    words, taken = "", start
    for moment in placed(moments, sentence):
        if moment.start < taken:
            continue
        words += _PREPOSITION.sub("", sentence[taken : moment.start]).rstrip() + " "
        taken = moment.end + len(sentence[moment.end :]) - len(sentence[moment.end :].lstrip())
    left = " ".join((words + sentence[taken:]).replace(" ,", ",").split())
    return _ARTICLE_LEFT.sub("", left)


def masked(sentence: str, moments: Sequence[TemporalMatch]) -> str:
    """The sentence with letters alone where a time stands, so that no end of a clause is found inside one."""
    for moment in moments:
        sentence = sentence[: moment.start] + "x" * (moment.end - moment.start) + sentence[moment.end :]
    return sentence


def cut_end(words: str, start: int = 0) -> int:
    """Where the clause that goes on at ``start`` ends."""
    for end in _END.finditer(f"{words} ", start):
        if end.group()[0] != "." or end.start() >= len(words) - 1 or is_sentence_end(words, end.start()):
            return min(end.start(), len(words))
    return len(words)


def is_clock(moment: TemporalMatch) -> bool:
    """Whether a time is one of a day, and says not which."""
    return moment.kind in _CLOCKS


def _is_part(moment: TemporalMatch, sentence: str) -> bool:
    if names_a_thing(sentence, moment.start, moment.end):
        return True
    if moment.kind == "timerange" and _NIGHT_BEFORE.match(sentence, max(0, moment.start - len("the "))):
        return True
    near = sentence[max(0, moment.start - _NEAR) : moment.start]
    if not _SURELY_AHEAD.search(moment.text):
        led = f"{near}{moment.text.split(' ', 1)[0]}"
        if _PAST_RELATIVE.search(near) or _OF_THING.search(near) or _OF_THING.search(led):
            return True
    return bool(_INSIDE.search(near) or _GOES_ON.match(sentence, moment.end) or _SPOKEN_ABOUT.search(near))
