"""What a line quotes of a turn: all of it, or of a long one what the question asks, and which days its words mean.

All excerpts of a turn are cut from one reading of it: a block weighs a short one, a longer one and one longer still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.kernel.local import LocalTime
from lamina.kernel.shown import is_plain, unquoted, without_markers
from lamina.language.days import DayNote, NotedDays, days_meant, noted_days
from lamina.language.sentences import split_sentences
from lamina.language.tokens import analyse

__all__ = ["Excerpt", "Excerpts"]

_SENTENCES_MAX: Final = 200
"""Nothing behind the first so many of a text is shown."""
_KEPT_CHARS_MAX: Final = 2000
"""A longer line is read each time: the sentences of a line take seven times its room."""


class Excerpt(NamedTuple):
    """What is shown of a text, on one line, and where in that text's line it stands, half-open."""

    words: str
    start: int
    end: int


class _Sentence(NamedTuple):
    """Where a sentence stands in its line, half-open, and what it says."""

    start: int
    end: int
    terms: tuple[str, ...]


class Excerpts:
    """The excerpts of an event for the terms of a question; ``note`` is what was noted of the days that it means."""

    __slots__ = (
        "_held",
        "_is_plain",
        "_line",
        "_note",
        "_noted",
        "_observed",
        "_terms",
        "_text",
        "beginning",
    )

    def __init__(self, event: Event, terms: Sequence[str], note: DayNote | None = None) -> None:
        self.beginning: str | None = None
        """What stands before it in a line, once somebody has worded that: it is the same before each excerpt."""
        self._text = text_of(event.content)
        self._observed = LocalTime(event.context.observed_at, event.offset)
        self._terms = terms
        self._note = note
        self._line: str | None = None
        self._is_plain = False
        self._noted: NotedDays | None = None
        self._held: list[frozenset[str]] | None = None

    def quoted(self, chars: int) -> str:
        """Up to ``chars`` of what is said, in quotation marks, and behind them which days that means."""
        words, start, end = self.of(chars)
        told = None if self._noted is None else self._noted.within(start, end)
        if told is None:
            told = _days_found(words, self._observed)
        if self._is_plain:  # as all parts of it are
            return f'"{words.replace(_QUOTE, _SINGLE)}"{told}'
        return f'"{unquoted(words)}"{f" {unquoted(told)}" if told else ""}'

    def of(self, chars: int) -> Excerpt:
        """The whole line where it has up to so many characters; of a longer one the run of sentences that holds most of the question's
        terms, a term by how rare it is in the text: what every sentence says tells none from another."""
        line = self._read()
        if len(line) <= chars:
            return Excerpt(line, 0, len(line))
        sentences = _sentences_of(line)
        if not sentences:
            return Excerpt("", 0, 0)
        first, last = self._best_run(sentences, chars)
        run = sentences[first:last]
        cut = " ".join([line[each.start : each.end] for each in run])[:chars]
        goes_on = last < len(sentences) or len(cut) == chars
        words = f"{'… ' if first else ''}{cut.strip()}{' …' if goes_on else ''}"
        # A sentence alone may be too long, and is cut; several never are.
        end = min(run[-1].end, run[0].start + chars) if len(run) == 1 else run[-1].end
        return Excerpt(words, run[0].start, end)

    def _read(self) -> str:
        """The whole text on one line."""
        if self._line is None:
            self._is_plain = is_plain(self._text)
            self._line = " ".join(self._text.split()) if self._is_plain else without_markers(self._text)
            self._noted = noted_days(self._line, self._observed, self._note)
        return self._line

    def _best_run(self, sentences: Sequence[_Sentence], chars: int) -> tuple[int, int]:
        if self._held is None:
            wanted = frozenset(self._terms)
            self._held = [wanted.intersection(each.terms) for each in sentences]
        held, count = self._held, len(sentences)
        worth = []
        for term in dict.fromkeys(self._terms):
            found_in = sum([term in each for each in held])
            if found_in:
                worth.append((term, math.log((count + 1) / (found_in + 0.5))))
        lengths = [each.end - each.start for each in sentences]
        best, most = (0, 0), -1.0
        end, size = 0, 0
        for start in range(count):
            while end < count and (end <= start or size + lengths[end] < chars):
                size += lengths[end] + 1
                end += 1
            there = set().union(*held[start:end])
            found = sum([share for term, share in worth if term in there])
            if found > most:
                best, most = (start, end), found
            if end == count:
                break  # later runs hold less
            size -= lengths[start] + 1
        return best


_QUOTE, _SINGLE = '"', "'"


def _sentences_of(line: str) -> Sequence[_Sentence]:
    return _known_sentences(line) if len(line) <= _KEPT_CHARS_MAX else _cut(line)


def _cut(line: str) -> Sequence[_Sentence]:
    return tuple(
        _Sentence(each.start, each.end, tuple(dict.fromkeys(analyse(each.text))))
        for each in split_sentences(line, count_max=_SENTENCES_MAX)
    )


_known_sentences = lru_cache(maxsize=limits.ROWS_PARSED_MAX)(_cut)
"""Remembered: no question changes them, and what is talked about is asked about again."""


@lru_cache(maxsize=limits.TERMS_KEPT_MAX)
def _days_found(words: str, observed: LocalTime) -> str:
    """Where no note tells. What was told before is asked for again: to find its days takes longer than to rank it."""
    return days_meant(unquoted(words), observed)
