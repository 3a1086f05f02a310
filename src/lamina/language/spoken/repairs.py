"""Words that a speaker takes back at once: "the bank no wait the insurance" is the insurance.

What stands behind the mark takes the place of the phrase of the same kind before it: a preposition and what it governs, a noun with its article, a number,
a day, a name, a verb with its objects, a clause. Where a plain mark ("no wait") finds none, the clause before it is left out:
it was taken back, whatever was meant instead. A mark that is often none ("I mean", "sorry", "no") changes something only where the kinds agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from lamina.language.spoken.writing import Part, Written
from lamina.language.wordsets import word_set

__all__ = ["may_repair", "repaired"]

_MARKS: Final = word_set("wait hang hold mean meant sorry scratch rather")
_REPAIRS_MAX: Final = 8
_REACH: Final = 200
"""Characters looked at before and behind a mark."""

_MARK = re.compile(
    r"(?<![\w'’])(?:"
    r"(?P<plain>no,? (?:wait|hang on|hold on|actually|sorry|scratch that)(?:,? no)?|(?:oh )?(?:wait|hang on|hold on|sorry|actually),? no(?! one\b| longer\b| more\b| later\b| matter\b)|"
    r"(?:no|no,? wait|wait|sorry),? i mean(?:t| to say)?|scratch that|or rather)"
    r"|(?P<often>i mean(?: to say)?|i meant|sorry)|(?P<no>no)|(?P<unit>well)"
    r")(?![\w'’-])[ ,:;–—-]*(?:…|\.{2,3})?[ ,]*",
    re.IGNORECASE,
)
_PAUSES = " ,;–—-…."
_LEADS = word_set(
    "sorry no oh ah wait actually well hmm yes yeah ok okay oops and but so nope nah correction"
)
_NO_MARK_BEHIND = re.compile(
    r"\b(?:what|how|that|which|who|if|as|do|did|don['’]?t|didn['’]?t|know|why|than|whatever|so|very|really|i['’]?m|am|feels?|says?|said|saying|is|was|are|were|be|been|with|"
    r"have|has|had|there['’]?s|answer(?:ed)?|told (?:him|her|them|me)|to|a|my|better safe than) *$",
    re.IGNORECASE,
)
_NO_REPAIR = re.compile(
    r"(?:it|that|this|well|business|no|really|seriously|honestly|come|yes|yeah|like|you|by|who|what|why|how|if|when|where|obviously|sure|just|only|literally|for|about|guys|mate|"
    r"everyone|all|folks|love|again|but|one|the one|the ones|the only)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?…](?= |\n|$)|\n")
_WORD = re.compile(r"[\w€$£][\w'’€$£%]*(?:[.:]\d+)?|[,;:]")
_STOP = word_set(
    "and but so because or that which who when while if then now please instead though tho at in on to for with from by next"
)

_TENS: Final = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty "
    "fifty sixty seventy eighty ninety hundred thousand"
)
_ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth "
    "nineteenth twentieth thirtieth"
)
_NUMBERS = word_set(f"{_TENS} {_ORDINALS} half quarter noon midday midnight")
_IN_NUMBERS = word_set("past to and a am pm o'clock oclock a.m p.m")
_FIGURE = re.compile(r"[€$£]?\d[\d.:,]*(?:st|nd|rd|th|am|pm|k|m|%|[€$£])?$")
_DAYS = word_set(
    "monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight yesterday january february march april june july august september "
    "october november december mon tue tues wed thu thurs fri sat sun"
)
_MONTHS = word_set("january february march april may june july august september october november december")
_WEEKDAYS = _DAYS - _MONTHS
_UNITS = word_set(
    "bucks pounds quid dollars euros euro dollar pound pence cents kilos pounds stone miles kilometres kilometers metres feet minutes hours days weeks months years"
)
_COUNTED = _NUMBERS | _DAYS | _UNITS
_DIGIT = re.compile(r"\d")
_PREPOSITIONS = word_set("in at on to from for with by near into about until till")
_DETERMINERS = word_set("the a an my our your his her their some this that these those another both")
_PRONOUNS = re.compile(r"(?:i|we|he|she|it|they|you|there|that)(?:['’](?:m|ve|ll|d|s|re))?$|its$")
_DENIALS = re.compile(
    r"(?:don['’]?t|do not|never ?mind|forget (?:it|that)|leave it|leave that|cancel that|not really)\b",
    re.IGNORECASE,
)
_VERBS = word_set(
    "call ring phone text email message ask tell buy get bring book pay send write pick drop find check start finish move sell order cancel cook clean fix sort put "
    "walk run drive fly visit meet print return collect water feed renew arrange take make give remind set add"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|isn['’]?t|will|would|can|could|does|did|do|am)\b|['’](?:s|re|ll) \w",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:^|[,;] *|\b(?:and|but|so|because|then) +)(?=(?:i|we|he|she|it|they|you|there|my|our|the|his|her|their|remind|set|call|book)(?:['’]\w+)?\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a stretch of text, with their places in it."""

    words: Sequence[str]
    places: Sequence[Part]

    @classmethod
    def of(cls, text: str, start: int, end: int) -> _Words:
        found = list(_WORD.finditer(text, start, end))
        return cls(
            [match[0].casefold().replace("’", "'") for match in found], [match.span() for match in found]
        )

    def start(self, at: int) -> int:
        return self.places[at][0]

    def last(self, kinds: frozenset[str], within: int) -> int | None:
        """The last of the ``within`` last words that is one of ``kinds``."""
        size = len(self.words)
        return next(
            (at for at in range(size - 1, max(-1, size - 1 - within), -1) if self.words[at] in kinds), None
        )


