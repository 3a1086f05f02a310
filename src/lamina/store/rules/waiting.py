"""Waiting for another call with the same idempotency key: for so long, and so many at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lamina import limits
from lamina.errors import Unavailable

__all__ = ["Waiting", "key_unavailable"]


class Waiting:
    """The room for those who wait."""

    def __init__(self) -> None:
        self._room = threading.BoundedSemaphore(limits.KEY_WAITS_MAX)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for the length of a block; raises ``Unavailable`` (WAL_UNAVAILABLE) at once where none is free."""
        if not self._room.acquire(blocking=False):
            raise key_unavailable("too many calls wait for others with their keys")
        try:
            yield
        finally:
            self._room.release()


def key_unavailable(reason: str) -> Unavailable:
    """What is told whom a key keeps waiting."""
    return Unavailable(
        "WAL_UNAVAILABLE", f"the key cannot be looked at: {reason}", hint="try again in a moment"
    )
