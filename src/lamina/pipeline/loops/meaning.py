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
    core_of,
    deed_of,
    head_of,
    key_terms,
    object_head,
    object_of,
    overlap,
    specific,
    tells_of,
)
from lamina.pipeline.loops.noted import is_appointment
from lamina.pipeline.loops.told_over import handed_to, is_posting, placed_thing
from lamina.pipeline.loops.values import Ending

__all__ = ["ENDS_WHEN_DONE", "is_about", "is_spoken_of", "meant_by", "terms_in", "terms_of"]

ENDS_WHEN_DONE: Final = frozenset({LoopType.COMMITMENT.value, LoopType.THREAD.value, LoopType.FRICTION.value})
_DONE_FROM: Final = 0.6
_NAMED_FROM: Final = 0.5
_DONE_TERMS_FROM: Final = 2
_MORE_MAX: Final = 2
_SETTLED = re.compile(
    r"^(?P<what>.+?)(?: is| are| was|'s|'re| has been| have been| got)(?: now| finally| already| all)* (?:done|sorted|dealt with|handled|taken care of|out of the way)\b",
    re.IGNORECASE,
)
_ABOUT_IT = re.compile(
    r"^(?:give|cancel|sign|apply|register|sort|arrange|organi[sz]e|deal|see|take care|fill|submit|file|switch|change|set|renew)\b.* (?:for|with|to|off|on|of) ",
    re.IGNORECASE,
)
"""What is done with a thing, and no more to be done once that is: not what is bought for it."""
_FINISHED = re.compile(
    r"^(?P<what>.+?)(?: is| are| was|'s|'re| has been| have been)(?: now| finally| already| all)* (?:finished|done|complete[d]?|ready|written)\b",
    re.IGNORECASE,
)
_MAKING = re.compile(
    r"^(?:finish|prepare|write|draft|make|create|build|design|edit|paint|knit|sew|read|review|translate|record|bake|cook|compile|update|complete|do)\b",
    re.IGNORECASE,
)
_TRIP = re.compile(
    r"^(?:go|fly|travel|drive|move|sail|cycle|trip|take .{0,40}\btrip)\b[^'’]*? to (?:the )?(?P<place>[^'’]+)$|"
    r"^visit (?P<visited>[A-Z][^'’]*)$",
    re.IGNORECASE,
)
_A_TRIP = re.compile(
    r"^(?:(?:the|my|our|that|this) )?(?P<place>.+?)(?: (?:trip|holiday|vacation|journey))?$", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"\b[A-Z][\w'-]+")
_HOW_IT_WENT = re.compile(
    r"^$|\bhow (?:did|was) (?:it|that|the talk|things)(?: all)?(?: go)? ?\?\s*$", re.IGNORECASE
)
_NO_NAMES: Final = key_terms("monday tuesday wednesday thursday friday saturday sunday going talking")
_IT_ALONE = re.compile(
    r"^\w+(?: up| off| out| in| down| back)? (?:it|that|them|both|me|us)(?: \w+){0,2}$", re.IGNORECASE
)
_HANDED_OVER = re.compile(r"^(?:get|ask|have|tell|remind|nag|chase|waiting for|make sure)\b", re.IGNORECASE)


def terms_of(loop: Loop) -> frozenset[str]:
    """The content terms of a loop's own words."""
    return terms_in(str(loop.object.value))


@lru_cache(maxsize=1024)
def terms_in(wording: str) -> frozenset[str]:
    """The content terms of the wording of a loop or of a draft; each turn is compared with the same open loops."""
    return key_terms(core_of(wording))


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
    if ending.way == "off":
        return _only([loop for loop in ends if _takes_place(loop, ending.words)])
    if ending.way == "placed":
        return _only([loop for loop in ends if _is_handed_over(_wording(loop), ending.words)])
    said = key_terms(ending.words)
    if ending.way == "label":
        return _named_by(said, ends)
    if ending.way == "talked":
        return _only([loop for loop in ends if _is_talk(_wording(loop), said, ending.about)])
    if ending.way == "faded":
        return _only([loop for loop in ends if loop.predicate == LoopType.HABIT and _is_of_habit(loop, said)])
    if ending.way == "stopped":
        return _only([loop for loop in ends if _is_habit_of(loop, said)])
    if ending.way == "kept" or (ending.way == "unwanted" and _IT_ALONE.match(ending.words)):
        return None
    if ending.way == "thing":
        named = [loop for loop in ends if is_about(loop, ending.words)]
        most = max((overlap(said, terms_of(loop)) for loop in named), default=0.0)
        named = [loop for loop in named if overlap(said, terms_of(loop)) == most]
        return _only(named or [loop for loop in ends if _is_trip(_wording(loop), ending.words)])
    best: tuple[float, Loop] | None = None
    for loop in ends:
        share = _share(ending, loop, said)
        if share <= (0.0 if best is None else best[0]):
            continue
        if not speaks_of_another(_wording(loop), ending.words, deed_first=ending.way in ("did", "dropped")):
            best = (share, loop)
    return _unnamed(ending, ends) if best is None else best[1]


