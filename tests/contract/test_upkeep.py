"""What an operator asks of a store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from given import append
from lamina.errors import Unavailable
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore, upkeep


def test_what_fails_behind_the_calls_is_told_until_it_is_told_to_be_over(store: Store) -> None:
    assert store.upkeep.state().failing == {}
    store.upkeep.note_failing({"derivation": "builtins.KeyError", "the outbox": "GONE"})
    assert store.upkeep.state().failing == {"derivation": "builtins.KeyError", "the outbox": "GONE"}
    store.upkeep.note_failing({"the outbox": "GONE"})
    assert store.upkeep.state().failing == {"the outbox": "GONE"}
    store.upkeep.note_failing({})
    store.upkeep.note_failing({})
    assert store.upkeep.state().failing == {}


def test_what_is_written_is_not_refused(store: Store) -> None:
    assert not store.upkeep.refuses()
    append(store, "tea")
    assert not store.upkeep.refuses()


# ---- a disk that is full


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path, durable=False)
    yield store
    store.close()


def pages(store: SqliteStore, most: int) -> None:
    store._writer.write(lambda connection: connection.execute(f"PRAGMA max_page_count = {most}").fetchall())


def test_a_full_disk_is_told_until_something_lands(kept: SqliteStore) -> None:
    pages(kept, 1)  # no more than there are
    with pytest.raises(Unavailable):
        append(kept, "tea " * 50_000)
    assert kept.upkeep.refuses()
    pages(kept, 1_000_000)
    append(kept, "tea")
    assert not kept.upkeep.refuses()


def test_a_refusal_is_looked_at_again_after_a_while(
    kept: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages(kept, 1)
    with pytest.raises(Unavailable):
        append(kept, "tea " * 50_000)
    monkeypatch.setattr(upkeep, "_LOOK_AGAIN_S", 0.0)
    with monkeypatch.context() as patched:
        patched.setattr(kept.upkeep, "probe", away)
        assert kept.upkeep.refuses()
    assert not kept.upkeep.refuses()
    assert kept._writer.refused_at is None


def away() -> None:
    raise Unavailable("WAL_UNAVAILABLE", "the log cannot be reached: FullError")


MOVES = """
import fcntl, sys
with open(sys.argv[1], "rb+") as shared:
    fcntl.lockf(shared, fcntl.LOCK_EX, 1, 121)  # SQLite's file format of the write-ahead index: whoever moves pages holds this byte
    print("moves", flush=True)
    sys.stdin.readline()
"""


def test_a_compaction_beside_another_process_that_moves_pages_is_not_complete(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, durable=False)
    append(store, "tea")
    command = [sys.executable, "-c", MOVES, str(tmp_path / "lamina.db-shm")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "moves\n"
        beside = store.upkeep.compact()
        process.communicate("\n")
    assert (beside.pages_moved, beside.complete) == (0, False)
    assert store.upkeep.compact().complete
    store.close()
