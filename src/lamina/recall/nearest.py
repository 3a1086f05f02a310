"""How near the sentences of a turn come to a question, by the token vectors that ranked the turn.

Nothing is read by the model again: the vectors of the turns are at hand, and which of a turn's tokens are a sentence's is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from lamina.models.maxsim import NO_TOKENS, Interaction

__all__ = ["Stretches", "TurnTokens", "maxsims", "tokens_of_turns"]


class TurnTokens(NamedTuple):
    """The tokens of one of the turns that were compared with a question, as it was read with its speaker before it: the rows from ``start``
    before ``end``, of all that were read or of those in ``mask``, as ``TokenRows`` has it."""

    turns: Interaction
    start: int
    end: int
    mask: int | None = None

    def row_of(self, token: int) -> int:
        """The row of the first token that is here from a place among all that were read on."""
        rows = token if self.mask is None else (self.mask & ((1 << token) - 1)).bit_count()
        return min(self.start + rows, self.end)


class Stretches(NamedTuple):
    """Stretches of a turn that have ``counts`` tokens and follow each other, ``before`` tokens behind its first."""

    turn: TurnTokens
    before: int
    counts: Sequence[int]

    @property
    def read(self) -> Iterator[tuple[int, int]]:
        """The rows of each, half-open; of those that lie behind what the model read none."""
        start, token = self.turn.row_of(self.before), self.before
        for count in self.counts:
            token += count
            end = self.turn.row_of(token)
            yield start, end
            start = end


def maxsims(turns: Sequence[Stretches]) -> list[list[float]]:
    """The MaxSim of each stretch of turns that were compared together, ``NO_TOKENS`` where nothing of it was read."""
    near = [[NO_TOKENS] * len(one.counts) for one in turns]
    read = [
        (start, end, own, at)
        for one, own in zip(turns, near, strict=True)
        for at, (start, end) in enumerate(one.read)
        if start < end
    ]
    if not read:
        return near
    read.sort(key=itemgetter(0))
    cosines = turns[0].turn.turns.cosines
    bounds = [bound for start, end, _, _ in read for bound in (start, end)]
    if bounds[-1] == len(cosines):
        bounds.pop()  # reduceat goes on to the end from the last one
    best = np.maximum.reduceat(cosines, bounds, axis=0)[::2]
    means = np.add.reduce(best, axis=1) / cosines.shape[1]
    for (_, _, own, at), mean in zip(read, means.tolist(), strict=True):
        own[at] = mean
    return near


def tokens_of_turns(turns: Interaction, places: Sequence[int]) -> list[TurnTokens | None]:
    """Those of the turns at ``places``; None where a turn has none yet, or the question has none."""
    if not len(turns.query.rows):
        return [None] * len(places)
    tokens, at = turns.documents, list(places)
    ends, counts = np.cumsum(tokens.counts)[at].tolist(), tokens.counts[at].tolist()
    masks = [tokens.masks[place] for place in at] if tokens.masks else [None] * len(at)
    return [
        TurnTokens(turns, end - count, end, mask) if count else None
        for end, count, mask in zip(ends, counts, masks, strict=True)
    ]
