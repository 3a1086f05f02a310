"""An answer without a language model: the sentences of a pack's lines that bear on the question, as they stand.

A turn's sentence is a quotation behind who said it and when, so that nobody takes it for Lamina's own. What ranks first by
the recall comes first; of a long turn the sentences that hold the question's words stand for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lamina.language.sentences import split_sentences
from lamina.language.tokens import analyse, content_terms
from lamina.models.counter import TokenCounter
from lamina.models.support import SupportedSentence
from lamina.recall.grounds import GroundLine, Grounds

__all__ = ["extracted", "lines_about"]

LINES_MAX: Final = 3
"""Of an answer, some 600 characters. Of two and of five the answers of single-fact questions on half of LoCoMo hold 62 % and 81 % of the
words asked for, of three 71 %."""

_OF_RANK: Final = 1.0
_OF_WORDS: Final = 0.5
_LEAST: Final = 0.1
"""A line that speaks to the question a tenth as much as the best is left out."""
_QUOTED_CHARS: Final = 320


def extracted(
    question: str, grounds: Grounds, tokens_max: int, counter: TokenCounter
) -> list[SupportedSentence]:
    """The sentences that answer a question, the best first, as many as fit."""
    sentences: list[SupportedSentence] = []
    left = tokens_max
    for line in lines_about(question, grounds.lines):
        text = _quoted(line, question)
        cost = counter.count([f"{text} {line.marker}"])[0]
        if cost > left:
            if sentences:
                continue
            text = _cut(text, left, cost)
            cost = left
        sentences.append(SupportedSentence(text, (line.marker,), 1.0))
        left -= cost
        if len(sentences) == LINES_MAX:
            break
    return sentences


def lines_about(question: str, lines: Sequence[GroundLine]) -> list[GroundLine]:
    """The lines that speak to a question, the best first: by their rank in the recall and by the question's words in them."""
    wanted = set(content_terms(analyse(question)))
    best = {
        layer: max(line.score for line in lines if line.layer == layer)
        for layer in {line.layer for line in lines}
    }
    weighed = []
    for line in lines:
        held = len(wanted.intersection(analyse(line.text))) / max(1, len(wanted))
        rank = line.score / best[line.layer] if best[line.layer] > 0 else 0.0
        weighed.append((_OF_RANK * rank * _SAYS[line.layer] + _OF_WORDS * held, line))
    weighed.sort(key=lambda entry: (-entry[0], entry[1].marker))
    most = weighed[0][0] if weighed else 0.0
    return [line for weight, line in weighed if weight >= _LEAST * most]


_SAYS: Final = {"event": 1.0, "fact": 0.8, "belief": 0.5, "episode": 0.4, "concept": 0.4}
"""How much a line of a layer says for its rank: a turn says it in somebody's words, an episode is a heap of turns."""


def _quoted(line: GroundLine, question: str) -> str:
    """The line, of a long turn the sentences that hold most of the question's words."""
    words = line.words
    if line.layer != "event" or len(words) <= _QUOTED_CHARS:
        return line.text
    wanted = set(content_terms(analyse(question)))
    parts = [part.text for part in split_sentences(words, count_max=100)]
    order = sorted(range(len(parts)), key=lambda at: (-len(wanted.intersection(analyse(parts[at]))), at))
    kept: set[int] = set()
    size = 0
    for at in order:
        if kept and size + len(parts[at]) > _QUOTED_CHARS:
            continue
        kept.add(at)
        size += len(parts[at])
    shown = [("… " if at and at - 1 not in kept else "") + parts[at] for at in sorted(kept)]
    ending = "" if len(parts) - 1 in kept else " …"
    return line.text.replace(f'"{words}"', f'"{" ".join(shown)}{ending}"')


def _cut(text: str, tokens_max: int, cost: int) -> str:
    words = text.split(" ")
    kept = max(1, len(words) * tokens_max // max(1, cost) - 1)
    return " ".join(words[:kept]) + " …"
