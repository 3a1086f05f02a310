"""Kinds of work for the writer thread: rows that share the commit of another write, a write whose end one thread awaits, and a work that
reads most of what it needs before it takes the write lock.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import ClassVar, Generic, Protocol, TypeVar

import apsw

from lamina.observe.traces import inner_span

__all__ = ["AwaitedWrite", "Land", "NoRiders", "ReadsFirst", "Riders", "is_writing"]

T = TypeVar("T")
_COMMITS = {"db.system.name": "sqlite", "db.operation.name": "COMMIT"}
Board = Callable[[], None]
Land = Callable[[str | None], Board]
"""Takes the id of the event that a write is about, and makes the rows that land with it. Calling the result puts them into the queue of this
commit, which cannot fail."""


class Riders(Protocol):
    """Rows that land with the writes of others, and so cost no flush of their own."""

    def boarding(self) -> Land | None:
        """What is to land together with the write that this thread makes now, or None."""
        ...

    def due_s(self) -> float | None:
        """In how many seconds the queue wants a commit even if nobody else does; None when it is empty."""
        ...

    def begin(self) -> None:
        """A transaction begins."""
        ...

    def drain(self, connection: apsw.Connection) -> None:
        """Put what boarded and a batch of the queue into the transaction, at its end."""
        ...

    def ended(self, *, landed: bool) -> None:
        """The transaction is on disk, or was taken back."""
        ...


class NoRiders:
    """``Riders`` where nothing rides."""

    def boarding(self) -> None:
        return None

    def due_s(self) -> None:
        return None

    def begin(self) -> None: ...

    def drain(self, connection: apsw.Connection) -> None: ...

    def ended(self, *, landed: bool) -> None: ...


class AwaitedWrite(Generic[T]):
    """The outcome of a write that one thread waits for, or is told of, and nobody cancels: one lock, where a future takes four."""

    def __init__(self, call: Callable[[], None] | None = None) -> None:
        """``call`` has what waits written, where nobody else does."""
        self._call = call
        self._over = threading.Lock()
        self._over.acquire()
        self._result: T | None = None
        self._failure: BaseException | None = None
        self._is_over = False
        self._told: list[Callable[[], None]] = []

    def send(self) -> None:
        """Mirrors ``Posted.send``."""
        if self._call is not None and not self._is_over:
            self._call()

    def tell(self, told: Callable[[], None]) -> None:
        """Mirrors ``Posted.tell``, for one who is told."""
        self._told.append(told)
        # It is over before the list is looked at: one of both sides finds it there.
        if self._is_over:
            self._tell()

    def result(self) -> T:
        """What the work gave back, once that is on disk; raises what it raised."""
        self.send()
        with inner_span("sqlite COMMIT", "client", _COMMITS):
            with self._over:
                pass
            if self._failure is not None:
                raise self._failure
        return self._result  # type: ignore[return-value] # it landed, so there is one

    def set_result(self, result: T) -> None:
        """It landed."""
        self._result = result
        self._end()

    def set_exception(self, failure: BaseException) -> None:
        """It did not."""
        self._failure = failure
        self._end()

    def _end(self) -> None:
        self._is_over = True
        self._over.release()
        self._tell()

    def _tell(self) -> None:
        with contextlib.suppress(IndexError):
            self._told.pop()()


class ReadsFirst(Generic[T]):
    """A work that reads most of what it takes before it changes anything, and may be begun anew.

    It has the lock for its changes only, so that others write while it reads. One of them may have: then what it read is old, and it begins
    anew; after a few times under the lock. It is done by itself, whatever waits beside it.
    """

    __slots__ = ("_work",)
    TRIES: ClassVar = 4
    """Beside others, until it reads under the lock."""

    def __init__(self, work: Callable[[apsw.Connection], T]) -> None:
        self._work = work

    def __call__(self, connection: apsw.Connection) -> T:
        """The work itself."""
        return self._work(connection)


def is_writing(connection: apsw.Connection) -> bool:
    """Whether a connection has the lock, for which whoever else writes waits."""
    return connection.txn_state() == apsw.SQLITE_TXN_WRITE
