"""Connections: one writer thread with a queue and group commit, and a reader for each thread.

Writes that arrive while a commit is being flushed wait in the queue and share the next flush. Each keeps its own
savepoint, so one that fails takes nothing of the others with it.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import apsw

from lamina import limits
from lamina.errors import Fault, LaminaError, Unavailable

__all__ = ["Readers", "Row", "Writer", "open_connection"]

T = TypeVar("T")
Row = tuple[Any, ...]
"""A row as SQLite returns it: its columns are None, int, float, str or bytes."""
_Write = tuple[Callable[[apsw.Connection], Any], Future[Any]]

_BUSY_S_MAX = 30.0


def open_connection(path: Path, *, durable: bool, read_only: bool = False) -> apsw.Connection:
    """A connection in write-ahead mode. ``durable`` flushes each commit; without it a crash may lose the newest.

    A connection that is not durable never tears the file: what it lost is derived again from the log.
    """
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=256)
    connection.set_busy_handler(_wait_while_busy())
    if not read_only:
        connection.execute("PRAGMA journal_mode = wal")
    connection.execute(f"PRAGMA synchronous = {'full' if durable else 'normal'}")
    connection.execute("PRAGMA foreign_keys = on")
    # Every thread that reads has a connection: what one keeps, all of them keep.
    connection.execute(f"PRAGMA cache_size = {-2_000 if read_only else -16_000}")
    connection.execute("PRAGMA temp_store = memory")
    return connection


def _wait_while_busy() -> Callable[[int], bool]:
    """Another process holds the write lock for milliseconds: ask again soon rather than in growing steps."""
    started = 0.0

    def handler(attempts: int) -> bool:
        nonlocal started
        if attempts == 0:
            started = time.monotonic()
        time.sleep(0.0003)
        return time.monotonic() - started < _BUSY_S_MAX

    return handler


class Writer:
    """The one thread that writes. ``write`` returns when the commit is on disk."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._waiting: deque[_Write] = deque()
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._taken = threading.Condition(self._lock)
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="lamina-writer", daemon=True)
        self._thread.start()

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` inside a transaction and return its result once that is committed.

        Raises what ``work`` raised, ``Unavailable`` (WAL_UNAVAILABLE) when the disk refuses.
        """
        future: Future[T] = Future()
        with self._lock:
            if not self._taken.wait_for(self._has_room, timeout=limits.WAIT_S_MAX):
                raise _unavailable("the write queue is full")
            # Under the lock: whatever is in the queue when the writer sees that it is closed is still written.
            if self._closed:
                raise _unavailable("the store is closed")
            self._waiting.append((work, future))
            self._arrived.notify()
        return future.result()

    def _has_room(self) -> bool:
        return self._closed or len(self._waiting) < limits.WRITE_QUEUE_MAX

    def close(self) -> None:
        """Finish what is queued, then stop. Writes that come later are refused."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._arrived.notify()
            self._taken.notify_all()
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while group := self._next_group():
            self._commit(group)

    def _next_group(self) -> list[_Write]:
        """What waits, up to a group; empty once the writer is closed and nothing waits."""
        with self._lock:
            self._arrived.wait_for(lambda: self._waiting or self._closed)
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), limits.WRITE_GROUP_MAX))]
            self._taken.notify_all()
            return group

    def _commit(self, group: Sequence[_Write]) -> None:
        outcomes: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for work, future in group:
                outcomes.append((future, *self._attempt(work)))
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                with contextlib.suppress(apsw.Error):
                    self._connection.execute("ROLLBACK")
            failure = _translated(error)
            for _, future in group:
                future.set_exception(failure)
            return
        for future, result, failed in outcomes:
            if failed is None:
                future.set_result(result)
            else:
                future.set_exception(failed)

    def _attempt(self, work: Callable[[apsw.Connection], Any]) -> tuple[Any, BaseException | None]:
        self._connection.execute("SAVEPOINT one_write")
        try:
            result = work(self._connection)
        except Exception as error:
            if not self._connection.in_transaction:
                raise  # a full disk ends the whole transaction by itself: nobody's write has landed
            self._connection.execute("ROLLBACK TO one_write")
            self._connection.execute("RELEASE one_write")
            return None, _translated(error)
        self._connection.execute("RELEASE one_write")
        return result, None


def _translated(error: BaseException) -> BaseException:
    if isinstance(
        error, apsw.FullError | apsw.IOError | apsw.ReadOnlyError | apsw.CantOpenError | apsw.BusyError
    ):
        failure: LaminaError = _unavailable(type(error).__name__)
    elif isinstance(error, apsw.Error):
        failure = Fault("INTERNAL", f"the store failed: {type(error).__name__}")
    else:
        return error
    failure.__cause__ = error
    return failure


def _unavailable(reason: str) -> Unavailable:
    return Unavailable(
        "WAL_UNAVAILABLE", f"the log cannot be reached: {reason}", hint="check the disk, then retry"
    )


class Readers:
    """A read-only connection for each thread that asks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        # Weak: a thread that ends takes its connection with it.
        self._all: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()

    @property
    def connection(self) -> apsw.Connection:
        """This thread's connection, opened on first use."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = open_connection(self._path, durable=False, read_only=True)
            self._local.connection = connection
            with self._lock:
                self._all.add(connection)
        return connection

    def rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """All rows of a statement; raises ``Unavailable`` or ``Fault`` when the store fails."""
        try:
            return list(self.connection.execute(sql, bindings))
        except apsw.Error as error:
            raise _translated(error) from error

    def row(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> Row | None:
        """The first row of a statement, or None."""
        rows = self.rows(sql, bindings)
        return rows[0] if rows else None

    def close(self) -> None:
        """Close every connection; callers have stopped by then."""
        with self._lock:
            for connection in list(self._all):
                with contextlib.suppress(apsw.Error):
                    connection.close(True)
            self._all.clear()
