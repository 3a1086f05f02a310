"""What one sentence leaves open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.kernel.records import LoopType
from lamina.pipeline.loops import patterns as said_in
from lamina.pipeline.loops.dues import is_clock
from lamina.pipeline.loops.own import is_own
from lamina.pipeline.loops.said import Said, cut, draft_of
from lamina.pipeline.loops.states import is_feeling, is_state, names_no_thing
from lamina.pipeline.loops.values import LoopDraft

__all__ = ["openings_of"]

_GOES_TO = re.compile(
    r"^(?:(?:the|a|my|our) )?(?:[A-Z]|(?:bed|sleep|work|school|town|lunch|dinner|yoga|church|college|uni|class|"
    r"court|hospital)\b)|^(?:the|a|my|our|see)\b"
)
_REQUEST = re.compile(
    r"^(?:(?:can|could|will|would) you )?(?:please )?(?:remind|nudge|ping)\b", re.IGNORECASE
)
_MATTERS: Final = 3
_EACH = re.compile(r"(?:on )?(?:every|each|once|twice|\w{1,12} times|\w{3,6}days?)\b", re.IGNORECASE)


def openings_of(said: Said) -> Iterator[LoopDraft]:
    """What a sentence leaves open."""
    asks = said.words.rstrip().endswith("?")
    recurring = any(moment.kind == "set" for moment in said.moments)
    if not asks and recurring and (habit := _habit(said)) is not None:
        yield draft_of(LoopType.HABIT, habit, 2, said.sentence, None, said.now)
        return
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
            yield draft_of(opening.type, wording, opening.salience, said.sentence, due, said.now)
            return
    if not asks:
        yield from _promised(said)


def _is_no_deed(opening: said_in.Opening, words: str, *, dated: bool) -> bool:
    """Whether what is needed or under way is nothing that can be done; what was asked for or promised counts."""
    if opening.type is LoopType.THREAD:
        return names_no_thing(words)
    if opening.type is not LoopType.COMMITMENT or opening.salience > _MATTERS or opening.form != "{0}":
        return False
    return is_feeling(words) or (not dated and is_state(words))


def _gone_to(words: str, after: str, *, dated: bool) -> str:
    """ "I'm going to Leeds on Friday": a place is no deed, and where one goes now is nothing that stays open."""
    going = re.match(r"(?:i|we)(?:'m| am|'re| are) .*?\bgoing to ", after, re.IGNORECASE)
    if not going or not _GOES_TO.match(words):
        return words
    return f"Go to {words}" if dated else ""


def _promised(said: Said) -> Iterator[LoopDraft]:
    """ "I'll send the report by Friday"."""
    match = said_in.WILL.search(said.words)
    if match is None or not is_own(said.before(match), said.after(match)):
        return
    words, due = said.deed(match), said.due(match)
    first, many = words.split(" ", 1)[0].casefold(), len(words.split()) >= 2
    binds = due is not None or not (said.is_conditional(match) or first in said_in.NO_DEEDS)
    if many and binds and first not in said_in.NO_PROMISES:
        yield draft_of(LoopType.COMMITMENT, words, 3, said.sentence, due, said.now)


def _habit(said: Said) -> str | None:
    match = said_in.HABIT.search(said.words)
    if match is None or said_in.PASSED.match(match[1]) or not _is_again_and_again(said):
        return None
    return cut(match[1]) or None if is_own(said.before(match), said.after(match)) else None


def _is_again_and_again(said: Said) -> bool:
    """Whether all days are recurring ones: "the daily report by Friday" is due once."""
    days = [moment for moment in said.moments if not is_clock(moment)]
    return all(moment.kind == "set" and _EACH.match(moment.text) for moment in days)
