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
from lamina.pipeline.loops.told_over import faded, placed, talked, ticked
from lamina.pipeline.loops.values import Ending, Way

__all__ = ["answer_ends", "endings_of", "is_undone_by", "ticks_off"]

_JUST: Final = r"(?:(?:just|finally|already|actually|now|also|both|all|even|successfully) )*"
_DONE = re.compile(
    rf"(?:\b{WE}(?:'ve| have)? |^){_JUST}"
    r"(?P<done>(?!need|want|wonder|decided|promised|hoped|planned|tried|used to|forgot|kept|started|meant|wished|asked|thought|believed|said|heard|figured|guessed|assumed|got to\b|had to\b)[a-z]+ .+)",
    re.IGNORECASE,
)
_SAME_IN_PAST = word_set("set put cut read shut let quit reset")
_PAST_DAY = re.compile(
    r"\b(?:yesterday|last (?:night|week)|this morning|earlier|today|just|already|ago)\b", re.IGNORECASE
)
_BE: Final = r"(?: is| are| was| were|'s|'re| has been| have been| got)"
_SETTLED: Final = (
    r"(?:done|finished|sorted(?: out)?|fixed|solved|resolved|complete[d]?|ready|handled|dealt with|out of the way|taken care of|"
    r"cancelled by them|working(?: again| now)?|in$|live$|merged|deployed|shipped)"
)
_SETTLED_IS = re.compile(
    rf"^(?P<what>{NAMED_CHAR}+?){_BE}(?: now| finally| already| all| both)* {_SETTLED}\b", re.IGNORECASE
)
_TAKEN_IS = re.compile(
    rf"^(?P<what>{NAMED_CHAR}+?){_BE}(?: now| finally| already| all| both)* (?P<part>[a-z]+)\b", re.IGNORECASE
)
_BARE_TAKEN = re.compile(
    r"^(?:(?:the|my|our|all|both) )?(?P<what>[\w&'./-]+(?: [\w&'./-]+){0,4}?) (?P<part>[a-z]+)"
    r"(?P<rest>(?: (?:up|out|off|in|over|down|away|back|on))?(?: (?:now|already|finally|at last|today|yesterday|again|too|btw|lol|"
    r"this morning|last night|(?:for|with|by|on) .+))*)\W*$",
    re.IGNORECASE,
)
_CAME = re.compile(
    rf"^(?P<what>{NAMED_CHAR}+?)(?: has| have)?(?: finally| just)? (?:replied|answered|responded|arrived|came(?: through| back)?|called(?: me)? back|"
    r"wrote back|got back to (?:me|us)|stopped \w+ing|works(?: again| now| fine| properly|$))(?!\w)",
    re.IGNORECASE,
)
_NOT_OTHERS = word_set(
    "i we it that this there he she they you who and but so not nobody never if when what to did was"
)
_BEING = word_set("is are was were has have had been be got")
_HAVING = word_set("has have just finally already actually now also even")
_WHO_WORDS_MAX: Final = 3
_FOR_ME = re.compile(r"\bfor (?:me|us)\b", re.IGNORECASE)
_SPEAKS: Final = word_set(
    "called rang phoned texted messaged contacted visited met asked told talked spoke chatted thanked helped saw answered replied emailed looked invited "
    "wrote written seen rung went came left said moved born"
)
"""Deeds that a bare "X called" tells of X: nobody says so of what was done to X."""
_NOT_TAKEN = word_set(
    "been had got was were did called named meant supposed used closed gone tired said thought"
)
_THEIRS = re.compile(
    r"(?:paid|bought|booked|ordered|collected|fetched|picked|fixed|repaired|mended|cleaned|watered|fed|washed|cancell?ed|returned|renewed|posted|sold|"
    r"transferred|reserved)(?: up)? (?:it|that|them|the|our|my)\b",
    re.IGNORECASE,
)
"""Deeds that are done when anybody did them."""
_LINKS = word_set(
    "nobody no-one none that if when who which because think thinks says said hope until unless not never almost nearly half i we it this he she they you "
    "may might could should would must will can"
)
_ANAPHORA = re.compile(
    r"^(?:(?:all )?done|did it|did that|(?:i )?(?:just |already |finally )*(?:did|finished|sorted|handled) (?:it|that)|(?:it|that)(?:'s| is) (?:all )?(?:done|sorted|finished|handled)|"
    r"already done|taken care of)\b",
    re.IGNORECASE,
)
_ASKED_DONE = re.compile(
    r"\b(?:(?:did|have) you (?!ever\b|considered|consider\b|thought|think\b|want|heard|hear\b|know\b|like\b|mean\b)|is (?:the|your|that) [^?]{1,80} (?:done|finished|sorted|booked|sent|paid|fixed)|"
    r"(?:are|have) you (?:done|finished)|has (?:the|your) [^?]{1,80} been )[^?.!]{0,200}\?",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^\W*(?:oh |ah )?(?:yes|yep|yeah|yea|yup|sure did|i did|i have|i've|just did|already did|✅|👍)(?!\w)(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:but|not|no|almost|nearly|half|partly|mostly|except|will|going to|gonna|tomorrow|later|soon|need|should|still|forgot|tried|started|some|one of)\b|n't\b|'ll\b|\?",
    re.IGNORECASE,
)
_STAYS_OPEN = re.compile(r"\b(?:but|though|although|however|except|only to)\b", re.IGNORECASE)
_UNDONE = re.compile(
    r"^(?:but|however|no ?body|no one|no (?:answer|luck|joy|reply)|(?:straight to )?voicemail|(?:they |he |she |it |i )?(?:didn't|couldn't|wasn't|weren't|haven't)|"
    r"(?:it|they) (?:was|were) (?:closed|shut|engaged|busy|out)|unfortunately|sadly|engaged\b|closed\b|still (?:no|not)|will try again|i(?:'ll| will| need to| have to) (?:try|call|go) again)",
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
        rf"\b{WE}(?:'m| am|'re| are) (?:not|no longer) (?P<what>(?!going\b|(?:getting|doing|buying|having|bothering with|taking) (?:the|my|our|that|those|these)\b)\w+ing\b.{{0,200}}?)(?: after all| any ?more| any longer)$",
        rf"\b{WE}(?:'m| am|'re| are) no longer (?P<what>(?!going\b|(?:getting|doing|buying|having|bothering with|taking) (?:the|my|our|that|those|these)\b)\w+ing .+)",
    )
)
_UNWANTED: Final = (
    re.compile(rf"\b{WE}(?:'ve| have)? decided not to (?P<what>.+)", re.IGNORECASE),
    re.compile(
        r"(?:^|[,;.]\s+|\b(?:so|and|please|actually) )(?:don't|do not) (?P<what>\w+ (?:me|us|it|that|them))(?: after all| any ?more| please| then| now| yet)*$",
        re.IGNORECASE,
    ),
)
_KEPT: Final = re.compile(
    rf"\b{WE}(?:'d (?:like|rather|prefer)(?: to)?| would (?:like|rather|prefer)(?: to)?| want to|'ll| will|'m going to| am going to|"
    rf"(?:'ve| have)? decided to) (?:just )?keep (?P<what>[^,;.]+?)(?: after all| for now| instead| then| now)*(?=$|[,;.])",
    re.IGNORECASE,
)
_STOPPED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{WE}(?:'ve| have)? (?:(?:just|now|already|finally) )*(?:stopped (?=the |my |our |\w+ing\b)|quit (?=\w+ing\b))(?P<what>.+)",
        rf"\b{WE} (?:don't|do not) (?P<what>(?!need|have|want|plan|know|think|care|see|feel|believe|like|love|trust)\w+ .{{1,200}}?) (?:any ?more|any longer)$",
        rf"\b{WE} no longer (?P<what>(?!need|have|want|plan|know|think|care|see|feel|believe|like|love|trust)\w+ .+)",
    )
)
_FOR_NOW = re.compile(
    r"\b(?:today|tonight|early|halfway|at|after|before|once|when|until|for (?:a|an|the|one|two|three|\d+)|this (?:morning|afternoon|evening|week))\b",
    re.IGNORECASE,
)
_DROPPED_THINGS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:please )?(?:never ?mind|forget|scrap|scratch|skip|drop|ignore)(?: (?:what|everything|all) (?:i|we) (?:said|told you))?(?: about)? {_THING}",
        rf"\b{WE}(?:'ve| have)? (?:gave up(?: on)?|given up(?: on)?|called off|changed my mind (?:about|on)|decided against|cancelled|canceled) (?P<what>.+)",
        rf"\b{WE}(?:'m| am|'re| are) (?:not|no longer) (?:getting|doing|buying|having|bothering with|going (?:with|for|to)|taking) {_NAMED}",
        rf"\b{WE} (?:don't|do not|no longer) (?:need|want) {_NAMED}",
        rf"^(?P<what>{NAMED_CHAR}+?)(?: is| was| got| has been|'s)(?: now| been)? (?:cancelled|canceled|called off|scrapped)\b",
    )
)
_CALLED_OFF: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<what>{NAMED_CHAR}+?)(?: has| have|'s)?(?: just| now)* (?:cancelled|canceled|called (?:it )?off|fell through|pulled out)(?: on (?:me|us))?(?: (?:today|yesterday|again))?$",
        rf"^(?P<what>{NAMED_CHAR}+?)(?: is|'s)(?: now)? off$",
    )
)
_CLOSERS = re.compile(
    r"(?:,? (?:by the way|btw|lol|haha|sadly|unfortunately|phew|thank (?:god|goodness|heavens)|thankfully|luckily|yay|sorry|i'm afraid)){1,4}$",
    re.IGNORECASE,
)
_FOR_NOW_ON = re.compile(r" for (?:now|the time being|the moment)\b", re.IGNORECASE)
_CANCELLED = re.compile(r"\bcancell?ed\b", re.IGNORECASE)
_PIECES = re.compile(r",\s+(?:and\s+)?|;\s+|(?<!\s)\s+and\s+(?:also\s+|then\s+)?")


