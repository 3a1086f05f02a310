"""What a line quotes of a turn: all of it, or of a long one what the question asks, and which days its words mean.

All excerpts of a turn are cut from one reading of it: a block weighs a short one, a longer one and one longer still. A short one is the
sentence that comes nearest to the question, where somebody can tell; in longer ones the question's words count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from operator import add
from typing import Final, NamedTuple

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.kernel.local import LocalTime
from lamina.kernel.shown import cut_between_words, is_plain, unquoted, without_markers
from lamina.language.days import DayNote, NotedDays, days_meant, noted_days
from lamina.language.sentences import split_sentences
from lamina.language.tokens import analyse
from lamina.models.counter import TokenCounter

__all__ = ["Beginning", "Excerpt", "Excerpts", "KnownLine", "Nearness", "Run", "TurnText", "reading_of"]

Nearness = Callable[[], Sequence[float]]
"""How near each sentence of a turn's line comes to the question."""
Run = tuple[int, int, int]
"""Up to how many characters, and which sentences in a row, half-open."""
_SENTENCES_MAX: Final = 200
"""Nothing behind the first so many of a text is shown."""
_LINES_KEPT_MAX: Final = 6
"""Of few runs of a turn any question asks."""
_KEPT_CHARS_MAX: Final = 2000
"""A longer line is read each time: the sentences of a line take seven times its room."""


class Excerpt(NamedTuple):
    """What is shown of a text, on one line, and where in that text's line it stands, half-open."""

    words: str
    start: int
    end: int


class Beginning(NamedTuple):
    """What stands before the excerpts of a turn in a line, and whether nothing in it has to be left out or written otherwise."""

    text: str
    is_plain: bool


class KnownLine(NamedTuple):
    """A line of a turn, and its tokens as somebody counts them."""

    counter: TokenCounter
    line: str
    tokens: int


class TurnCounts(NamedTuple):
    """How many tokens a counter counts of a turn's line: in all, of each sentence, before the first one, and of each with what follows it; and of
    the dots in the place of what is left out."""

    counter: TokenCounter
    line: int
    dots: int
    sentences: Sequence[int]
    before: int
    stretches: Sequence[int]


class _Sentences(NamedTuple):
    """Where the sentences of a line stand in it, half-open, and for each term in which of them it is: a bit for each, the first lowest."""

    spans: Sequence[tuple[int, int]]
    holding: Mapping[str, int]


class TurnText:
    """A turn as every line quotes it, whatever is asked: its text, that on one line, whether nothing in it has to be left out or written
    otherwise, and the days that were noted of it."""

    __slots__ = (
        "_counts",
        "_frame",
        "_lines",
        "_sentences",
        "_spans",
        "_words_least",
        "begins",
        "is_plain",
        "line",
        "noted",
        "observed",
        "text",
    )

    def __init__(self, event: Event, note: DayNote | None) -> None:
        self.text = text_of(event.content)
        self.observed = LocalTime(event.context.observed_at, event.offset)
        self.is_plain = is_plain(self.text)
        self.line = " ".join(self.text.split()) if self.is_plain else without_markers(self.text)
        self.noted: NotedDays | None = noted_days(self.line, self.observed, note)
        self.begins: Beginning | None = None
        """What stands before it where nothing is marked and nobody is called otherwise, once somebody has worded that."""
        self._lines: dict[Run | None, KnownLine] = {}
        self._spans: Sequence[tuple[int, int]] | None = None
        self._sentences: _Sentences | None = None
        self._counts: TurnCounts | None = None
        self._frame: tuple[TokenCounter, int] | None = None
        self._words_least: int | None = None

    def known(self, run: Run | None, counter: TokenCounter) -> KnownLine | None:
        """The line of such a turn that quotes a run of its sentences, None is all of it, where it was worded lately."""
        line = self._lines.get(run)
        return line if line is not None and line.counter is counter else None

    def keep(self, run: Run | None, line: KnownLine) -> None:
        """Remember a line of such a turn."""
        if len(self._lines) >= _LINES_KEPT_MAX:
            self._lines.clear()
        self._lines[run] = line

    def tokens_with(self, counter: TokenCounter, begins: Beginning) -> int:
        """The tokens of what stands around the words in its line, which ``begins`` so and nothing is marked in."""
        if self._frame is None or self._frame[0] is not counter:
            (tokens,) = counter.count([f'- {begins.text} "" [99]\n'])
            self._frame = counter, tokens
        return self._frame[1]

    def counts(self, counter: TokenCounter) -> TurnCounts:
        """The tokens of its line, in all and by sentence."""
        if self._counts is None or self._counts.counter is not counter:
            line, spans = self.line, self.spans
            bounds = [0, *chain(*spans), len(line)]
            texts = [line[start:end] for start, end in pairwise(bounds)]  # sentences, and what parts them
            dots, before, *counts = counter.count(["…", *texts])
            sentences, behind = counts[::2], counts[1::2]
            stretches = list(map(add, sentences, behind)) if any(behind) else sentences
            # Sentences with a blank between them have all tokens of the line.
            parted = not (texts[0] or texts[-1]) and set(texts[2:-1:2]) <= {" "}
            whole = sum(sentences) if parted else counter.count([line])[0]
            self._counts = TurnCounts(counter, whole, dots, sentences, before, stretches)
        return self._counts

    @property
    def words_least(self) -> int:
        """How many tokens its text has at least, whoever counts them."""
        if self._words_least is None:
            self._words_least = _words_least(self.text)
        return self._words_least

    @property
    def spans(self) -> Sequence[tuple[int, int]]:
        """Where the sentences of the line stand in it, once they are asked for."""
        if self._spans is None:
            self._spans = [
                (each.start, each.end) for each in split_sentences(self.line, count_max=_SENTENCES_MAX)
            ]
        return self._spans

    @property
    def sentences(self) -> _Sentences:
        """The sentences of the line, once they are asked for."""
        if self._sentences is None:
            self._sentences = _sentences_of(self.line, self.spans)
        return self._sentences


