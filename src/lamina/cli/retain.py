"""Retention under ``lamina serve``: once a day, audit rows past their time are deleted."""

from __future__ import annotations

import logging
import threading

from lamina.access.retention import Retention
from lamina.errors import LaminaError

__all__ = ["DailyRetention"]

_LOG = logging.getLogger("lamina.retention")
_EVERY_S = 24 * 3600.0
_FIRST_S = 60.0


class DailyRetention:
    """A thread that sleeps, and prunes when it wakes."""

    def __init__(self, retention: Retention) -> None:
        self._retention = retention
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lamina-retention", daemon=True)

    def start(self) -> None:
        """Begin, a minute from now."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what runs."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        wait_s = _FIRST_S
        while not self._stopping.wait(wait_s):
            wait_s = _EVERY_S
            try:
                deleted = self._retention.run()
            except LaminaError as error:
                _LOG.error("audit rows past their retention were not deleted: %s", error)
            else:
                _LOG.info("deleted %d audit rows past their retention", deleted)
