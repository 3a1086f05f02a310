"""Reminders that are asked for by time alone: what they are about stands before, "the exam is on Friday, remind me the day before"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lamina.language.temporal import TemporalMatch
from lamina.pipeline.loops.dues import due_of, placed
from lamina.pipeline.loops.own import is_own

__all__ = ["Reminder", "asks_later", "is_taken_back", "reminder_in", "takes_back_reminder", "wants_reminder"]

_WANTED = re.compile(r"\b(?:remind|nudge|ping) me\b", re.IGNORECASE)
_PLEASE: Final = r"(?:(?:so|and|but|ok|please|can you|could you|will you|would you|just)[\s,]{1,3}){0,6}"
_ME: Final = rf"{_PLEASE}(?:remind|nudge|ping) me(?: again| then| of (?:it|that)| about (?:it|that))?"
_LEAD_TIME: Final = (
    r"(?:(?:the|a|an|one|1|two|2|three|3|four|4|five|5|six|6|seven|7|ten|10|14|couple(?: of)?|few) (?P<unit>day|night|evening|week|month)s?) "
    r"(?:before(?:hand)?|earlier|ahead|in advance|prior)"
)
_EARLIER = re.compile(
    rf"^[\s,.;:–—-]*{_ME} (?P<lead>{_LEAD_TIME}|on the (?:day|morning)|that (?:day|morning))(?: (?:that|it))?(?: to (?P<deed>[^,.;:!?]+))?[\s.!?]*$",
    re.IGNORECASE,
)
_TAKES_PLACE = re.compile(
    r"^(?:(?i:so|and|oh|also|btw|ok|well|by the way)[\s,]+)*(?P<what>(?!(?i:it|that|this|there|what|when|who|he|she|they)['’]?s\b)"
    r"(?:(?i:my|our|the|his|her|their)|[A-Z][\w-]*['’]?s)(?: [\w'’&-]+){1,5}?)(?i: is|['’]s| are| falls| starts| begins| takes place| will be)"
    r"(?i: (?:on|at|in|now|due|coming up|the))*\s*$"
)
_OWNER = re.compile(r"(?:my|our|the|his|her|their)\b", re.IGNORECASE)
_FORGOT = re.compile(
    r"^(?:(?:oh|ah|damn|shit|oops|no|ugh|argh|sorry|and|so|ok)[\s,!]+)*i(?:'ve)? (?:(?:totally|completely|nearly|almost|always|again|keep) )*"
    r"(?:forgot(?:ten)?|forget(?:ting)?) to (?P<deed>(?!(?:mention|say|ask|tell you|thank)\b)[^,.;:!?]+?)(?: (?:again|today|yesterday|earlier|this morning|last night))*"
    rf"(?:\s*[,.;:!?–—-]+\s*|\s+)(?={_ME} )",
    re.IGNORECASE,
)
_LATER = re.compile(
    rf"(?:^|[,.;:!?–—-]\s+|\s){_ME} (?P<when>(?!(?:to|about|of|that|who|what|which|where|when|why|how)\b)(?:(?! to )[^,.;:!?]){{2,40}})[\s.!?]*$",
    re.IGNORECASE,
)
_DAYS: Final = {"day": 1, "night": 1, "evening": 1, "week": 7, "month": 30}
_MANY: Final = {
    "two": 2, "2": 2, "couple": 2, "three": 3, "few": 3, "3": 3, "four": 4, "4": 4, "five": 5, "5": 5, "six": 6, "6": 6,
    "seven": 7, "7": 7, "ten": 10, "10": 10, "14": 14,
}  # fmt: skip
_NO: Final = r"(?:(?:no|nah|nope|wait|oh|ah|sorry|actually|hmm+|hm|well|hang on|hold on|on second thoughts?)[\s,.!:;–-]*)"
_NOT: Final = r"do(?:n['’]?t| not)(?: (?:bother|do (?:it|that)|remind me))?|no need(?: to)?"
_TAKEN_BACK = re.compile(
    rf"^(?:{_NO}+(?:{_NOT})|{_NO}*(?:(?:cancel|scrap|forget|scratch) (?:it|that|this)|never ?mind))(?: (?:about (?:it|that)|after all|any ?more|now|then|please))*[\s.!]*$",
    re.IGNORECASE,
)
_TAKEN_BACK_LATER = re.compile(
    rf"^(?:{_NO}+(?:{_NOT})|(?:{_NO}*(?:cancel|scrap|forget) (?:that|the) reminder)|{_NO}*do(?:n['’]?t| not) remind me)"
    r"(?: (?:about (?:it|that)|after all|any ?more|now|then|please))*[\s.!]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reminder:
    """What somebody wants to be reminded of, and by when."""

    words: str
    due: datetime


def wants_reminder(said: str) -> bool:
    """Whether a sentence asks for a reminder at all."""
    return _WANTED.search(said) is not None


def reminder_in(said: str, moments: Sequence[TemporalMatch], now: datetime) -> Reminder | None:
    """What a sentence, or two, wants to have remembered by a time alone; None for any other.

    >>> from datetime import UTC, datetime
    >>> from lamina.language.temporal import find_times
    >>> now, said = datetime(2026, 11, 18, tzinfo=UTC), "Mum's birthday is on 9 December, remind me a week before."
    >>> reminder_in(said, find_times(said, now), now).words
    "Remember Mum's birthday"
    """
    return _before_a_day(said, moments, now) or _forgotten(said, moments, now)


def asks_later(said: str) -> re.Match[str] | None:
    """Where a sentence asks to be reminded of what it just said: "..., can you remind me tomorrow?"."""
    return _LATER.search(said)


def is_taken_back(said: str) -> bool:
    """Whether a sentence takes back what the one before asked for: "No, actually, don't."."""
    return _TAKEN_BACK.match(said) is not None


def takes_back_reminder(text: str) -> bool:
    """Whether a turn takes back what the person's turn before asked for; "don't worry" by itself does not."""
    return _TAKEN_BACK_LATER.match(text.strip()) is not None


def _before_a_day(said: str, moments: Sequence[TemporalMatch], now: datetime) -> Reminder | None:
    for moment in placed(moments, said):
        day = due_of(moment, now)
        match = _EARLIER.match(said[moment.end :])
        if day is None or match is None or moment.grain in ("week", "month", "year"):
            continue
        what = _TAKES_PLACE.match(said[: moment.start])
        if what is None:
            return None
        due = day - _lead(match)
        named = what["what"]
        words = match["deed"] or f"Remember {named[:1].lower() + named[1:] if _OWNER.match(named) else named}"
        return Reminder(words, due if due > now else day)
    return None


def _lead(match: re.Match[str]) -> timedelta:
    if match["unit"] is None:
        return timedelta()
    count = next((_MANY[word] for word in match["lead"].casefold().split() if word in _MANY), 1)
    return timedelta(days=count * _DAYS[match["unit"].casefold()])


def _forgotten(said: str, moments: Sequence[TemporalMatch], now: datetime) -> Reminder | None:
    """ "I forgot to cancel the milk, can you remind me tomorrow?"."""
    match = _FORGOT.match(said)
    asked = None if match is None else _LATER.search(said, match.end() - 1)
    if match is None or asked is None or not is_own(said[: match.start()]):
        return None
    behind = [each for each in placed(moments, said) if each.start >= asked.start("when")]
    due = next((day for each in behind if (day := due_of(each, now)) is not None), None)
    return None if due is None else Reminder(match["deed"], due)
