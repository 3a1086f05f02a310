"""Waiting for another call with the same idempotency key: for so long, and so many at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from lamina import limits
from lamina.errors import Unavailable

__all__ = ["Waiting", "key_unavailable"]


class Waiting:
    """The room for those who wait, each a thread that answers nobody else: for so many at once, and fewer of one tenant."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many wait."""
        return self._there.total()

    @contextmanager
    def place(self, tenant_id: str) -> Iterator[None]:
        """A place for the length of a block; raises ``Unavailable`` (WAL_UNAVAILABLE) at once where none is free."""
        with self._lock:
            full = self._there.total() >= limits.KEY_WAITS_MAX
            if full or self._there[tenant_id] >= limits.KEY_WAITS_OF_TENANT_MAX:
                raise key_unavailable("too many calls wait for others with their keys")
            self._there[tenant_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._there[tenant_id] -= 1
                if not self._there[tenant_id]:
                    del self._there[tenant_id]


def key_unavailable(reason: str) -> Unavailable:
    """What is told whom a key keeps waiting."""
    return Unavailable(
        "WAL_UNAVAILABLE", f"the key cannot be looked at: {reason}", hint="try again in a moment"
    )
