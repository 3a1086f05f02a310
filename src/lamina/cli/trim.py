"""Memory that is free goes back to the system while a server runs, not only where much was freed at once."""

from __future__ import annotations

import threading

from lamina import limits
from lamina.index.heap import give_back
from lamina.observe.rounds import Failures

__all__ = ["RegularTrim"]

_PART = "giving back free memory"


class RegularTrim:
    """A thread that sleeps, and gives back what is free when it wakes.

    What recalls take for a moment leaves holes between what they keep, 15 to 60 MB after 200 questions at 10^5 events, as it falls
    out. Giving them back takes 6 ms there.
    """

    def __init__(self, failures: Failures, *, every_s: float = limits.TRIM_EVERY_S) -> None:
        self._failures = failures
        self._every_s = every_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lamina-trim", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what runs."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        wait_s = self._every_s
        while not self._stopping.wait(wait_s):
            try:
                give_back()
            except Exception as error:
                wait_s = max(self._every_s, self._failures.note(_PART, error))
            else:
                wait_s = self._every_s
                self._failures.over(_PART)
