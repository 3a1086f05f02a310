"""Whether a language model is asked just now: one breaker for everybody who asks it.

A model that gave no answer is asked by nobody for a while, longer each time, and then by one alone; when it answers it is there for
all again. A question is to blame for a failure only where the model answered others since the question failed before.
"""

from __future__ import annotations

import threading
from typing import Final

from lamina.errors import LaminaError
from lamina.kernel.time import SECOND_US, Clock, Instant
from lamina.observe.rounds import Failures

__all__ = ["MODEL_PART", "Breaker", "is_away"]

MODEL_PART: Final = "the language model"
"""What health calls a model that is away, whoever asked it."""

_BLAMED_KEPT: Final = 1000
_AWAY: Final = frozenset({"MODEL_UNAVAILABLE", "MODEL_MISCONFIGURED"})


def is_away(error: Exception) -> bool:
    """Whether an error says that the model is not there for anybody: no answer, or everything turned away."""
    return isinstance(error, LaminaError) and error.code in _AWAY


class Breaker:
    """Open while the model is away. Safe for any thread."""

    def __init__(self, clock: Clock, failures: Failures | None = None) -> None:
        self._clock = clock
        self._failures = failures or Failures()
        self._lock = threading.Lock()
        self._until: Instant = 0
        self._is_open = self._is_tried = False
        self._answers = 0
        self._failed_at: dict[int, int] = {}

    def admits(self) -> bool:
        """Whether to ask now: always while the model answers, else one at a time once its while is over. Who asks says
        ``answered`` or ``failed``, and ``left`` in any case."""
        with self._lock:
            if not self._is_open:
                return True
            if self._is_tried or self._clock.now() < self._until:
                return False
            self._is_tried = True
            return True

    def left(self) -> None:
        """Somebody who was admitted is done, with whatever outcome: the next one may try."""
        with self._lock:
            self._is_tried = False

    def answered(self) -> None:
        """The model gave an answer, whatever it was worth."""
        with self._lock:
            self._answers += 1
            self._is_open = False
        self._failures.over(MODEL_PART)

    def failed(self, error: LaminaError) -> Instant:
        """The model gave none: when to ask again. Of several that failed together one counts."""
        with self._lock:
            known = self._is_open and not self._is_tried
            self._is_open = True
            if known:
                return self._until
        wait_s = self._failures.note(MODEL_PART, error)
        with self._lock:
            self._until = self._clock.now() + int(wait_s * SECOND_US)
            return self._until

    def blames(self, question: int) -> bool:
        """Whether the failure of a question is its own: the model answered others since it failed before."""
        with self._lock:
            before = self._failed_at.pop(question, None)
            self._failed_at[question] = self._answers
            while len(self._failed_at) > _BLAMED_KEPT:
                del self._failed_at[next(iter(self._failed_at))]
            return before is not None and self._answers > before