def may_repair(words: Set[str], text: str) -> bool:
    """Whether a text of these words, in small letters, may have something taken back."""
    if not words.isdisjoint(_MARKS) or {"no", "actually"} <= words:
        return True
    if "no" not in words and "well" not in words:
        return False
    return not words.isdisjoint(_COUNTED) or _DIGIT.search(text) is not None


def repaired(written: Written) -> Written:
    """With what was taken back left out."""
    at = 0
    for _ in range(_REPAIRS_MAX):
        match = _MARK.search(written.text, at)
        if match is None:
            return written
        parts = _parts(written.text, match)
        if parts is None:
            at = match.end()
            continue
        at = parts[0][1]
        written = written.made_of(parts)
    return written


def _parts(text: str, mark: re.Match[str]) -> list[Part] | None:
    """What is left of the text, None where the mark is none."""
    cut = mark.start()
    floor = max(0, cut - _REACH)
    for boundary in _SENTENCE.finditer(text, floor, cut):
        floor = boundary.end()
    while cut > floor and text[cut - 1] in _PAUSES:
        cut -= 1
    boundary_behind = _SENTENCE.search(text, mark.end(), mark.end() + _REACH)
    ceiling = min(len(text), mark.end() + _REACH) if boundary_behind is None else boundary_behind.start()
    before, behind = _Words.of(text, floor, cut), _Words.of(text, mark.end(), ceiling)
    if not behind.words or _LEADS.issuperset(before.words) or _NO_MARK_BEHIND.search(text[floor:cut]):
        return None
    phrase = _phrase(behind)
    whole = phrase == len(behind.words)
    if mark["unit"]:
        same = before.words[-1] in _UNITS and behind.words[0] in _UNITS
        return [(0, before.start(-1)), (mark.end(), len(text))] if same else None
    if not mark["plain"] and _NO_REPAIR.match(text, mark.end()):
        return None
    in_place = _in_place(before, behind, phrase, whole=whole)
    if in_place is not None and not (mark["no"] and not _is_number(behind.words[0])):
        (cut_from, cut_to), end = in_place, behind.places[phrase - 1][1]
        return [(0, cut_from), (mark.end(), end), (cut_to, cut), (end, len(text))]
    start = _taken_back(text, before, behind, phrase, whole=whole, mark=mark)
    if start is None and mark["plain"]:
        start = _clause_start(text, floor, cut)
    return None if start is None else [(0, start), (mark.end(), len(text))]


def _phrase(behind: _Words) -> int:
    """How many words belong to the phrase behind the mark."""
    for at, word in enumerate(behind.words):
        if at and (word in _STOP or word in ",;:"):
            if (
                word in ("to", "at", "and")
                and _is_number(behind.words[at - 1])
                and at + 1 < len(behind.words)
                and _is_number(behind.words[at + 1])
            ):
                continue
            return at
    return len(behind.words)


def _is_number(word: str) -> bool:
    return word in _NUMBERS or _FIGURE.match(word) is not None


def _number_start(words: Sequence[str]) -> int | None:
    """Where the number begins that stands at the end."""
    at = len(words)
    while at and (_is_number(words[at - 1]) or words[at - 1] in _IN_NUMBERS):
        at -= 1
    while at < len(words) and words[at] in _IN_NUMBERS:
        at += 1
    return at if at < len(words) else None


def _in_place(before: _Words, behind: _Words, phrase: int, *, whole: bool) -> Part | None:
    """What is replaced within the words before: "the fifth of May no wait the sixth", "the war committee is on Monday I mean the ward committee"."""
    if not whole:
        return None
    new = behind.words[:phrase]
    bare = [word for word in new if word not in _DETERMINERS]
    if len(bare) == 1 and _is_number(bare[0]):
        return _number_in_place(before.words, before, after_article=new[0] in _DETERMINERS)
    if not 2 < len(new) <= 4 or new[0] not in _DETERMINERS or new[-1] not in before.words[:-1]:
        return None
    end = len(before.words) - 1 - before.words[::-1].index(new[-1])
    starts = (at for at in range(end - 1, max(-1, end - 4), -1) if before.words[at] in _DETERMINERS)
    article = next(starts, None)
    if article is None or end == len(before.words) - 1:
        return None
    return before.start(article), before.places[end][1]


