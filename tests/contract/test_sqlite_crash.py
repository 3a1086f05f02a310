"""What was acknowledged is there after the process was killed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from given import ALICE, NOON, TENANT, append, key
from lamina.errors import Unavailable
from lamina.kernel.events import Stage
from lamina.store.ports.audit import AuditQuery
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.log import EventQuery
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.documents import DocumentRows

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
    rest, _ = process.communicate(timeout=300)
    whole = (first + rest).rpartition("\n")[0]  # the last line may have been cut by the kill
    ids = whole.split()
    assert len(ids) > 5
    return ids


READS: dict[str, Callable[[SqliteStore], object]] = {
    "log.query": lambda store: store.log.query(EventQuery(tenant_id=TENANT, scopes=[ALICE])),
    "idempotency.find": lambda store: store.idempotency.find(key("k"), NOON),
    "jobs.backlog": lambda store: store.jobs.backlog(),
    "jobs.claim": lambda store: store.jobs.claim(
        Stage.EXTRACTED, limit=1, lease_until=NOON, now=NOON, owner="w"
    ),
    "inquiries.ready": lambda store: store.inquiries.ready(1),
    "lifecycle.query": lambda store: store.lifecycle.query(LifecycleQuery(tenant_id=TENANT)),
    "registry.version": lambda store: store.registry.version(),
    "scopes.get": lambda store: store.scopes.get(TENANT, ALICE),
    "audit.query": lambda store: store.audit.query(AuditQuery(tenant_id=TENANT)),
    "documents.read": lambda store: store.documents.read(TENANT, "a"),
    "upkeep.compact": lambda store: store.upkeep.compact(),
    "upkeep.backlog": lambda store: store.upkeep.backlog(TENANT),
    "changes.wait": lambda store: store.changes.follow().wait(0),
}


@pytest.mark.parametrize("asked", READS)
def test_what_meets_a_file_that_cannot_be_opened_is_unavailable(tmp_path: Path, asked: str) -> None:
    store = SqliteStore(tmp_path)
    append(store, "a")
    (tmp_path / "lamina.db").rename(tmp_path / "moved")
    (tmp_path / "lamina.db").mkdir()
    # A thread that has read before goes on reading what it opened.
    with ThreadPoolExecutor(1) as fresh, pytest.raises(Unavailable) as caught:
        fresh.submit(READS[asked], store).result()
    assert caught.value.code == "WAL_UNAVAILABLE"
    store.close()


def test_documents_are_written_once_the_disk_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path, durable=False)
    write = Write(tenant_id=TENANT, author="a", message="m", changes=[Change("a", ChangeKind.PUT, b"1")])

    def refused(_: object) -> list[str]:
        raise Unavailable("WAL_UNAVAILABLE", "the log cannot be reached")

    with monkeypatch.context() as broken:
        broken.setattr("lamina.store.sqlite.documents.DocumentRows.tenants", refused)
        with pytest.raises(Unavailable):
            store.documents.write([write])
    # Were the projector not running, this would wait for ever.
    thread = threading.Thread(target=store.documents.write, args=([write],), daemon=True)
    thread.start()
    thread.join(300)
    assert not thread.is_alive()
    store.close()


def test_a_hash_that_is_noted_as_the_store_closes_is_no_failure(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    rows = DocumentRows(store._writer, store._readers)
    store.close()
    rows.note(TENANT, [(1, "0" * 40)], wait=False)
    rows.note(TENANT, [(2, "1" * 40)], wait=False)
    assert rows.unnoted(TENANT, "") == [1, 2]
