"""How near the sentences of a turn come to a question, by the token vectors that ranked the turn.

Nothing is read by the model again: the vectors of the turns are at hand, and which of a turn's tokens are a sentence's is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from lamina.models.maxsim import NO_TOKENS, token_cosines
from lamina.models.ports import Float32Array, TokenMatrix, TokenRows

__all__ = ["TurnTokens", "TurnsTokens", "tokens_of_turns"]


class TurnsTokens:
    """The token vectors of some turns and of the question, compared once somebody asks for one of them."""

    def __init__(self, question: TokenMatrix, rows: TokenRows) -> None:
        self._question = question
        self._rows = rows

    @cached_property
    def cosines(self) -> Float32Array:
        """(rows, t): every token of the turns with every token of the question."""
        return token_cosines(self._question, self._rows)


class TurnTokens(NamedTuple):
    """The tokens of one of the turns, as it was read with its speaker before it: the rows from ``start`` before ``end``."""

    turns: TurnsTokens
    start: int
    end: int

    def maxsims(self, before: int, counts: Sequence[int]) -> list[float]:
        """The MaxSim of each of the stretches that have ``counts`` tokens and follow each other, ``before`` tokens behind the first."""
        cosines = self.turns.cosines[self.start : self.end]
        bounds = [min(each, len(cosines)) for each in accumulate([before, *counts])]
        read = [(at, start) for at, (start, end) in enumerate(pairwise(bounds)) if start < end]
        near = [NO_TOKENS] * len(counts)
        if read:
            stretches = np.maximum.reduceat(cosines[: bounds[-1]], [start for _, start in read], axis=0)
            means = np.add.reduce(stretches, axis=1) / cosines.shape[1]
            for (at, _), mean in zip(read, means.tolist(), strict=True):
                near[at] = mean
        return near


def tokens_of_turns(
    question: TokenMatrix, tokens: TokenRows, places: Sequence[int]
) -> list[TurnTokens | None]:
    """Those of the turns at ``places``; None where a turn has none yet, or the question has none."""
    if not len(question.rows):
        return [None] * len(places)
    at = list(places)
    counts = tokens.counts[at]
    firsts, ends = (np.cumsum(tokens.counts) - tokens.counts)[at], np.cumsum(counts)
    # Each turn's rows lie side by side: from its first among all, and on from where it begins here.
    rows = np.arange(counts.sum()) + np.repeat(firsts - (ends - counts), counts)
    turns = TurnsTokens(question, TokenRows(tokens.rows[rows], tokens.scales[rows], counts))
    return [
        TurnTokens(turns, end - count, end) if count else None
        for count, end in zip(counts.tolist(), ends.tolist(), strict=True)
    ]
