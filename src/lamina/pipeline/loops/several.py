"""The deeds of a sentence that names several: "call the bank and email Marcus", "buy milk, call mum and pay the rent"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lamina.language.temporal import TemporalMatch
from lamina.pipeline.loops.dues import masked

__all__ = ["further_deeds", "two_deeds"]

_FIRM: Final = (
    r"(?:buy|pay|get|e-?mail|write|send|cancel|find|ask|tell|renew|prepare|reschedule|arrange|fill|make|reply|pick|clean|fix|take|"
    r"finish|collect|feed|wash|sell|submit|bring|give|help|visit|update|apply|organi[sz]e|bake|rotate|merge|deploy)"
)
_NOUNS_TOO: Final = r"(?:book|call|ring|phone|text|order|check|move|open|close|drop|sign|return|water|walk|print|register|cook|review|test)"
_DEED: Final = re.compile(rf"(?:{_FIRM}|{_NOUNS_TOO})\b \w", re.IGNORECASE)
_LISTED: Final = re.compile(
    rf"(?:(?i:then|also|to) )?(?:(?i:{_FIRM}) \w|(?i:{_NOUNS_TOO}) "
    r"(?:(?i:(?:the|a|an|my|our|his|her|their|some|this|that|it|him|them|up|in|off|out|back|mum|mom|dad|gran|grandma|grandpa)\b)|[A-Z]))"
)
_NO_DEED = re.compile(
    r"\b(?:i|we|he|she|they|it's|you|me|us|is|are|was|were|will|would|can|could|if|when)\b|\?", re.IGNORECASE
)
_BETWEEN = re.compile(r",\s{1,9}(?:and\s{1,9})?|(?<!\s)\s{1,9}and\s{1,9}")
_DEEDS_MAX: Final = 8


def two_deeds(words: str) -> list[str]:
    """The deeds in the words of one: "go and get milk" and "buy milk and eggs" are one."""
    first, _, second = words.partition(" and ")
    several = len(first.split()) >= 2 and _DEED.match(second) is not None
    return [first, second] if several else [words]


def further_deeds(sentence: str, deed: int, moments: Sequence[TemporalMatch]) -> list[tuple[int, int]]:
    """Where the deeds stand that a list goes on with behind the one at ``deed``: it has commas, and "and" before its last."""
    said = masked(sentence, moments)
    marks = list(_BETWEEN.finditer(said, deed))
    if not 2 <= len(marks) <= _DEEDS_MAX or said[marks[0].start()] != ",":
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(sentence)]
    found = [(mark.end(), end) for mark, end in zip(marks, ends, strict=True)]
    if "and" not in marks[-1].group():
        return []
    stands = all(_LISTED.match(sentence, at) and not _NO_DEED.search(sentence, at, end) for at, end in found)
    return found if stands else []
