"""What every engine promises those who follow what is committed."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from given import NOON, TENANT, CountedIds, ManualClock, append
from lamina import limits
from lamina.kernel.ids import RandomIds
from lamina.store.ports.changes import Follower
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.bells import Bells

LONG = 300.0


@pytest.fixture
def follower(store: Store) -> Iterator[Follower]:
    follower = store.changes.follow()
    follower.wait(0)
    yield follower
    follower.close()


def test_the_tenants_of_what_was_committed_are_told_once(store: Store, follower: Follower) -> None:
    append(store, "a", "b")
    append(store, "c", tenant_id="other")
    assert follower.wait(LONG) == {TENANT, "other"}
    assert follower.wait(0) == frozenset()


def test_what_came_before_it_followed_is_not_told(store: Store) -> None:
    append(store, "a")
    follower = store.changes.follow()
    assert follower.wait(0) == frozenset()
    follower.close()


def test_an_erasure_hides_no_news_from_who_follows(store: Store, follower: Follower) -> None:
    gone = [event.id for event in append(store, "a", "b", "c", "d")]
    append(store, "e")
    follower.wait(0)
    store.erasing.erase(
        Erasure(
            tenant_id=TENANT,
            erasure_id="erasure_1",
            by_actor="user:root",
            cascade="delete_events",
            delete=gone,
        )
    )
    append(store, "f", tenant_id="other")
    assert follower.wait(LONG) == {TENANT, "other"}
    assert follower.wait(0) == frozenset()


def test_followers_do_not_take_news_from_each_other(store: Store, follower: Follower) -> None:
    second = store.changes.follow()
    append(store, "a")
    assert follower.wait(LONG) == second.wait(LONG) == {TENANT}
    second.close()


def waited(follower: Follower, then: Callable[[], object]) -> frozenset[str]:
    """What a wait on a thread of its own comes to, once something was done."""
    told: list[frozenset[str]] = []
    thread = threading.Thread(target=lambda: told.append(follower.wait(LONG)), daemon=True)
    thread.start()
    then()
    thread.join(60)
    assert told, "nothing ended the wait"
    return told[0]


def test_a_commit_ends_a_wait(store: Store, follower: Follower) -> None:
    assert waited(follower, lambda: append(store, "a")) == {TENANT}


def test_what_has_no_lifecycle_ends_a_wait_and_names_nobody(store: Store, follower: Follower) -> None:
    used = IdempotencyEntry(IdempotencyKey(TENANT, "user:alice", "/v1/x", "k"), "hash", NOON)
    assert waited(follower, lambda: store.idempotency.remember(used)) == frozenset()


def test_closing_ends_a_wait(follower: Follower) -> None:
    assert waited(follower, follower.close) == frozenset()


# ---- processes over one folder

OTHER = """
import sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from given import append
from lamina.store.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]), durable=False)
print("ready", flush=True)
for line in sys.stdin:
    append(store, line.strip())
    print("kept", flush=True)
    sys.stdin.readline()
store.close()
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process over the folder of this test's stores: it appends a turn for a line, and goes on with the next."""
    command = [sys.executable, "-c", OTHER, str(tmp_path), str(Path(__file__).parents[1])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def said(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "kept\n"


def test_a_commit_of_another_process_rings(
    tmp_path: Path, other: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHANGES_LOOK_S", LONG)  # nothing but the bell tells of it
    store = SqliteStore(tmp_path, clock=ManualClock(), ids=RandomIds(), durable=False)
    follower = store.changes.follow()
    follower.wait(0)
    assert waited(follower, lambda: said(other, "tea")) == {TENANT}
    follower.close()
    store.close()
    assert list((tmp_path / "bells").iterdir()) == []


def test_a_commit_that_rings_nowhere_is_seen_a_little_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path, clock=ManualClock(), ids=CountedIds(), durable=False)
    second = SqliteStore(tmp_path, clock=ManualClock(), ids=RandomIds(), durable=False)
    monkeypatch.setattr(Bells, "ring", lambda _: None)
    follower = store.changes.follow()
    assert waited(follower, lambda: append(second, "tea")) == {TENANT}
    follower.close()
    second.close()
    store.close()


def test_the_bell_of_a_process_that_was_killed_is_taken_down(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, clock=ManualClock(), ids=CountedIds(), durable=False)
    left = "import os, sys; os.mkdir(sys.argv[1]); os.mkfifo(sys.argv[1] + '/1-dead')"
    subprocess.run([sys.executable, "-c", left, str(tmp_path / "bells")], check=True)
    append(store, "tea")
    append(store, "more tea")  # its writer has rung for the first by then
    assert list((tmp_path / "bells").iterdir()) == []
    store.close()
