"""``Changes`` over the rows of the lifecycle, which are numbered in the order of their commits."""

from __future__ import annotations

import contextlib
import time
from typing import Final

from lamina import limits
from lamina.store.blocks import load_blocks
from lamina.store.sqlite.bells import Bells
from lamina.store.sqlite.connection import Readers

__all__ = ["SqliteChanges"]

_SQL = load_blocks("lamina.store.sqlite")
_NONE: Final[frozenset[str]] = frozenset()
_DEAF_LOOK_S: Final = 0.01
"""Where a folder takes no named pipes."""


class SqliteChanges:
    """``Changes``. Bells say when to look; without one, every ``limits.CHANGES_LOOK_S``."""

    def __init__(self, bells: Bells, readers: Readers) -> None:
        self._bells = bells
        self._readers = readers

    def follow(self) -> _Follower:
        """Mirrors ``Changes.follow``."""
        return _Follower(self._bells, self._readers.alone())


class _Follower:
    """Mirrors ``Follower``."""

    def __init__(self, bells: Bells, readers: Readers) -> None:
        self._bells = bells
        self._readers = readers
        self._held = contextlib.ExitStack()
        self._held.enter_context(bells.listening())
        self._rings = bells.rings
        self._closed = False
        # Whoever waits has a connection of its own, and so a count of its own.
        self._version: int | None = None
        self._row: int | None = None
        with contextlib.suppress(Exception):
            self._row = self._newest_row()

    def wait(self, timeout_s: float) -> frozenset[str]:
        """Mirrors ``Follower.wait``."""
        until = time.monotonic() + timeout_s
        while not self._closed:
            rings = self._bells.rings
            tenants = self._tenants()
            if tenants:
                self._rings = rings
                return tenants
            version = self._data_version()
            changed = rings != self._rings or self._version not in (None, version)
            self._rings, self._version = rings, version
            if changed:
                return self._tenants()  # the commit that changed it may have come after the look above
            left_s = until - time.monotonic()
            if left_s <= 0:
                break
            # The whole wait is never left to a bell: a process may end between its commit and the ring.
            look_s = limits.CHANGES_LOOK_S if self._bells.hang else _DEAF_LOOK_S
            self._bells.wait(rings, min(left_s, look_s))
        return _NONE

    def close(self) -> None:
        """Mirrors ``Follower.close``."""
        self._closed = True
        self._held.close()
        self._bells.stir()

    def _tenants(self) -> frozenset[str]:
        newest = self._newest_row()
        if self._row is None:  # it could not be asked when this began: everybody may have changed
            self._row = newest
            return frozenset(row[0] for row in self._readers.rows(_SQL["tenants"]))
        if newest == self._row:
            return _NONE
        after, self._row = self._row, newest
        rows = self._readers.rows(_SQL["tenants_changed"], (after, newest))
        return frozenset(row[0] for row in rows)

    def _newest_row(self) -> int:
        row = self._readers.row(_SQL["newest_change"])
        return 0 if row is None or row[0] is None else int(row[0])

    def _data_version(self) -> int:
        row = self._readers.row("PRAGMA data_version")
        assert row is not None, "a pragma is always a row"
        return int(row[0])
