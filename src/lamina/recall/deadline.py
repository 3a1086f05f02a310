"""Until when somebody waits for an answer: what goes on behind them ends between two phases.

Otherwise a recall that was left behind would go on to its end, and the next brief would wait for the processor.
"""

from __future__ import annotations

import threading
from typing import Final

__all__ = ["NEVER", "Deadline", "TooLate"]


class TooLate(Exception):
    """Nobody waits for the answer any more."""


class Deadline:
    """An answer is wanted until the event is set; without one, always."""

    def __init__(self, late: threading.Event | None = None) -> None:
        self._late = late

    def check(self) -> None:
        """Nothing, or ``TooLate``."""
        if self._late is not None and self._late.is_set():
            raise TooLate


NEVER: Final = Deadline()
