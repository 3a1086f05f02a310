"""What one sentence leaves open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lamina.kernel.records import LoopType
from lamina.language.questions import is_asked
from lamina.language.tables import table
from lamina.pipeline.loops.dues import is_clock
from lamina.pipeline.loops.own import is_own
from lamina.pipeline.loops.sentence import SpokenSentence, cut, draft_of
from lamina.pipeline.loops.values import LoopDraft

__all__ = ["is_feeling", "is_state", "names_no_thing", "openings_of"]

_TABLE: Final = table(__name__)

_NO_DEEDS: Final = _TABLE.words("no_deeds")
"""Verbs after "I'll" that promise nothing by themselves: with a day and more words behind them, they do."""

_NO_PROMISES: Final = _TABLE.words("no_promises")
"""Verbs after "I'll" that tell of what comes, and promise nothing at all."""


@dataclass(frozen=True, slots=True)
class _Opening:
    """A pattern and what a sentence of its kind leaves open; its first group are the words of it.

    ``firm`` ones stand whatever the condition that comes behind them.
    """

    type: LoopType
    pattern: re.Pattern[str]
    form: str
    salience: int
    firm: bool


_PATTERNS: Final[Sequence[_Opening]] = tuple(
    _Opening(LoopType(kind), re.compile(pattern, re.IGNORECASE), form, int(salience), firm == "firm")
    for kind, pattern, form, salience, firm in _TABLE.rows("openings")
)
_WILL: Final = _TABLE.pattern("will")
_HABIT: Final = _TABLE.pattern("habit")
"""What is not done again and again is no habit, nor is what one likes."""
_PASSED: Final = _TABLE.pattern("passed")


_GOES_TO: Final = _TABLE.pattern("goes_to", 0)
_REQUEST: Final = _TABLE.pattern("request")
_MATTERS: Final = 3
_EACH = re.compile(r"(?:on )?(?:every|each|once|twice|\w{1,12} times|\w{3,6}days?)\b", re.IGNORECASE)


def openings_of(said: SpokenSentence) -> Iterator[LoopDraft]:
    """What a sentence leaves open."""
    asks = is_asked(said.words)
    recurring = any(moment.kind == "set" for moment in said.moments)
    if not asks and recurring and (habit := _habit(said)) is not None:
        yield draft_of(LoopType.HABIT, habit, 2, said.sentence, None, said.now)
        return
    for opening in _PATTERNS:
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


def _is_no_deed(opening: _Opening, words: str, *, dated: bool) -> bool:
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


def _promised(said: SpokenSentence) -> Iterator[LoopDraft]:
    """ "I'll send the report by Friday"."""
    match = _WILL.search(said.words)
    if match is None or not is_own(said.before(match), said.after(match)):
        return
    words, due = said.deed(match), said.due(match)
    first, many = words.split(" ", 1)[0].casefold(), len(words.split()) >= 2
    binds = due is not None or not (said.is_conditional(match) or first in _NO_DEEDS)
    if many and binds and first not in _NO_PROMISES:
        yield draft_of(LoopType.COMMITMENT, words, 3, said.sentence, due, said.now)


def _habit(said: SpokenSentence) -> str | None:
    match = _HABIT.search(said.words)
    if match is None or _PASSED.match(match[1]) or not _is_again_and_again(said):
        return None
    return cut(match[1]) or None if is_own(said.before(match), said.after(match)) else None


def _is_again_and_again(said: SpokenSentence) -> bool:
    """Whether all days are recurring ones: "the daily report by Friday" is due once."""
    days = [moment for moment in said.moments if not is_clock(moment)]
    return all(moment.kind == "set" and _EACH.match(moment.text) for moment in days)


_FEELING: Final = _TABLE.pattern("feeling")
_STATE: Final = _TABLE.pattern("state")
_NO_THING: Final = _TABLE.pattern("no_thing")
_VAGUE: Final = _TABLE.words("vague")
_VAGUE_WORDS: Final = 3


def is_feeling(words: str) -> bool:
    """Whether it is nothing one does at a time of one's choice, whatever day is named."""
    return _FEELING.match(words) is not None


def is_state(words: str) -> bool:
    """Whether it is how somebody wants to be rather than something to do; with a day, it may be a deed.

    >>> is_state("be kinder to myself"), is_state("be at the school"), is_state("work on my thesis")
    (True, False, False)
    """
    return is_feeling(words) or _STATE.match(words) is not None


def names_no_thing(words: str) -> bool:
    """Whether what is under way has no object that could be told later.

    >>> names_no_thing("writing this from Leonie's sofa"), names_no_thing("writing this essay")
    (True, False)
    """
    return _NO_THING.match(words) is not None or _is_vague(words.casefold().split())


def _is_vague(words: list[str]) -> bool:
    """ "Mention it", "give it a try": what is meant stands outside the sentence."""
    short = len(words) <= _VAGUE_WORDS and words[-1:] != [] and words[-1] in _VAGUE
    return short or words[1:2] == ["it"]
