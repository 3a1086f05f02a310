"""The language model that words answers: asked by a few at once, and left alone for a while after it gave none."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from lamina import limits
from lamina.answer.generated import Worded, worded
from lamina.errors import LaminaError, Unavailable
from lamina.kernel.operations import Call
from lamina.kernel.time import SECOND_US, Clock, Instant
from lamina.models.ports import Generator
from lamina.observe.rounds import Failures
from lamina.recall.grounds import GroundLine

__all__ = ["AnswerModel"]

_PART: Final = "the answering model"
"""What health calls a model that is away when an answer is asked for."""
_AWAY: Final = frozenset({"MODEL_UNAVAILABLE", "MODEL_MISCONFIGURED"})


class AnswerModel:
    """A generator with its bounds. Safe to use from any thread."""

    def __init__(
        self,
        generator: Generator,
        clock: Clock,
        *,
        at_once: int,
        wait_s: float,
        failures: Failures | None = None,
    ) -> None:
        """``at_once`` questions are asked together; others wait for ``wait_s`` at most."""
        self._generator = generator
        self._clock = clock
        self._slots = threading.BoundedSemaphore(at_once)
        self._wait_s = wait_s
        self._failures = failures or Failures()
        self._failed_at: Instant = 0
        self._away_until: Instant = 0

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._generator.name

    def worded(
        self, task: str, question: str, lines: Sequence[GroundLine], call: Call, *, tokens_max: int
    ) -> Worded:
        """What the model makes of the lines; what it counted stands in the call's audit row.

        Raises ``LaminaError``: ``Unavailable`` (MODEL_UNAVAILABLE) also while it is left alone, and while too many wait for it.
        """
        self._require_there()
        if not self._slots.acquire(timeout=self._wait_s):
            raise _unavailable("too many wait for it")
        try:
            self._require_there()  # no more, maybe, by those that were asked meanwhile
            began = self._clock.now()
            made = worded(self._generator, task, question, lines, tokens_max=tokens_max)
        except LaminaError as error:
            if error.code in _AWAY:
                # By the time that is now: a question may have run out of time that began half a minute ago.
                self._failed_at = self._clock.now()
                self._away_until = self._failed_at + limits.LLM_LEFT_ALONE_S * SECOND_US
                self._failures.note(_PART, error)
            raise
        finally:
            self._slots.release()
        if self._failed_at <= began:
            self._away_until = 0
            self._failures.over(_PART)
        used = {"model": self.name, "prompt": made.tokens_in, "completion": made.tokens_out}
        call.noted.setdefault("model_usage", []).append(used)
        return made

    def _require_there(self) -> None:
        if self._clock.now() < self._away_until:
            raise _unavailable("it gave none a moment ago")


def _unavailable(reason: str) -> Unavailable:
    return Unavailable("MODEL_UNAVAILABLE", f"the language model gave no answer: {reason}")
