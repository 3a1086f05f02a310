"""Connections: one writer thread with group commit, and readers that are lent.

Writes that arrive while a commit is being flushed wait in a queue and share the next flush. Each keeps its own
savepoint, so one that fails takes nothing of the others with it. Those of one kind may be done as one, since every
statement gives the interpreter's lock away; when that fails they are done one by one.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from lamina import limits
from lamina.errors import Fault, LaminaError, Unavailable
from lamina.observe.rounds import Failures, class_of
from lamina.observe.traces import inner_span
from lamina.store.rows import Row
from lamina.store.sqlite.works import AwaitedWrite, Land, NoRiders, ReadsFirst, Riders
from lamina.store.sqlite.write_queue import Settled, Write, WriteQueue, unavailable

__all__ = ["Readers", "Writer", "open_connection", "pragma_number", "translated"]

_LOG = logging.getLogger("lamina.store")

T = TypeVar("T")

_Outcome = tuple[Settled, Any, BaseException | None]
_Together = Callable[[apsw.Connection, Sequence[Any]], Sequence[Any]]
"""Does several works that follow one another in a group by fewer statements, with the result of each. A work that can
be joined names it as its attribute ``together``."""

_SELECTS = {"db.system.name": "sqlite", "db.operation.name": "SELECT"}
_BUSY_S_MAX = 30.0
_FAILED_S_MAX = 1.0  # writers wait meanwhile
_LOG_BYTES_KEPT: Final = 64 * 1024 * 1024
"""Of the write-ahead file, as it is begun anew: what it came to while somebody read for long would be there for as long as the server runs."""


def open_connection(path: Path, *, durable: bool, read_only: bool = False) -> apsw.Connection:
    """A connection in write-ahead mode. ``durable`` flushes each commit; without it a crash may lose the newest.

    A connection that is not durable never tears the file: what it lost is derived again from the log.
    """
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=256)
    connection.set_busy_handler(_wait_while_busy())
    # A plan does not hang on what is bound: otherwise most statements are parsed and planned anew at each execution, which
    # takes as long as a small one runs. What a plan must know stands in the statement.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    if not read_only:
        # Before there is a table: an older folder gets its map of pages with one full vacuum (``SqliteTraces.scrub``).
        connection.execute("PRAGMA auto_vacuum = incremental")
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES_KEPT}")
        # What is deleted is overwritten with zeros, in its page and in pages that come free.
        connection.execute("PRAGMA secure_delete = on")
    connection.execute(f"PRAGMA synchronous = {'full' if durable else 'normal'}")
    connection.execute("PRAGMA foreign_keys = on")
    connection.execute(f"PRAGMA cache_size = {-2_000 if read_only else -16_000}")
    connection.execute("PRAGMA temp_store = memory")
    return connection


def pragma_number(connection: apsw.Connection, name: str) -> int:
    """The value of a pragma that is a number, such as ``page_size``."""
    value = connection.pragma(name)
    assert isinstance(value, int), "it is a number"
    return value


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

    def __init__(
        self,
        connection: apsw.Connection,
        riders: Riders | None = None,
        failures: Failures | None = None,
        committed: Callable[[], None] = lambda: None,
    ) -> None:
        """``committed`` is told of each commit, in the writer's thread, once its writers have their answers."""
        self._connection = connection
        self._committed = committed
        self._failures = failures or Failures()
        self._riders: Riders = riders or NoRiders()
        self._queue = WriteQueue(self._riders)
        self.refused_at: float | None = None
        """When the disk last refused a write (``time.monotonic``); None once one has landed."""
        self._thread = threading.Thread(target=self._run, name="lamina-writer", daemon=True)
        self._thread.start()

    def write(
        self, work: Callable[[apsw.Connection], T], *, event_of: Callable[[T], str | None] | None = None
    ) -> T:
        """Run ``work`` inside a transaction and return its result once that is committed.

        ``event_of`` names the event that a result is about, for the audit row that lands with it. Raises what
        ``work`` raised, ``Unavailable`` (WAL_UNAVAILABLE) when the disk refuses.
        """
        return self.posted(work, event_of=event_of).result()

    def change(self, sql: str, bindings: Sequence[Any] = ()) -> int:
        """Run one statement in a transaction of its own; returns how many rows it changed. Raises as ``write`` does."""

        def work(connection: apsw.Connection) -> int:
            connection.execute(sql, bindings)
            return connection.changes()

        return self.write(work)

    def posted(
        self,
        work: Callable[[apsw.Connection], T],
        *,
        event_of: Callable[[T], str | None] | None = None,
        calls: bool = True,
    ) -> AwaitedWrite[T]:
        """Queue ``work`` as ``write`` does; what is given back tells when it has landed, and has its result.

        Unless it ``calls`` for the writer, it waits for others until it is sent, or waited for.
        """
        landing: AwaitedWrite[T] = AwaitedWrite(None if calls else self._queue.call)
        self._queue.put((work, landing, event_of, self._riders.boarding()), calls=calls)
        return landing

    def post_later(self, work: Callable[[apsw.Connection], T]) -> Future[T]:
        """Queue ``work`` for the transaction of whoever writes next, so that it costs no flush of its own.

        When nobody has written within ``limits.WRITE_LATER_S``, it lands alone.
        """
        future: Future[T] = Future()
        self._queue.put_later((work, future, None, None))
        return future

    def nudge(self) -> None:
        """Tell the writer that riders wait."""
        self._queue.nudge()

    def finish(self) -> None:
        """Write what is queued, then stop. Writes that come later are refused."""
        self._queue.close()
        self._thread.join()

    def close(self) -> None:
        """Finish, and close the connection."""
        self.finish()
        self._connection.close()

    def _run(self) -> None:
        try:
            while self._round():
                pass
        finally:
            self._refuse_what_waits()

    def _round(self) -> bool:
        """A group, if one waits; False at the end. Whatever fails, the next one has its turn."""
        try:
            group = self._queue.next_group()
            if group is None:
                return False
            landed = self._commit(group)
        except Exception as error:
            time.sleep(min(self._failures.note("the writer", error), _FAILED_S_MAX))
            return True
        self._failures.over("the writer")
        if self._queue.closed and not group and not landed:
            _LOG.error("the store was closed while its disk refused: queued audit rows are lost")
            return False
        return True

    def _refuse_what_waits(self) -> None:
        """Nobody waits for a thread that has ended, for whatever reason."""
        for _, future, _, _ in self._queue.emptied():
            _settle(future, failed=unavailable("the store is closed"))

    def _commit(self, group: Sequence[Write]) -> bool:
        try:
            outcomes = self._read_first(group) or self._transaction(group, "BEGIN IMMEDIATE")
        except BaseException as error:
            if self._connection.in_transaction:
                with contextlib.suppress(apsw.Error):
                    self._connection.execute("ROLLBACK")
            failure = _translated(error)
            self._note_refusals([failure])
            try:
                self._riders.ended(landed=False)
            finally:
                for _, future, _, _ in group:
                    _settle(future, failed=failure)
            if not group:
                _LOG.error("queued audit rows could not be written and stay queued: %s", _shown(failure))
            return False
        self._note_refusals([failed for _, _, failed in outcomes])
        try:
            self._riders.ended(landed=True)
        finally:
            for future, result, failed in outcomes:
                _settle(future, result, failed)
            self._committed()
        return True

    def _read_first(self, group: Sequence[Write]) -> list[_Outcome] | None:
        """A work that reads first; None where there is none, or where somebody else wrote each time after it began to read."""
        if len(group) != 1 or not isinstance(group[0][0], ReadsFirst):
            return None
        for _ in range(ReadsFirst.TRIES):
            try:
                return self._transaction(group, "BEGIN DEFERRED")
            except apsw.BusyError:
                self._connection.execute("ROLLBACK")
            if self._queue.waiting:
                break  # these wait while it reads, too
            # Behind whoever has the lock by now: what is read before that commit is old when it lands.
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("ROLLBACK")
        return None

    def _transaction(self, group: Sequence[Write], begin: str) -> list[_Outcome]:
        outcomes: list[_Outcome] = []
        self._riders.begin()
        self._connection.execute(begin)
        for joined, run in groupby(group, key=lambda write: getattr(write[0], "together", None)):
            writes = list(run)
            shared = self._joined(joined, writes) if joined is not None and len(writes) > 1 else None
            if shared is not None:
                outcomes += shared
                continue
            for work, future, event_of, rider in writes:
                attempt = self._attempt if len(group) > 1 else self._attempt_alone
                outcomes.append((future, *attempt(work, event_of, rider)))
        self._riders.drain(self._connection)
        self._connection.execute("COMMIT")
        return outcomes

    def _note_refusals(self, failures: Sequence[BaseException | None]) -> None:
        refused = any(
            isinstance(each, Unavailable) and isinstance(each.__cause__, apsw.Error) for each in failures
        )
        self.refused_at = time.monotonic() if refused else None

    def _joined(self, together: _Together, writes: Sequence[Write]) -> list[_Outcome] | None:
        """Writes of one kind as one; None when that fails, and then each has to be tried by itself."""
        self._connection.execute("SAVEPOINT joined_writes")
        try:
            results = together(self._connection, [write[0] for write in writes])
            boards = [
                rider(event_of(result) if event_of else None)
                for (_, _, event_of, rider), result in zip(writes, results, strict=True)
                if rider is not None
            ]
        except Exception:
            if not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK TO joined_writes")
            self._connection.execute("RELEASE joined_writes")
            return None
        self._connection.execute("RELEASE joined_writes")
        for board in boards:
            board()
        return [(write[1], result, None) for write, result in zip(writes, results, strict=True)]

    def _attempt(
        self,
        work: Callable[[apsw.Connection], Any],
        event_of: Callable[[Any], str | None] | None,
        rider: Land | None,
    ) -> tuple[Any, BaseException | None]:
        self._connection.execute("SAVEPOINT one_write")
        try:
            result = work(self._connection)
            if rider is not None:
                rider(event_of(result) if event_of else None)()
        except Exception as error:
            if not self._connection.in_transaction:
                raise  # a full disk ends the whole transaction by itself: nobody's write has landed
            self._connection.execute("ROLLBACK TO one_write")
            self._connection.execute("RELEASE one_write")
            return None, _translated(error)
        self._connection.execute("RELEASE one_write")
        return result, None

    def _attempt_alone(
        self,
        work: Callable[[apsw.Connection], Any],
        event_of: Callable[[Any], str | None] | None,
        rider: Land | None,
    ) -> tuple[Any, BaseException | None]:
        """A write that shares its transaction with riders alone, which board behind it.

        Under a savepoint SQLite would keep a copy of each page that the write changes, and walk past all of them at each later
        statement that may fail half way, as those with triggers are: a write of many rows would take a multiple of its time.
        """
        try:
            result = work(self._connection)
            if rider is not None:
                rider(event_of(result) if event_of else None)()
        except Exception as error:
            if not self._connection.in_transaction:
                raise
            if isinstance(work, ReadsFirst) and isinstance(error, apsw.BusyError):
                raise  # nothing is written yet: the lock is taken with the first change
            self._connection.execute("ROLLBACK")
            self._connection.execute("BEGIN IMMEDIATE")
            return None, _translated(error)
        return result, None


