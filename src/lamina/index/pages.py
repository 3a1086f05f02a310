"""A page of rows as columns: a scope is loaded some thousand rows at a time, and each step for all of them costs less than for one by one."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain

import numpy as np

from lamina.index.columns import Numbers, Occurrences
from lamina.kernel.records import Layer
from lamina.store.ports.index import TextRow

__all__ = ["PageTerms"]


class PageTerms:
    """The numbers of the terms of new rows, which take their places from ``first`` on, and how many each row has."""

    def __init__(self, texts: Sequence[TextRow], first: int, numbers: Numbers) -> None:
        self._texts = texts
        self._first = first
        words = [text.terms.split() for text in texts]
        self.flat = array("I", map(numbers.__getitem__, chain.from_iterable(words)))
        self.lengths = list(map(len, words))

    def take_to(self, events: Occurrences, records: Occurrences) -> None:
        """Give each layer's postings its own."""
        of_event = np.array([text.layer is Layer.EVENTS for text in self._texts])
        places = np.arange(self._first, self._first + len(self._texts), dtype=np.uint32)
        inside = np.repeat(of_event, self.lengths)
        every, terms = np.repeat(places, self.lengths), np.frombuffer(self.flat, np.uint32)
        for occurrences, mine in ((events, inside), (records, ~inside)):
            occurrences.terms.frombytes(terms[mine].tobytes())
            occurrences.places.frombytes(every[mine].tobytes())
