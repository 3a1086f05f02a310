"""Postings: which rows have a term, and how often.

Two parts. The base is one block of numpy arrays, made in bulk; the tail takes what arrives row by row. What comes many at once is counted
page by page and put in its place among the rest when it is asked for; a few go to the tail, which costs a few appends. Nothing is
sorted but a page, so that a scope of five million words takes little more while it is loaded than it does then.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Postings"]

_FOLD_FROM = 20_000
"""Occurrences from which on a batch, or a tail, becomes a page of the base."""
_PAGE: Final = 1 << 18
"""Postings of the base that are moved at a time."""

_COUNT_MAX = 255

Places = NDArray[np.uint32]
Counts = NDArray[np.float32]


class _Page(NamedTuple):
    """Postings in the order of their terms: (t,) the terms that it has, (t,) how many postings each; (n,) places and (n,) counts."""

    terms: NDArray[np.intp]
    lengths: NDArray[np.int64]
    places: Places
    counts: NDArray[np.uint8]


class Postings:
    """Postings of one kind of rows. Terms and places are small integers. Places rise, but for a row that gets a term later."""

    def __init__(self) -> None:
        self._starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._places: Places = np.zeros(0, np.uint32)
        self._counts: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._pages: list[_Page] = []
        self._tail: dict[int, tuple[array[int], array[int]]] = {}
        self._tail_size = 0

    def add(self, terms: array[int], places: array[int]) -> None:
        """Take in occurrences: the i-th is of ``terms[i]`` at ``places[i]``; repetitions count, of a term and place that come together."""
        if len(terms) + self._tail_size >= _FOLD_FROM:
            self._pages += [
                *self._tail_page(),
                _counted(np.frombuffer(terms, np.uint32), np.frombuffer(places, np.uint32)),
            ]
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
        self.fold()
        base = int(self._starts[term + 1] - self._starts[term]) if term + 1 < len(self._starts) else 0
        tail = self._tail.get(term)
        return base + (len(tail[0]) if tail else 0)

    def of(self, term: int) -> tuple[Places, Counts]:
        """(n,) places of a term, each once, and (n,) how often each has it."""
        self.fold()
        places, counts = self._places[:0], self._counts[:0]
        if term + 1 < len(self._starts):
            inside = slice(self._starts[term], self._starts[term + 1])
            places, counts = self._places[inside], self._counts[inside]
        tail = self._tail.get(term)
        if tail is not None:
            places = np.concatenate([places, np.array(tail[0], np.uint32)])
            counts = np.concatenate([counts, np.array(tail[1], np.uint8)])
        return places, counts.astype(np.float32)

    def _tail_page(self) -> Iterator[_Page]:
        """The tail, which begins anew."""
        if self._tail:
            terms = sorted(self._tail)
            found = [self._tail[term] for term in terms]
            yield _Page(
                np.array(terms, np.intp),
                np.array([len(places) for places, _ in found], np.int64),
                np.concatenate([np.frombuffer(places, np.uint32) for places, _ in found]),
                np.concatenate([np.frombuffer(counts, np.uint8) for _, counts in found]),
            )
        self._tail = {}
        self._tail_size = 0

    def _base_pages(self) -> Iterator[_Page]:
        for start in range(0, len(self._places), _PAGE):
            end = min(start + _PAGE, len(self._places))
            bounds = np.clip(self._starts, start, end)
            inside = bounds[1:] - bounds[:-1]
            terms = np.flatnonzero(inside)
            yield _Page(terms, inside[terms], self._places[start:end], self._counts[start:end])

    def fold(self) -> None:
        """Put the pages behind what the base has of each of their terms; who asks for a term does so first."""
        if not self._pages:
            return
        added, self._pages = self._pages, []
        size = max(
            len(self._starts) - 1, *(int(page.terms[-1]) + 1 if len(page.terms) else 0 for page in added)
        )
        lengths = np.zeros(size, np.int64)
        lengths[: len(self._starts) - 1] = np.diff(self._starts)
        for page in added:
            lengths[page.terms] += page.lengths
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        places, counts = np.empty(starts[-1], np.uint32), np.empty(starts[-1], np.uint8)
        free = starts[:-1].copy()
        for page in (*self._base_pages(), *added):
            begins = np.cumsum(page.lengths) - page.lengths
            spots = np.arange(len(page.places)) + np.repeat(free[page.terms] - begins, page.lengths)
            places[spots], counts[spots] = page.places, page.counts
            free[page.terms] += page.lengths
        self._starts, self._places, self._counts = starts, places, counts


def _counted(terms: Places, places: Places) -> _Page:
    keys, found = np.unique((terms.astype(np.uint64) << np.uint64(32)) | places, return_counts=True)
    of_term = (keys >> np.uint64(32)).astype(np.intp)
    begins = np.flatnonzero(np.diff(of_term, prepend=-1))
    return _Page(
        of_term[begins],
        np.diff(begins, append=len(of_term)),
        (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        np.minimum(found, _COUNT_MAX).astype(np.uint8),
    )
