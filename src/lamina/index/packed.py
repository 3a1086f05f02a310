"""Columns of a scope's index in few bytes: an object for each value would take three times as many."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

__all__ = ["Notes", "ShortNumbers"]


class Notes:
    """A short text for each row, or none, in one piece of memory."""

    def __init__(self) -> None:
        self._texts = bytearray()
        self._starts = array("I")
        self._lengths = array("I")

    def append(self) -> None:
        """The next row has none yet."""
        self._starts.append(0)
        self._lengths.append(0)

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


class ShortNumbers:
    """Numbers from 0 on, one behind another, in two bytes each until one takes more."""

    def __init__(self) -> None:
        self._numbers = array("H")

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: slice) -> array[int]:
        return self._numbers[at]

    def extend(self, numbers: array[int]) -> None:
        """Add some."""
        if self._numbers.typecode == "H":
            try:
                numbers = array("H", numbers)
            except OverflowError:
                self._numbers = array("I", self._numbers)
        self._numbers.extend(numbers)

    @property
    def column(self) -> NDArray[np.uint16] | NDArray[np.uint32]:
        """(n,) all of them, until some are added."""
        return np.frombuffer(self._numbers, np.dtype(self._numbers.typecode))
