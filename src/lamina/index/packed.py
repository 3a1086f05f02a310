"""Columns of a scope's index in few bytes: an object for each value would take three times as many."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Notes", "RowTerms"]

_SHORT_MAX: Final = 2**16 - 1


class Notes:
    """A short text for each row, or none, in one piece of memory."""

    def __init__(self) -> None:
        self._texts = bytearray()
        self._starts = array("I")
        self._lengths = array("I")

    def extend(self, rows: int) -> None:
        """So many rows more have none yet."""
        self._starts.extend([0] * rows)
        self._lengths.extend([0] * rows)

    def put(self, place: int, text: str) -> None:
        """The text of a row; one that it had is of no use any more, and stays where it is. Who reads meanwhile finds none yet."""
        encoded = text.encode()
        start = len(self._texts)
        self._texts += encoded
        self._starts[place] = start
        self._lengths[place] = len(encoded)

    def __getitem__(self, place: int) -> str:
        start = self._starts[place]
        return self._texts[start : start + self._lengths[place]].decode()


class RowTerms:
    """The numbers of the terms of each row, one behind another, in two bytes each until one takes more."""

    def __init__(self) -> None:
        self._numbers = array("H")
        self._ends = array("q", [0])

    def __len__(self) -> int:
        """Terms of all rows together."""
        return len(self._numbers)

    def extend(self, numbers: array[int], lengths: Sequence[int]) -> None:
        """The terms of the next rows, one behind another, and how many each has."""
        column = np.frombuffer(numbers, np.uint32)
        if self._numbers.typecode == "H" and len(column) and column.max() > _SHORT_MAX:
            self._numbers = array("I", self._numbers)
        self._numbers.frombytes(column.astype(self._numbers.typecode, copy=False).tobytes())
        self._ends.extend(islice(accumulate(lengths, initial=self._ends[-1]), 1, None))

    def of(self, row: int) -> array[int]:
        """The terms of a row."""
        return self._numbers[self._ends[row] : self._ends[row + 1]]

    @property
    def ends(self) -> NDArray[np.int64]:
        """(n + 1,) where the terms of the row before end, until some are added."""
        return np.frombuffer(self._ends, np.int64)

    def counts(
        self, rows: NDArray[np.intp], terms: Sequence[int | None]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """(n, t) how often some rows have each of some terms, one without a number never; and (n,) how many terms they have."""
        ends = self.ends
        lengths = ends[rows + 1] - ends[rows]
        row_of = np.repeat(np.arange(len(rows)), lengths)
        # Each row's terms lie side by side: from where the row begins among all, and on from where it begins here.
        offsets = ends[rows] - np.concatenate(([0], np.cumsum(lengths)[:-1]))[: len(rows)]
        column = np.frombuffer(self._numbers, np.dtype(self._numbers.typecode))
        found = column[np.arange(len(row_of)) + offsets[row_of]]
        counts = np.zeros((len(rows), len(terms)), np.float32)
        for at, number in enumerate(terms):
            if number is not None:
                counts[:, at] = np.bincount(row_of[found == number], minlength=len(rows))
        return counts, lengths.astype(np.float32)