def _shown(failure: BaseException) -> str:
    return str(failure) if isinstance(failure, LaminaError) else class_of(failure)


def _settle(future: Settled, result: Any = None, failed: BaseException | None = None) -> None:
    # Somebody may have cancelled it.
    with contextlib.suppress(InvalidStateError):
        if failed is None:
            future.set_result(result)
        else:
            future.set_exception(failed)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """A block whose engine errors are ours: ``Unavailable`` or ``Fault``."""
    try:
        yield
    except apsw.Error as error:
        raise _translated(error) from error


def _translated(error: BaseException) -> BaseException:
    if isinstance(
        error, apsw.FullError | apsw.IOError | apsw.ReadOnlyError | apsw.CantOpenError | apsw.BusyError
    ):
        failure: LaminaError = unavailable(type(error).__name__)
    elif isinstance(error, apsw.Error):
        failure = Fault("INTERNAL", f"the store failed: {type(error).__name__}")
    else:
        return error
    failure.__cause__ = error
    return failure


class Readers:
    """Read-only connections, lent for one statement each: as many are open as statements ran at once, and a few of them stay so."""

    def __init__(self, path: Path, *, kept_max: int = limits.READERS_KEPT_MAX) -> None:
        self._path = path
        self._kept_max = kept_max
        # The last one that was given back is lent first: its pages and statements are the likeliest to be of use.
        self._idle: list[apsw.Connection] = []
        self._alone: weakref.WeakSet[Readers] = weakref.WeakSet()
        self._closed = False

    def alone(self) -> Readers:
        """Readers for one thread, which always have the same connection: what SQLite counts for each is comparable there."""
        readers = Readers(self._path, kept_max=1)
        self._alone.add(readers)
        return readers

    def rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """All rows of a statement; raises ``Unavailable`` or ``Fault`` when the store fails."""
        connection = None
        try:
            with inner_span("sqlite SELECT", "client", _SELECTS):
                connection = self._lent()
                found = list(connection.execute(sql, bindings))
        except BaseException as error:
            if connection is not None:
                _let_go(connection)  # a statement that failed may still read
            if isinstance(error, apsw.Error):
                raise _translated(error) from error
            raise
        self._give_back(connection)
        return found

    def row(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> Row | None:
        """The first row of a statement, or None."""
        rows = self.rows(sql, bindings)
        return rows[0] if rows else None

    def _lent(self) -> apsw.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            if self._closed:
                raise unavailable("the store is closed") from None
            return open_connection(self._path, durable=False, read_only=True)

    def _give_back(self, connection: apsw.Connection) -> None:
        if len(self._idle) < self._kept_max:
            self._idle.append(connection)
        else:
            _let_go(connection)
        if self._closed:
            self.close()  # whoever closed did not see this one

    def close(self) -> None:
        """Close every connection; one that is still read from closes when it is given back."""
        self._closed = True
        for each in list(self._alone):
            each.close()
        while self._idle:
            with contextlib.suppress(IndexError):
                _let_go(self._idle.pop())


def _let_go(connection: apsw.Connection) -> None:
    try:
        connection.close(True)
    except apsw.Error as error:
        _LOG.warning("a connection could not be closed: %s", error)