def _number_in_place(words: Sequence[str], before: _Words, *, after_article: bool) -> Part | None:
    """A single number with one to three words behind it, such as the month."""
    places = range(len(words) - 2, max(-1, len(words) - 5), -1)
    at = next((at for at in places if _is_number(words[at])), None)
    if at is None or (at and _is_number(words[at - 1])):
        return None
    if any(_is_number(word) or word in _WEEKDAYS or word in _PREPOSITIONS for word in words[at + 1 :]):
        return None
    article = after_article and at > 0 and words[at - 1] in _DETERMINERS
    return before.start(at - 1 if article else at), before.places[at][1]


def _taken_back(
    text: str, before: _Words, behind: _Words, phrase: int, *, whole: bool, mark: re.Match[str]
) -> int | None:
    """Where begins what the words behind the mark take the place of."""
    plain, first = bool(mark["plain"]), behind.words[0]
    if _is_number(first) or (
        first == "a" and len(behind.words) > 1 and behind.words[1] in ("quarter", "half")
    ):
        return _number_taken_back(before, behind, plain=plain)
    day = (
        behind.words[1] if first in ("on", "next", "this", "last", "by") and len(behind.words) > 1 else first
    )
    if day in _DAYS:
        return _day_taken_back(before, first, plain=plain)
    if mark["no"]:
        return None
    if _PRONOUNS.match(first) or _DENIALS.match(text, mark.end()):
        floor = before.start(0)
        alike = {word for word in behind.words[1:6] if len(word) > 4} & set(before.words[1:])
        return (
            _clause_start(text, floor, mark.start())
            if plain or (alike and not mark["often"].casefold().startswith("sorry"))
            else None
        )
    if not plain and _FINITE.search(text, mark.end(), behind.places[-1][1]):
        return None
    if first in _PREPOSITIONS:
        at = before.last(frozenset((first,)), 6)
        at = before.last(_PREPOSITIONS, 3) if at is None and plain else at
        return None if at is None else before.start(at)
    if first in _VERBS and phrase > 1:
        at = before.last(_VERBS, 6)
        return None if at is None else before.start(at)
    return _noun_taken_back(text, before, behind, phrase, whole=whole, mark=mark)


def _day_taken_back(before: _Words, first: str, *, plain: bool) -> int | None:
    at = before.last(_DAYS, 4 if plain else 1)
    if at is None:
        return None
    leads = ("next", "this", "last", *((first,) if first in _PREPOSITIONS else ()))
    while at and before.words[at - 1] in leads:
        at -= 1
    return before.start(at)


def _number_taken_back(before: _Words, behind: _Words, *, plain: bool) -> int | None:
    at = _number_start(before.words)
    if at is not None:
        return before.start(at)
    if before.words[-1] in behind.words[1:4]:  # "two kids, no wait, three kids"
        at = _number_start(before.words[:-1])
    elif plain:
        at = next((i for size in (1, 2, 3) if (i := _number_start(before.words[:-size])) is not None), None)
    return None if at is None else before.start(at)


def _noun_taken_back(
    text: str, before: _Words, behind: _Words, phrase: int, *, whole: bool, mark: re.Match[str]
) -> int | None:
    plain, first, last = bool(mark["plain"]), behind.words[0], before.words[-1]
    shared = before.last(frozenset((last,)), 1) if last in behind.words[1:4] else None
    if first in _DETERMINERS or shared is not None:
        at = before.last(_DETERMINERS, 5)
        if at is None and plain:
            return before.start(_name_start(text, before))
        return None if at is None else before.start(at)
    named = text[behind.start(0)].isupper() and text[before.start(-1)].isupper()
    if plain and phrase <= 3:
        return before.start(_name_start(text, before))
    single = mark["often"] is not None and mark["often"].casefold().startswith("i mean") and phrase == 1
    ends = whole or behind.words[phrase : phrase + 1] in (["and"], ["but"], [","])
    if phrase <= 3 and (
        (named and ends)
        or (
            single and whole and last not in _STOP | _PREPOSITIONS | _DETERMINERS and not first.endswith("ly")
        )
    ):
        return before.start(_name_start(text, before))
    return None


def _name_start(text: str, before: _Words) -> int:
    """Where the last word begins, or the name of several that it ends."""
    at = len(before.words) - 1
    while (
        at > 1
        and text[before.start(at)].isupper()
        and text[before.start(at - 1)].isupper()
        and before.words[at - 1] != "i"
    ):
        at -= 1
    return at


def _clause_start(text: str, floor: int, end: int) -> int:
    """Where the last clause before ``end`` begins, behind what joins it to the one before."""
    start = floor + len(text[floor:end]) - len(text[floor:end].lstrip())
    for match in _CLAUSE.finditer(text, floor, end):
        start = max(start, match.end())
    return start
