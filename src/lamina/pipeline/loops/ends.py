"""What a sentence ends: deeds that were done, things that came or work again, and what is given up or called off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.questions import is_asked
from lamina.language.tables import table
from lamina.pipeline.loops.dues import cut_end
from lamina.pipeline.loops.matching import is_past
from lamina.pipeline.loops.own import is_own
from lamina.pipeline.loops.values import LoopEnding, Way

__all__ = ["answer_ends", "endings_of", "is_undone_by"]

_TABLE: Final = table(__name__)
_DONE: Final = _TABLE.pattern("done")
_SAME_IN_PAST = _TABLE.words("same_in_past")
_PAST_DAY: Final = _TABLE.pattern("past_day")
_SETTLED_IS: Final = _TABLE.pattern("settled_is")
_CAME: Final = _TABLE.pattern("came")
_WORKS: Final = _TABLE.pattern("works")
_PASSIVES: Final = (_TABLE.pattern("passive"), _TABLE.pattern("participle"))
_SETTLED: Final = _TABLE.pattern("settled")
_NONE: Final = _TABLE.pattern("none")
_LINKS: Final = _TABLE.words("links")
_ANAPHORA: Final = _TABLE.pattern("anaphora")
_ASKED_DONE: Final = _TABLE.pattern("asked_done")
_YES: Final = _TABLE.pattern("yes")
_NOT_YET: Final = _TABLE.pattern("not_yet")
_STAYS_OPEN = re.compile(r"\b(?:but|though|although|however|except|only to)\b", re.IGNORECASE)
_UNDONE: Final = _TABLE.pattern("undone")
_DROPPED_DEEDS: Final = _TABLE.patterns("dropped_deeds")
_PUT_OFF: Final = _TABLE.pattern("put_off")
_STOPPED: Final = _TABLE.pattern("stopped")
_FOR_NOW: Final = _TABLE.pattern("for_now")
_DROPPED_THINGS: Final = _TABLE.patterns("dropped_things")
_CLOSERS: Final = _TABLE.pattern("closers")
_FOR_NOW_ON = re.compile(r" for (?:now|the time being|the moment)\b", re.IGNORECASE)
_CANCELLED = re.compile(r"\bcancell?ed\b", re.IGNORECASE)
_PIECES = re.compile(r",\s+(?:and\s+)?|;\s+|(?<!\s)\s+and\s+(?:also\s+|then\s+)?")


def endings_of(said: str) -> Iterator[LoopEnding]:
    """What a sentence ends."""
    if is_asked(said):
        return
    plain = _CLOSERS.sub("", said.rstrip(" .!…"))
    dropped = list(_drops(plain))
    if dropped:
        yield from dropped
    elif _ANAPHORA.match(plain):
        yield LoopEnding("", completed=True, confidence=0.85)
    elif "n't" not in plain and not _STAYS_OPEN.search(plain):
        yield from _reports(plain)


def answer_ends(text: str, before: str) -> bool:
    """Whether a turn says yes to the question at the end of the turn before, when that asked if something was done."""
    asked = [*_ASKED_DONE.finditer(before)]
    match = _YES.match(text.replace("’", "'"))
    return (
        match is not None
        and bool(asked)
        and asked[-1].end() >= len(before.rstrip()) - 1
        and _NOT_YET.search(match["rest"]) is None
    )


def is_undone_by(said: str) -> bool:
    """Whether a sentence says that what the one before told of came to nothing."""
    return _UNDONE.match(said) is not None


def _drops(plain: str) -> Iterator[LoopEnding]:
    for pattern in _DROPPED_DEEDS:
        match = pattern.search(plain)
        if match is not None and is_own(plain[: match.start()], plain[match.end() :]):
            if not _PUT_OFF.search(match["what"]):
                yield LoopEnding(match["what"], completed=False, confidence=0.9, way="dropped")
            return
    match = _STOPPED.search(plain)
    if match is not None and is_own(plain[: match.start()], plain[match.end() :]):
        what = _FOR_NOW_ON.sub("", match["what"][: cut_end(match["what"])])
        if not _FOR_NOW.search(what):
            yield LoopEnding(what, completed=False, confidence=0.9, way="stopped")
            return
    none = _NONE.match(plain)
    if none is not None:
        yield LoopEnding(none["what"], completed=False, confidence=0.9, way="thing")
        return
    for pattern in _DROPPED_THINGS:
        match = pattern.search(plain)
        if match is not None and is_own(plain[: match.start()]) and "n't" not in match["what"]:
            what = match["what"]
            if pattern is not _DROPPED_THINGS[-1]:
                what = what[: cut_end(what)]
            if _CANCELLED.search(match.group()) and pattern is _DROPPED_THINGS[1]:
                # Who had to cancel something has done it.
                yield LoopEnding(f"cancelled {what}", completed=True, confidence=0.9)
            yield LoopEnding(what, completed=False, confidence=0.9, way="thing")
            return


def _reports(plain: str) -> Iterator[LoopEnding]:
    if " not " not in plain:
        for pattern in (_SETTLED_IS, _WORKS, _CAME):
            match = pattern.match(plain)
            if match is not None and _LINKS.isdisjoint(match["what"].casefold().split()):
                words = plain[: max(match.end(), cut_end(plain))]
                way: Way = "came" if pattern is _CAME else "is"
                yield LoopEnding(words, completed=True, confidence=0.9, way=way)
                return
        passive = [*_passives(plain)]
        if passive:
            yield from passive
            return
    match = _DONE.search(plain)
    if match is not None and "'ll" not in plain and is_own(plain[: match.start()]):
        for piece in _deeds(match["done"], told=match.start("done") > 0):
            yield LoopEnding(piece, completed=True, confidence=0.9)


def _passives(plain: str) -> Iterator[LoopEnding]:
    """ "The rent is paid", "flights booked": the deed in the words of who did it."""
    for piece in _PIECES.split(plain):
        settled = _SETTLED.match(piece)
        if settled is not None and _LINKS.isdisjoint(settled["what"].casefold().split()):
            yield LoopEnding(f"{settled['what']} is done", completed=True, confidence=0.9, way="is")
            continue
        match = next((found for each in _PASSIVES if (found := each.match(piece)) is not None), None)
        if match is None or not is_past(match["deed"]):
            continue
        if _LINKS.isdisjoint(match["what"].casefold().split()):
            yield LoopEnding(f"{match['deed']} {match['what']}", completed=True, confidence=0.9)


def _deeds(done: str, *, told: bool) -> Iterator[str]:
    """The deeds of a report, one after the other; what names no deed of its own goes with the one before."""
    deed = ""
    for piece in _PIECES.split(done):
        if _is_deed(piece, told=told):
            if deed:
                yield deed
            deed = piece
        elif deed:
            deed += f", {piece}"
    if deed:
        yield deed


def _is_deed(words: str, *, told: bool) -> bool:
    first = words.split(" ", 1)[0].casefold()
    if first in _SAME_IN_PAST:
        return told or _PAST_DAY.search(words) is not None
    return is_past(words)
