"""Pages of the write-ahead file are moved beside those who write."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import apsw
import pytest

from lamina.observe.rounds import Failures
from lamina.store.sqlite import checkpoints as checkpoints_of
from lamina.store.sqlite import connection as connection_of
from lamina.store.sqlite.checkpoints import Checkpoints
from lamina.store.sqlite.connection import Writer, open_connection

pytestmark = pytest.mark.usefixtures("few_pages")


@pytest.fixture
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints_of, "_PAGES", 8)


def _begun(folder: Path) -> tuple[Writer, Checkpoints]:
    connection = open_connection(folder / "lamina.db", durable=False)
    connection.execute("CREATE TABLE note (words TEXT)")
    checkpoints = Checkpoints(folder / "lamina.db", connection, Failures())
    return Writer(connection, committed=checkpoints.press), checkpoints


def _put(writer: Writer, times: int) -> None:
    for _ in range(times):
        writer.write(lambda connection: connection.execute("INSERT INTO note VALUES (?)", ("tea " * 900,)))


def _until(true: object) -> None:
    assert callable(true)
    ends = time.monotonic() + 60
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_pages_are_moved_by_another_thread_and_the_file_is_begun_anew(tmp_path: Path) -> None:
    writer, checkpoints = _begun(tmp_path)
    log = tmp_path / "lamina.db-wal"
    _put(writer, 12)
    assert any(each.name == "lamina-checkpoints" for each in threading.enumerate())
    _until(lambda: (tmp_path / "lamina.db").stat().st_size > 10 * 4096)

    def begun_anew() -> bool:
        before = log.stat().st_size
        _put(writer, 1)
        return log.stat().st_size == before

    _until(begun_anew)
    writer.finish()
    checkpoints.close()
    writer.close()
    with apsw.Connection(str(tmp_path / "lamina.db")) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM note")
        assert isinstance(count, int)
        assert count > 12


def test_fewer_pages_are_due_behind_a_write_that_wants_them_moved_sooner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints_of, "_PAGES", 1000)
    monkeypatch.setattr(checkpoints_of, "_FEW", 8)
    writer, checkpoints = _begun(tmp_path)
    _put(writer, 12)
    assert checkpoints._thread is None

    def both(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO note VALUES ('tea')")
        checkpoints.sooner()

    writer.write(both)
    _until(lambda: checkpoints._moved > 8)
    writer.finish()
    checkpoints.close()
    writer.close()


def test_a_writer_waits_where_far_too_many_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, checkpoints = _begun(tmp_path)
    monkeypatch.setattr(checkpoints_of, "_PAGES_MAX", 8)
    _put(writer, 40)
    writer.finish()
    assert checkpoints._thread is None
    assert (tmp_path / "lamina.db-wal").stat().st_size < 30 * 4096
    checkpoints.close()
    writer.close()


def test_what_somebody_who_read_for_long_made_the_file_grow_to_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_of, "_LOG_BYTES_KEPT", 64 * 4096)
    log, connection = tmp_path / "lamina.db-wal", open_connection(tmp_path / "lamina.db", durable=False)
    connection.execute("CREATE TABLE note (words TEXT)")
    reader = open_connection(tmp_path / "lamina.db", durable=False, read_only=True)
    reader.execute("BEGIN").execute("SELECT count(*) FROM note").fetchall()

    def put(times: int) -> None:
        for _ in range(times):
            connection.execute("INSERT INTO note VALUES (?)", ("tea " * 900,))

    put(100)
    assert log.stat().st_size > 100 * 4096
    reader.execute("COMMIT")
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    put(2)  # the first begins it anew
    assert log.stat().st_size <= 64 * 4096
    reader.close()
    connection.close()