def _is_habit_of(loop: Loop, said: frozenset[str]) -> bool:
    """Whether a habit has all that is said to have stopped: more said is another thing, such as sugar in the tea."""
    goes_on = loop.predicate in (LoopType.HABIT, LoopType.THREAD, LoopType.FRICTION)
    return goes_on and bool(specific(said)) and said <= terms_of(loop)


def _takes_place(loop: Loop, words: str) -> bool:
    wording = _wording(loop)
    return (is_about(loop, words) and is_appointment(wording)) or _is_trip(wording, words)


def _is_trip(wording: str, words: str) -> bool:
    """Whether words name the place of a trip: "Iceland", "the Iceland trip"."""
    trip, named = _TRIP.match(wording), _A_TRIP.match(words)
    if trip is None or named is None:
        return False
    place = key_terms(named["place"])
    return bool(place) and place <= key_terms(trip["place"] or trip["visited"])


def _is_handed_over(wording: str, words: str) -> bool:
    """Whether a deed was to bring a thing where words say that it is."""
    what, who = placed_thing(words)
    thing, to = key_terms(what), handed_to(wording)
    if not thing or to is None or not thing <= object_of(wording):
        return False
    return key_terms(who) <= key_terms(to) if who else is_posting(wording)


def _named_by(said: frozenset[str], ends: Sequence[Loop]) -> Loop | None:
    """The one loop whose deed or object has all that a label says: "landlord"."""
    named = [
        loop
        for loop in ends
        if loop.predicate != LoopType.FRICTION
        and specific(said)
        and said <= terms_of(loop) - aside_of(_wording(loop))
    ]
    most = max((overlap(terms_of(loop), said) for loop in named), default=0.0)
    return _only([loop for loop in named if overlap(terms_of(loop), said) == most])


def _is_talk(wording: str, deed: frozenset[str], about: str) -> bool:
    """Whether "we talked" tells of a talk with somebody: the only one who was named before it, or anybody where a sitting begins with it."""
    who = object_of(wording)
    if deed_of(wording) != deed or not who:
        return False
    if _HOW_IT_WENT.search(about):
        return True
    if not who <= key_terms(about):
        return False
    named = key_terms(" ".join(_NAME.findall(about)))
    return named <= who | _NO_NAMES


def _is_of_habit(loop: Loop, said: frozenset[str]) -> bool:
    """Whether a habit is to do what is named, rather than something with it."""
    deed = deed_of(_wording(loop))
    return bool(specific(said)) and said <= terms_of(loop) and (not deed or deed <= said)


def _unnamed(ending: Ending, ends: Sequence[Loop]) -> Loop | None:
    """The only loop that words can mean which do not name it: "Tom paid it", "the electricity is done"."""
    open_deeds = [loop for loop in ends if loop.predicate == LoopType.COMMITMENT]
    if ending.way in ("did", "theirs") and _IT_ALONE.match(ending.words):
        deed, about = deed_of(ending.words), key_terms(ending.about)
        same = [loop for loop in open_deeds if deed and deed_of(_wording(loop)) == deed]
        if ending.about:
            same = [loop for loop in same if overlap(object_of(_wording(loop)), about) >= _NAMED_FROM]
        return _only(same)
    if ending.way == "is" and (finished := _FINISHED.match(ending.words)) is not None:
        head, thing = head_of(finished["what"]), key_terms(finished["what"])
        made = [
            loop
            for loop in open_deeds
            if _MAKING.match(_wording(loop))
            and head == object_head(_wording(loop))
            and thing <= terms_of(loop)
        ]
        if made:
            return _only(made)
    settled = _SETTLED.match(ending.words) if ending.way == "is" else None
    if settled is None:
        return None
    with_it = [loop for loop in ends if is_about(loop, settled["what"])]
    only = _only(with_it)
    return only if only is not None and _ABOUT_IT.match(_wording(only)) else None


def _share(ending: Ending, loop: Loop, said: frozenset[str]) -> float:
    """How much of a loop was said, 0 where that is not enough. "The laptop works again" names what was wrong, not how; what
    somebody did names both."""
    terms = terms_of(loop)
    share, common = overlap(terms, said, aside_of(_wording(loop))), len(terms & said)
    if ending.way == "is" and not (
        tells_of(_wording(loop), ending.words) and _same_numbers(_wording(loop), ending.words)
    ):
        return 0.0
    whole = object_of(_wording(loop))
    if ending.way == "is" and len(whole) >= _DONE_TERMS_FROM and whole <= said:
        return max(share, _NAMED_FROM)
    if ending.way in ("is", "dropped", "unwanted"):
        return share if share >= _NAMED_FROM and common else 0.0
    if ending.way == "other" and not _HANDED_OVER.match(_wording(loop)):
        return 0.0
    deed = deed_of(_wording(loop))
    if ending.way == "theirs" and not (loop.predicate == LoopType.COMMITMENT and deed and deed <= said):
        return 0.0
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