class _Same:
    """An event as a key: the one that was read, and no other that is like it. While its row stays as it is, the store gives the same."""

    __slots__ = ("event",)

    def __init__(self, event: Event) -> None:
        self.event = event

    def __hash__(self) -> int:
        return id(self.event)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.event is self.event


def reading_of(event: Event, note: DayNote | None = None) -> TurnText:
    """The reading of a turn; ``note`` is what was noted of the days that it means. What was read lately is remembered."""
    if len(text_of(event.content)) > _KEPT_CHARS_MAX:
        return TurnText(event, note)
    return _known_reading(_Same(event), note)


@lru_cache(maxsize=limits.ROWS_PARSED_MAX)
def _known_reading(same: _Same, note: DayNote | None) -> TurnText:
    return TurnText(same.event, note)


class Excerpts:
    """The excerpts of a reading for the terms of a question; ``nearness`` tells how near its sentences come to that."""

    __slots__ = ("_nearest", "_nearness", "_reading", "_runs", "_terms", "_worth", "beginning")

    def __init__(self, reading: TurnText, terms: Sequence[str], nearness: Nearness | None = None) -> None:
        self.beginning: Beginning | None = None
        """Once somebody has worded it: it is the same before each excerpt."""
        self._reading = reading
        self._terms = terms
        self._worth: list[tuple[int, float]] | None = None
        self._nearness = nearness
        self._nearest: int | None = None
        self._runs: dict[tuple[int, bool], Run] = {}

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it has to be left out or written otherwise."""
        return self._reading.is_plain

    def quoted(self, chars: int, *, nearest: bool = False) -> str:
        """Up to ``chars`` of what is said, in quotation marks, and behind them which days that means; what is ``nearest`` as in ``of``."""
        words, start, end = self.of(chars, nearest=nearest)
        reading = self._reading
        noted = reading.noted
        told = None if noted is None else noted.within(start, end)
        if told is None:
            told = _days_found(words, reading.observed)
        if reading.is_plain:  # as all parts of it are
            return f'"{words.replace(_QUOTE, _SINGLE)}"{told}'
        return f'"{unquoted(words)}"{f" {unquoted(told)}" if told else ""}'

    def of(self, chars: int, *, nearest: bool = False) -> Excerpt:
        """The whole line where it has up to so many characters; of a longer one the run of sentences that holds most of the question's
        terms, a term by how rare it is in the text: what every sentence says tells none from another. What is ``nearest`` is the sentence that
        comes nearest to the question, with those around it that there is room for."""
        line, spans = self._reading.line, self._reading.spans
        chosen = self.run(chars, nearest=nearest)
        if chosen is None:
            return Excerpt(line, 0, len(line))
        _, first, last = chosen
        if first == last:
            return Excerpt("", 0, 0)
        run = spans[first:last]
        said = " ".join([line[start:end] for start, end in run])
        cut = cut_between_words(said, chars)
        goes_on = last < len(spans) or len(cut) < len(said)
        words = f"{'… ' if first else ''}{cut.strip()}{' …' if goes_on else ''}"
        (begin, _), (_, end) = run[0], run[-1]
        # A sentence alone may be too long, and is cut; several never are.
        return Excerpt(words, begin, begin + len(cut) if len(run) == 1 else end)

    def tokens(self, counter: TokenCounter, chars: int, *, nearest: bool = False) -> int | None:
        """The tokens of what is ``quoted``, without its quotation marks; None where they are known once it is worded. Nothing is a token across
        a blank, so that sentences have the same wherever they stand."""
        reading = self._reading
        if not reading.is_plain or reading.noted is None:
            return None
        chosen = self.run(chars, nearest=nearest)
        counts = reading.counts(counter)
        if chosen is None:
            tokens, start, end = counts.line, 0, len(reading.line)
        else:
            spans = reading.spans
            _, first, last = chosen
            if first == last:
                return None
            start, end = spans[first][0], spans[last - 1][1]
            if end - start >= chars:
                return None  # a sentence alone may be too long, and is cut
            tokens = sum(counts.sentences[first:last])
            tokens += counts.dots * ((first > 0) + (last < len(spans)))
        told = reading.noted.within(start, end)
        if told is None:
            return None
        return tokens + counter.count((told,))[0] if told else tokens

    def run(self, chars: int, *, nearest: bool = False) -> Run | None:
        """Which sentences ``of`` quotes; None where that is the whole line, and none of them where it has none."""
        if len(self._reading.line) <= chars:
            return None
        if not self._reading.spans:
            return chars, 0, 0
        asked = chars, nearest
        if asked not in self._runs:  # who looks for a known line asks first, and words it by the same run
            self._runs[asked] = (chars, *(self._nearest_run(chars) if nearest else self._best_run(chars)))
        return self._runs[asked]

    def _nearest_run(self, chars: int) -> tuple[int, int]:
        """Which sentences stand in a row, half-open, around the nearest: as many as have room, those that follow first."""
        spans = self._reading.spans
        if self._nearness is None:
            return self._best_run(chars)
        if self._nearest is None:
            near = self._nearness()
            self._nearest = max(range(len(near)), key=near.__getitem__)
        first, last = self._nearest, self._nearest + 1
        while last < len(spans) and spans[last][1] - spans[first][0] <= chars:
            last += 1
        while first and spans[last - 1][1] - spans[first - 1][0] <= chars:
            first -= 1
        return first, last

    def _best_run(self, chars: int) -> tuple[int, int]:
        """Which sentences stand in a row, half-open, that hold most in so many characters; the first of those that hold as much."""
        spans, count = self._reading.sentences.spans, len(self._reading.sentences.spans)
        worth = self._worth_of_terms()
        best, most = (0, 0), -1.0
        end, size = 0, 0
        for first, (begins, ends) in enumerate(spans):
            while end < count and (end <= first or size + spans[end][1] - spans[end][0] < chars):
                size += spans[end][1] - spans[end][0] + 1
                end += 1
            run = (1 << end) - (1 << first)
            found = sum([share for holding, share in worth if holding & run])
            if found > most:
                best, most = (first, end), found
            if end == count:
                break  # later runs hold less
            size -= ends - begins + 1
        return best

    def _worth_of_terms(self) -> list[tuple[int, float]]:
        """Of each of the terms that the line has, which sentences hold it, and how much that tells."""
        if self._worth is None:
            spans, holding = self._reading.sentences
            self._worth = [
                (each, math.log((len(spans) + 1) / (each.bit_count() + 0.5)))
                for term in dict.fromkeys(self._terms)
                if (each := holding.get(term, 0))
            ]
        return self._worth


_QUOTE, _SINGLE = '"', "'"
_WORD = re.compile(r"[A-Za-z0-9][^ ]*")
"""What a blank ends and a letter or figure of ASCII is in has a token at least, whatever else may be left out of it."""


def _words_least(text: str) -> int:
    if text.isascii() and text.isprintable() and "  " not in text:
        return len(text.split())  # every one of them has a token
    return len(_WORD.findall(text))


def _sentences_of(line: str, spans: Sequence[tuple[int, int]]) -> _Sentences:
    holding: dict[str, int] = {}
    for at, (start, end) in enumerate(spans):
        for term in analyse(line[start:end]):
            holding[term] = holding.get(term, 0) | 1 << at
    return _Sentences(spans, holding)


@lru_cache(maxsize=limits.TERMS_KEPT_MAX)
def _days_found(words: str, observed: LocalTime) -> str:
    """Where no note tells. What was told before is asked for again: to find its days takes longer than to rank it."""
    return days_meant(unquoted(words), observed)
