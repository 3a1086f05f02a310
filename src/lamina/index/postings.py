"""Postings: which rows have a term, and how often.

Two parts. The base is one sorted block of numpy arrays, made in bulk; the tail takes what arrives row by row. A
large batch is folded into a new base, which costs a sort; a small one goes to the tail, which costs a few appends.
"""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
from numpy.typing import NDArray

__all__ = ["Postings"]

_FOLD_FROM = 20_000
"""Occurrences from which on a batch, or a tail, is folded into the base."""

_COUNT_MAX = 255

Places = NDArray[np.uint32]
Counts = NDArray[np.float32]


class Postings:
    """Postings of one kind of rows. Terms and places are small integers. Places rise, but for a row that gets a term later."""

    def __init__(self) -> None:
        self._starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._places: Places = np.zeros(0, np.uint32)
        self._counts: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._tail: dict[int, tuple[array[int], array[int]]] = {}
        self._tail_size = 0

    def add(self, terms: array[int], places: array[int]) -> None:
        """Take in occurrences: the i-th is of ``terms[i]`` at ``places[i]``; repetitions count."""
        if len(terms) + self._tail_size >= _FOLD_FROM:
            self._fold(np.frombuffer(terms, np.uint32), np.frombuffer(places, np.uint32))
            return
        for (term, place), count in Counter(zip(terms, places, strict=True)).items():
            found = self._tail.get(term)
            if found is None:
                found = self._tail[term] = (array("I"), array("B"))
            found[0].append(place)
            found[1].append(min(count, _COUNT_MAX))
            self._tail_size += 1

    def frequency(self, term: int) -> int:
        """In how many rows a term occurs."""
        base = int(self._starts[term + 1] - self._starts[term]) if term + 1 < len(self._starts) else 0
        tail = self._tail.get(term)
        return base + (len(tail[0]) if tail else 0)

    def of(self, term: int) -> tuple[Places, Counts]:
        """(n,) places of a term, each once, and (n,) how often each has it."""
        places, counts = self._places[:0], self._counts[:0]
        if term + 1 < len(self._starts):
            inside = slice(self._starts[term], self._starts[term + 1])
            places, counts = self._places[inside], self._counts[inside]
        tail = self._tail.get(term)
        if tail is not None:
            places = np.concatenate([places, np.array(tail[0], np.uint32)])
            counts = np.concatenate([counts, np.array(tail[1], np.uint8)])
        return places, counts.astype(np.float32)

    def _fold(self, terms: Places, places: Places) -> None:
        keys, found = np.unique((terms.astype(np.uint64) << np.uint64(32)) | places, return_counts=True)
        tails = [
            (np.full(len(at), term, np.uint64) << np.uint64(32)) | np.array(at, np.uint64)
            for term, (at, _) in self._tail.items()
        ]
        base = np.repeat(np.arange(len(self._starts) - 1, dtype=np.uint64), np.diff(self._starts))
        keys = np.concatenate([(base << np.uint64(32)) | self._places, *tails, keys])
        counts = np.concatenate(
            [
                self._counts,
                *(np.array(how_often, np.uint8) for _, how_often in self._tail.values()),
                np.minimum(found, _COUNT_MAX).astype(np.uint8),
            ]
        )
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        sorted_terms = (keys >> np.uint64(32)).astype(np.int64)
        size = int(sorted_terms[-1]) + 1 if len(keys) else 0
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(sorted_terms, minlength=size))]).astype(
            np.int64
        )
        self._places = (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        self._counts = counts[order]
        self._tail = {}
        self._tail_size = 0
