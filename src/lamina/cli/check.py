"""Checks under ``lamina serve``: everything on disk is read soon after the start and a few times a day, beside the calls."""

from __future__ import annotations

import logging
import threading

from lamina import limits
from lamina.kernel.time import Clock
from lamina.observe.rounds import Failures
from lamina.store.ports.upkeep import Upkeep

__all__ = ["RegularCheck"]

_LOG = logging.getLogger("lamina.check")
_PART = "the check of what is on disk"


class RegularCheck:
    """A thread that sleeps, and checks when it wakes; sooner again where something was damaged, to see it whole."""

    def __init__(
        self,
        upkeep: Upkeep,
        clock: Clock,
        failures: Failures,
        *,
        first_s: float = limits.CHECK_FIRST_S,
        again_s: float = limits.CHECK_AGAIN_S,
        every_s: float = limits.CHECK_EVERY_S,
    ) -> None:
        self._upkeep = upkeep
        self._clock = clock
        self._failures = failures
        self._first_s, self._again_s, self._every_s = first_s, again_s, every_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lamina-check", daemon=True)

    def start(self) -> None:
        """Begin, once the server has had time to start."""
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
                checked = self._upkeep.check(self._clock.now())
            except Exception as error:
                wait_s = max(self._again_s, self._failures.note(_PART, error))
            else:
                self._failures.over(_PART)
                for fault in checked.database:
                    _LOG.error("the database is damaged: %s", fault)
                for name in checked.repositories:
                    _LOG.error("the repository %s is damaged and is built anew", name)
                wait_s = self._again_s if checked.repositories else self._every_s
