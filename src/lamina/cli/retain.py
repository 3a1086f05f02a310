"""Retention under ``lamina serve``: once a day, audit rows past their time are deleted; where that failed, again in an hour."""

from __future__ import annotations

import logging
import threading

from lamina.access.retention import Retention
from lamina.observe.rounds import Failures

__all__ = ["DailyRetention"]

_LOG = logging.getLogger("lamina.retention")
_EVERY_S = 24 * 3600.0
_FIRST_S = 60.0
_AGAIN_S = 3600.0
_PART = "audit retention"


class DailyRetention:
    """A thread that sleeps, and prunes when it wakes."""

    def __init__(
        self,
        retention: Retention,
        failures: Failures,
        *,
        first_s: float = _FIRST_S,
        again_s: float = _AGAIN_S,
    ) -> None:
        self._retention = retention
        self._failures = failures
        self._first_s, self._again_s = first_s, again_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lamina-retention", daemon=True)

    def start(self) -> None:
        """Begin, a minute from now unless told otherwise."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what runs."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        wait_s = self._first_s
        while not self._stopping.wait(wait_s):
            try:
                deleted = self._retention.run()
            except Exception as error:
                wait_s = max(self._again_s, self._failures.note(_PART, error))
            else:
                wait_s = _EVERY_S
                self._failures.over(_PART)
                _LOG.info("deleted %d audit rows past their retention", deleted)
