"""The time for what cannot be undone: a clock that jumps ahead is believed once it has stood for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from lamina import limits
from lamina.kernel.time import DAY_US, SECOND_US, Clock, Instant

__all__ = ["SteadyClock", "since_boot_s"]

_SLACK_US: Final = limits.CLOCK_AHEAD_S_MAX * SECOND_US


def since_boot_s() -> float:
    """Seconds that passed on this machine, asleep or not where the system can tell."""
    counter = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(counter)


class SteadyClock:
    """``Clock`` over another one, for whoever erases or deletes by age.

    While the clock goes as time passes it says the same. After a jump ahead it goes on from before, until the new time has stood for
    ``limits.CLOCK_BELIEVED_S``; a clock that was set back is believed at once, since by it less is over. At the start it is believed
    where it is less than a day ahead of the ``newest`` instant on record.
    """

    def __init__(
        self, clock: Clock, newest: Instant | None, elapsed_s: Callable[[], float] = since_boot_s
    ) -> None:
        self._clock = clock
        self._elapsed_s = elapsed_s
        self._lock = threading.Lock()
        now = clock.now()
        self._believed = now if newest is None or now - newest < DAY_US else newest
        self._believed_s = elapsed_s()
        self._jumped_s: float | None = None

    def now(self) -> Instant:
        """Mirrors ``Clock.now``."""
        with self._lock:
            said, passed_s = self._clock.now(), self._elapsed_s()
            expected = self._believed + int((passed_s - self._believed_s) * SECOND_US)
            if said > expected + _SLACK_US:
                if self._jumped_s is None:
                    self._jumped_s = passed_s
                if passed_s - self._jumped_s < limits.CLOCK_BELIEVED_S:
                    return expected
            self._jumped_s = None
            self._believed, self._believed_s = said, passed_s
            return said