def endings_of(said: str, *, crossed_out: str | None = None) -> Iterator[Ending]:
    """What a sentence ends; ``crossed_out`` is what it ticks off, if it does."""
    if crossed_out is not None:
        yield Ending(crossed_out, completed=True, confidence=0.9)
        return
    if said.rstrip().endswith("?"):
        return
    plain = _plain(said)
    named = list(ticked(plain))
    if named:
        yield from named
        return
    dropped = list(_drops(plain))
    if dropped:
        yield from dropped
        return
    if _ANAPHORA.match(plain):
        yield Ending("", completed=True, confidence=0.85)
        return
    if "n't" in plain or _STAYS_OPEN.search(plain):
        return
    yield from _reports(plain)


def ticks_off(said: str) -> bool:
    """Whether a sentence begins with a name and tells only that it is done: "Report: done", "Invoice: sent"."""
    return any(ticked(re.split("[,;] ", _plain(said), maxsplit=1)[0]))


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


def _plain(said: str) -> str:
    return _CLOSERS.sub("", said.rstrip(" .!…"))


def _drops(plain: str) -> Iterator[Ending]:
    for pattern in _DROPPED_DEEDS:
        match = pattern.search(plain)
        if match is not None and is_own(plain[: match.start()], plain[match.end() :]):
            yield Ending(match["what"], completed=False, confidence=0.9, way="dropped")
            return
    undone = [
        Ending(match["what"], completed=False, confidence=0.9, way=way)
        for way, match in _unwanted(plain)
        if is_own(plain[: match.start()], plain[match.end() :])
    ]
    if undone:
        yield from undone
        return
    for pattern in _STOPPED:
        match = pattern.search(plain)
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
    if (over := faded(plain)) is not None:
        yield over
        return
    for pattern in _CALLED_OFF:
        match = pattern.match(plain)
        if match is not None and not _has_link(match["what"]):
            yield Ending(match["what"], completed=False, confidence=0.85, way="off")
            return


