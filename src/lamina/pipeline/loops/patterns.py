"""What people say when they leave something open, as patterns over one plain English sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lamina.kernel.records import LoopType
from lamina.language.wordsets import word_set
from lamina.pipeline.loops.several import DEED_VERBS

__all__ = [
    "ADVERBS",
    "BASES",
    "DUTY",
    "GOING",
    "HABIT",
    "LETS",
    "NAMED_CHAR",
    "NOTED",
    "NO_DEEDS",
    "NO_PROMISES",
    "PASSED",
    "PATTERNS",
    "ROUTINE",
    "UNDER_WAY",
    "USUALLY",
    "WANT",
    "WE",
    "WILL",
    "Opening",
]

ADVERBS: Final = r"(?:(?:really|still|also|just|probably|definitely|absolutely|urgently|seriously|actually|already|finally|kind of|maybe) )*"
WE: Final = r"(?:i|we)"
_SOMEBODY = r"(?:(?:my|our|the) )?(?!(?:that|to|me|myself|ourselves|you|not|never|it|this|a|an|the|my|our|some|is|was)\b)[\w'-]+"
_SOMETHING = r"(?:an?(?! (?:while|few|couple|bit|long|day|week|month|year|lot)\b)|the(?! (?:other|day|week|moon)\b)|some(?! (?:time|day)\b)|another|his|her|their|our|my)"
NAMED_CHAR: Final = r"(?:[^,;:.(!?]|\.(?=\d)|(?<=\b[DM][rs])\.)"
"""A character of what a sentence names before its verb: no end of a clause, but for a version and a title."""
_ASK = r"^(?:(?:can|could|will|would) you )?(?:please )?(?:remind|nudge|ping) me (?:again )?"
_AT_SOME_TIME = (
    r"(?:(?!\b(?:not|never|no|to)\b|n't\b)(?:[^,.;:]|(?<=\b[ap])\.(?=m)|(?<=\b[ap]\.m)\.)){1,40}? "
)
_ASKED_WHAT = r"(?!(?:who|what|which|where|when|why|how|the name)\b)"
_MEETING = r"(?:appointment|meeting|interview|exam|deadline|flight|call|presentation|check-?up|surgery|test|viewing|class|shift|reservation)"
_NOT_TO = rf"{_ASKED_WHAT}(?:{_AT_SOME_TIME})?(?:(?:not|never)(?: ever)? to|to (?:not|never)(?: ever)?)"

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
    confidence: float
    salience: int
    firm: bool


def _p(
    kind: LoopType,
    pattern: str,
    form: str = "{0}",
    confidence: float = 0.9,
    salience: int = 3,
    *,
    firm: bool = True,
) -> Opening:
    return Opening(kind, re.compile(pattern, re.IGNORECASE), form, confidence, salience, firm)


_NEVER_NEEDED = r"(?!(?:admit|say|know|be honest|be mad|be crazy|be joking|pee|think about it|ask(?! (?!you\b)(?:[\w'-]+\.? ){1,3}(?:for|about|to|if|whether|when|why|how)\b)|see|(?:go|leave|run|dash|head off)(?: now| soon)?(?=$|[,.!;]))\b)"
_C, _D, _F, _T = LoopType.COMMITMENT, LoopType.DECISION, LoopType.FRICTION, LoopType.THREAD
PATTERNS: Final[Sequence[Opening]] = (
    _p(_C, rf"{_ASK}{_NOT_TO} forget to (.+)", salience=4),
    _p(_C, rf"{_ASK}{_NOT_TO} forget (?:about )?(.+)", "Remember {0}", salience=4),
    _p(_C, rf"{_ASK}{_NOT_TO} (.+)", "Remember not to {0}", salience=4),
    _p(_C, rf"{_ASK}(?:to|that i (?:need|have) to) (.+)", salience=4),
    _p(_C, rf"{_ASK}(?:about|of) {_ASKED_WHAT}(.+)", "Remember {0}", salience=4),
    _p(_C, rf"{_ASK}(?!(?:who|what|which|where|when|why|how|about|of|that(?! (?:day|morning|afternoon|evening|night)))\b){_AT_SOME_TIME}to (.+)", salience=4),
    _p(_C, r"^(?:please )?(?:don't|do not) let me forget (?:to )(.+)", salience=4),
    _p(_C, r"^(?:please )?(?:don't|do not) let me forget (?:about )?(.+)", "Remember {0}", salience=4),
    _p(_C, r"^(?:please )?help me (?:to )?remember to (.+)", salience=4),
    _p(_C, r"^(?:i )?(?:must not|mustn't|can't|cannot|shouldn't|don't want to) forget to (.+)", salience=4),
    _p(_C, r"^(?:(?:can|could|will|would) you )?(?:please )?(?:put|add|stick) (.+?) (?:in|on|to|into) my (?:diary|calendar|agenda|to-?do(?: list)?|list)\b(?! of\b)", salience=4),
    _p(_C, rf"(?:\b{WE}(?:'ve| have)? {ADVERBS}(?:promised|told|assured|said)|^{ADVERBS}promised) (?:(?:(?:my|our|the) )?[\w'-]+ )?(?:that )?{WE}(?:'d|'ll| would| will) {ADVERBS}(?!(?:rather|like|love|be|have|never|not|think|prefer|better|say|see)\b)(.+)", salience=4),
    _p(_C, rf"^next steps?(?::| [-–]| is(?: to|:)| are(?: to|:)) (?=(?:{DEED_VERBS})\b)(.+)"),
    _p(_C, rf"\b{WE} {ADVERBS}(?:need to|have to|must|have got to) (?:remember to )?{ADVERBS}{_NEVER_NEEDED}(.+)"),
    _p(_C, rf"^(?:still )?{ADVERBS}(?:need to|have to|must) (?:remember to )?{ADVERBS}(?!(?:be|have|'ve|see|say|admit|know|think|feel|mean|seem|look like|taste|sound|smell)\b){_NEVER_NEEDED}(.+)"),
    _p(_C, rf"\b{WE} {ADVERBS}need ((?:a|an|some|new|more|another|the|my) (?!(?:break|holiday|coffee|drink|nap|hug|minute|moment|second|sec|rest|sleep|hand|favou?r|wee|shower|answer|help|function|script|recipe|summary|list|name|way|word|lot|bit|little)\b).+)", "Get {0}", 0.75, 2),
    _p(_C, rf"\b{WE}(?:'ve| have)? {ADVERBS}(?:got to|gotta) {ADVERBS}{_NEVER_NEEDED}(.+)"),
    _p(_C, rf"^{ADVERBS}gotta {ADVERBS}{_NEVER_NEEDED}(?!(?:keep|focus|love|stay|be|have|give)\b)(.+)"),
    _p(_C, rf"\b{WE}(?:'m| am|'re| are) {ADVERBS}(?:supposed to|meant to|due to) (.+)"),
    _p(_C, rf"\b{WE} {ADVERBS}(?:should|ought to) {ADVERBS}(?!(?:be|have|say|think|know|all|do this|do that)\b)(.+)", confidence=0.75, salience=2, firm=False),
    _p(_C, rf"^{ADVERBS}promised (?:(?:(?:my|our|the) )?(?!not\b|never\b)[\w'-]+ )?to (?!(?:not|never)\b)(.+)", salience=4),
    _p(_C, rf"(?:\b{WE}(?:'ve| have)? {ADVERBS}|^{ADVERBS})promised ({_SOMEBODY} {_SOMETHING} .+)", "Give {0}", salience=4),
    _p(_C, rf"\b{WE} {ADVERBS}(?:promised?|agreed?|committed) {ADVERBS}(?:(?:(?!(?:not|never)\b)\w+ ){{0,2}}?to )(?!(?:not|never)\b)(.+)", salience=4),
    _p(_C, rf"\b{WE}(?:'m| am|'re| are) {ADVERBS}(?:going to|gonna|planning to|planning on) (?!be\b)(.+)", confidence=0.85, firm=False),
    _p(_C, rf"\b{WE} {ADVERBS}(?:plan|intend|aim) to (.+)", confidence=0.85, firm=False),
    _p(_C, r"\bmy ((?:\w+ ){0,3}(?:is|are) due)\b", "{0}", salience=4),
    _p(_C, rf"\b(?:{WE} have|{WE}'ve got|i got) (?:a |an |my |our |another )?((?:[\w'-]+ ){{0,3}}{_MEETING})\b"),
    _p(_D, rf"\b{WE}(?:'ve| have)? {ADVERBS}(?:decided|chosen|resolved) (?!if\b|whether\b|against\b)(?:that |to |on )?(.+)"),
    _p(_D, rf"\b{WE} {ADVERBS}chose (?:to )?(.+)"),
    _p(_D, rf"\b{WE}(?:'ve| have)? made up (?:my|our) minds?(?: to|:| that)? (.+)"),
    _p(_D, rf"\b(?:{WE}(?:'m| am|'re| are) going with|let's go with|{WE}(?:'ve| have)? settled on) (.+)", "Go with {0}"),
    _p(_D, rf"^from now on,? {WE}(?:'ll| will| am| are|'m|'re)? ?(.+)", "From now on {0}"),
    _p(_F, r"^((?:my|the|our|this|that|his|her|their) (?:[\w'-]+ ){1,4}(?:keeps?|kept|won't stop) \w+ing\b.*)"),
    _p(_F, rf"\b{WE} (?:keep|always end up|constantly) (\w+ing\b.+)", "Keep {0}"),
    _p(_F, rf"\b{WE} {ADVERBS}((?:can't|cannot|couldn't) (?:seem to|get|figure out|stop) .+)"),
    _p(_F, rf"\b{WE}(?:'m| am|'re| are|'ve been| have been) {ADVERBS}(?:struggling|stuck|fed up) (?:with|to|on|at) (.+)", "Struggling with {0}"),
    _p(_F, rf"\b{WE}(?:'m| am|'ve been| have been|'re| are|'ve| have) {ADVERBS}(?:having (?:trouble|problems|issues)|been having trouble|trouble) (?:with )?(.+)", "Trouble with {0}"),
    _p(_F, rf"\b{WE}(?:'m| am|'ve been| have been|'re| are| feel) (?:(?:so|really|very|pretty|still|quite|super|a bit|kind of) )*((?:worried|anxious|stressed|nervous|frustrated|annoyed|overwhelmed|upset) (?:about|with|by|over|because of) .+)"),
    _p(_F, r"^((?:my|the|our) (?:[\w'-]+ ){1,3}(?:(?:is|are) (?:still )?(?:broken|not working|down)|(?:isn't|aren't|still isn't) working|(?:doesn't|don't|won't) (?:work|start|open|load|turn on))\b.*)"),
    _p(_F, r"^(.+? (?:is|are) driving me (?:crazy|mad|nuts))"),
    _p(_T, rf"(?:^|\b{WE}(?:'m| am|'re| are) )(?:still )?waiting (?:for|on|to hear (?:back )?from) (.+)", "Waiting for {0}"),
    _p(_T, rf"(?:^|\b{WE} )(?:still )?(?:haven't|have not) heard (?:back )?from (.+)", "Waiting to hear from {0}"),
    _p(_T, r"^(?:there's )?(?:still )?no (?:word|news|reply|answer) (?:yet )?from (.+)", "Waiting to hear from {0}"),
    _p(_T, rf"\b{WE} (?:still haven't|haven't|have not) ((?!heard)\w+ .+?) yet\b", "Not yet {0}", 0.8),
    _p(_T, rf"\b{WE} still (?:haven't|have not) ((?!heard)\w+ .+)", "Not yet {0}", 0.85),
    _p(_T, rf"\b{WE}(?:'m| am|'re| are|'ve been| have been) {ADVERBS}((?:working on|looking for|looking into|applying (?:for|to)|figuring out|preparing (?:for)?|studying for|training for|organi[sz]ing|renovating|saving (?:up )?for|learning|writing|building|planning) .+)"),
    _p(_T, rf"\b{WE}(?:'m| am|'re| are|'ve been| have been) {ADVERBS}(trying to .+)", confidence=0.8),
)  # fmt: skip
WILL = re.compile(rf"\b{WE}(?:'ll| will| shall) {ADVERBS}(.+)", re.IGNORECASE)
NOTED = re.compile(r"^((?:follow up|check in|circle back|touch base) (?:with|on|about) .+)", re.IGNORECASE)
"""An errand noted in a word; without a day it may be asked of anybody."""
UNDER_WAY = re.compile(
    rf"\b{WE}(?:'m| am|'re| are) {ADVERBS}(?P<deed>moving|flying|travell?ing|driving|meeting|visiting|seeing|leaving|hosting|presenting|starting(?! to\b)|"
    r"having(?= (?:lunch|dinner|brunch|drinks|guests|surgery|an? (?:operation|scan|mri|meeting|call|interview|appointment|test|party))\b)|"
    r"giving(?= (?:a|my|the) (?:\w+ )?(?:talk|presentation|speech|lecture|workshop|demo)\b)|getting(?= (?:married|the keys|my|our)\b))(?P<rest>.*)",
    re.IGNORECASE,
)
"""What is told as if it were done now, where it has a day to come."""
BASES: Final = {
    "moving": "move", "flying": "fly", "travelling": "travel", "traveling": "travel", "driving": "drive", "meeting": "meet", "visiting": "visit",
    "seeing": "see", "leaving": "leave", "hosting": "host", "presenting": "present", "starting": "start", "having": "have", "giving": "give",
    "getting": "get",
}  # fmt: skip
GOING: Final = word_set("move fly travel drive leave")
"""What is told in full without where to."""
LETS = re.compile(r"^let(?:'s| us) (?!(?:say|see|not|face|be|go with)\b)(.+)", re.IGNORECASE)
WANT = re.compile(rf"\b{WE}(?:'d like| want| would like| hope) to (.+)", re.IGNORECASE)
ROUTINE = re.compile(
    r"^(?:(?:(?:my|our|the|a) )?(?:new )?(?:habit|routine|ritual)(?: is|:| [-–])|started(?= \w+ing\b)) (.+)",
    re.IGNORECASE,
)
"""A habit that is named, or begun by nobody said."""
HABIT = re.compile(
    rf"\b(?:{WE} (?:usually |always |often |normally |typically |generally |try to |like to |tend to )?|{WE}'ve been |{WE}'m (?=\w+ing\b|at\b|in\b|on\b|up\b|off\b)|"
    rf"{WE} have been |{WE}'ve started |{WE} started )((?!used|will|have to|need|must|want|should|had|was|were|went|did|got|think|said|(?:could|would|might|may)\b|(?:(?:just|really|only|absolutely|simply|also|so|have) )?"
    r"(?:\w+n't\b|(?:cannot|never|not|no longer|do not|rarely|seldom|hardly|barely)\b|(?:love|hate|like|dislike|dread|miss|enjoy|prefer)\b(?! \w+ing\b)))[a-z'-]+ .+)",
    re.IGNORECASE,
)
"""What is not done again and again is no habit, nor is what one likes."""
DUTY = re.compile(rf"\b{WE}(?:'ve)? {ADVERBS}(?:have to|have got to|got to|gotta) (.+)", re.IGNORECASE)
PASSED = re.compile(
    r"^(?:\w+ed|ran|ate|drank|saw|came|took|made|met|said|told|felt|left|spent|slept|woke|won|lost|bought)\b(?<!need)(?<!feed)",
    re.IGNORECASE,
)
USUALLY = re.compile(
    rf"\b{WE} (?:usually|always|normally|typically|generally|tend to) (?!(?:have to|not|\w+n't|never|do not)\b)([a-z'-]+ .+)",
    re.IGNORECASE,
)
