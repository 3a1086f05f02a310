"""What is told of a thing rather than of a deed: a label ticked off, where something is by now, a talk that was had, a habit that
did not last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.wordsets import word_set
from lamina.pipeline.loops.dues import cut_end
from lamina.pipeline.loops.matching import is_past
from lamina.pipeline.loops.patterns import NAMED_CHAR
from lamina.pipeline.loops.values import Ending

__all__ = ["faded", "handed_to", "is_posting", "placed", "placed_thing", "talked", "ticked"]

_LABEL: Final = rf"(?P<what>{NAMED_CHAR}{{2,60}}?)"
_WHEN: Final = (
    r",? (?:now|today|yesterday|already|finally|at last|this morning|this afternoon|last night|tonight)"
)
_AGO: Final = rf"(?:{_WHEN}){{0,3}}"
_TICKED: Final = (
    re.compile(
        rf"^{_LABEL} ?(?::|\s[-–—]) ?(?:(?:all|finally|now|already|just|both) )*"
        rf"(?:(?:done|checked|check|ticked(?: off)?|sorted(?: out)?|finished|completed?|handled|settled|dealt with){_AGO}|[✅✔☑]\ufe0f?)$",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?:all )?(?:done|sorted|finished|ticked off) ?: {_LABEL}$", re.IGNORECASE),
)
_LABELLED_DEED = re.compile(
    rf"^{_LABEL} ?(?::|\s[-–—]) ?(?:(?:all|finally|now|already|just) )*(?P<part>[a-z]+){_AGO}$", re.IGNORECASE
)
_PIECES = re.compile(r"[,;]\s+(?:and\s+)?")
_IS: Final = r"(?: is| are|'s|'re)(?: now| finally| already| all)*"
_PLACED = re.compile(
    rf"^(?P<what>{NAMED_CHAR}{{2,60}}?)(?:{_IS} (?:(?:over |now )?with|(?:off|out|over) to|on (?:its|their|the) way (?:over )?to|in the hands of)|"
    rf"(?: has| have|'s)?(?: now| finally| just)* (?:went|gone)(?: off| out| over)? to) (?P<who>\S.*?){_AGO}$",
    re.IGNORECASE,
)
_POSTED = re.compile(
    rf"^(?P<what>{NAMED_CHAR}{{2,60}}?){_IS} (?:in the (?:post|mail)|on (?:its|their) way)$", re.IGNORECASE
)
_NOT_A_THING = word_set("i we you he she it they this that who what there here not still back only")
_HANDING = re.compile(
    r"^(?:get|send|bring|hand|give|deliver|post|mail|email|e-mail|forward|submit|pass|take|return|ship|file)\b",
    re.IGNORECASE,
)
_POSTING = re.compile(r"^(?:send|post|mail|ship|return)\b", re.IGNORECASE)
_FROM = re.compile(r"\b(?:from|back)\b", re.IGNORECASE)
_RECIPIENT = re.compile(r"\b(?:to|into|with) (?P<who>.+)$", re.IGNORECASE)
_AND_I: Final = r"(?P<who>(?:(?:my|our|the) )?[\w'-]+(?: [A-Z][\w'-]+)?) and (?:i|me)|(?:i|me) and (?P<whom>(?:(?:my|our|the) )?[\w'-]+(?: [A-Z][\w'-]+)?)"
_DID: Final = r"(?:(?: have|'ve|'s| finally| just| already| actually| did)*)"
_TALKED = re.compile(
    rf"^(?:(?P<we>we|(?:he|she|they) and i)|{_AND_I}){_DID} (?P<deed>talked|spoke|spoken|chatted|met|had (?:a|our|the) (?:long |good |little |proper )?(?:talk|chat))(?: up)?(?![\w'-])(?P<rest>.*)$",
    re.IGNORECASE,
)
_AT_ALL_TIMES = re.compile(
    r"\b(?:in (?:19|20)\d\d|ago|when|while|through|online|at (?:school|uni|university|college)|often|always|never|sometimes|a lot|every|"
    r"with|to)\b",
    re.IGNORECASE,
)
_BETWEEN_US = re.compile(
    rf"^(?:{_WHEN}|(?: (?:it|things|everything|this|that)(?: all)? (?:through|over|out)| about (?:it|this|that|things|everything)| properly| at length))*$",
    re.IGNORECASE,
)
_FADED = re.compile(
    r"^(?:(?:my|our|the|that|this|all) )*(?P<what>[\w'-]+(?: [\w'-]+){0,3}?)(?: (?:really|just|sadly))* "
    r"(?:(?:didn't|did not) (?:survive|last|stick)\b|fell by the wayside|(?:has gone|went|is) out (?:of )?the window|fizzled out|is on hold\b)",
    re.IGNORECASE,
)


def ticked(plain: str) -> Iterator[Ending]:
    """What is ticked off by its name: "Landlord: done". Any other deed beside a name has to be the one that was open."""
    for piece in _PIECES.split(plain) if ":" in plain or " " in plain else ():
        label = next((match for form in _TICKED if (match := form.match(piece)) is not None), None)
        if label is not None:
            yield Ending(label["what"].strip(), completed=True, confidence=0.9, way="label")
            continue
        deed = _LABELLED_DEED.match(piece)
        if deed is not None and is_past(deed["part"]):
            yield Ending(f"{deed['part']} {deed['what']}", completed=True, confidence=0.85, way="theirs")


def placed(plain: str) -> Ending | None:
    """Where something is by now: "the contract is with legal"."""
    words = plain[: cut_end(plain)]
    match = _PLACED.match(words) or _POSTED.match(words)
    if match is None or not _NOT_A_THING.isdisjoint(match["what"].casefold().split()):
        return None
    return Ending(words, completed=True, confidence=0.85, way="placed")


def placed_thing(words: str) -> tuple[str, str]:
    """The thing that such words place, and with whom; nobody is named where it is only on its way."""
    match = _PLACED.match(words)
    if match is not None:
        return match["what"], match["who"]
    match = _POSTED.match(words)
    return ("", "") if match is None else (match["what"], "")


def handed_to(wording: str) -> str | None:
    """Who gets something by a deed, or all of its words where it names them before the thing; None for other deeds."""
    if not _HANDING.match(wording):
        return None
    to = _RECIPIENT.search(wording)
    return to["who"] if to is not None else None if _FROM.search(wording) else wording


def is_posting(wording: str) -> bool:
    """Whether a deed is done once something is in the post."""
    return _POSTING.match(wording) is not None


def talked(plain: str) -> Ending | None:
    """A talk between the speaker and somebody: "Tom and I talked". Who "we" are has to be known from what was said before."""
    match = _TALKED.match(plain)
    if match is None:
        return None
    rest = match["rest"][: cut_end(match["rest"])]
    if _AT_ALL_TIMES.search(rest) is not None:
        return None
    deed = "met" if match["deed"].casefold() == "met" else "talked"
    if match["we"]:
        between = _BETWEEN_US.match(rest)
        return None if between is None else Ending(deed, completed=True, confidence=0.85, way="talked")
    who = match["who"] or match["whom"]
    to = " to" if deed == "talked" else ""
    return Ending(f"{deed}{to} {who}{rest}", completed=True, confidence=0.9)


def faded(plain: str) -> Ending | None:
    """A habit that did not last: "meditation didn't survive September"."""
    match = _FADED.match(plain)
    return None if match is None else Ending(match["what"], completed=False, confidence=0.85, way="faded")
