"""Reading loops out of a person's own words, by patterns over plain English sentences.

Five types, as the contract has them: what somebody has to or will do (commitment), what is decided, what keeps going
wrong or weighs on them (friction), what they do again and again (habit), and what is under way or waited for (thread).
Questions, hypotheses and courtesies leave nothing open. Due dates come from the temporal parser, read as coming ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from lamina.kernel.records import Horizon, LoopType
from lamina.kernel.time import from_datetime
from lamina.language.own_words import own_words
from lamina.language.sentences import split_sentences
from lamina.language.temporal import TemporalMatch
from lamina.language.temporal.calendar import day_after
from lamina.language.wordsets import word_set
from lamina.pipeline.loops.matching import is_past
from lamina.pipeline.loops.values import Ending, LoopDraft, LoopReading

__all__ = ["FindMoments", "draft_of", "due_of", "read_loops", "shortened"]

FindMoments = Callable[[str, datetime], Sequence[TemporalMatch]]

TEXT_CHARS_MAX: Final = 4000
SENTENCES_MAX: Final = 40
_WORDS_MAX: Final = 12

_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|so|well|and|but|also|oh|ah|hmm|yeah|yes|no|right|anyway|actually|honestly|please|hey|hi|listen|by the way|"
    r"btw|plus|then|now|first|next|finally|unfortunately|apparently|today|tomorrow|tonight)\b[\s,.:;!-]*)+",
    re.IGNORECASE,
)
_ADVERBS = r"(?:(?:really|still|also|just|probably|definitely|absolutely|urgently|seriously|actually|already|finally|kind of|maybe) )*"
_I = r"(?:i|we)"
_HYPOTHETICAL = re.compile(
    r"^(?:if|when|whenever|unless|suppose|imagine|in case|what if|had i)\b", re.IGNORECASE
)
_END = re.compile(
    r"\s+(?:because|so that|so|but|since|though|although|which|if|unless|and (?:then|i|we|also|he|she|they|it))\b"
    r"|[,;:!?.—–]\s|\s[-–—]\s|[.!?…]+$",
    re.IGNORECASE,
)
_CLOSERS = re.compile(
    r"(?:\s+(?:too|as well|please|again|anyway|though|soon|at some point|for sure))+$", re.IGNORECASE
)
_URGENT = re.compile(
    r"\b(?:urgent(?:ly)?|asap|as soon as possible|important|deadline|really must|right away|critical)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\s*\b(?:by|on|before|until|till|at|in|for|from|during|over|this|due|no later than)\s*$", re.IGNORECASE
)

_MEETING = r"(?:appointment|meeting|interview|exam|deadline|flight|call|presentation|check-?up|surgery|test|viewing|class|shift|reservation)"
_NO_DEEDS = word_set(
    "be see say admit bet guess think let miss never know have take get try hope love like need want keep check always "
    "go consider wait leave stick pass stop look"
)
"""Verbs after "I'll" that promise nothing by themselves: with a day, or with more than two words behind them, they do."""

_Pattern = tuple[LoopType, re.Pattern[str], str, float, int]


def _p(
    kind: LoopType, pattern: str, form: str = "{0}", confidence: float = 0.9, salience: int = 3
) -> _Pattern:
    return kind, re.compile(pattern, re.IGNORECASE), form, confidence, salience


_C, _D, _F, _T = LoopType.COMMITMENT, LoopType.DECISION, LoopType.FRICTION, LoopType.THREAD
_PATTERNS: Final[Sequence[_Pattern]] = (
    _p(_C, r"^(?:(?:can|could|will|would) you )?(?:please )?remind me (?:again )?(?:to|that i (?:need|have) to) (.+)", salience=4),
    _p(_C, r"^(?:(?:can|could|will|would) you )?(?:please )?remind me (?:about|of) (.+)", "Remember {0}", salience=4),
    _p(_C, r"^(?:please )?(?:don't|do not) let me forget (?:to )(.+)", salience=4),
    _p(_C, r"^(?:please )?(?:don't|do not) let me forget (?:about )?(.+)", "Remember {0}", salience=4),
    _p(_C, r"^(?:please )?help me (?:to )?remember to (.+)", salience=4),
    _p(_C, r"^(?:i )?(?:must not|mustn't|can't|cannot|shouldn't|don't want to) forget to (.+)", salience=4),
    _p(_C, rf"\b{_I} {_ADVERBS}(?:need to|have to|must|have got to) {_ADVERBS}(?!(?:admit|say|know|be honest)\b)(.+)"),
    _p(_C, rf"\b{_I} {_ADVERBS}need ((?:a|an|some|new|more|another|the|my) .+)", "Get {0}", 0.75, 2),
    _p(_C, rf"\b{_I}(?:'ve| have)? {_ADVERBS}(?:got to|gotta) {_ADVERBS}(.+)"),
    _p(_C, rf"\b{_I}(?:'m| am|'re| are) {_ADVERBS}(?:supposed to|meant to|due to) (.+)"),
    _p(_C, rf"\b{_I} {_ADVERBS}(?:should|ought to) {_ADVERBS}(?!(?:be|have|say|think|know)\b)(.+)", confidence=0.75, salience=2),
    _p(_C, rf"\b{_I} {_ADVERBS}(?:promised?|agreed?|committed|said (?:that )?{_I}'d) {_ADVERBS}(?:(?:\w+ ){{0,2}}?to )?(.+)", salience=4),
    _p(_C, rf"\b{_I}(?:'m| am|'re| are) {_ADVERBS}(?:going to|gonna|planning to|planning on) (?!be\b)(.+)", confidence=0.85),
    _p(_C, rf"\b{_I} {_ADVERBS}(?:plan|intend|aim) to (.+)", confidence=0.85),
    _p(_C, r"\bmy ((?:\w+ ){0,3}(?:is|are) due)\b", "{0}", salience=4),
    _p(_C, rf"\b(?:{_I} have|{_I}'ve got|i got) (?:a |an |my |our |another )?((?:[\w'-]+ ){{0,3}}{_MEETING})\b"),
    _p(_D, rf"\b{_I}(?:'ve| have)? {_ADVERBS}(?:decided|chosen|resolved) (?!if\b|whether\b)(?:that |to |on )?(.+)"),
    _p(_D, rf"\b{_I} {_ADVERBS}chose (?:to )?(.+)"),
    _p(_D, rf"\b{_I}(?:'ve| have)? made up (?:my|our) minds?(?: to|:| that)? (.+)"),
    _p(_D, rf"\b(?:{_I}(?:'m| am|'re| are) going with|let's go with|{_I}(?:'ve| have)? settled on) (.+)", "Go with {0}"),
    _p(_D, rf"^from now on,? {_I}(?:'ll| will| am| are|'m|'re)? ?(.+)", "From now on {0}"),
    _p(_F, r"^((?:my|the|our|this|that|his|her|their) (?:[\w'-]+ ){1,4}(?:keeps?|kept|won't stop) \w+ing\b.*)"),
    _p(_F, rf"\b{_I} (?:keep|always end up|constantly) (\w+ing\b.+)", "Keep {0}"),
    _p(_F, rf"\b{_I} {_ADVERBS}((?:can't|cannot|couldn't) (?:seem to|get|figure out|stop) .+)"),
    _p(_F, rf"\b{_I}(?:'m| am|'re| are|'ve been| have been) {_ADVERBS}(?:struggling|stuck|fed up) (?:with|to|on|at) (.+)", "Struggling with {0}"),
    _p(_F, rf"\b{_I}(?:'m| am|'ve been| have been|'re| are|'ve| have) {_ADVERBS}(?:having (?:trouble|problems|issues)|been having trouble|trouble) (?:with )?(.+)", "Trouble with {0}"),
    _p(_F, rf"\b{_I}(?:'m| am|'ve been| have been|'re| are| feel) (?:(?:so|really|very|pretty|still|quite|super|a bit|kind of) )*((?:worried|anxious|stressed|nervous|frustrated|annoyed|overwhelmed|upset) (?:about|with|by|over|because of) .+)"),
    _p(_F, r"^((?:my|the|our) (?:[\w'-]+ ){1,3}(?:(?:is|are) (?:still )?(?:broken|not working|down)|(?:isn't|aren't|still isn't) working|(?:doesn't|don't|won't) (?:work|start|open|load|turn on))\b.*)"),
    _p(_F, r"^(.+? (?:is|are) driving me (?:crazy|mad|nuts))"),
    _p(_T, rf"\b(?:{_I}(?:'m| am|'re| are) )?(?:still )?waiting (?:for|on|to hear (?:back )?from) (.+)", "Waiting for {0}"),
    _p(_T, rf"\b(?:{_I} )?(?:still )?(?:haven't|have not) heard (?:back )?from (.+)", "Waiting to hear from {0}"),
    _p(_T, r"^(?:there's )?(?:still )?no (?:word|news|reply|answer) (?:yet )?from (.+)", "Waiting to hear from {0}"),
    _p(_T, rf"\b{_I} (?:still haven't|haven't|have not) ((?!heard)\w+ .+?) yet\b", "Not yet {0}", 0.8),
    _p(_T, rf"\b{_I} still (?:haven't|have not) ((?!heard)\w+ .+)", "Not yet {0}", 0.85),
    _p(_T, rf"\b{_I}(?:'m| am|'re| are|'ve been| have been) {_ADVERBS}((?:working on|looking for|looking into|applying (?:for|to)|figuring out|preparing (?:for)?|studying for|training for|organi[sz]ing|renovating|saving (?:up )?for|learning|writing|building|planning) .+)"),
    _p(_T, rf"\b{_I}(?:'m| am|'re| are|'ve been| have been) {_ADVERBS}(trying to .+)", confidence=0.8),
)  # fmt: skip
_WILL = re.compile(rf"\b{_I}(?:'ll| will| shall) {_ADVERBS}(.+)", re.IGNORECASE)
_LETS = re.compile(r"^let(?:'s| us) (?!(?:say|see|not|face|be|go with)\b)(.+)", re.IGNORECASE)
_WANT = re.compile(rf"\b{_I}(?:'d like| want| would like| hope) to (.+)", re.IGNORECASE)
_HABIT = re.compile(
    rf"\b(?:{_I} (?:usually |always |often |normally |typically |generally |try to |like to |tend to )?|{_I}'ve been |{_I}'m |"
    rf"{_I} have been |{_I}'ve started |{_I} started )((?!used|will|have to|need|must|want|should|had|was|were|went|did|got)[a-z'-]+ .+)",
    re.IGNORECASE,
)
_PASSED = re.compile(
    r"^(?:\w+ed|ran|ate|drank|saw|came|took|made|met|said|told|felt|left|spent|slept|woke|won|lost|bought)\b(?<!need)(?<!feed)",
    re.IGNORECASE,
)
_USUALLY = re.compile(
    rf"\b{_I} (?:usually|always|normally|typically|generally|tend to) (?!have to\b)([a-z'-]+ .+)",
    re.IGNORECASE,
)

_DONE = re.compile(
    rf"(?:\b{_I}(?:'ve| have)? |^)(?:(?:just|finally|already|actually|now|also) )*"
    r"(?P<done>(?!need|want|wonder|decided|promised|hoped|planned|tried|used to|forgot|kept)[a-z]+ .+)",
    re.IGNORECASE,
)
_STATED_DONE = re.compile(
    r"^(?P<what>.+?) (?:is|are|was|were|'s|has been|have been|got)(?: now| finally| already| all)* "
    r"(?:done|finished|sorted(?: out)?|fixed|booked|sent|paid|solved|resolved|complete[d]?|ready|handled|cancelled by them|working(?: again| now)?)\b",
    re.IGNORECASE,
)
_CAME = re.compile(
    r"^(?P<what>.+?)(?: has| have)?(?: finally| just)? (?:replied|answered|responded|arrived|came(?: through| back)?|called(?: me)? back|wrote back|got back to (?:me|us)|stopped \w+ing|works(?: again| now| fine)?)\b",
    re.IGNORECASE,
)
_ANAPHORA = re.compile(
    r"^(?:(?:all )?done|did it|did that|(?:i )?(?:just |already |finally )*(?:did|finished|sorted|handled) (?:it|that)|(?:it|that)(?:'s| is) (?:all )?(?:done|sorted|finished|handled)|"
    r"already done|taken care of)\b",
    re.IGNORECASE,
)
_DROPPED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_I} (?:don't|do not|no longer) (?:need|have|want|plan) to (?P<what>.+?)(?: any ?more| any longer)?$",
        rf"\b{_I}(?:'m| am|'re| are) (?:not|no longer) going to (?P<what>.+)",
        rf"\b{_I} won't (?P<what>.+?) (?:after all|any ?more)\b",
        r"^(?:never ?mind|forget(?: about)?|scrap|skip|drop) (?:about )?(?!to\b|me\b)(?P<what>.+)",
        rf"\b{_I}(?:'ve| have)? (?:cancelled|canceled|gave up(?: on)?|given up(?: on)?|called off|changed my mind about) (?P<what>.+)",
        r"^(?P<what>.+?) (?:is|was|got|has been) (?:cancelled|canceled|called off|off)\b",
    )
)


def read_loops(text: str, observed_at: datetime, find_moments: FindMoments) -> LoopReading:
    """What a person's turn leaves open and what it ends."""
    drafts: list[LoopDraft] = []
    endings: list[Ending] = []
    for sentence in split_sentences(own_words(text[:TEXT_CHARS_MAX]), count_max=SENTENCES_MAX):
        said = _LEAD.sub("", sentence.text.replace("’", "'").strip()).strip()
        if not said or _HYPOTHETICAL.match(said):
            continue
        ended = list(_endings(said))
        endings += ended
        if any(not ending.completed for ending in ended):
            continue
        draft = _draft(said, sentence.text, observed_at, find_moments)
        if draft is not None:
            drafts.append(draft)
    return LoopReading(tuple(drafts), tuple(endings))


