"""A backup of 10^5 events taken beside writes, restored into empty folders: is it what was there, and does an erasure made since hold?

    python bench/restore.py

One thread writes events and audit rows of another tenant without a break while the backup is made, in a process of its own. It is
restored twice. Once as it was: every row of the tenant that nobody writes to meanwhile, the text of all it says (`snapshot()`), the heads
of its repositories and its audit chain are equal, and of the other tenant log and chain are those of one moment. Then a person's
12,480 events are erased where they are, and the same backup is restored with the list of what was erased: nothing of theirs is there,
and all else is. A difference ends the run. Nothing is promised of the times.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import erasure
from erasure import ALICE, LAUNCH, OTHER, SIZES, TENANT, draft
from harness import machine, milliseconds, publish, temporary_folder
from lamina.access.chain import check_chain
from lamina.continuity.owned import documents_about
from lamina.forget.ending import audit_of
from lamina.forget.planning import place_of_erasure
from lamina.forget.receipts import verify_erasure
from lamina.forget.runner import Eraser
from lamina.kernel.audit import AuditRow, Head
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SystemClock
from lamina.settings import Settings
from lamina.store.backups.tombstones import TombstoneFile
from lamina.store.ports.erasures import ErasureJob
from lamina.store.ports.log import Capture
from lamina.store.sqlite import SqliteStore, heads_of

PAGE = 2000


def main() -> None:
    """Measure, compare, print, publish."""
    given = erasure.parser_of(__doc__ or "").parse_args()
    with temporary_folder(None) as folder:
        about = machine(folder)
        figures = run(folder, given)
    headline = (
        f"{given.events} events, {given.documents} documents: backup beside writes in {figures['backup_s']} s "
        f"({figures['writes beside it']['writes']} writes, p99 {figures['writes beside it']['p99']} ms), restored in {figures['restore_s']} s, "
        f"and in {figures['restore_and_erase_s']} s with an erasure of {given.own + given.shared} of them that was made since; all was equal"
    )
    for name, row in figures.items():
        print(f"{name:24}{row}")
    print(headline)
    if not given.no_publish:
        sizes = {name: getattr(given, name) for name in SIZES}
        publish("restore", headline, figures, {"machine": about, "sizes": sizes})


def run(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """The figures; whatever is not equal raises."""
    data = folder / "data"
    if given.keep is None or not given.keep.exists():
        erasure.filled(given.keep or data, given)
    if given.keep is not None:
        shutil.copytree(given.keep, data)
    store = SqliteStore(data)
    figures: dict[str, Any] = {}
    took, times = backed_up_beside_writes(store, data, folder)
    figures["backup_s"] = took
    figures["writes beside it"] = milliseconds(times) | {"writes": len(times)}
    (backup,) = (folder / "backups").glob("*.backup")
    figures["backup_mb"] = round(backup.stat().st_size / 1e6, 1)
    listed = Settings(data=data).tombstone_list
    figures["restore_s"] = restored(backup, folder / "plain", "--tombstones", str(listed))
    figures["equal rows"] = compare(store, data, folder / "plain")
    began = time.perf_counter()
    erasure_id = erase(store, listed)
    figures["erased_s"] = round(time.perf_counter() - began, 1)
    store.close()
    figures["restore_and_erase_s"] = restored(backup, folder / "erased", "--tombstones", str(listed))
    figures["looked at"] = check_erased(folder / "plain", folder / "erased", erasure_id)
    return figures


def backed_up_beside_writes(store: SqliteStore, data: Path, folder: Path) -> tuple[float, list[float]]:
    """How long the backup took, and each write beside it."""
    over, times = threading.Event(), list[float]()
    scope, clock, ids = Scope("org:other/user:maya"), SystemClock(), RandomIds()

    def write() -> None:
        while not over.is_set():
            began = time.perf_counter()
            store.log.append([Capture(draft(scope, "user:maya", len(times), OTHER))])
            job = job_of(ids.stamped(Prefix.ERASURE, clock.now()), OTHER, scope)
            store.audit.note(audit_of(job))
            times.append(time.perf_counter() - began)
            time.sleep(0.005)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        time.sleep(2.0)
        command = ["backup", "--data", str(data), "--to", str(folder / "backups")]
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "lamina", *command], check=True, capture_output=True)
        took = time.perf_counter() - began
        time.sleep(1.0)
    finally:
        over.set()
        thread.join()
    store.audit.flush()
    return round(took, 1), times


def restored(backup: Path, into: Path, *more: str) -> float:
    """How long a restore takes."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "lamina", "restore", str(backup), "--data", str(into), *more]
    subprocess.run(command, check=True, capture_output=True)
    return round(time.perf_counter() - began, 1)


