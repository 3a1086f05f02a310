"""What one sentence leaves open, or an item of a list of things to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from lamina.kernel.records import LoopType
from lamina.language.temporal import TemporalMatch
from lamina.pipeline.loops import patterns as said_in
from lamina.pipeline.loops.dues import FindMoments, due_within, is_clock, without_times
from lamina.pipeline.loops.noted import Noted, appointment_in, todo_items
from lamina.pipeline.loops.own import is_own
from lamina.pipeline.loops.reminders import asks_later, day_asked_for, due_on, wants_reminder
from lamina.pipeline.loops.said import Said, cut, draft_of
from lamina.pipeline.loops.several import Deed, deeds_in, goes_on_with_deed
from lamina.pipeline.loops.states import is_feeling, is_state, names_no_thing
from lamina.pipeline.loops.values import LoopDraft

__all__ = ["carried_on", "noted_draft", "openings_of"]

_TODAYS: Final = re.compile(r"^(?:today|this (?:morning|afternoon|evening))$", re.IGNORECASE)
_GOES_TO = re.compile(
    r"^(?:(?:the|a|my|our) )?(?:[A-Z]|(?:bed|sleep|work|school|town|lunch|dinner|yoga|church|college|uni|class|court|hospital)\b)|^(?:the|a|my|our|see)\b"
)
_REQUEST = re.compile(
    r"^(?:(?:can|could|will|would) you )?(?:please )?(?:remind|nudge|ping|put|add|stick)\b", re.IGNORECASE
)
_ITEM_WORDS_MAX: Final = 15
_MATTERS: Final = 3
_AND_DOING = re.compile(r" and (?=\w+ing\b)", re.IGNORECASE)
_JUST_NOW = re.compile(
    r"(?:today|tonight|now|until|till|since|for|during|these days|this (?:morning|afternoon|evening|week|month|year))\b",
    re.IGNORECASE,
)
_EACH = re.compile(r"(?:on )?(?:every|each|once|twice|\w{1,12} times|\w{3,6}days?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a sentence leaves open, where its words begin, and the day that was asked for all of it."""

    draft: LoopDraft
    said: Said
    deed: int
    salience: int = _MATTERS
    asked: datetime | None = None


def openings_of(said: Said) -> Iterator[LoopDraft]:
    """What a sentence leaves open: one deed, or several."""
    items = todo_items(said.words)
    if items:
        for item in items:
            due = due_within(said.moments, said.sentence, 0, said.sentence.find(item), said.now)
            words = without_times(
                said.sentence[: said.sentence.find(item) + len(item)], said.sentence.find(item), said.moments
            )
            if cut(words):
                yield draft_of(LoopType.COMMITMENT, cut(words), 0.85, 3, said.sentence, due, said.now)
        return
    found = _asked_later(said) or _draft(said)
    if found is None:
        return
    deeds = deeds_in(found.said.sentence, found.deed, found.said.moments)
    if found.draft.type is not LoopType.COMMITMENT or len(deeds) == 1:
        yield found.draft
        return
    yield from _several(found, deeds)


def carried_on(said: Said) -> Iterator[LoopDraft]:
    """The deeds of "And sign the contract.", behind a sentence that left one open."""
    deed = None if said.sentence.endswith("?") else goes_on_with_deed(said.sentence)
    words = "" if deed is None else cut(without_times(said.sentence, deed, said.moments))
    if deed is None or not words:
        return
    due = _day(said.moments, said, deed)
    found = _Found(
        draft_of(LoopType.COMMITMENT, words, 0.8, _MATTERS, said.sentence, due, said.now), said, deed
    )
    deeds = deeds_in(said.sentence, deed, said.moments)
    yield from [found.draft] if len(deeds) == 1 else _several(found, deeds)


def noted_draft(item: Noted, now: datetime, find_moments: FindMoments) -> Iterator[LoopDraft]:
    """An item of a list of things to do; the head of the list may say for when."""
    if item.words.rstrip().endswith("?") or len(item.words.split()) > _ITEM_WORDS_MAX:
        return
    moments = find_moments(item.words, now)
    due = due_within(moments, item.words, 0, 0, now)
    if due is None:
        due = due_within(find_moments(item.when, now), item.when, 0, 0, now)
    words = cut(without_times(item.words, 0, moments))
    if words:
        wording = f"Buy {words}" if item.buys else words
        yield draft_of(LoopType.COMMITMENT, wording, 0.85, 3, item.words, due, now)


