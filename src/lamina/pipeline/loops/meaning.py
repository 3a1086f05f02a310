"""Which of the open loops some words mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from lamina.kernel.records import Loop, LoopType
from lamina.pipeline.loops.another import speaks_of_another
from lamina.pipeline.loops.matching import (
    aside_of,
    deed_of,
    head_of,
    key_terms,
    object_of,
    overlap,
    specific,
    tells_of,
)
from lamina.pipeline.loops.values import Ending
from lamina.pipeline.readings.quoting import was_said

__all__ = ["ENDS_WHEN_DONE", "bears_on", "is_about", "is_spoken_of", "meant_by", "terms_in", "terms_of"]

ENDS_WHEN_DONE: Final = frozenset({LoopType.COMMITMENT.value, LoopType.THREAD.value, LoopType.FRICTION.value})
_DONE_FROM: Final = 0.6
_NAMED_FROM: Final = 0.5
_DONE_TERMS_FROM: Final = 2
_MORE_MAX: Final = 2
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_IT_ALONE = re.compile(
    r"^\w+(?: up| off| out| in| down| back)? (?:it|that|them|both|me|us)(?: \w+){0,2}$", re.IGNORECASE
)


def terms_of(loop: Loop) -> frozenset[str]:
    """The content terms of a loop's own words."""
    return terms_in(str(loop.object.value))


@lru_cache(maxsize=1024)
def terms_in(wording: str) -> frozenset[str]:
    """The content terms of the wording of a loop or of a draft; each turn is compared with the same open loops."""
    return key_terms(wording)


def bears_on(terms: frozenset[str], wording: str) -> bool:
    """Whether words that may end a loop share a key word with it, in whatever form; verbs that fit everything do not
    count where it has others."""
    whole = key_terms(wording)
    return any(was_said(term, terms) for term in specific(whole) or whole)


def is_about(loop: Loop, words: str) -> bool:
    """Whether words that name a thing name one of the loop's: by the last of their words."""
    head = head_of(words)
    return bool(head) and head <= terms_of(loop)


def is_spoken_of(loop: Loop, earlier: str) -> bool:
    """Whether what was said before speaks of a loop: by what its deed is done to."""
    thing = object_of(_wording(loop))
    return overlap(thing, key_terms(earlier)) >= _NAMED_FROM


def meant_by(ending: Ending, held: Sequence[Loop]) -> Loop | None:
    """The loop that the words end: the one whose terms they hold most of, or the only one with what they drop."""
    ends = [loop for loop in held if not ending.completed or loop.predicate in ENDS_WHEN_DONE]
    said = key_terms(ending.words)
    if ending.way == "stopped":
        return _only([loop for loop in ends if _is_habit_of(loop, said)])
    if ending.way == "thing":
        named = [loop for loop in ends if is_about(loop, ending.words)]
        most = max((overlap(said, terms_of(loop)) for loop in named), default=0.0)
        return _only([loop for loop in named if overlap(said, terms_of(loop)) == most])
    if ending.way == "did" and _IT_ALONE.match(ending.words):
        deed = deed_of(ending.words)
        return _only([loop for loop in ends if deed and deed_of(_wording(loop)) == deed])
    best: tuple[float, Loop] | None = None
    for loop in ends:
        share = _share(ending, loop, said)
        if share <= (0.0 if best is None else best[0]):
            continue
        if not speaks_of_another(_wording(loop), ending.words, deed_first=ending.way in ("did", "dropped")):
            best = (share, loop)
    return None if best is None else best[1]


def _is_habit_of(loop: Loop, said: frozenset[str]) -> bool:
    """Whether a habit has all that is said to have stopped: more said is another thing, such as sugar in the tea."""
    goes_on = loop.predicate in (LoopType.HABIT, LoopType.THREAD, LoopType.FRICTION)
    return goes_on and bool(specific(said)) and said <= terms_of(loop)


def _share(ending: Ending, loop: Loop, said: frozenset[str]) -> float:
    """How much of a loop was said, 0 where that is not enough. "The laptop works again" names what was wrong, not how;
    what somebody did names both."""
    terms, whole = terms_of(loop), object_of(_wording(loop))
    share, common = overlap(terms, said, aside_of(_wording(loop))), len(terms & said)
    if ending.way == "is" and not (
        tells_of(_wording(loop), ending.words) and _same_numbers(_wording(loop), ending.words)
    ):
        return 0.0
    if ending.way == "is" and len(whole) >= _DONE_TERMS_FROM and whole <= said:
        return max(share, _NAMED_FROM)
    if ending.way in ("is", "dropped"):
        return share if share >= _NAMED_FROM and common else 0.0
    deed = deed_of(_wording(loop))
    named = bool(deed and whole) and deed | whole <= said and len(said - terms) <= _MORE_MAX
    if named and tells_of(_wording(loop), ending.words):
        return max(share, _DONE_FROM)
    enough = share >= _DONE_FROM and common >= min(len(terms), _DONE_TERMS_FROM)
    return share if enough and tells_of(_wording(loop), ending.words) else 0.0


def _same_numbers(wording: str, said: str) -> bool:
    """Whether what is said may be of a thing that is told apart by its number: not "Python 3.11" of "Python 3.12"."""
    numbers, told = set(_NUMBER.findall(wording)), set(_NUMBER.findall(said))
    return not numbers or not told or not numbers.isdisjoint(told)


def _only(loops: Sequence[Loop]) -> Loop | None:
    return loops[0] if len(loops) == 1 else None


def _wording(loop: Loop) -> str:
    return str(loop.object.value)
