"""What people say when they leave something open, as patterns over one plain English sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lamina.kernel.records import LoopType
from lamina.language.wordsets import word_set

__all__ = [
    "HABIT",
    "NAMED_CHAR",
    "NO_DEEDS",
    "NO_PROMISES",
    "PASSED",
    "PATTERNS",
    "WE",
    "WILL",
    "Opening",
]

_ADVERBS: Final = (
    r"(?:(?:really|still|also|just|probably|definitely|absolutely|urgently|seriously|actually|already|"
    r"finally|kind of|maybe) )*"
)
WE: Final = r"(?:i|we)"
_AM: Final = rf"\b{WE}(?:'m| am|'re| are) {_ADVERBS}"
_HAVE_BEEN: Final = rf"\b{WE}(?:'m| am|'re| are|'ve been| have been) {_ADVERBS}"
NAMED_CHAR: Final = r"(?:[^,;:.(!?]|\.(?=\d)|(?<=\b[DM][rs])\.)"
"""A character of what a sentence names before its verb: no end of a clause, but for a version and a title."""
_ASK = r"^(?:(?:can|could|will|would) you )?(?:please )?(?:remind|nudge|ping) me (?:again )?"
_AT_SOME_TIME = (
    r"(?:(?!\b(?:not|never|no|to)\b|n't\b)(?:[^,.;:]|(?<=\b[ap])\.(?=m)|(?<=\b[ap]\.m)\.)){1,40}? "
)
_ASKED_WHAT = r"(?:who|what|which|where|when|why|how|about|of|that|the name)\b"
_MEETING = (
    r"(?:appointment|meeting|interview|exam|deadline|flight|call|presentation|check-?up|surgery|test|viewing|"
    r"class|shift|reservation)"
)
_NEVER_NEEDED = (
    r"(?!(?:admit|say|know|be honest|be mad|be crazy|be joking|pee|think about it|"
    r"ask(?! (?!you\b)(?:[\w'-]+\.? ){1,3}(?:for|about|to|if|whether|when|why|how)\b)|see|"
    r"(?:go|leave|run|dash|head off)(?: now| soon)?(?=$|[,.!;]))\b)"
)

NO_DEEDS: Final = word_set(
    "be see say admit bet guess think let know have take get try hope like want keep check always "
    "go consider wait leave stick pass stop look"
)
"""Verbs after "I'll" that promise nothing by themselves: with a day and more words behind them, they do."""

NO_PROMISES: Final = word_set(
    "be miss never love enjoy regret understand forget need turn hear feel die cry probably not have"
)
"""Verbs after "I'll" that tell of what comes, and promise nothing at all."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A pattern and what a sentence of its kind leaves open; its first group are the words of it.

    ``firm`` ones stand whatever the condition that comes behind them.
    """

    type: LoopType
    pattern: re.Pattern[str]
    form: str
    salience: int
    firm: bool


def _p(kind: LoopType, pattern: str, form: str = "{0}", salience: int = 3, *, firm: bool = True) -> Opening:
    return Opening(kind, re.compile(pattern, re.IGNORECASE), form, salience, firm)


_C, _D, _F, _T = LoopType.COMMITMENT, LoopType.DECISION, LoopType.FRICTION, LoopType.THREAD
PATTERNS: Final[Sequence[Opening]] = (
    _p(_C, rf"{_ASK}to (?!(?:not|never)\b)(.+)", salience=4),
    _p(_C, rf"{_ASK}(?:about|of) (?!{_ASKED_WHAT})(.+)", "Remember {0}", salience=4),
    _p(_C, rf"{_ASK}(?!{_ASKED_WHAT}){_AT_SOME_TIME}to (?!(?:not|never)\b)(.+)", salience=4),
    _p(_C, r"^(?:please )?(?:don't|do not) let me forget to (.+)", salience=4),
    _p(
        _C,
        rf"(?:\b{WE}(?:'ve| have)? {_ADVERBS}(?:promised|told|assured|said)|^{_ADVERBS}promised) "
        rf"(?:(?:(?:my|our|the) )?[\w'-]+ )?(?:that )?{WE}(?:'d|'ll| would| will) {_ADVERBS}"
        r"(?!(?:rather|like|love|be|have|never|not|think|prefer|better|say|see)\b)(.+)",
        salience=4,
    ),
    _p(
        _C,
        rf"\b{WE} {_ADVERBS}(?:need to|have to|must(?! have\b)|have got to) (?:remember to "
        rf")?{_ADVERBS}{_NEVER_NEEDED}(.+)",
    ),
    _p(_C, rf"{_AM}(?:going to|gonna|planning to|planning on) (?!(?:be|keep)\b)(.+)", firm=False),
    _p(_C, rf"\b{WE} {_ADVERBS}(?:plan|intend|aim) to (.+)", firm=False),
    _p(
        _C,
        rf"\b(?:{WE} have|{WE}'ve got|i got) (?:a |an |my |our |another )?((?:[\w'-]+ ){{0,3}}{_MEETING})\b",
    ),
    _p(
        _D,
        rf"\b{WE}(?:'ve| have)? {_ADVERBS}(?:decided|chosen|resolved) (?!if\b|whether\b|against\b)(?:that |to |on "
        rf")?(.+)",
    ),
    _p(
        _D,
        rf"\b(?:{WE}(?:'m| am|'re| are) going with|let's go with|{WE}(?:'ve| have)? settled on) (.+)",
        "Go with {0}",
    ),
    _p(
        _F,
        r"^((?:my|the|our|this|that|his|her|their) (?:[\w'-]+ ){1,4}(?:keeps?|kept|won't stop) \w+ing\b.*)",
    ),
    _p(_F, rf"{_HAVE_BEEN}struggling (?:with|to|on|at) (.+)", "Struggling with {0}"),
    _p(
        _F,
        rf"\b{WE}(?:'m| am|'ve been| have been|'re| are|'ve| have) {_ADVERBS}"
        r"(?:having (?:trouble|problems|issues)|been having trouble|trouble) (?:with )?(.+)",
        "Trouble with {0}",
    ),
    _p(
        _F,
        rf"\b{WE}(?:'m| am|'ve been| have been|'re| are| feel) (?:(?:so|really|very|pretty|still|quite|super|a bit|"
        rf"kind of) )*"
        r"((?:worried|anxious|stressed|nervous|frustrated|annoyed|overwhelmed|upset) (?:about|with|by|over|because "
        r"of) .+)",
    ),
    _p(
        _T,
        rf"(?:^|\b{WE}(?:'m| am|'re| are) )(?:still )?waiting (?:for|on|to hear (?:back )?from) (.+)",
        "Waiting for {0}",
    ),
    _p(
        _T,
        rf"{_HAVE_BEEN}((?:working on|applying (?:for|to)|figuring out|preparing (?:for)?|studying for|training for|"
        r"organi[sz]ing|renovating|saving (?:up )?for|learning|writing|building|planning) .+)",
    ),
)
WILL = re.compile(rf"\b{WE}(?:'ll| will| shall) {_ADVERBS}(.+)", re.IGNORECASE)
HABIT = re.compile(
    rf"\b(?:{WE} (?:usually |always |often |normally |typically |generally |try to |like to |tend to )?|{WE}'ve been |"
    rf"{WE}'m (?=\w+ing\b|at\b|in\b|on\b|up\b|off\b)|{WE} have been |{WE}'ve started |{WE} started )"
    r"((?!used|will|have to|need|must|want|should|had|was|were|went|did|got|think|said|(?:could|would|might|may)\b|"
    r"(?:(?:just|really|only|absolutely|simply|also|so|have) )?(?:\w+n't\b|"
    r"(?:cannot|never|not|no longer|do not|rarely|seldom|hardly|barely)\b|"
    r"(?:love|hate|like|dislike|dread|miss|enjoy|prefer)\b(?! \w+ing\b)))[a-z'-]+ .+)",
    re.IGNORECASE,
)
"""What is not done again and again is no habit, nor is what one likes."""
PASSED = re.compile(
    r"^(?:\w+ed|ran|ate|drank|saw|came|took|made|met|said|told|felt|left|spent|slept|woke|won|lost|bought)\b"
    r"(?<!need)(?<!feed)",
    re.IGNORECASE,
)
