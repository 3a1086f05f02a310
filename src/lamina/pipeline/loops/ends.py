"""What a sentence ends: deeds that were done, things that came or work again, and what is given up or called off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.wordsets import word_set
from lamina.pipeline.loops.dues import cut_end
from lamina.pipeline.loops.matching import is_past
from lamina.pipeline.loops.own import is_own
from lamina.pipeline.loops.patterns import NAMED_CHAR, WE
from lamina.pipeline.loops.values import Ending

__all__ = ["answer_ends", "endings_of", "is_undone_by"]

_JUST: Final = r"(?:(?:just|finally|already|actually|now|also|both|all|even|successfully) )*"
_DONE = re.compile(
    rf"(?:\b{WE}(?:'ve| have)? |^){_JUST}"
    r"(?P<done>(?!need|want|wonder|decided|promised|hoped|planned|tried|used to|forgot|kept|started|meant|wished|"
    r"asked|thought|believed|said|heard|figured|guessed|assumed|got to\b|had to\b)[a-z]+ .+)",
    re.IGNORECASE,
)
_SAME_IN_PAST = word_set("set put cut read shut let quit reset")
_PAST_DAY = re.compile(
    r"\b(?:yesterday|last (?:night|week)|this morning|earlier|today|just|already|ago)\b", re.IGNORECASE
)
_BE: Final = (
    r"(?: is| are| was| were|'s|'re| has been| have been| got)(?: now| finally| already| all| both)* "
)
_SETTLED_IS = re.compile(
    rf"^(?P<what>{NAMED_CHAR}+?){_BE}(?:done|finished|sorted(?: out)?|fixed|solved|resolved|complete[d]?|ready|handled|"
    r"dealt with|out of the way|taken care of|working(?: again| now)?|live$|merged|deployed|shipped)\b",
    re.IGNORECASE,
)
_CAME = re.compile(
    rf"^(?P<what>{NAMED_CHAR}+?)(?: has| have)?(?: finally| just)? (?:replied|answered|responded|arrived|"
    r"came(?: through| back)?|called(?: me)? back|wrote back|got back to (?:me|us)|stopped \w+ing|"
    r"works(?: again| now| fine| properly|$))(?!\w)",
    re.IGNORECASE,
)
_LINKS = word_set(
    "nobody no-one none that if when who which because think thinks says said hope until unless not never almost "
    "nearly half i we it this he she they you may might could should would must will can"
)
_ANAPHORA = re.compile(
    r"^(?:(?:all )?done|did it|did that|(?:i )?(?:just |already |finally )*(?:did|finished|sorted|handled) (?:it|that)|"
    r"(?:it|that)(?:'s| is) (?:all )?(?:done|sorted|finished|handled)|already done|taken care of)\b",
    re.IGNORECASE,
)
_ASKED_DONE = re.compile(
    r"\b(?:(?:did|have) you (?!ever\b|considered|consider\b|thought|think\b|want|heard|hear\b|know\b|like\b|mean\b)|"
    r"is (?:the|your|that) [^?]{1,80} (?:done|finished|sorted|booked|sent|paid|fixed)|"
    r"(?:are|have) you (?:done|finished)|has (?:the|your) [^?]{1,80} been )[^?.!]{0,200}\?",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^\W*(?:oh |ah )?(?:yes|yep|yeah|yea|yup|sure did|i did|i have|i've|just did|already did|✅|"
    r"👍)(?!\w)(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:but|not|no|almost|nearly|half|partly|mostly|except|will|going to|gonna|tomorrow|later|soon|need|should|"
    r"still|forgot|tried|started|some|one of)\b|n't\b|'ll\b|\?",
    re.IGNORECASE,
)
_STAYS_OPEN = re.compile(r"\b(?:but|though|although|however|except|only to)\b", re.IGNORECASE)
_UNDONE = re.compile(
    r"^(?:but|however|no ?body|no one|no (?:answer|luck|joy|reply)|(?:straight to )?voicemail|"
    r"(?:they |he |she |it |i )?(?:didn't|couldn't|wasn't|weren't|haven't)|"
    r"(?:it|they) (?:was|were) (?:closed|shut|engaged|busy|out)|unfortunately|sadly|engaged\b|closed\b|"
    r"still (?:no|not)|will try again|i(?:'ll| will| need to| have to) (?:try|call|go) again)",
    re.IGNORECASE,
)
_THING: Final = r"(?P<what>(?!to\b|me\b|it\b|that\b(?! \w)|this$|about it\b).+)"
_NAMED: Final = r"(?P<what>(?:the|my|our|that|those|these) .+?)(?: any ?more| any longer| after all| now)?$"
_DROPPED_DEEDS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{WE} (?:don't|do not|no longer) (?:need|have|want|plan) to (?P<what>.+?)(?: any ?more| any longer)?$",
        rf"\b{WE}(?:'m| am|'re| are) (?:not|no longer) going to (?P<what>.+)",
        rf"\b{WE} won't (?P<what>.{{1,200}}?) (?:after all|any ?more)\b",
        rf"\b{WE}(?:'ve| have)? decided not to (?P<what>.+)",
    )
)
_STOPPED: Final = re.compile(
    rf"\b{WE}(?:'ve| have)? (?:(?:just|now|already|finally) )*(?:stopped (?=the |my |our |\w+ing\b)|"
    r"quit (?=\w+ing\b))(?P<what>.+)",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"\b(?:today|tonight|early|halfway|at|after|before|once|when|until|for (?:a|an|the|one|two|three|\d+)|"
    r"this (?:morning|afternoon|evening|week))\b",
    re.IGNORECASE,
)
_DROPPED_THINGS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:please )?(?:never ?mind|forget|scrap|scratch|skip|drop|ignore)(?: (?:what|everything|all) "
        rf"(?:i|we) (?:said|told you))?(?: about)? {_THING}",
        rf"\b{WE}(?:'ve| have)? (?:gave up(?: on)?|given up(?: on)?|called off|changed my mind (?:about|on)|"
        r"decided against|cancelled|canceled) (?P<what>.+)",
        rf"\b{WE} (?:don't|do not|no longer) (?:need|want) {_NAMED}",
        rf"^(?P<what>{NAMED_CHAR}+?)(?: is| was| got| has been|'s)(?: now| been)? (?:cancelled|canceled|called off|"
        rf"scrapped)\b",
    )
)
_CLOSERS = re.compile(
    r"(?:,? (?:by the way|btw|lol|haha|sadly|unfortunately|phew|thank (?:god|goodness|heavens)|thankfully|luckily|"
    r"yay|sorry|i'm afraid)){1,4}$",
    re.IGNORECASE,
)
_FOR_NOW_ON = re.compile(r" for (?:now|the time being|the moment)\b", re.IGNORECASE)
_CANCELLED = re.compile(r"\bcancell?ed\b", re.IGNORECASE)
_PIECES = re.compile(r",\s+(?:and\s+)?|;\s+|(?<!\s)\s+and\s+(?:also\s+|then\s+)?")


def endings_of(said: str) -> Iterator[Ending]:
    """What a sentence ends."""
    if said.rstrip().endswith("?"):
        return
    plain = _CLOSERS.sub("", said.rstrip(" .!…"))
    dropped = list(_drops(plain))
    if dropped:
        yield from dropped
    elif _ANAPHORA.match(plain):
        yield Ending("", completed=True, confidence=0.85)
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


def _drops(plain: str) -> Iterator[Ending]:
    for pattern in _DROPPED_DEEDS:
        match = pattern.search(plain)
        if match is not None and is_own(plain[: match.start()], plain[match.end() :]):
            yield Ending(match["what"], completed=False, confidence=0.9, way="dropped")
            return
    match = _STOPPED.search(plain)
    if match is not None and is_own(plain[: match.start()], plain[match.end() :]):
        what = _FOR_NOW_ON.sub("", match["what"][: cut_end(match["what"])])
        if not _FOR_NOW.search(what):
            yield Ending(what, completed=False, confidence=0.9, way="stopped")
            return
    for pattern in _DROPPED_THINGS:
        match = pattern.search(plain)
        if match is not None and is_own(plain[: match.start()]) and "n't" not in match["what"]:
            what = match["what"]
            if pattern is not _DROPPED_THINGS[-1]:
                what = what[: cut_end(what)]
            if _CANCELLED.search(match.group()) and pattern is _DROPPED_THINGS[1]:
                # Who had to cancel something has done it.
                yield Ending(f"cancelled {what}", completed=True, confidence=0.9)
            yield Ending(what, completed=False, confidence=0.9, way="thing")
            return


def _reports(plain: str) -> Iterator[Ending]:
    if " not " not in plain:
        for pattern in (_SETTLED_IS, _CAME):
            match = pattern.match(plain)
            if match is not None and _LINKS.isdisjoint(match["what"].casefold().split()):
                words = plain[: max(match.end(), cut_end(plain))]
                yield Ending(words, completed=True, confidence=0.9, way="is")
                return
    match = _DONE.search(plain)
    if match is not None and "'ll" not in plain and is_own(plain[: match.start()]):
        for piece in _deeds(match["done"], told=match.start("done") > 0):
            yield Ending(piece, completed=True, confidence=0.9)


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
