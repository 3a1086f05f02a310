"""Several workers as real processes: one derives while the other stands still, and the folder is held until both are gone."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from given import ALICE, append
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.worker_lock import worker_lives
from processes import kill, run, wait_until

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for children in /proc")


def helpers_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def test_a_worker_has_another_beside_it_which_derives_and_holds_the_folder_until_it_ends(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path, durable=False)
    worker = run("worker", "--data", str(tmp_path), "--workers", "2", LAMINA_EMBED="lazy")
    try:
        wait_until(lambda: len(helpers_of(worker.pid)) == 1)
        (helper,) = helpers_of(worker.pid)
        os.kill(worker.pid, signal.SIGSTOP)
        fact = {"kind": "triple", "subject": "Acme", "predicate": "seats", "object": 200}
        append(store, "said", content=fact, scope=ALICE)
        wait_until(lambda: not sum(store.jobs.backlog().values()))
        os.kill(helper, signal.SIGSTOP)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        assert worker_lives(tmp_path), "the other one may be about to land"
        os.kill(helper, signal.SIGCONT)
        wait_until(lambda: not worker_lives(tmp_path))
    finally:
        kill(worker)
        store.close()
