"""What SQLite leaves on pages of rows that moved is cleared, while others read and write, and the database stays whole."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest

from given import ALICE, BOB, TENANT, append
from lamina.store.sqlite import SqliteStore, database_faults
from lamina.store.sqlite.connection import open_connection
from lamina.store.sqlite.gaps import mostly_moved


def dirty(path: Path) -> int:
    """Pages with bytes between pointers and cells, by the file format, in a file without a write-ahead file."""
    data, found = path.read_bytes(), 0
    for at in range(0, len(data), 4096):
        page, head = data[at : at + 4096], 100 if at == 0 else 0
        if page[head] in (2, 5, 10, 13) and (at == 0 or (at // 4096 - 1) % 820):
            cells, start = (int.from_bytes(page[head + i : head + i + 2]) for i in (3, 5))
            end = head + (12 if page[head] < 8 else 8) + 2 * cells
            found += end <= start <= 4096 and any(page[end:start])
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lamina.db"


def test_bytes_of_rows_that_moved_are_cleared_beside_writers(tmp_path: Path, path: Path) -> None:
    store = SqliteStore(tmp_path, durable=False)
    for number in range(400):
        append(store, f"tea {number} " + "and cake " * (number % 40), scope=ALICE)
    over, seen = threading.Event(), []

    def write() -> None:
        while not over.is_set() and len(seen) < 3000:
            seen.append(append(store, f"more tea {len(seen)} " * 9, scope=BOB)[0].id)

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(5):
        store.traces.scrub()
    over.set()
    writer.join()
    assert store.traces.scrub().log_emptied
    assert dirty(path) == 0
    assert database_faults(path) == []
    assert len(seen) > 5
    assert len(store.log.walk(TENANT, 0, 100_000)) == 400 + len(seen)
    store.close()
    store = SqliteStore(tmp_path, durable=False)
    assert len(store.log.walk(TENANT, 0, 100_000)) == 400 + len(seen)
    store.close()


def test_no_lock_is_taken_while_most_is_still_to_be_moved(tmp_path: Path, path: Path) -> None:
    store = SqliteStore(tmp_path, durable=False)
    with contextlib.closing(open_connection(path, durable=False, read_only=True)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM event").fetchall()
        for number in range(100):
            append(store, f"tea {number}", scope=ALICE)
        with contextlib.closing(open_connection(path, durable=False)) as mover:
            assert not mostly_moved(mover)
            reader.execute("COMMIT")
            assert mostly_moved(mover)
    store.close()
