"""Moving the write-ahead file into the database beside those who write.

SQLite has whoever commits as the file grows past 1,000 pages move them, and flush the database, before the commit returns: one
write in a few waits for what many wrote. Here a thread does it over a connection of its own. Where that falls behind, the
writer waits for it after all, for a file that grows without end fills the disk and slows every read.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

import apsw

from lamina.observe.rounds import Failures
from lamina.store.sqlite.connection import open_connection

__all__ = ["Checkpoints"]

_PAGES: Final = 1000
"""So many pages that were not moved yet are due: as SQLite has it."""
_FEW: Final = 250
"""So many, where pages are written faster than anybody asks for them: flushing 1,000 takes the disk ten milliseconds, in which a commit of
somebody else waits to be flushed, too."""
_PAGES_MAX: Final = 16_000
"""So many, of 4 kB each, and writes wait."""
_PASSES_MAX: Final = 4
"""Others write while pages are moved. Each pass finds fewer; once all are moved the next write begins the file anew."""
_PART: Final = "moving the write-ahead file"


class Checkpoints:
    """The thread that moves what one connection writes; it begins with the first pages that are due."""

    def __init__(self, path: Path, writing: apsw.Connection, failures: Failures) -> None:
        self._path = path
        self._failures = failures
        self._moving = threading.Lock()
        self._due = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._connection: apsw.Connection | None = None
        self._moved = 0
        self._waiting = 0
        self._pages = _PAGES
        writing.set_wal_hook(self._committed)

    def sooner(self) -> None:
        """Have fewer pages be due behind the next commit. For the thread that writes, before that."""
        self._pages = _FEW

    def press(self) -> None:
        """Have pages moved that are due, and wait where far too many are. For the thread that writes, between two commits."""
        due, self._pages = self._pages, _PAGES
        if self._waiting >= _PAGES_MAX:
            self._move()
        elif self._waiting >= due:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lamina-checkpoints", daemon=True)
                self._thread.start()
            self._due.set()

    def close(self) -> None:
        """Move nothing more."""
        self._closed.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join()
        with self._moving:
            if self._connection is not None:
                self._connection.close()

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        """In the thread that writes, in the midst of its commit: nothing here may fail or wait."""
        if pages < self._moved:  # it was begun anew
            self._moved = 0
        self._waiting = pages - self._moved
        return apsw.SQLITE_OK

    def _run(self) -> None:
        while self._due.wait() and not self._closed.is_set():
            self._due.clear()
            try:
                self._move()
            except Exception as error:
                self._closed.wait(self._failures.note(_PART, error))
            else:
                self._failures.over(_PART)

    def _move(self) -> None:
        with self._moving:
            if self._connection is None:
                if not self._path.exists():  # the folder went away: nothing is begun in its place
                    return
                # The database is flushed as pages are moved, whatever a connection says of its commits.
                self._connection = open_connection(self._path, durable=False)
            for _ in range(_PASSES_MAX):
                try:
                    logged, moved = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                except apsw.BusyError:  # another process moves them
                    return
                stuck, self._moved, self._waiting = moved == self._moved, moved, logged - moved
                if stuck or not self._waiting:  # somebody reads what was before
                    return
