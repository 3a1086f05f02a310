"""What will be asked for first is loaded once a server has begun, so that nobody waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from lamina.observe.rounds import BackgroundThread, class_of

__all__ = ["Warming"]

_LOG = logging.getLogger("lamina.warm")
_FIRST_S: Final = 0.5
"""A server answers its first calls before it loads what nobody asked for yet."""


class Warming(BackgroundThread):
    """A thread that loads, once. Where that fails whoever asks will load, and be told why it cannot be."""

    def __init__(self, warm: Callable[[Callable[[], bool]], None], *, first_s: float = _FIRST_S) -> None:
        """``warm`` loads until what it is given says that it should stop."""
        self._warm = warm
        self._first_s = first_s
        super().__init__(self._run, thread="lamina-warm")

    def _run(self) -> None:
        if self._stopping.wait(self._first_s):
            return
        try:
            self._warm(self._stopping.is_set)
        except Exception as error:
            _LOG.warning("nothing more is loaded ahead: %s", class_of(error))
