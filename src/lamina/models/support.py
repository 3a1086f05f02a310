"""How far lines bear a sentence out: the share of its words that stand there, and nothing where they say otherwise.

Words are compared, not meanings. A number, a negation or a name that no cited line has is no detail: a sentence with one is not
borne out at all. Dates are read in figures and in words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple

from lamina import limits
from lamina.language.denials import NEGATIONS, denies
from lamina.language.sentences import split_sentences
from lamina.language.tokens import STOP_TERMS, analyse

__all__ = ["BORNE_OUT_FROM", "SupportedSentence", "support_of", "terms_with_dates"]

BORNE_OUT_FROM: Final = 0.5
"""Below this share of its words a sentence is not borne out, its names and numbers left aside: without these "Maya has a dog" would stand on
any line of Maya's."""

_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_MARK = re.compile(r"\b(?:[^\W\d_a-z][\w'’-]*|\w*\d\w*)")
_READ_MAX: Final = 40


class SupportedSentence(NamedTuple):
    """A sentence of an answer with the markers behind it, and how far the lines of these bear it out, 0..1."""

    text: str
    markers: tuple[str, ...]
    support: float

    @property
    def worded(self) -> str:
        """The sentence with its markers."""
        return f"{self.text} {''.join(self.markers)}"


def support_of(sentence: str, lines: Sequence[str]) -> float:
    """The share of a sentence's content words that stand in the lines, 0..1.

    0 where a number or a name of it does not, where fewer than ``BORNE_OUT_FROM`` of its other words do, and where it denies what the
    lines say or says what they deny. A word with a capital counts as a name also at the beginning, where nobody can tell.
    """
    said = terms_with_dates(sentence)
    wanted = set(said) - NEGATIONS - STOP_TERMS
    if not wanted or not lines:
        return 0.0
    there = set().union(*(terms_with_dates(line) for line in lines))
    marks = {term for match in _MARK.findall(sentence) for term in analyse(match)} & wanted
    rest = wanted - marks
    if marks - there or (rest and len(rest & there) < BORNE_OUT_FROM * len(rest)):
        return 0.0
    if denies(said) != denies(_nearest(wanted, lines)):
        return 0.0
    return round(len(wanted & there) / len(wanted), 2)


def _nearest(wanted: Collection[str], lines: Iterable[str]) -> list[str]:
    """The terms of the one sentence of the lines that shares most words with what is wanted."""
    best: list[str] = []
    most = -1
    for line in lines:
        for part in split_sentences(line, count_max=_READ_MAX):
            terms = analyse(part.text)
            shared = len(set(terms).intersection(wanted))
            if shared > most:
                best, most = terms, shared
    return best


@lru_cache(maxsize=limits.LINES_KEPT_MAX)
def terms_with_dates(text: str) -> tuple[str, ...]:
    """The terms of a text, those of each date in figures also in words."""
    return tuple(analyse(_DATE.sub(_in_words, text)))


def _in_words(match: re.Match[str]) -> str:
    try:
        day = date(*map(int, match.groups()))
    except ValueError:
        return match[0]
    return f"{match[0]} {day.day} {_MONTHS[day.month - 1]} {day.year} {_WEEKDAYS[day.weekday()]}"


# Not strftime: its names follow the locale of the process.
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
