"""What was acknowledged is there after the process was killed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from given import TENANT, append
from lamina.kernel.events import Stage
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.sqlite import SqliteStore

WRITER = """
import sys, threading
from pathlib import Path
from given import append
from lamina.store.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]))

def write(number):
    turn = 0
    while True:
        turn += 1
        ids = [event.id for event in append(store, *(f"{number}-{turn}-{n}" for n in range(turn % 3 + 1)))]
        sys.stdout.write(" ".join(ids) + "\\n")
        sys.stdout.flush()

threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
"""


@pytest.mark.slow
def test_every_acknowledged_event_survives_a_kill_with_its_lifecycle_row_and_its_job(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    for wait_s in (0.05, 0.2):
        acknowledged += killed_after(wait_s, tmp_path)
    store = SqliteStore(tmp_path)
    found = store.log.get(TENANT, acknowledged)
    assert set(acknowledged) - found.keys() == set()
    for event_id in acknowledged:
        [row] = store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=event_id))
        assert row.name == "captured"
        assert [job.stage for job in store.jobs.of_event(TENANT, event_id)] == [Stage.EXTRACTED]
    log = store.log.walk(TENANT, 0, 1_000_000)
    assert [event.position for event in log] == list(range(1, len(log) + 1))
    assert append(store, "goes on")[0].position == len(log) + 1
    store.close()


def killed_after(wait_s: float, folder: Path) -> list[str]:
    """Ids that a writing process had acknowledged when it was killed, a while after its first."""
    paths = {"PYTHONPATH": ":".join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True, env=paths
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(wait_s)
    process.kill()
    rest, _ = process.communicate(timeout=30)
    whole = (first + rest).rpartition("\n")[0]  # the last line may have been cut by the kill
    ids = whole.split()
    assert len(ids) > 5
    return ids
