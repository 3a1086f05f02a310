"""What waits for the thread that writes: works that it does in another way than most, and what comes of one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import apsw

__all__ = ["AwaitedWrite", "ReadsFirst"]

T = TypeVar("T")


class AwaitedWrite(Generic[T]):
    """The outcome of a write that one thread waits for and nobody cancels: one lock, where a future takes four."""

    def __init__(self) -> None:
        self._over = threading.Lock()
        self._over.acquire()
        self._result: T | None = None
        self._failure: BaseException | None = None

    def result(self) -> T:
        """What the work gave back, once that is on disk; raises what it raised."""
        self._over.acquire()
        if self._failure is not None:
            raise self._failure
        return self._result  # type: ignore[return-value] # it landed, so there is one

    def set_result(self, result: T) -> None:
        """It landed."""
        self._result = result
        self._over.release()

    def set_exception(self, failure: BaseException) -> None:
        """It did not."""
        self._failure = failure
        self._over.release()


class ReadsFirst(Generic[T]):
    """A work that reads most of what it takes before it changes anything, and may be begun anew.

    Where it waits alone it has the lock for its changes only, so that others write while it reads. One of them may have: then what it read is
    old, and it begins anew under the lock.
    """

    __slots__ = ("_work",)

    def __init__(self, work: Callable[[apsw.Connection], T]) -> None:
        self._work = work

    def __call__(self, connection: apsw.Connection) -> T:
        """The work itself."""
        return self._work(connection)
