"""Locks by name in a folder: who waits for whom, how many wait, and what is left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from lamina import limits
from lamina.errors import Unavailable
from lamina.store.sqlite.locks import SharedLocks


@contextmanager
def waiting(locks: SharedLocks, count: int, tenant_id: str = "acme") -> Iterator[list[str]]:
    """So many that wait for a name which is held until the block ends; what became of them."""
    ends: list[str] = []

    def enter() -> None:
        try:
            with locks.held(tenant_id, "wanted"):
                ends.append("held")
        except Unavailable as refused:
            ends.append(refused.message)

    threads = [threading.Thread(target=enter) for _ in range(count)]
    with locks.held(tenant_id, "wanted"):
        for thread in threads:
            thread.start()
        until = time.monotonic() + 300
        while locks._waiting.taken + len(ends) < count and time.monotonic() < until:
            time.sleep(0.002)
        yield ends
    for thread in threads:
        thread.join()


def test_names_are_those_of_one_tenant(tmp_path: Path) -> None:
    locks = SharedLocks(tmp_path / "locks")
    with locks.held("acme", "a"), locks.held("acme", "b"), locks.held("globex", "a"):
        assert len(list((tmp_path / "locks").iterdir())) == 3
    assert list((tmp_path / "locks").iterdir()) == []


def test_so_many_wait_and_the_next_is_told_at_once(tmp_path: Path) -> None:
    locks = SharedLocks(tmp_path / "locks")
    most = limits.KEY_WAITS_OF_TENANT_MAX
    with waiting(locks, most + 3) as ends:
        assert ends == ["the key cannot be looked at: too many calls wait for others with their keys"] * 3
    assert ends.count("held") == most
    assert locks._waiting.taken == 0


def test_a_tenant_that_waits_takes_no_place_of_another(tmp_path: Path) -> None:
    locks = SharedLocks(tmp_path / "locks")
    most = limits.KEY_WAITS_OF_TENANT_MAX
    with waiting(locks, most), waiting(locks, 4, "globex") as others:
        assert others == []
    assert others == ["held"] * 4


def test_two_on_one_folder_exclude_each_other(tmp_path: Path) -> None:
    both = [SharedLocks(tmp_path / "locks") for _ in range(2)]
    inside: dict[str, list[int]] = {"a": [], "b": []}
    most: list[int] = []

    def enter(number: int) -> None:
        for turn in range(100):
            name = "ab"[turn % 2]
            with both[number % 2].held("acme", name):
                inside[name].append(number)
                most.append(len(inside[name]))
                inside[name].remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(enter, range(8)))
    assert most == [1] * 800
    assert list((tmp_path / "locks").iterdir()) == []


HOLDER = """
import sys, time
from pathlib import Path
from lamina.store.sqlite.locks import SharedLocks

with SharedLocks(Path(sys.argv[1])).held("acme", sys.argv[2]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_held_is_free_and_its_file_goes(tmp_path: Path) -> None:
    folder = tmp_path / "locks"
    folder.mkdir()
    (folder / "07").touch()  # of a release before
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder), name],
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        for name in ("lost", "kept")
    ]
    try:
        for holder in holders:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
        holders[0].kill()
        holders[0].wait()
        with SharedLocks(folder).held("acme", "lost"):
            pass
        assert len(list(folder.iterdir())) == 1
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable) as caught, SharedLocks(tmp_path / "file" / "locks").held("acme", "a"):
        pass
    assert caught.value.code == "WAL_UNAVAILABLE"
