"""What one sentence leaves open, or an item of a list of things to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from lamina.kernel.records import LoopType
from lamina.pipeline.loops import patterns as said_in
from lamina.pipeline.loops.dues import FindMoments, due_within, without_times
from lamina.pipeline.loops.noted import Noted, appointment_in, todo_items
from lamina.pipeline.loops.own import is_own
from lamina.pipeline.loops.reminders import asks_later, day_asked_for, due_on, wants_reminder
from lamina.pipeline.loops.said import Said, cut, draft_of
from lamina.pipeline.loops.several import further_deeds, two_deeds
from lamina.pipeline.loops.values import LoopDraft

__all__ = ["noted_draft", "openings_of"]

_TODAYS: Final = re.compile(r"^(?:today|this (?:morning|afternoon|evening))$", re.IGNORECASE)
_GOES_TO = re.compile(
    r"^(?:(?:the|a|my|our) )?(?:[A-Z]|(?:bed|sleep|work|school|town|lunch|dinner|yoga|church|college|uni|class|court|hospital)\b)|^(?:the|a|my|our|see)\b"
)
_REQUEST = re.compile(
    r"^(?:(?:can|could|will|would) you )?(?:please )?(?:remind|nudge|ping|put|add|stick)\b", re.IGNORECASE
)
_ITEM_WORDS_MAX: Final = 15


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
    draft, deed = found
    if draft.type is not LoopType.COMMITMENT:
        yield draft
        return
    for words in two_deeds(draft.wording):
        yield replace(draft, wording=words[:1].upper() + words[1:])
    yield from _further(said, draft, deed)


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


def _further(said: Said, first: LoopDraft, deed: int) -> Iterator[LoopDraft]:
    """The other deeds of a list; each has its own day, or the one that the sentence begins with."""
    for start, end in further_deeds(said.sentence, deed, said.moments):
        own = [moment for moment in said.moments if start <= moment.start < end]
        due = due_within(own, said.sentence, start, start, said.now)
        if due is None:
            fronted = [moment for moment in said.moments if moment.start < deed]
            due = due_within(fronted, said.sentence, deed, deed, said.now)
        words = cut(without_times(said.sentence[:end], start, said.moments))
        if words:
            yield draft_of(first.type, words, first.confidence, 3, said.sentence, due, said.now)


def _asked_later(said: Said) -> tuple[LoopDraft, int] | None:
    """ "I need to call the bank, can you remind me tomorrow?": the day of the reminder is the day of the deed."""
    asked = asks_later(said.sentence) if wants_reminder(said.sentence) else None
    due = None if asked is None else day_asked_for(said, asked)
    if asked is None or due is None or not asked.start():
        return None
    before = [moment for moment in said.moments if moment.end <= asked.start()]
    found = _draft(
        replace(said, sentence=said.sentence[: asked.start()].rstrip(" ,.;:!?–—-"), moments=before)
    )
    if found is None or found[0].type is not LoopType.COMMITMENT:
        return None
    return due_on(found[0], due, said.now), len(said.sentence)


def _draft(said: Said) -> tuple[LoopDraft, int] | None:
    """What the sentence leaves open, and where its words begin."""
    asks = said.words.rstrip().endswith("?")
    recurring = any(moment.kind == "set" for moment in said.moments)
    if not asks and (habit := _habit(said, recurring=recurring)) is not None:
        return draft_of(LoopType.HABIT, habit, 0.8, 2, said.sentence, None, said.now), said.start
    for opening in said_in.PATTERNS:
        match = opening.pattern.search(said.words)
        if match is None or (asks and _REQUEST.match(said.words) is None):
            continue
        if not is_own(said.before(match), said.after(match)):
            continue
        words, due = said.deed(match), said.due(match)
        if due is None and not opening.firm and said.is_conditional(match):
            continue
        if opening.form == "{0}" and opening.type is LoopType.COMMITMENT:
            words = _gone_to(words, said.after(match), dated=due is not None)
        if words and not (opening.type is LoopType.THREAD and len(words.split()) < 2):
            wording = opening.form.format(words)
            sure, matters = opening.confidence, opening.salience
            draft = draft_of(opening.type, wording, sure, matters, said.sentence, due, said.now)
            return draft, said.start + match.start(1)
    return None if asks else _promised(said) or _appointment(said)


def _gone_to(words: str, after: str, *, dated: bool) -> str:
    """ "I'm going to Leeds on Friday": a place is no deed, and where one goes now is nothing that stays open."""
    if not re.match(
        r"(?:i|we)(?:'m| am|'re| are) .*?\bgoing to ", after, re.IGNORECASE
    ) or not _GOES_TO.match(words):
        return words
    return f"Go to {words}" if dated else ""


def _promised(said: Said) -> tuple[LoopDraft, int] | None:
    """ "I'll send the report by Friday", "let's go hiking tomorrow", "I want to run on Saturday"."""
    for pattern in (said_in.WILL, said_in.LETS, said_in.WANT):
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
            return draft, said.start + match.start(1)
    return None


def _appointment(said: Said) -> tuple[LoopDraft, int] | None:
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
    return draft, len(said.sentence)


def _habit(said: Said, *, recurring: bool) -> str | None:
    match = (said_in.HABIT if recurring else said_in.USUALLY).search(said.words)
    if match is None or said_in.PASSED.match(match[1]) or not is_own(said.before(match), said.after(match)):
        return None
    return cut(match[1]) or None
