"""The server as a process: what it keeps when it is killed, and what it leaves when it is stopped."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from forks import begin
from lamina.kernel.events import Stage
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Axes, SystemClock
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.log import EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.sqlite import SqliteStore, backlog_of
from processes import answers, free_port, kill, run, start, wait_until

SCOPE = "org:acme/user:alice"
WRITES = 5000
KILLED_AFTER = 150  # early enough that deriving what was kept does not take the time of the gate
WRITERS = 8


def write(port: int, number: int) -> str | None:
    """The id of the event once it is acknowledged, None when the server went away first."""
    body = {
        "scope": SCOPE,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": f"I bought {number} apples."},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": f"crash-{number}",
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/experience",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return str(json.load(response)["event_id"])
    except (OSError, http.client.HTTPException, ValueError):
        return None


def write_until_it_dies(port: int, acknowledged: list[str], enough: threading.Event) -> None:
    numbers = iter(range(WRITES))
    lock = threading.Lock()

    def writer() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            event_id = None if number is None else write(port, number)
            if event_id is None:
                return
            acknowledged.append(event_id)
            if len(acknowledged) == KILLED_AFTER:
                enough.set()

    threads = [threading.Thread(target=writer) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Path, int, subprocess.Popen[bytes]]]:
    port = free_port()
    process = start(tmp_path, port)
    wait_until(lambda: answers(port))
    yield tmp_path, port, process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
@pytest.mark.model
def test_kill_9_in_the_middle_of_writes_loses_no_acknowledged_event(
    server: tuple[Path, int, subprocess.Popen[bytes]],
) -> None:
    folder, port, process = server
    acknowledged: list[str] = []
    enough = threading.Event()
    writing = threading.Thread(target=write_until_it_dies, args=(port, acknowledged, enough))
    writing.start()
    assert enough.wait(300), "the writes were too slow to be interrupted"
    os.killpg(process.pid, signal.SIGKILL)  # the worker is in the same group
    writing.join()
    process.wait()
    assert KILLED_AFTER <= len(acknowledged) < WRITES

    port = free_port()
    process = start(folder, port)
    wait_until(lambda: answers(port))
    try:
        store = SqliteStore(folder, durable=False)
        wait_until(lambda: sum(store.jobs.backlog().values()) == 0)
        # More than was acknowledged may be there: a commit whose answer never left.
        assert set(store.log.get("local", acknowledged)) == set(acknowledged)
        total = store.log.count("local", [Scope(SCOPE)])
        whole = [stage.value for stage in Stage]
        for event in store.log.query(EventQuery(tenant_id="local", scopes=[Scope(SCOPE)], limit=WRITES)):
            rows = store.lifecycle.query(LifecycleQuery(tenant_id="local", event_id=event.id))
            assert [row.name for row in rows] == whole, f"{event.id} is half derived"
        assert len(store.index.texts_after("local", Scope(SCOPE), 0, 100_000)) >= total
        axes = Axes(seen_at=SystemClock().now() + SECOND_US)
        query = RecordQuery(
            tenant_id="local", layer=Layer.EPISODES, scopes=[Scope(SCOPE)], axes=axes, limit=1000
        )
        assert sum(getattr(episode, "size", 0) for episode in store.records.query(query)) == total
        store.close()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("after_s", [0.0, 1.5])
def test_stopping_the_server_stops_its_worker(tmp_path: Path, after_s: float) -> None:
    port = free_port()
    process = start(tmp_path, port)
    wait_until(lambda: answers(port))
    time.sleep(after_s)
    process.terminate()
    process.wait(300)

    def nobody_left() -> bool:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(nobody_left)


def test_a_worker_whose_server_was_killed_ends_by_itself(tmp_path: Path) -> None:
    port = free_port()
    process = start(tmp_path, port)
    wait_until(lambda: answers(port))
    wait_until(lambda: (tmp_path / "worker.lock").exists())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    def lock_is_free() -> bool:
        import fcntl

        with (tmp_path / "worker.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
        return True

    wait_until(lock_is_free)


def test_a_server_that_says_where_it_is_takes_connections(tmp_path: Path) -> None:
    told, tells = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    server = begin(["serve", "--port", "0", "--data", str(tmp_path)], files=[null, null, tells])
    os.close(tells)
    os.close(null)
    with open(told, encoding="utf-8") as lines:
        try:
            port = next(int(line.split()[2].rpartition(":")[2]) for line in lines if "lamina serves" in line)
            socket.create_connection(("127.0.0.1", port)).close()
        finally:
            server.terminate()
            server.wait(300)


def left_behind(folder: Path) -> int:
    """Bytes of the write-ahead file."""
    path = folder / "lamina.db-wal"
    return path.stat().st_size if path.exists() else 0


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(300)


def test_a_clean_stop_leaves_all_in_the_database(server: tuple[Path, int, subprocess.Popen[bytes]]) -> None:
    folder, port, process = server
    for number in range(20):
        assert write(port, number)
    assert left_behind(folder) > 0
    stop(process)
    assert left_behind(folder) == 0


@pytest.mark.slow
@pytest.mark.model
def test_a_worker_that_stops_last_leaves_all_in_the_database_and_so_does_a_replay(tmp_path: Path) -> None:
    port = free_port()
    server = start(tmp_path, port, "--workers", "0")
    worker = None
    try:
        wait_until(lambda: answers(port))
        for number in range(3):
            assert write(port, number)
        worker = run("worker", "--data", str(tmp_path))
        wait_until(lambda: sum(backlog_of(tmp_path / "lamina.db").values()) == 0)
        stop(server)
        assert left_behind(tmp_path) > 0
        stop(worker)
    finally:
        kill(server)
        if worker is not None:
            kill(worker)
    assert left_behind(tmp_path) == 0
    replay = run("replay", "--data", str(tmp_path))
    assert replay.wait(300) == 0
    assert left_behind(tmp_path) == 0
