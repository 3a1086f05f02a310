"""Reminders that are asked for by time alone: what they are about stands before, "the exam is on Friday, remind me the day before",
or was offered by somebody else. And what takes one back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from lamina.kernel.records import LoopType
from lamina.kernel.time import from_datetime
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.loops.dues import FindMoments, due_of, due_within, horizon_of, placed, without_times
from lamina.pipeline.loops.noted import agrees, offered_in
from lamina.pipeline.loops.own import is_own
from lamina.pipeline.loops.said import Said, cut, draft_of
from lamina.pipeline.loops.values import LoopDraft

__all__ = [
    "Reminder",
    "accepted",
    "asks_later",
    "day_asked_for",
    "due_on",
    "is_taken_back",
    "put_on",
    "reminded",
    "reminder_in",
    "takes_back_reminder",
    "wants_reminder",
]

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
_ANSWER_CHARS: Final = 80
_OFFER_CHARS: Final = 300
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


def asks_later(said: str) -> re.Match[str] | None:
    """Where a sentence asks to be reminded of what it just said: "..., can you remind me tomorrow?"."""
    return _LATER.search(said)


def reminded(said: Said, told: str, find_moments: FindMoments) -> LoopDraft | None:
    """What is to be remembered at a time alone, of this sentence or of the one ``told`` before."""
    if not wants_reminder(said.words):
        return None
    for whole in (said.sentence, f"{told} {said.sentence}")[: 2 if told else 1]:
        reminder = reminder_in(whole, find_moments(whole, said.now), said.now)
        if reminder is not None and (words := cut(reminder.words)):
            return draft_of(LoopType.COMMITMENT, words, 0.9, 4, said.sentence, reminder.due, said.now)
    return None


def reminder_in(said: str, moments: Sequence[TemporalMatch], now: datetime) -> Reminder | None:
    """What a sentence, or two, wants to have remembered by a time alone; None for any other.

    >>> from datetime import UTC, datetime
    >>> from lamina.language.temporal import find_times
    >>> now, said = datetime(2026, 11, 18, tzinfo=UTC), "Mum's birthday is on 9 December, remind me a week before."
    >>> reminder_in(said, find_times(said, now), now).words
    "Remember Mum's birthday"
    """
    return _before_a_day(said, moments, now) or _forgotten(said, moments, now)


def put_on(said: Said, drafts: Sequence[LoopDraft]) -> LoopDraft | None:
    """The one thing that the sentence before left open without a day, on that of "remind me tomorrow"."""
    asked = asks_later(said.words) if wants_reminder(said.words) else None
    if asked is None or asked.start() or len(drafts) != 1:
        return None
    (draft,) = drafts
    due = day_asked_for(said, asks_later(said.sentence) or asked)
    if due is None or draft.due_at is not None or draft.type is not LoopType.COMMITMENT:
        return None
    return due_on(draft, due, said.now)


def day_asked_for(said: Said, asked: re.Match[str]) -> datetime | None:
    """The day for which a sentence asks to be reminded; ``asked`` is where it does (``asks_later``)."""
    moments = [each for each in placed(said.moments, said.sentence) if each.start >= asked.start("when")]
    return next((day for each in moments if (day := due_of(each, said.now)) is not None), None)


def due_on(draft: LoopDraft, due: datetime, now: datetime) -> LoopDraft:
    """The draft with that day."""
    return replace(draft, due_at=from_datetime(due), horizon=horizon_of(due, now))


def accepted(text: str, before: str, now: datetime, find_moments: FindMoments) -> Iterator[LoopDraft]:
    """What somebody offered to remind the person of, when the person says yes; the person's own day counts first."""
    offer = offered_in(before)
    if offer is None or not agrees(text, offer[1]):
        return
    about = offer[0][:_OFFER_CHARS]
    moments = find_moments(about, now)
    own = [due_of(moment, now) for moment in placed(find_moments(text[:_ANSWER_CHARS], now), text)]
    due = next((day for day in own if day is not None), None) or due_within(moments, about, 0, 0, now)
    words = cut(without_times(about, 0, moments))
    if words:
        yield replace(draft_of(LoopType.COMMITMENT, words, 0.85, 4, "", due, now), offered=True)


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
