"""Vectors of questions that were asked lately: who asks again, or asks a brief and then a recall, does not wait for the model."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from lamina import limits
from lamina.models.ports import Embedder, Encoded

__all__ = ["RecentQuestions"]

_THREADS: Final = min(8, os.cpu_count() or 1)


class RecentQuestions:
    """Encodings by the exact text, those used longest ago go first. Nothing leaves the process. Safe for any thread.

    A text's vectors depend on the text alone, so that they are the same for every tenant.
    """

    def __init__(self, embedder: Embedder, *, count_max: int = limits.QUESTIONS_KEPT_MAX) -> None:
        self._embedder = embedder
        self._count_max = count_max
        self._kept: OrderedDict[str, Future[Encoded]] = OrderedDict()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="lamina-encode")

    def asked(self, text: str) -> Callable[[], Encoded]:
        """Begin to encode a text, and give what waits for the encoding: the model runs while its caller goes on."""
        with self._lock:
            encoding = self._kept.get(text)
            # What the model refused is asked for again.
            if encoding is None or (encoding.done() and encoding.exception() is not None):
                encoding = self._kept[text] = self._pool.submit(self._encode, text)
            self._kept.move_to_end(text)
            while len(self._kept) > self._count_max:
                self._kept.popitem(last=False)
        return encoding.result

    def _encode(self, text: str) -> Encoded:
        return self._embedder.encode([text])
