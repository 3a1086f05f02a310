"""The one thread that writes: groups, failures, and its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import apsw
import pytest

from lamina import limits
from lamina.errors import Fault, Invalid, Unavailable
from lamina.store.sqlite.connection import Writer, open_connection
from lamina.store.sqlite.works import AwaitedWrite, ReadsFirst, is_writing


@pytest.fixture
def connection() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (n INTEGER UNIQUE)")
    return connection


@pytest.fixture
def writer(connection: apsw.Connection) -> Iterator[Writer]:
    writer = Writer(connection)
    yield writer
    writer.close()


def insert(writer: Writer, number: int) -> int:
    def work(connection: apsw.Connection) -> int:
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        return number

    return writer.write(work)


def numbers(writer: Writer) -> list[int]:
    return writer.write(
        lambda connection: [row[0] for row in connection.execute("SELECT n FROM t ORDER BY n")]
    )


def test_a_write_returns_its_result(writer: Writer) -> None:
    assert insert(writer, 7) == 7
    assert numbers(writer) == [7]


def test_a_posted_write_tells_when_it_has_landed(writer: Writer) -> None:
    go, told = threading.Event(), threading.Semaphore(0)
    posted = writer.posted(lambda connection: go.wait(30) and connection.changes())
    posted.tell(told.release)
    assert not told.acquire(blocking=False), "it has not landed"
    go.set()
    assert told.acquire(timeout=30)
    assert posted.result() == 0
    posted.tell(told.release)
    assert told.acquire(blocking=False), "it is over, and says so at once"


def test_a_posted_write_that_fails_tells_so_too(writer: Writer) -> None:
    insert(writer, 7)
    told = threading.Event()
    posted = writer.posted(lambda connection: connection.execute("INSERT INTO t VALUES (7)"))
    posted.tell(told.set)
    assert told.wait(30)
    with pytest.raises(Fault):
        posted.result()


def test_whoever_asks_as_it_lands_is_told_once(writer: Writer) -> None:
    told: list[int] = []
    everybody = threading.Semaphore(0)

    def tell(number: int) -> None:
        told.append(number)
        everybody.release()

    for number in range(500):
        writer.posted(lambda connection: None).tell(lambda number=number: tell(number))  # type: ignore[misc]
    for _ in range(500):
        assert everybody.acquire(timeout=30)
    assert sorted(told) == list(range(500))


def held(writer: Writer, landed: list[int], number: int) -> AwaitedWrite[None]:
    return writer.posted(lambda _: landed.append(number), calls=False)


def test_a_write_that_does_not_call_waits_until_one_is_sent(writer: Writer) -> None:
    landed: list[int] = []
    waiting = [held(writer, landed, number) for number in range(3)]
    time.sleep(0.02)
    assert landed == []
    waiting[1].send()
    assert [each.result() for each in waiting] == [None] * 3
    assert landed == [0, 1, 2]


def test_who_waits_for_a_write_that_does_not_call_sends_it(writer: Writer) -> None:
    landed: list[int] = []
    held(writer, landed, 7).result()
    assert landed == [7]


def test_a_write_that_does_not_call_goes_with_the_next_that_does(writer: Writer) -> None:
    landed: list[int] = []
    first = held(writer, landed, 1)
    told = threading.Event()
    first.tell(told.set)
    writer.write(lambda _: landed.append(2))
    assert told.wait(30)
    assert landed == [1, 2]


def test_a_full_group_calls_by_itself(writer: Writer) -> None:
    landed: list[int] = []
    told = threading.Event()
    for number in range(limits.WRITE_GROUP_MAX):
        newest = held(writer, landed, number)
    newest.tell(told.set)
    assert told.wait(30)
    assert landed == list(range(limits.WRITE_GROUP_MAX))


def test_a_write_that_nobody_sent_is_written_before_the_end(connection: apsw.Connection) -> None:
    landed: list[int] = []
    writer = Writer(connection)
    newest = held(writer, landed, 1)
    writer.close()
    assert newest.result() is None
    assert landed == [1]


@pytest.mark.parametrize("beside", [0, 1, 2, ReadsFirst.TRIES])
def test_who_reads_first_lets_others_write_and_begins_anew_after_them(tmp_path: Path, beside: int) -> None:
    other = open_connection(tmp_path / "db", durable=False)
    other.execute("CREATE TABLE t (n INTEGER UNIQUE)")
    other.set_busy_handler(None)  # it does not wait for the lock
    writer = Writer(open_connection(tmp_path / "db", durable=False))
    begun: list[tuple[int, bool]] = []

    def work(connection: apsw.Connection) -> int:
        ((count,),) = connection.execute("SELECT count(*) FROM t")
        begun.append((count, is_writing(connection)))
        if len(begun) <= beside:
            other.execute("INSERT INTO t VALUES (?)", (len(begun),))
        connection.execute("INSERT INTO t VALUES (?)", (10 + count,))
        return count

    # Its change follows on what it read, whoever wrote meanwhile.
    assert writer.write(ReadsFirst(work)) == beside
    assert begun == [(count, count == ReadsFirst.TRIES) for count in range(beside + 1)]
    assert {row[0] for row in other.execute("SELECT n FROM t")} == {*range(1, beside + 1), 10 + beside}
    writer.close()
    other.close()


def test_who_reads_first_is_done_by_itself(tmp_path: Path) -> None:
    writer = Writer(open_connection(tmp_path / "db", durable=False))
    entered, go = threading.Event(), threading.Event()
    locked: list[tuple[str, bool]] = []

    def hold(_: apsw.Connection) -> None:
        entered.set()
        go.wait(300)

    def noted(name: str) -> Callable[[apsw.Connection], None]:
        return lambda connection: locked.append((name, is_writing(connection)))

    held = writer.posted(hold)
    entered.wait(300)
    waiting = [
        writer.posted(noted("before")),
        writer.posted(ReadsFirst(noted("it"))),
        writer.posted(noted("after")),
    ]
    go.set()
    for each in (held, *waiting):
        each.result()
    assert locked == [("before", True), ("it", False), ("after", True)]
    writer.close()


def test_who_reads_first_and_fails_changes_nothing(writer: Writer) -> None:
    def work(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (1)")
        raise Invalid("INVALID_REQUEST", "no")

    with pytest.raises(Invalid):
        writer.write(ReadsFirst(work))
    assert numbers(writer) == []


def test_writes_that_wait_share_a_commit_and_one_failure_takes_no_other(
    writer: Writer, connection: apsw.Connection
) -> None:
    entered, go = threading.Event(), threading.Event()
    commits: list[None] = []

    def hold(_: apsw.Connection) -> None:
        entered.set()
        go.wait(300)

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(writer.write, hold)
        entered.wait(300)
        connection.set_commit_hook(lambda: bool(commits.append(None)))
        rest = [pool.submit(insert, writer, number) for number in (1, 2, 2, 3)]
        while writer._queue.waiting < 4:
            pass
        go.set()
        failures = [task.exception(10) for task in (first, *rest)]
    assert [type(failure) for failure in failures if failure] == [Fault]
    assert numbers(writer) == [1, 2, 3]
    assert len(commits) == 3  # the one that held the writer, the four together, the look at the end


class Joinable:
    """Inserts a number; several at once by one call, which is counted in ``calls``."""

    calls: ClassVar[list[int]] = []

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, connection: apsw.Connection) -> int:
        return self.together(connection, [self])[0]

    @staticmethod
    def together(connection: apsw.Connection, works: Sequence[Joinable]) -> list[int]:
        Joinable.calls.append(len(works))
        for each in works:
            connection.execute("INSERT INTO t VALUES (?)", (each.number,))
        return [each.number for each in works]


@pytest.mark.parametrize(
    ("given", "calls", "refused"),
    [((1, 2, 3, 4), [4], []), ((1, 2, 2, 3), [4, 1, 1, 1, 1], [2]), ((5, None, 6, 7), [1, 2], [])],
    ids=["as one", "one fails, so each by itself", "another kind between them"],
)
def test_waiting_writes_of_one_kind_are_done_as_one(
    writer: Writer, given: tuple[int | None, ...], calls: list[int], refused: list[int]
) -> None:
    entered, go = threading.Event(), threading.Event()

    def hold(_: apsw.Connection) -> None:
        entered.set()
        go.wait(300)

    Joinable.calls.clear()
    held = writer.posted(hold)
    entered.wait(300)
    writes = [writer.posted(Joinable(n) if n is not None else lambda _: None) for n in given]
    go.set()
    held.result()
    outcomes = [outcome_of(write) for write in writes]
    assert Joinable.calls == calls
    assert [n for n, outcome in zip(given, outcomes, strict=True) if isinstance(outcome, Fault)] == refused
    landed = [outcome for outcome in outcomes if isinstance(outcome, int)]
    assert landed == [n for n in dict.fromkeys(given) if n is not None]
    assert numbers(writer) == sorted(landed)


def outcome_of(write: AwaitedWrite[Any]) -> Any:
    """What it gave back, or the error that it raised."""
    try:
        return write.result()
    except Fault as failure:
        return failure


def test_a_failed_write_raises_what_it_raised_and_leaves_nothing(writer: Writer) -> None:
    def work(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (1)")
        raise Invalid("NO", "no")

    with pytest.raises(Invalid):
        writer.write(work)
    assert numbers(writer) == []


def test_a_disk_that_refuses_half_way_is_unavailable_and_nothing_lands(
    writer: Writer, connection: apsw.Connection
) -> None:
    def work(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("ROLLBACK")  # what SQLite does by itself when the disk is full
        raise apsw.FullError("database or disk is full")

    with pytest.raises(Unavailable) as caught:
        writer.write(work)
    assert caught.value.code == "WAL_UNAVAILABLE"
    assert insert(writer, 2) == 2
    assert numbers(writer) == [2]


def test_closing_finishes_what_is_queued_and_refuses_what_comes_later(connection: apsw.Connection) -> None:
    writer, entered, go = Writer(connection), threading.Event(), threading.Event()

    def hold(_: apsw.Connection) -> None:
        entered.set()
        go.wait(300)

    with ThreadPoolExecutor(4) as pool:
        pool.submit(writer.write, hold)
        entered.wait(300)
        queued = pool.submit(insert, writer, 1)
        while not writer._queue.waiting:
            pass
        closing = pool.submit(writer.close)
        while not writer._queue.closed:
            pass
        with pytest.raises(Unavailable):
            insert(writer, 2)
        go.set()
        closing.result(10)
        assert queued.result(10) == 1
    writer.close()


def test_no_write_hangs_when_the_store_closes_under_it() -> None:
    for _ in range(30):
        connection = apsw.Connection(":memory:")
        connection.execute("CREATE TABLE t (n INTEGER UNIQUE)")
        writer = Writer(connection)
        with ThreadPoolExecutor(5) as pool:
            tasks = [pool.submit(insert, writer, number) for number in range(20)]
            pool.submit(writer.close).result(10)
            failures = [task.exception(10) for task in tasks]
        assert {type(failure) for failure in failures if failure} <= {Unavailable}


def test_a_full_queue_refuses_after_a_while(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WRITE_QUEUE_MAX", 0)
    monkeypatch.setattr(limits, "WAIT_S_MAX", 0.001)
    with pytest.raises(Unavailable, match="full"):
        insert(writer, 1)


def test_what_can_wait_lands_with_the_next_write_or_soon_alone(
    writer: Writer, connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "WRITE_LATER_S", 60.0)
    commits: list[None] = []
    insert(writer, 1)
    connection.set_commit_hook(lambda: bool(commits.append(None)))
    waiting = writer.post_later(lambda connection: connection.execute("INSERT INTO t VALUES (2)"))
    assert not waiting.done()
    insert(writer, 3)
    waiting.result(10)
    assert len(commits) == 1
    monkeypatch.setattr(limits, "WRITE_LATER_S", 0.01)
    writer.post_later(lambda connection: connection.execute("INSERT INTO t VALUES (4)")).result(10)
    assert numbers(writer) == [1, 2, 3, 4]


def test_what_can_wait_lands_when_the_store_closes(
    writer: Writer, connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "WRITE_LATER_S", 60.0)
    commits: list[None] = []
    connection.set_commit_hook(lambda: bool(commits.append(None)))
    landing = writer.post_later(lambda connection: connection.execute("INSERT INTO t VALUES (1)"))
    writer.close()
    assert landing.exception(10) is None
    assert len(commits) == 1
    with pytest.raises(Unavailable):
        writer.post_later(lambda _: None)


class Riding:
    """Puts a hundred into the table with whatever transaction there is."""

    def boarding(self) -> None:
        return None

    def due_s(self) -> None:
        return None

    def begin(self) -> None: ...

    def drain(self, connection: apsw.Connection) -> None:
        connection.execute("INSERT OR IGNORE INTO t VALUES (100)")

    def ended(self, *, landed: bool) -> None: ...


def test_what_rides_lands_with_a_write_that_fails_alone(connection: apsw.Connection) -> None:
    def work(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (1)")
        raise Invalid("NO", "no")

    writer = Writer(connection, Riding())
    with pytest.raises(Invalid):
        writer.write(work)
    assert numbers(writer) == [100]
    writer.close()


def test_who_writes_alone_keeps_no_copy_of_what_was_there(
    writer: Writer, connection: apsw.Connection
) -> None:
    statements: list[str] = []
    connection.set_exec_trace(lambda _, sql, __: bool(statements.append(sql)) or True)
    insert(writer, 1)
    assert statements == ["BEGIN IMMEDIATE", "INSERT INTO t VALUES (?)", "COMMIT"]