def _draft(said: str, sentence: str, now: datetime, find_moments: FindMoments) -> LoopDraft | None:
    moments = find_moments(sentence, now)
    asks = said.rstrip().endswith("?")
    recurring = any(moment.kind == "set" for moment in moments)
    if not asks and (habit := _habit(said, recurring)) is not None:
        return draft_of(LoopType.HABIT, habit, 0.8, 2, sentence, None, now)
    coming = [m for m in moments if due_of(m, now) is not None]
    due = due_of(coming[0], now) if coming else None
    for kind, pattern, form, confidence, salience in _PATTERNS:
        match = pattern.search(said)
        if match is None or (asks and "remind" not in said.lower()):
            continue
        words = _act(match[1], moments)
        if words:
            return draft_of(kind, form.format(words), confidence, salience, sentence, due, now)
    promised = None if asks else _promised(said, moments, dated=due is not None)
    return None if promised is None else draft_of(_C, promised, 0.85, 3, sentence, due, now)


def _promised(said: str, moments: Sequence[TemporalMatch], *, dated: bool) -> str | None:
    """ "I'll send the report by Friday", "let's go hiking tomorrow", "I want to run on Saturday"."""
    match = _WILL.search(said)
    if match is not None:
        words = _act(match[1], moments)
        verb = words.split(" ", 1)[0].lower()
        deed = verb not in _NO_DEEDS and len(words.split()) >= 2
        if words and verb != "be" and (deed or (dated and len(words.split()) >= 2)):
            return words
    for pattern in (_LETS, _WANT):
        match = pattern.search(said)
        if match is not None and dated:
            words = _act(match[1], moments)
            if words and (words.lower() != "plan" or len(words.split()) > 1):
                return words
    return None


