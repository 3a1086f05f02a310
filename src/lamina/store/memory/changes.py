"""``Changes`` of the reference engine."""

from __future__ import annotations

import time

from lamina.store.memory.tables import Memory

__all__ = ["MemoryChanges"]


class MemoryChanges:
    """Mirrors ``Changes``."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def follow(self) -> _Follower:
        """Mirrors ``Changes.follow``."""
        return _Follower(self._memory)


class _Follower:
    """Mirrors ``Follower``."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._commits = memory.tables.commits
        self._rows = memory.tables.lifecycle_rows
        self._closed = False

    def wait(self, timeout_s: float) -> frozenset[str]:
        """Mirrors ``Follower.wait``."""
        until = time.monotonic() + timeout_s
        with self._memory.changed:
            self._memory.changed.wait_for(self._may_return, until - time.monotonic())
        tables = self._memory.tables
        fresh = tables.lifecycle_rows - self._rows
        rows = tables.lifecycle[-fresh:] if fresh else []
        self._commits, self._rows = tables.commits, tables.lifecycle_rows
        return frozenset(row.tenant_id for row in rows)

    def _may_return(self) -> bool:
        return self._closed or self._memory.tables.commits != self._commits

    def close(self) -> None:
        """Mirrors ``Follower.close``."""
        self._closed = True
        with self._memory.changed:
            self._memory.changed.notify_all()
