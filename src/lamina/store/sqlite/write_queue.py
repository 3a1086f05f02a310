"""What waits for the thread that writes, and which of it goes next, together."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import apsw

from lamina import limits
from lamina.errors import Unavailable
from lamina.store.sqlite.works import AwaitedWrite, Land, ReadsFirst, Riders

__all__ = ["Settled", "Write", "WriteQueue", "unavailable"]

Settled = Future[Any] | AwaitedWrite[Any]
Write = tuple[Callable[[apsw.Connection], Any], Settled, Callable[[Any], str | None] | None, Land | None]


class WriteQueue:
    """Writes in the order in which they came."""

    def __init__(self, riders: Riders) -> None:
        self._riders = riders
        self._waiting: deque[Write] = deque()
        self._called = False
        """Whether somebody wants what waits to be written now."""
        self._later: list[Write] = []
        self._later_from = 0.0
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._taken = threading.Condition(self._lock)
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether it takes no more."""
        return self._closed

    @property
    def waiting(self) -> int:
        """How many writes wait, called for or not."""
        return len(self._waiting)

    def put(self, write: Write, *, calls: bool = True) -> None:
        """A write. Unless it ``calls``, it goes with the next that does, with a full group, or once ``call`` says so.

        Waits where the queue is full; raises ``Unavailable`` (WAL_UNAVAILABLE) where it stays so, and once it is closed.
        """
        with self._lock:
            if not self._has_room() and not self._taken.wait_for(self._has_room, timeout=limits.WAIT_S_MAX):
                raise unavailable("the write queue is full")
            # Under the lock: whatever is in the queue when the writer sees that it is closed is still written.
            if self._closed:
                raise unavailable("the store is closed")
            self._waiting.append(write)
            if calls or len(self._waiting) >= limits.WRITE_GROUP_MAX:
                self._called = True
                self._arrived.notify()

    def put_later(self, write: Write) -> None:
        """A write for the transaction of whoever writes next; when nobody has within ``limits.WRITE_LATER_S``, it goes alone."""
        with self._lock:
            if self._closed:
                raise unavailable("the store is closed")
            if not self._later:
                self._later_from = time.monotonic()
                self._arrived.notify()
            self._later.append(write)

    def call(self) -> None:
        """What waits is wanted now."""
        with self._lock:
            self._called = bool(self._waiting)
            self._arrived.notify()

    def nudge(self) -> None:
        """Riders wait."""
        with self._lock:
            self._arrived.notify()

    def close(self) -> None:
        """Take no more; what is there is still written."""
        with self._lock:
            self._closed = True
            self._arrived.notify()
            self._taken.notify_all()

    def next_group(self) -> list[Write] | None:
        """What waits, up to a group; nothing when only riders do; None once closed and all is written."""
        with self._lock:
            while not (self._called or self._closed):
                due_s = self._due_s()
                if due_s == 0.0:
                    break
                self._arrived.wait(due_s)
            if self._closed and not (self._waiting or self._later) and self._riders.due_s() is None:
                return None
            group = self._taken_group()
            self._called = self._called and bool(self._waiting)
            self._taken.notify_all()
            return group

    def emptied(self) -> list[Write]:
        """All that is left in a queue that closes with it."""
        with self._lock:
            self._closed = True
            left = [*self._later, *self._waiting]
            self._later, self._waiting = [], deque()
            self._taken.notify_all()
        return left

    def _has_room(self) -> bool:
        return self._closed or len(self._waiting) < limits.WRITE_QUEUE_MAX

    def _taken_group(self) -> list[Write]:
        if self._waiting and isinstance(self._waiting[0][0], ReadsFirst):
            return [self._waiting.popleft()]
        group, self._later = self._later, []
        for _ in range(min(len(self._waiting), limits.WRITE_GROUP_MAX)):
            if isinstance(self._waiting[0][0], ReadsFirst):
                break
            group.append(self._waiting.popleft())
        return group

    def _due_s(self) -> float | None:
        """In how many seconds a commit is wanted even if nobody calls for one."""
        riders_s = self._riders.due_s()
        if not self._later:
            return riders_s
        later_s = max(0.0, self._later_from + limits.WRITE_LATER_S - time.monotonic())
        return later_s if riders_s is None else min(riders_s, later_s)


def unavailable(reason: str) -> Unavailable:
    """The refusal of a log that cannot be written."""
    return Unavailable(
        "WAL_UNAVAILABLE", f"the log cannot be reached: {reason}", hint="check the disk, then retry"
    )
