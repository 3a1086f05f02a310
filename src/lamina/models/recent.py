"""Vectors of questions that were asked lately: who asks again, or asks a brief and then a recall, does not wait for the model."""

from __future__ import annotations

import threading
from collections import OrderedDict

from lamina import limits
from lamina.models.ports import Embedder, Encoded

__all__ = ["RecentQuestions"]


class RecentQuestions:
    """Encodings by the exact text, those used longest ago go first. Nothing leaves the process. Safe for any thread.

    A text's vectors depend on the text alone, so that they are the same for every tenant.
    """

    def __init__(self, embedder: Embedder, *, count_max: int = limits.QUESTIONS_KEPT_MAX) -> None:
        self._embedder = embedder
        self._count_max = count_max
        self._kept: OrderedDict[str, Encoded] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, text: str) -> Encoded:
        """The encoding of one text."""
        with self._lock:
            known = self._kept.get(text)
            if known is not None:
                self._kept.move_to_end(text)
                return known
        encoded = self._embedder.encode([text])
        with self._lock:
            self._kept[text] = encoded
            while len(self._kept) > self._count_max:
                self._kept.popitem(last=False)
        return encoded
