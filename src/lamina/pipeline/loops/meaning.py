"""Which of the open loops some words mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from lamina.kernel.records import Loop, LoopType
from lamina.pipeline.loops.matching import aside_of, core_of, head_of, key_terms, object_of, overlap, tells_of
from lamina.pipeline.loops.noted import is_appointment
from lamina.pipeline.loops.values import Ending

__all__ = ["ENDS_WHEN_DONE", "is_about", "meant_by", "terms_in", "terms_of"]

ENDS_WHEN_DONE: Final = frozenset({LoopType.COMMITMENT.value, LoopType.THREAD.value, LoopType.FRICTION.value})
_DONE_FROM: Final = 0.6
_NAMED_FROM: Final = 0.5
_DONE_TERMS_FROM: Final = 2
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


def meant_by(ending: Ending, held: Sequence[Loop]) -> Loop | None:
    """The loop that the words end: the one whose terms they hold most of, or the only one with what they drop."""
    ends = [loop for loop in held if not ending.completed or loop.predicate in ENDS_WHEN_DONE]
    if ending.way == "off":
        return _only(
            [loop for loop in ends if is_about(loop, ending.words) and is_appointment(_wording(loop))]
        )
    said = key_terms(ending.words)
    if ending.way == "thing":
        named = [loop for loop in ends if is_about(loop, ending.words)]
        most = max((overlap(said, terms_of(loop)) for loop in named), default=0.0)
        return _only([loop for loop in named if overlap(said, terms_of(loop)) == most])
    best: tuple[float, Loop] | None = None
    for loop in ends:
        share = _share(ending, loop, said)
        if share > 0 and (best is None or share > best[0]):
            best = (share, loop)
    return None if best is None else best[1]


def _share(ending: Ending, loop: Loop, said: frozenset[str]) -> float:
    """How much of a loop was said, 0 where that is not enough. "The laptop works again" names what was wrong, not how; what
    somebody did names both."""
    terms = terms_of(loop)
    share, common = overlap(terms, said, aside_of(_wording(loop))), len(terms & said)
    if ending.way == "is" and not tells_of(_wording(loop), ending.words):
        return 0.0
    whole = object_of(_wording(loop))
    if ending.way == "is" and len(whole) >= _DONE_TERMS_FROM and whole <= said:
        return max(share, _NAMED_FROM)
    if ending.way in ("is", "dropped"):
        return share if share >= _NAMED_FROM and common else 0.0
    if ending.way == "other" and not _HANDED_OVER.match(_wording(loop)):
        return 0.0
    enough = share >= _DONE_FROM and common >= min(len(terms), _DONE_TERMS_FROM)
    return share if enough and tells_of(_wording(loop), ending.words) else 0.0


def _only(loops: Sequence[Loop]) -> Loop | None:
    return loops[0] if len(loops) == 1 else None


def _wording(loop: Loop) -> str:
    return str(loop.object.value)