def _habit(said: str, recurring: bool) -> str | None:
    match = _HABIT.search(said) if recurring else _USUALLY.search(said)
    if match is None or _PASSED.match(match[1]):
        return None
    return _cut(match[1]) or None


def draft_of(
    kind: LoopType,
    words: str,
    confidence: float,
    salience: int,
    sentence: str,
    due: datetime | None,
    now: datetime,
) -> LoopDraft:
    """A draft as its words and its day make it; ``sentence`` says how much it presses."""
    horizon: Horizon = "ongoing"
    if kind is not LoopType.COMMITMENT:
        due = None
    if due is not None:
        left = due - now
        horizon = (
            "today" if left <= timedelta(days=1) else "this_week" if left <= timedelta(days=7) else "ongoing"
        )
        salience += left <= timedelta(days=2)
    salience += bool(_URGENT.search(sentence))
    return LoopDraft(
        kind,
        words[:1].upper() + words[1:],
        confidence,
        min(5, salience),
        horizon,
        None if due is None else from_datetime(due),
    )


def due_of(moment: TemporalMatch, now: datetime) -> datetime | None:
    """The end of a time that lies ahead: the words of a plan mean a coming day."""
    if moment.kind in ("duration", "set"):
        return None
    ends = [window.valid_to or window.valid_from for window in moment.readings]
    ends += [moment.latest or moment.earliest]
    # "By Friday" ends where Friday begins; who says it means to have it done on that day.
    through = moment.grain == "day" and moment.text.lower().startswith(("by ", "until ", "till "))
    ahead = [day_after(end) if through else end for end in ends if end is not None]
    ahead = [end for end in ahead if end > now]
    return min(ahead, default=None)


