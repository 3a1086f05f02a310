"""The values of a scope's index: columns of rows, figures, and what they are gathered in."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["NONE", "BoolArray", "Figures", "Float32Array", "Numbers", "Occurrences", "Rows"]

NONE = -1
"""In a column of places or of numbers: there is none."""

Float32Array = NDArray[np.float32]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of a scope as columns of (n,), in the order they were asked for.

    ``counts`` is (n, q): how often each term of the question occurs, keys left out; ``lengths`` are in terms.
    ``sessions`` and ``speakers`` are numbers of this index, ``NONE`` without; ``previous`` and ``following`` are places of
    the neighbours in the session. ``vector_rows`` are the store's numbers of their vectors, ``pooled`` is (n, d): unit
    rows, zeros where there is no vector.
    """

    record_ids: list[str]
    counts: Float32Array
    lengths: Float32Array
    sessions: NDArray[np.int64]
    speakers: NDArray[np.int64]
    by_assistant: BoolArray
    observed_at: NDArray[np.int64]
    question_shares: NDArray[np.float64]
    self_shares: NDArray[np.float64]
    previous: NDArray[np.int64]
    following: NDArray[np.int64]
    vector_rows: NDArray[np.int64]
    pooled: Float32Array


@dataclass(frozen=True, slots=True)
class Figures:
    """Of a scope's events, or of its derived rows: how many there are, how many terms they have, who speaks, and in how many
    of them each term of a question occurs. A replaced row does not count."""

    rows: int
    terms: int
    speakers: Collection[str]
    frequencies: Mapping[str, int]


class Numbers(dict[str, int]):
    """Numbers for words, counted from 0 in the order of their first use."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


@dataclass(slots=True)
class Occurrences:
    """Terms and the places that have them, pair by pair, on their way into postings."""

    terms: array[int] = field(default_factory=lambda: array("I"))
    places: array[int] = field(default_factory=lambda: array("I"))

    def add(self, terms: array[int], place: int) -> None:
        """The terms are at a place."""
        self.terms.extend(terms)
        self.places.extend(array("I", (place,)) * len(terms))
