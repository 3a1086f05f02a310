"""Recall for somebody who may stop waiting: it ends between two phases once nobody wants its answer any more.

Otherwise a recall that was left behind would go on to its end, and the next brief would wait for the processor.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from lamina.recall.derived import DerivedLayers, DerivedRecords
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool, Retriever

__all__ = ["AwaitedRecords", "AwaitedRetriever", "TooLate", "awaited_until", "require_awaited"]

_LATE: Final[ContextVar[threading.Event | None]] = ContextVar("lamina_late", default=None)


class TooLate(Exception):
    """Nobody waits for the answer any more."""


@contextmanager
def awaited_until(late: threading.Event) -> Iterator[None]:
    """What runs inside, on this thread, is wanted until the event is set."""
    token = _LATE.set(late)
    try:
        yield
    finally:
        _LATE.reset(token)


def require_awaited() -> None:
    """Nothing, or ``TooLate``. What runs outside of ``awaited_until`` is never late."""
    late = _LATE.get()
    if late is not None and late.is_set():
        raise TooLate


class AwaitedRetriever(Retriever):
    """A retriever that begins nothing late, and hands nothing late on to be scored."""

    def gather(self, plan: Plan) -> EventPool:
        """Mirrors ``Retriever.gather``."""
        require_awaited()
        pool = super().gather(plan)
        require_awaited()
        return pool


class AwaitedRecords(DerivedRecords):
    """Derived records that are not looked for late."""

    def find(self, *asked: Any, **more: Any) -> DerivedLayers:  # Any: passed on as it came
        """Mirrors ``DerivedRecords.find``."""
        require_awaited()
        return super().find(*asked, **more)