def _act(words: str, moments: Sequence[TemporalMatch]) -> str:
    """The deed, without the time that it is due and what only goes with it."""
    for moment in moments:
        if moment.kind != "set" and moment.text in words:
            before, _, after = words.partition(moment.text)
            words = f"{_PREPOSITION.sub('', before)} {after.strip()}".strip()
    return _cut(words)


def _cut(words: str) -> str:
    words = _END.split(f"{words.strip()} ", maxsplit=1)[0]
    words = _CLOSERS.sub("", " ".join(words.split()).strip(" ,.;:!?-—–\"'"))
    return shortened(words)


def shortened(words: str) -> str:
    """At most the words that a loop has room for."""
    return " ".join(words.split()[:_WORDS_MAX])


def _endings(said: str) -> Iterator[Ending]:
    if said.rstrip().endswith("?"):
        return
    plain = said.rstrip(" .!…")
    for pattern in _DROPPED:
        match = pattern.search(plain)
        if match is not None:
            yield Ending(match["what"], completed=False, confidence=0.9)
            return
    if _ANAPHORA.match(plain):
        yield Ending("", completed=True, confidence=0.85)
        return
    for pattern in (_STATED_DONE, _CAME):
        match = pattern.match(plain)
        if match is not None and "n't" not in plain and " not " not in plain:
            yield Ending(plain, completed=True, confidence=0.9, stated=True)
            return
    match = _DONE.search(plain)
    if match is not None and "n't" not in plain and "'ll" not in plain and is_past(match["done"]):
        yield Ending(match["done"], completed=True, confidence=0.9)
