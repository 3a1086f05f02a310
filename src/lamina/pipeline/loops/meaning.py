"""Which of the open loops some words mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeVar

from lamina.kernel.records import Fact, Loop, LoopType
from lamina.language.dated import is_time_word
from lamina.language.tables import table
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
from lamina.pipeline.loops.values import LoopEnding
from lamina.pipeline.readings.quoting import was_said

__all__ = [
    "ENDS_WHEN_DONE",
    "bears_on",
    "is_about",
    "is_appointment",
    "is_spoken_of",
    "meant_by",
    "terms_in",
    "terms_of",
    "was_done",
]

FactT = TypeVar("FactT", bound=Fact)
ENDS_WHEN_DONE: Final = frozenset({LoopType.COMMITMENT.value, LoopType.THREAD.value, LoopType.FRICTION.value})
_NAMED_FROM: Final = 0.5
_MORE_MAX: Final = 2
_AND = re.compile(r"\band\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_TABLE: Final = table(__name__)
_TAKES_PLACE: Final = _TABLE.pattern("takes_place")
_ERRAND: Final = _TABLE.pattern("errand")
_SPEAKS: Final = _TABLE.pattern("speaks")
_COMES: Final = _TABLE.pattern("comes")
_OWNERS: Final = re.compile(r"\b(?:(his|her|their|your)|([\w-]+)['’]s) (?=([\w-]+))", re.IGNORECASE)
_IT_ALONE: Final = _TABLE.pattern("it_alone")


def terms_of(loop: Fact) -> frozenset[str]:
    """The content terms of a loop's own words, or of those of a plan."""
    return terms_in(_wording(loop))


@lru_cache(maxsize=1024)
def terms_in(wording: str) -> frozenset[str]:
    """The content terms of the wording of a loop or of a draft; each turn is compared with the same open loops."""
    return key_terms(wording)


def bears_on(terms: frozenset[str], wording: str) -> bool:
    """Whether words that may end a loop share a key word with it, in whatever form; verbs that fit everything do not
    count where it has others."""
    whole = key_terms(wording)
    return any(was_said(term, terms) for term in specific(whole) or whole)


def is_appointment(wording: str) -> bool:
    """Whether an open loop is something that takes place, which others can call off."""
    return _TAKES_PLACE.search(wording) is not None and _ERRAND.match(wording) is None


def is_about(loop: Fact, words: str) -> bool:
    """Whether words that name a thing name one of the loop's: by the last of their words."""
    head = head_of(words)
    return bool(head) and head <= terms_of(loop)


def is_spoken_of(loop: Loop, earlier: str) -> bool:
    """Whether what was said before speaks of a loop: by what its deed is done to."""
    thing = object_of(_wording(loop))
    return overlap(thing, key_terms(earlier)) >= _NAMED_FROM


def meant_by(ending: LoopEnding, held: Sequence[FactT]) -> FactT | None:
    """The loop or plan that the words end: the one whose terms they hold most of, or the only one with what they drop."""
    ends = [loop for loop in held if not ending.completed or _ends_when_done(loop)]
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
    if ending.way == "came":
        # Who answers, or what comes, ends a waiting for it, and no call or errand of one's own.
        ends = [loop for loop in ends if _COMES.match(_wording(loop))]
    is_meant = _is_so_now if ending.way in ("is", "came") else was_done
    meant = [loop for loop in ends if is_meant(_wording(loop), ending.words)]
    # Of several the one that is told of most, and of these the one that was spoken of last, which stands first.
    return max(meant, key=lambda loop: overlap(terms_of(loop), said), default=None)


def _is_habit_of(loop: Fact, said: frozenset[str]) -> bool:
    """Whether a habit has all that is said to have stopped: more said is another thing, such as sugar in the tea."""
    goes_on = loop.predicate in (LoopType.HABIT, LoopType.THREAD, LoopType.FRICTION)
    return goes_on and bool(specific(said)) and said <= terms_of(loop)


def was_done(wording: str, told: str) -> bool:
    """Whether a report has the deed of a loop and what that is done to, and speaks of no other thing of the kind."""
    said = key_terms(" ".join(word for word in told.split() if not is_time_word(word)))
    terms = key_terms(wording)
    deed, thing = deed_of(wording), object_of(wording) & terms
    if deed_of(told) != deed or not (deed | thing) <= said or not (deed | thing):
        return False
    if _is_of_another(wording, told):
        return False
    left_out = aside_of(wording) - said
    # "Call Bob and Ana" is not done by "called Bob", nor a flight to Rome booked by one to Paris.
    another = left_out and (said - terms or _AND.search(wording))
    more = _MORE_MAX if thing else 0  # "rang mum" is not of "ring him"
    return not another and len(said - terms) <= more and tells_of(wording, told)


def _is_so_now(wording: str, told: str) -> bool:
    """Whether what is told to be over is what a loop is about: "the laptop works again" names what was wrong, not how."""
    said, terms = key_terms(told), key_terms(wording)
    another = aside_of(wording) - said and said - terms
    is_named = overlap(terms, said) >= _NAMED_FROM or not object_of(wording) - said
    if _SPEAKS.match(wording) or _is_of_another(wording, told):
        return False  # "mum is ready" tells of no call to her
    if not terms & said - deed_of(wording) or not is_named or another:
        return False  # of "fix the sink" nothing is told by "the car is fixed"
    return tells_of(wording, told) and _same_numbers(wording, told)


def _is_of_another(wording: str, told: str) -> bool:
    """Whether what is told of is called somebody's who is not in the wording: "my daughter's passport", "her essay"."""
    known = key_terms(wording) | {word.casefold() for word in wording.split()}
    return any(
        (pronoun.casefold() not in known if pronoun else not key_terms(owner) <= known)
        and key_terms(thing) <= known
        for pronoun, owner, thing in _OWNERS.findall(told)
        if key_terms(thing)
    )


def _same_numbers(wording: str, said: str) -> bool:
    """Whether what is said may be of a thing that is told apart by its number: not "Python 3.11" of "Python 3.12"."""
    numbers, told = set(_NUMBER.findall(wording)), set(_NUMBER.findall(said))
    return not numbers or not told or not numbers.isdisjoint(told)


def _only(loops: Sequence[FactT]) -> FactT | None:
    return loops[0] if len(loops) == 1 else None


def _ends_when_done(loop: Fact) -> bool:
    return loop.predicate in ENDS_WHEN_DONE or not isinstance(loop, Loop)


def _wording(loop: Fact) -> str:
    return loop.object.text