def _several(found: _Found, deeds: Sequence[Deed]) -> Iterator[LoopDraft]:
    """Each deed of a sentence with its own day."""
    said, draft = found.said, found.draft
    dues = [found.asked] * len(deeds) if found.asked is not None else _days(said, deeds)
    for each, due in zip(deeds, dues, strict=True):
        words = cut(without_times(said.sentence[: each.end], each.start, said.moments))
        if each is deeds[0]:
            known = [moment for moment in said.moments if moment.start < each.end]
            alone = _draft(replace(said, sentence=said.sentence[: each.end], moments=known))
            words = words if alone is None else alone.draft.wording
        if words and (each is deeds[0] or " " in words):
            yield draft_of(draft.type, words, draft.confidence, found.salience, said.sentence, due, said.now)


def _days(said: Said, deeds: Sequence[Deed]) -> list[datetime | None]:
    """The days of deeds: of each the one among its own words, else the one that the sentence begins with; a time of the day
    is one of the day named last. A day at the end that is alone is that of all, except in a list."""
    first = deeds[0].start
    fronted = _day([moment for moment in said.moments if moment.start < first], said, first)
    found: list[datetime | None] = []
    days: list[datetime | None] = []
    for each in deeds:
        own = [moment for moment in said.moments if each.start <= moment.start < each.end]
        day = _day([moment for moment in own if not is_clock(moment)], said, each.start)
        last = next((known for known in reversed(days) if known is not None), None)
        clock = None if day is not None else _day(own, said, each.start)
        days.append(day)
        found.append(day or fronted or (clock and (last or clock)))
    alone = fronted is None and days[-1] is not None and not any(days[:-1]) and not deeds[0].listed
    return days[-1:] * len(deeds) if alone else found


def _day(moments: Sequence[TemporalMatch], said: Said, deed: int) -> datetime | None:
    return due_within(moments, said.sentence, deed, deed, said.now) if moments else None


def _asked_later(said: Said) -> _Found | None:
    """ "I need to call the bank, can you remind me tomorrow?": the day of the reminder is the day of the deed."""
    asked = asks_later(said.sentence) if wants_reminder(said.sentence) else None
    due = None if asked is None else day_asked_for(said, asked)
    if asked is None or due is None or not asked.start():
        return None
    before = [moment for moment in said.moments if moment.end <= asked.start()]
    found = _draft(
        replace(said, sentence=said.sentence[: asked.start()].rstrip(" ,.;:!?–—-"), moments=before)
    )
    if found is None or found.draft.type is not LoopType.COMMITMENT:
        return None
    return replace(found, draft=due_on(found.draft, due, said.now), asked=due)


def _draft(said: Said) -> _Found | None:
    """What the sentence leaves open."""
    asks = said.words.rstrip().endswith("?")
    recurring = any(moment.kind == "set" for moment in said.moments)
    if not asks and (habit := _habit(said, recurring=recurring)) is not None:
        return _Found(
            draft_of(LoopType.HABIT, habit, 0.8, 2, said.sentence, None, said.now), said, said.start
        )
    for opening in said_in.PATTERNS:
        match = opening.pattern.search(said.words)
        if match is None or (asks and _REQUEST.match(said.words) is None):
            continue
        if not is_own(said.before(match), said.after(match)):
            continue
        words, due = said.deed(match), said.due(match)
        if due is None and not opening.firm and said.is_conditional(match):
            continue
        if recurring and all(moment.kind == "set" or is_clock(moment) for moment in said.moments):
            due = None
        if _is_no_deed(opening, words, dated=due is not None):
            continue
        if opening.form == "{0}" and opening.type is LoopType.COMMITMENT:
            words = _gone_to(words, said.after(match), dated=due is not None)
        if words and not (opening.type is LoopType.THREAD and len(words.split()) < 2):
            wording = opening.form.format(words)
            sure, matters = opening.confidence, opening.salience
            draft = draft_of(opening.type, wording, sure, matters, said.sentence, due, said.now)
            return _Found(draft, said, said.start + match.start(1), matters)
    return None if asks else _promised(said) or _under_way(said) or _appointment(said)


