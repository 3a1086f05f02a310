"""What will be asked for first is loaded once a server has begun, so that nobody waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from lamina.observe.rounds import class_of

__all__ = ["Warming"]

_LOG = logging.getLogger("lamina.warm")
_FIRST_S: Final = 0.5
"""A server answers its first calls before it loads what nobody asked for yet."""


class Warming:
    """A thread that loads, once. Where that fails whoever asks will load, and be told why it cannot be."""

    def __init__(self, warm: Callable[[Callable[[], bool]], None], *, first_s: float = _FIRST_S) -> None:
        """``warm`` loads until what it is given says that it should stop."""
        self._warm = warm
        self._first_s = first_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lamina-warm", daemon=True)

    def start(self) -> None:
        """Begin in a moment."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the scope that is loaded just now."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        if self._stopping.wait(self._first_s):
            return
        try:
            self._warm(self._stopping.is_set)
        except Exception as error:
            _LOG.warning("nothing more is loaded ahead: %s", class_of(error))
