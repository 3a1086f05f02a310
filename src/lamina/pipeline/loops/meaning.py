"""Which of the open loops some words mean."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from lamina.kernel.records import Loop, LoopType
from lamina.pipeline.loops.matching import deed_of, head_of, key_terms, object_of, overlap, specific
from lamina.pipeline.loops.values import Ending

__all__ = ["ENDS_WHEN_DONE", "is_about", "is_spoken_of", "meant_by", "terms_in", "terms_of"]

ENDS_WHEN_DONE: Final = frozenset({LoopType.COMMITMENT.value, LoopType.THREAD.value, LoopType.FRICTION.value})
_NAMED_FROM: Final = 0.5
_STATE: Final = key_terms(
    "is was done finished sorted fixed ready working works again replied answered arrived came"
)


def terms_of(loop: Loop) -> frozenset[str]:
    """The content terms of a loop's own words."""
    return terms_in(str(loop.object.value))


@lru_cache(maxsize=1024)
def terms_in(wording: str) -> frozenset[str]:
    """The content terms of the wording of a loop or of a draft; each turn is compared with the same open loops."""
    return key_terms(wording)


def is_about(loop: Loop, words: str) -> bool:
    """Whether words that name a thing name one of the loop's: by the last of their words."""
    head = head_of(words)
    return bool(head) and head <= terms_of(loop)


def is_spoken_of(loop: Loop, earlier: str) -> bool:
    """Whether what was said before speaks of a loop: by what its deed is done to."""
    thing = object_of(_wording(loop))
    return overlap(thing, key_terms(earlier)) >= _NAMED_FROM


def meant_by(ending: Ending, held: Sequence[Loop]) -> Loop | None:
    """The one loop that the words end; none where they may mean another thing, since a promise that is lost is worse
    than one that is shown too long.

    What was done has the deed and all of the object, and as its own object nothing else: "called the bank about mum" and
    "bought milk chocolate" tell nothing of "call mum" and "buy milk". What is dropped is named by its last word.
    """
    ends = [loop for loop in held if not ending.completed or loop.predicate in ENDS_WHEN_DONE]
    said = key_terms(ending.words)
    if ending.way == "stopped":
        meant = [loop for loop in ends if _is_habit_of(loop, said)]
    elif ending.way == "thing":
        named = [loop for loop in ends if is_about(loop, ending.words)]
        most = max((overlap(said, terms_of(loop)) for loop in named), default=0.0)
        meant = [loop for loop in named if overlap(said, terms_of(loop)) == most]
    elif ending.way == "is":
        meant = [loop for loop in ends if _is_of_thing(loop, said - _STATE)]
    elif ending.way == "dropped":
        meant = [loop for loop in ends if specific(said) and said <= terms_of(loop)]
    else:
        meant = [loop for loop in ends if _is_done(loop, ending.words, said)]
    return meant[0] if len(meant) == 1 else None


def _is_habit_of(loop: Loop, said: frozenset[str]) -> bool:
    """Whether a habit has all that is said to have stopped: more said is another thing, such as sugar in the tea."""
    goes_on = loop.predicate in (LoopType.HABIT, LoopType.THREAD, LoopType.FRICTION)
    return goes_on and bool(specific(said)) and said <= terms_of(loop)


def _is_of_thing(loop: Loop, thing: frozenset[str]) -> bool:
    """Whether all that is said of a thing is the loop's, and as much as its deed is done to."""
    return bool(thing) and thing <= terms_of(loop) and object_of(_wording(loop)) <= thing


def _is_done(loop: Loop, words: str, said: frozenset[str]) -> bool:
    deed, thing = deed_of(_wording(loop)), object_of(_wording(loop))
    return bool(thing) and deed <= said and thing == object_of(words) and terms_of(loop) <= said


def _wording(loop: Loop) -> str:
    return str(loop.object.value)