def _is_no_deed(opening: said_in.Opening, words: str, *, dated: bool) -> bool:
    """Whether what is needed or under way is nothing that can be done; what was asked for or promised counts, whatever it is."""
    if opening.type is LoopType.THREAD:
        return names_no_thing(words)
    if opening.type is not LoopType.COMMITMENT or opening.salience > _MATTERS or opening.form != "{0}":
        return False
    return is_feeling(words) or (not dated and is_state(words))


def _gone_to(words: str, after: str, *, dated: bool) -> str:
    """ "I'm going to Leeds on Friday": a place is no deed, and where one goes now is nothing that stays open."""
    if not re.match(
        r"(?:i|we)(?:'m| am|'re| are) .*?\bgoing to ", after, re.IGNORECASE
    ) or not _GOES_TO.match(words):
        return words
    return f"Go to {words}" if dated else ""


def _promised(said: Said) -> _Found | None:
    """ "I'll send the report by Friday", "let's go hiking tomorrow", "I want to run on Saturday"."""
    for pattern in (said_in.WILL, said_in.LETS, said_in.WANT, said_in.NOTED):
        match = pattern.search(said.words)
        if match is None or not is_own(said.before(match), said.after(match)):
            continue
        words, due = said.deed(match), said.due(match)
        first, many = words.split(" ", 1)[0].casefold(), len(words.split()) >= 2
        if pattern is said_in.WILL:
            conditional = due is None and said.is_conditional(match)
            stands = many and not conditional and (first not in said_in.NO_DEEDS or due is not None)
        else:
            stands = due is not None and bool(words) and (first != "plan" or many)
        if stands and first not in said_in.NO_PROMISES:
            draft = draft_of(LoopType.COMMITMENT, words, 0.85, 3, said.sentence, due, said.now)
            return _Found(draft, said, said.start + match.start(1))
    return None


def _under_way(said: Said) -> _Found | None:
    """ "I'm moving on 24 October": of what goes on just now one would not say the day."""
    match = said_in.UNDER_WAY.search(said.words)
    days = [moment for moment in said.moments if not is_clock(moment)]
    if match is None or not days or any(_JUST_NOW.match(moment.text) for moment in days):
        return None
    start, behind = said.start + match.start("deed"), said.start + match.start("rest")
    if (other := _AND_DOING.search(said.sentence, behind)) is not None:
        known = [moment for moment in said.moments if moment.start < other.start()]
        said = replace(said, sentence=said.sentence[: other.start()], moments=known)
    due = due_within(said.moments, said.sentence, said.start + match.start(), start, said.now)
    if due is None or not is_own(said.before(match), said.after(match)):
        return None
    words = cut(
        f"{said_in.BASES[match['deed'].casefold()]} {without_times(said.sentence, behind, said.moments)}"
    )
    if " " not in words and words not in said_in.GOING:
        return None
    return _Found(
        draft_of(LoopType.COMMITMENT, words, 0.85, _MATTERS, said.sentence, due, said.now), said, behind
    )


def _appointment(said: Said) -> _Found | None:
    """ "Dentist on Thursday at 3pm", "my exam is on Friday"."""
    start = said.start if not said.moments or said.moments[0].start >= said.start else 0
    due = due_within(said.moments, said.sentence, start, start, said.now)
    days = [moment for moment in said.moments if moment.kind not in ("time", "timerange")]
    if due is None or all(_TODAYS.match(moment.text) for moment in days):
        return None
    words = cut(without_times(said.sentence, start, said.moments).lstrip(" ,:-"))
    what = appointment_in(words)
    if what is None:
        return None
    draft = draft_of(LoopType.COMMITMENT, what, 0.8, 3, said.sentence, due, said.now)
    return _Found(draft, said, len(said.sentence))


def _habit(said: Said, *, recurring: bool) -> str | None:
    for pattern in (said_in.ROUTINE, said_in.HABIT, said_in.DUTY) if recurring else (said_in.USUALLY,):
        match = pattern.search(said.words)
        if match is None or said_in.PASSED.match(match[1]):
            continue
        if pattern is said_in.DUTY and (is_feeling(match[1]) or not _is_again_and_again(said)):
            continue
        if is_own(said.before(match), said.after(match)):
            return cut(match[1]) or None
    return None


def _is_again_and_again(said: Said) -> bool:
    """Whether all days are recurring ones: "the daily report by Friday" is due once."""
    days = [moment for moment in said.moments if not is_clock(moment)]
    return all(moment.kind == "set" and _EACH.match(moment.text) for moment in days)
