"""Room for recalls: as many at once as there are cores, a bounded queue behind them, and a clear no beyond it.

A recall is a core's work for some ten milliseconds. More of them at once than there are cores make each slower and none
sooner, and take the interpreter from calls that need it for less: whoever cannot begin waits for a place without work. Tenants
are served in turn, so that one that asks much waits behind itself. A tenant alone may have all places, and the first recalls of
large scopes keep one for seconds: while all are of one tenant, there is one place more for the others.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager

from lamina import limits
from lamina.errors import Busy, Unavailable

__all__ = ["RecallRoom"]

_NEWEST_SHARE = 0.1
"""Of the time that a recall takes on average: the newest one's."""

_HINT = "wait as Retry-After says, then ask again"


class _Turn(threading.Event):
    """What one recall waits for: its place, or that it has to make room for another tenant's."""

    gave_way = False


class RecallRoom:
    """Places for recalls of one process."""

    def __init__(
        self,
        at_once: int,
        *,
        waiting_max: int = limits.RECALLS_WAITING_MAX,
        of_tenant_max: int = limits.RECALLS_WAITING_OF_TENANT_MAX,
    ) -> None:
        self._at_once = max(1, at_once)
        self._waiting_max = waiting_max
        self._of_tenant_max = of_tenant_max
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[_Turn]] = OrderedDict()
        self._takes_s = 0.0

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        with self._lock:
            return self._count()

    @contextmanager
    def place(self, tenant_id: str) -> Iterator[None]:
        """A place for the length of a block; whoever finds none free waits in the tenant's queue.

        Raises ``Busy`` (TOO_MUCH_AT_ONCE) where the tenant's queue is full, or is the longest of a full room and another tenant
        needs a place in it. Raises ``Unavailable`` (SERVER_FULL) where all places to wait are taken and no queue is longer than the
        tenant's, or where waiting would take longer than ``limits.RECALL_WAIT_S_MAX``.
        """
        turn = self._enter(tenant_id)
        if turn is not None:
            turn.wait()
            if turn.gave_way:
                raise _too_many("recalls of your tenant waited, and this one made room", self._takes_s)
        started = time.monotonic()
        try:
            yield
        finally:
            self._leave(tenant_id, time.monotonic() - started)

    def _enter(self, tenant_id: str) -> _Turn | None:
        with self._lock:
            if self._may_begin(tenant_id):
                self._running[tenant_id] += 1
                return None
            count, theirs = self._count(), len(self._waiting.get(tenant_id, ()))
            # In turn: of each other tenant no more are served before than of its own.
            before = theirs + sum(
                min(len(queue), theirs + 1) for tenant, queue in self._waiting.items() if tenant != tenant_id
            )
            wait_s = (before + 1) * self._takes_s / self._at_once
            if theirs >= self._of_tenant_max:
                raise _too_many(f"{theirs} recalls of your tenant wait already", wait_s)
            if wait_s > limits.RECALL_WAIT_S_MAX or (
                count >= self._waiting_max and not self._make_room(theirs)
            ):
                raise Unavailable(
                    "SERVER_FULL",
                    f"{count} recalls wait already",
                    hint=_HINT,
                    details={"retry_after_s": max(1.0, wait_s)},
                )
            turn = _Turn()
            self._waiting.setdefault(tenant_id, deque()).append(turn)
            return turn

    def _make_room(self, theirs: int) -> bool:
        """Whether the newest of the longest queue gave way to a tenant of which so many wait; each keeps as many as the other."""
        longest = max(self._waiting.values(), key=len)
        if len(longest) <= theirs + 1:
            return False
        turn = longest.pop()
        turn.gave_way = True
        turn.set()
        return True

    def _leave(self, tenant_id: str, took_s: float) -> None:
        """Give the place to who waits longest in the queue of the first tenant that may begin."""
        with self._lock:
            self._takes_s += _NEWEST_SHARE * (took_s - self._takes_s)
            self._running[tenant_id] -= 1
            if not self._running[tenant_id]:
                del self._running[tenant_id]
            # Two where the first makes all that run of one tenant.
            while (following := next(filter(self._may_begin, self._waiting), None)) is not None:
                self._begin_next(following)

    def _begin_next(self, tenant_id: str) -> None:
        queue = self._waiting.pop(tenant_id)
        self._running[tenant_id] += 1
        queue.popleft().set()
        if queue:
            self._waiting[tenant_id] = queue  # behind the others

    def _may_begin(self, tenant_id: str) -> bool:
        running = self._running.total()
        all_of_one = len(self._running) == 1 and tenant_id not in self._running
        return running < self._at_once or (running == self._at_once and all_of_one)

    def _count(self) -> int:
        return sum(map(len, self._waiting.values()))


def _too_many(said: str, wait_s: float) -> Busy:
    return Busy("TOO_MUCH_AT_ONCE", said, hint=_HINT, details={"retry_after_s": max(1.0, wait_s)})
