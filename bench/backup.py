"""A backup of 10^5 events beside writes: how long, how large, and what the writes feel of it.

    python bench/backup.py

Promise: writes beside a backup have a p99 of at most 3 times that without. One thread writes to the folder without a
break, an event at a time, flushed; the backup is the command, in a process of its own. Baselines of the same run: the
same writes with no backup, and writes beside ``cp`` of the database to the same disk. The restore's time is printed too.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from harness import SEED, fsync_times, machine, milliseconds, publish, temporary_folder
from lamina.kernel.events import Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SystemClock
from lamina.store.ports.log import Capture
from lamina.store.sqlite import SqliteStore
from seeding import Seeder

EVENTS, ALONE_S = 100_000, 20.0
_SCOPE = "user:maya"


def main() -> None:
    """Measure, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument(
        "--keep", type=Path, help="a folder with the seeded events, made there if it is empty"
    )
    parser.add_argument("--no-publish", action="store_true")
    options = parser.parse_args()
    with temporary_folder(options.keep) as folder:
        data = folder / "data"
        if not (data / "lamina.db").exists():
            seeder = Seeder(data, _SCOPE, SEED)
            seeder.grow(options.events)
            seeder.close()
        about = machine(folder)
        events = _events(data / "lamina.db")
        figures, headline = _measured(folder, data)
        headline = f"{events} events, {headline}"
    for name, row in figures.items():
        print(f"{name:28}{row}")
    if options.no_publish:
        print(headline)
        return
    publish("backup", headline, figures, {"machine": about, "sizes": {"events": events}})


def _events(database: Path) -> int:
    with contextlib.closing(apsw.Connection(str(database))) as connection:
        return int(next(connection.execute("SELECT count(*) FROM event"))[0])


def _measured(folder: Path, data: Path) -> tuple[dict[str, Any], str]:
    database = data / "lamina.db"
    key = folder / "key"
    key.write_bytes(bytes(range(32)))
    store = SqliteStore(data)
    figures: dict[str, Any] = {"disk_fsync": milliseconds(fsync_times(folder))}
    figures["writes alone"] = milliseconds(_beside(store, lambda: time.sleep(ALONE_S)))
    runs = {
        "writes beside cp": ["cp", str(database), str(folder / "copy")],
        "writes beside a backup": _lamina("backup", "--data", data, "--to", folder / "plain"),
        "writes beside a sealed one": _lamina(
            "backup", "--data", data, "--to", folder / "sealed", "--key-file", key
        ),
    }
    for name, command in runs.items():
        began = time.perf_counter()
        times = _beside(store, partial(subprocess.run, command, check=True, capture_output=True))
        figures[name] = milliseconds(times) | {
            "seconds": round(time.perf_counter() - began, 1),
            "writes": len(times),
        }
    store.close()
    (plain,), (sealed,) = (list((folder / name).glob("*.backup")) for name in ("plain", "sealed"))
    figures["sizes"] = {
        "database_mb": round(database.stat().st_size / 1e6, 1),
        "backup_mb": round(plain.stat().st_size / 1e6, 1),
        "sealed_mb": round(sealed.stat().st_size / 1e6, 1),
    }
    figures["verify_s"] = _seconds(_lamina("restore", "--verify", sealed, "--key-file", key))
    figures["restore_s"] = _seconds(
        _lamina("restore", sealed, "--key-file", key, "--data", folder / "restored")
    )
    alone, beside = figures["writes alone"], figures["writes beside a backup"]
    headline = (
        f"{figures['sizes']['database_mb']} MB in {beside['seconds']} s, sealed {figures['writes beside a sealed one']['seconds']} s, "
        f"to {figures['sizes']['backup_mb']} MB; writes p50 {beside['p50']} ms, p99 {beside['p99']} ms beside it "
        f"(alone {alone['p50']} and {alone['p99']}; beside cp p99 {figures['writes beside cp']['p99']}); "
        f"verify {figures['verify_s']} s, restore {figures['restore_s']} s"
    )
    return figures, headline


def _lamina(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "lamina", *map(str, arguments)]


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return round(time.perf_counter() - began, 1)


def _beside(store: SqliteStore, work: Callable[[], object]) -> list[float]:
    """How long single writes take while ``work`` goes on."""
    over, times = threading.Event(), list[float]()

    def write() -> None:
        while not over.is_set():
            began = time.perf_counter()
            store.log.append([Capture(_draft(f"tea at {len(times)}"))])
            times.append(time.perf_counter() - began)
            time.sleep(0.005)  # a writer, and not a flood: a person's tools send a hundred a second at most

    thread = threading.Thread(target=write)
    thread.start()
    try:
        work()
    finally:
        over.set()
        thread.join()
    return times


def _draft(text: str) -> EventDraft:
    party = Party.of("user:maya")
    return EventDraft(
        tenant_id="local",
        scope=Scope.parse(_SCOPE),
        caller="user:maya",
        observed_actor=party,
        subject=party,
        session=None,
        modality="conversation",
        content={"kind": "text", "text": text},
        context=Context(observed_at=SystemClock().now()),
        directives=Directives(),
        origin=Origin("user:maya", "http", Trust.PRINCIPAL),
    )


if __name__ == "__main__":
    main()