def _unwanted(plain: str) -> Iterator[tuple[Way, re.Match[str]]]:
    for pattern in _UNWANTED:
        if (match := pattern.search(plain)) is not None:
            yield "unwanted", match
    if (match := _KEPT.search(plain)) is not None:
        yield "kept", match


def _reports(plain: str) -> Iterator[Ending]:
    if " not " not in plain:
        over = talked(plain) or placed(plain)
        if over is not None:
            yield over
            return
        for pattern in (_SETTLED_IS, _CAME):
            match = pattern.match(plain)
            if match is not None and not _has_link(match["what"]):
                yield Ending(
                    plain[: max(match.end(), cut_end(plain))], completed=True, confidence=0.9, way="is"
                )
                return
    match = _DONE.search(plain)
    if match is not None and "'ll" not in plain and is_own(plain[: match.start()]):
        told = match.start("done") > 0
        pieces = list(_deeds(match["done"], told=told))
        if pieces:
            yield from (Ending(piece, completed=True, confidence=0.9) for piece in pieces)
            return
    taken = [words for piece in _PIECES.split(plain) if (words := _taken(piece)) is not None]
    if taken:
        yield from (Ending(words, completed=True, confidence=0.9) for words in taken)
        return
    did = _other_deed(plain)
    if did is not None:
        words = plain[: cut_end(plain)]
        if _FOR_ME.search(words):
            yield Ending(did, completed=True, confidence=0.85)
        else:
            yield Ending(words, completed=True, confidence=0.85, way="other")
            if _THEIRS.match(did):
                yield Ending(did[: cut_end(did)], completed=True, confidence=0.85, way="theirs")


def _other_deed(plain: str) -> str | None:
    """What somebody else did: "booked the B&B for me" of "my sister booked the B&B for me"."""
    words = plain.split()
    for size in range(1, min(_WHO_WORDS_MAX, len(words) - 2) + 1):
        who, did = words[:size], [word for word in words[size:] if word.casefold() not in _HAVING]
        if did and did[0].casefold() not in _BEING and is_past(did[0]):
            named = who[-1].endswith("'s") and did[0].casefold() in _NOT_TAKEN
            return None if named or _is_no_other(who) else " ".join(did)
    return None


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


def _taken(piece: str) -> str | None:
    """ "B&B booked", "the key is rotated": a thing and what was done to it."""
    match = _TAKEN_IS.match(piece) or _BARE_TAKEN.match(piece)
    if match is None:
        return None
    part, words = match["part"].casefold(), match["what"].split()
    bare = match.re is _BARE_TAKEN
    if not is_past(part) or part in _NOT_TAKEN or _has_link(match["what"]):
        return None
    if bare and (part in _SPEAKS or is_past(words[0]) or words[-1].casefold() in ("is", "has", "to", "and")):
        return None
    return piece.strip(" .!")


def _is_no_other(who: list[str]) -> bool:
    first, *more = (word.casefold().split("'")[0] for word in who)
    return first in _NOT_OTHERS or any(word in _NOT_OTHERS | _LINKS | _BEING for word in more)


def _has_link(what: str) -> bool:
    return any(word in _LINKS for word in what.casefold().split())
