"""The deeds of a sentence that names several: "call the bank and email Marcus", "buy milk, call mum and pay the rent"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lamina.language.temporal import TemporalMatch
from lamina.pipeline.loops.dues import cut_end, is_clock, masked

__all__ = ["DEED_VERBS", "Deed", "deeds_in", "goes_on_with_deed"]

_FIRM: Final = (
    r"(?:buy|pay|get|e-?mail|write|send|cancel|find|ask|tell|renew|prepare|reschedule|arrange|fill|make|reply|pick|clean|fix|take|"
    r"finish|collect|feed|wash|sell|submit|bring|give|help|visit|update|apply|organi[sz]e|bake|rotate|merge|deploy)"
)
_NOUNS_TOO: Final = r"(?:book|call|ring|phone|text|order|check|move|open|close|drop|sign|return|water|walk|print|register|cook|review|test)"
DEED_VERBS: Final = rf"{_FIRM}|{_NOUNS_TOO}"
_DEED: Final = re.compile(rf"(?:{DEED_VERBS})\b \w", re.IGNORECASE)
_DEED_WITH_DAY: Final = re.compile(
    rf"(?:{DEED_VERBS}|see|meet|go|talk|speak|have|do|start|join|watch|attend|play|drive|fly|present|teach|leave|travel)\b \w",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(
    rf"(?:(?i:then|also|to) )?(?:(?i:{_FIRM}) \w|(?i:{_NOUNS_TOO}) "
    r"(?:(?i:(?:the|a|an|my|our|his|her|their|some|this|that|it|him|them|up|in|off|out|back|mum|mom|dad|gran|grandma|grandpa)\b)|[A-Z]))"
)
_DEFINITE: Final = re.compile(
    rf"(?i:{DEED_VERBS}) (?:(?i:(?:up|in|off|out|back) )?)(?:(?i:(?:the|my|our|his|her|their|mum|mom|dad|gran|grandma|grandpa)\b)|[A-Z])"
)
_GOES_ON = re.compile(r"(?:and|then|also|plus)[\s,]{1,3}(?:(?:then|also)[\s,]{1,3})?", re.IGNORECASE)
_WORDS_MIN: Final = 2
_NO_DEED = re.compile(
    r"\b(?:i|we|he|she|they|it's|you|me|us|is|are|was|were|will|would|can|could|if|when)\b|\?", re.IGNORECASE
)
_BETWEEN = re.compile(r",\s{1,9}(?:and\s{1,9})?|(?<!\s)\s{1,9}and\s{1,9}")
_AND = re.compile(r"(?<!\s)\s{1,9}(?:and|(?P<then>then))\s{1,9}", re.IGNORECASE)
_AFTER = re.compile(r",?\s{1,9}(?:and(?:\s{1,9}(?:then|also))?|then|also)\s{1,9}", re.IGNORECASE)
_DEEDS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Deed:
    """Where one of the deeds of a sentence stands; a ``listed`` one is an item between commas."""

    start: int
    end: int
    listed: bool = False


def deeds_in(sentence: str, deed: int, moments: Sequence[TemporalMatch]) -> list[Deed]:
    """The deeds of a sentence from the first on, which stands at ``deed``: "go and get milk" and "buy milk and eggs" are one."""
    said = masked(sentence, moments)
    days = [moment.start for moment in moments if not is_clock(moment)]
    listed = _listed(said, deed)
    if listed:
        return listed
    found: list[Deed] = []
    start = deed
    while len(found) < _DEEDS_MAX and (mark := _next(said, start, days)) is not None:
        found.append(Deed(start, mark.start()))
        start = mark.end()
    return [*found, Deed(start, len(sentence))]


def goes_on_with_deed(sentence: str) -> int | None:
    """Where the deed begins of a sentence that goes on with one: "And sign the contract."."""
    begins = _GOES_ON.match(sentence)
    if begins is None or not _DEFINITE.match(sentence, begins.end()):
        return None
    at = begins.end()
    return None if _NO_DEED.search(sentence, at, cut_end(sentence, at)) else at


def _listed(said: str, deed: int) -> list[Deed]:
    """The items of a list: it has commas, and "and" before its last."""
    marks = list(_BETWEEN.finditer(said, deed))
    if not 2 <= len(marks) <= _DEEDS_MAX or said[marks[0].start()] != "," or "and" not in marks[-1].group():
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(said)]
    found = [Deed(mark.end(), end, listed=True) for mark, end in zip(marks, ends, strict=True)]
    if not all(_is_deed(said, each.start, each.end) for each in found):
        return []
    return [Deed(deed, marks[0].start(), listed=True), *found]


def _next(said: str, start: int, days: Sequence[int]) -> re.Match[str] | None:
    """What stands before the next deed: an "and" in the clause of the one at ``start``, or ", and" and "then" where that ends."""
    clause = cut_end(said, start)
    for mark in _AND.finditer(said, start, clause):
        if len(said[start : mark.start()].split()) < _WORDS_MIN:
            continue
        two_days = any(start < day < mark.start() for day in days) and any(day > mark.end() for day in days)
        deed = _DEED_WITH_DAY if two_days else _DEED
        if _is_deed(said, mark.end(), clause) if mark["then"] else deed.match(said, mark.end()):
            return mark
    after = _AFTER.match(said, clause)
    return after if after is not None and _is_deed(said, after.end(), cut_end(said, after.end())) else None


def _is_deed(said: str, start: int, end: int) -> bool:
    return _LISTED.match(said, start) is not None and not _NO_DEED.search(said, start, end)
