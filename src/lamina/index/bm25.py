"""BM25: how telling terms are, and what rows that have them score."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lamina.index.columns import Float32Array
from lamina.index.postings import Postings

__all__ = ["idf", "scores"]

K1: Final = 1.2
B: Final = 0.75
"""BM25 constants, those of SQLite's FTS5."""
_MATCHED_MAX = 20_000
"""Rows that a query may touch before its commonest terms are left out of the search for candidates."""


def idf(found: int, total: int) -> float:
    """How telling a term is that ``found`` of ``total`` rows have: ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene."""
    return math.log1p((max(total - found, 0) + 0.5) / (found + 0.5))


def scores(
    postings: Postings,
    ends: NDArray[np.int64],
    terms: Collection[tuple[int, str, int]],
    weights: Mapping[str, float],
    terms_mean: float,
) -> Float32Array:
    """(n,) the score of every row that shares words with a question, 0 of the others. ``ends`` (n + 1,) are where the terms of rows end;
    ``terms`` have before them how many rows have each, and behind them their numbers.

    Terms so common that they would touch more than ``_MATCHED_MAX`` rows beyond the rarer ones are skipped: they hardly tell rows apart, and
    what they add is scored again where the candidates are ranked.
    """
    found = np.zeros(len(ends) - 1, np.float32)
    touched = 0
    for count, term, number in sorted(terms):
        if touched and touched + count > _MATCHED_MAX:
            continue
        touched += count
        numbers, frequencies = postings.of(number)
        places = numbers.astype(np.intp)  # once: each look-up would do so again
        lengths = (ends[places + 1] - ends[places]).astype(np.uint32)
        norms = K1 * (1.0 - B + B * lengths / max(terms_mean, 1.0))
        found[places] += weights[term] * frequencies * (K1 + 1.0) / (frequencies + norms)
    return found
