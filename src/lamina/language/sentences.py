"""Splits text into sentences by punctuation and line ends, in one linear pass.

A full stop ends a sentence unless it closes a known abbreviation or an initial, whether the next word has a capital
or, as many people type, none; three of them, and one within quotation marks, need the capital. Line ends always end a
sentence: chat turns and lists seldom wrap. CJK full stops need no space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Final

from lamina.language.tables import table

_BOUNDARY = re.compile(r"""[.!?…]{1,8}["'”’)\]]{0,3}(?=\s|$)|[。！？]|[\r\n]+""")
_LAST_WORD = re.compile(r"(?<!\w['’])([^\W\d_](?:[\w.]{0,10}\w)?)\.$")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
"""As of "J.R." and "the D.A."."""
_EDGE = " \t\r\n-*•>#|"
_TABLE: Final = table(__name__)
_ABBREVIATIONS: Final = _TABLE.words("abbreviations")
# These also end sentences; only a following lower-case word or digit shows that they do not.
_MAY_END: Final = _TABLE.words("may_end")
_BEGINS: Final = _TABLE.pattern("begins", 0)
"""Words that begin a sentence behind a letter which is no initial: "vitamin C. It helps"."""
_GOES_ON: Final = _TABLE.pattern("goes_on")
"""Where a sentence goes on with another clause, so that what stands before is whole: "I live in San" is none, cut from "San Francisco"."""
_NUMBERED = _TABLE.words("numbered")
"""Abbreviations before a number, words and initials before anything else: "no. 5", but "no. i moved"."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its half-open character span in the text it was cut from."""

    start: int
    end: int
    text: str


def split_sentences(text: str, *, count_max: int = 10_000, length_max: int = 100_000) -> list[Sentence]:
    """The sentences of `text` in order, without surrounding blanks and list marks.

    At most `count_max` are given back; a sentence of more than `length_max` characters ends with the last clause within them, else
    with the last word, and its rest is dropped: half a figure is another figure.
    """
    found: list[Sentence] = []
    start = 0
    for end in chain(_ends(text), [len(text)]):
        if len(found) >= count_max:
            break
        _append(found, text, start, end, length_max)
        start = end
    return found


def first_sentences(text: str, chars: int) -> str:
    """A text's first so many characters, up to the last whole sentence of them; of one long sentence its clauses.

    >>> first_sentences("I moved. My rent is $1,200.", 22)
    'I moved.'
    """
    if len(text) <= chars:
        return text
    end = max(takewhile(lambda each: each <= chars, _ends(text)), default=0)
    return text[: end or _cut(text, 0, chars)]


def is_sentence_end(text: str, at: int) -> bool:
    """Whether the mark at `at` ends a sentence, which the full stop of "Dr. Weller" does not.

    >>> is_sentence_end("Call Dr. Weller.", 7), is_sentence_end("Call Dr. Weller.", 15)
    (False, True)
    """
    match = _BOUNDARY.match(text, at)
    return match is None or _ends_sentence(text, 0, match)


def _ends(text: str) -> Iterator[int]:
    start = 0
    for match in _BOUNDARY.finditer(text):
        if _ends_sentence(text, start, match):
            start = match.end()
            yield start


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark[0] not in ".…":
        return True
    following = text[match.end() : match.end() + 40].lstrip(" \t")[:1]
    if mark != ".":
        return not following.islower()
    word = _LAST_WORD.search(text, max(start, match.end() - 14), match.end())
    if word is None:
        return True
    last = word.group(1).casefold()
    if last in _NUMBERED and following.isdigit():
        return False
    if last in _MAY_END or _INITIALS.fullmatch(last):
        return not (following.isdigit() or following.islower())
    initial = len(last) == 1 and last != "i" and not _BEGINS.match(text, match.end())
    return not (initial or last in _ABBREVIATIONS)


def _append(found: list[Sentence], text: str, start: int, end: int, length_max: int) -> None:
    while start < end and text[start] in _EDGE:
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start + length_max:
        end = _cut(text, start, length_max)
    if end > start:
        found.append(Sentence(start, end, text[start:end]))


def _cut(text: str, start: int, length_max: int) -> int:
    """Where the last clause ends, else the last word, within so many characters; not in their first half."""
    first, last = start + length_max // 2, start + length_max
    clauses = [match.start() for match in _GOES_ON.finditer(text, first, last)]
    blank = clauses[-1] if clauses else text.rfind(" ", first, last + 1)
    return last if blank < 0 else blank