def compare(store: SqliteStore, data: Path, into: Path) -> dict[str, int]:
    """What was restored is what was there."""
    second = SqliteStore(into, durable=False)
    rows = [Counter(hash(row) for row in each.snapshot() if OTHER not in row[1]) for each in (store, second)]
    assert rows[0] == rows[1], "snapshot()"
    logs = [list(events_of(each, TENANT)) for each in (store, second)]
    assert logs[0] == logs[1], "the log"
    logs = [list(events_of(each, OTHER)) for each in (store, second)]
    assert logs[1] == logs[0][: len(logs[1])], "the log of the other tenant"
    chains = [list(audit_of_tenant(each, OTHER)) for each in (store, second)]
    assert chains[1] == chains[0][: len(chains[1])], "the audit chain"
    assert 0 < len(chains[1]) < len(chains[0]), "writes went on after the backup"
    last = chains[0][len(chains[1]) - 1]
    checked = check_chain(second.audit, OTHER, Head(OTHER, last.number, last.hash))
    assert checked.broken is None, checked
    heads = [heads_of(each / "lamina.db") for each in (data, into)]
    assert heads[0] == heads[1], "the heads of the repositories"
    second.close()
    return {"rows": rows[1].total(), "audit": len(chains[1]), "repositories": len(heads[1])}


def erase(store: SqliteStore, listed: Path) -> str:
    """Erase the person where they are, put down in the list."""
    clock = SystemClock()
    erasure_id = RandomIds().stamped(Prefix.ERASURE, clock.now())
    store.erasures.begin(job_of(erasure_id, TENANT, ALICE))
    about = documents_about(store.traces)
    assert Eraser(store, clock, "bench", about=about, tombstones=TombstoneFile(listed)).step()
    done = store.erasures.get(TENANT, erasure_id)
    assert done is not None
    assert done.status == "completed", done
    return erasure_id


def check_erased(plain: Path, erased: Path, erasure_id: str) -> dict[str, Any]:  # Any: JSON
    """Nothing of the person is there, and all of the others."""
    stores = [SqliteStore(each, durable=False) for each in (plain, erased)]
    before, after = (
        {event.id: event for event in events_of(each, TENANT) if not event.is_entry} for each in stores
    )
    hers = {key for key, event in before.items() if event.observed_actor.id == "user:alice"}
    assert {key: event for key, event in before.items() if key not in hers} == {
        key: event for key, event in after.items() if key not in hers
    }, "events of others"
    left = [after[key] for key in hers & after.keys()]
    assert all(each.redacted_by == erasure_id and each.scope == LAUNCH for each in left), "words of hers"
    receipt = verify_erasure(stores[1], TENANT, erasure_id, SystemClock().now())
    assert receipt.clean, receipt
    for each in stores:
        each.close()
    return {
        "events of others": len(before) - len(hers),
        "of hers, redacted": len(left),
        "found": receipt.found,
    }


def job_of(erasure_id: str, tenant: str, scope: Scope) -> ErasureJob:
    """An erasure as it is asked for."""
    return ErasureJob(
        tenant_id=tenant,
        id=erasure_id,
        scope=scope,
        place=place_of_erasure(erasure_id, scope, ErasureRules()),
        requested_by="user:alice",
        audit_note="bench",
        started_at=SystemClock().now(),
        crosses=True,
    )


def events_of(store: SqliteStore, tenant: str) -> Iterator[Any]:
    """The log of a tenant, from its first event."""
    position = 0
    while page := store.log.walk(tenant, position, PAGE):
        yield from page
        position = page[-1].position


def audit_of_tenant(store: SqliteStore, tenant: str) -> Iterator[AuditRow]:
    """The audit rows of a tenant, from the first."""
    number = 0
    while page := store.audit.walk(tenant, number, PAGE):
        yield from page
        number = page[-1].number


if __name__ == "__main__":
    main()
