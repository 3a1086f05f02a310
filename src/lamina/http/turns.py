"""Whose write goes next where more come than there are threads for them: tenants take turns.

A write holds a thread until it is on disk. One tenant's writers, if there are enough of them, would hold all threads and stand in front of
everybody else's; here who waits holds none, and the next place is for the tenant that has fewest. Used on the event loop only.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import Final

from lamina import limits

__all__ = ["WriteTurns"]

_PLACES: Final = limits.WRITE_GROUP_MAX + limits.WRITE_GROUP_MAX // 4


class WriteTurns:
    """Places for the writes of one process."""

    def __init__(self, of_tenant: int = limits.WRITE_GROUP_MAX, places: int = _PLACES) -> None:
        """One tenant holds ``of_tenant`` at most, as many as share a commit unless given: more at once would be no sooner on disk. Of
        all ``places`` some are left for others even where those writes take long."""
        self._free = places
        self._of_tenant = of_tenant
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return sum(map(len, self._waiting.values()))

    async def take(self, tenant_id: str) -> None:
        """A place, at once or when it is this tenant's turn; given back with ``give``."""
        if self._free and self._held[tenant_id] < self._of_tenant:
            self._free -= 1
            self._held[tenant_id] += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant_id, deque()).append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.give(tenant_id)  # it had become theirs
            else:
                self._leave(tenant_id, turn)
            raise

    def give(self, tenant_id: str) -> None:
        """The place is free: the next is for who waits longest of the tenant that holds fewest, and of several for who came first."""
        self._held[tenant_id] -= 1
        if not self._held[tenant_id]:
            del self._held[tenant_id]
        while waiting := [each for each in self._waiting if self._held[each] < self._of_tenant]:
            following = min(waiting, key=lambda each: self._held[each])
            queue = self._waiting.pop(following)
            turn = queue.popleft()
            if queue:
                self._waiting[following] = queue  # behind the others that hold as many
            if not turn.done():  # else its caller has left
                self._held[following] += 1
                turn.set_result(None)
                return
        self._free += 1

    def _leave(self, tenant_id: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(tenant_id)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[tenant_id]
