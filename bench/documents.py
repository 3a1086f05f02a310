"""Documents: a write with its event, committed to git, beside 1, 1,000 and 10,000 documents of one folder.

    python bench/documents.py

Promise: p50 at most 15 ms and flat; 8 writers at least 200/s. Baselines of the same run: write + fsync of this disk,
and the same write by the system's git in a working copy. The documents stand in one folder, which is the worst case:
each commit has a tree of its own for it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import fsync_times, machine, milliseconds, percentile, publish, temporary_folder
from lamina.kernel.events import Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.time import SystemClock
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.log import Capture
from lamina.store.sqlite import SqliteStore

SIZES, WRITES, WRITERS, EACH, CAPSULE_BYTES = (1, 1000, 10_000), 200, 8, 40, 6000
TENANT = "bench"


def main() -> None:
    """Measure, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--no-publish", action="store_true")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    with temporary_folder() as folder:
        about = machine(folder)
        figures["disk_fsync"] = milliseconds(fsync_times(folder))
        for size in options.sizes:
            figures |= _beside(folder / str(size), size)
        if shutil.which("git"):
            figures["system git, 1,000"] = milliseconds(_with_git(folder / "git", 1000))
    for name, row in figures.items():
        rest = "".join(f"{key} {value}  " for key, value in row.items())
        print(f"{name:28}{rest}")
    alone = ", ".join(f"{figures[f'alone, {size}']['p50']} ms beside {size}" for size in options.sizes)
    together = figures[f"{WRITERS} writers, {options.sizes[-1]}"]["per_second"]
    headline = (
        f"write and commit p50 {alone}; {WRITERS} writers {together}/s; fsync {figures['disk_fsync']['p50']}"
    )
    sizes = {
        "documents": options.sizes,
        "writes": WRITES,
        "writers": WRITERS,
        "each": EACH,
        "bytes": CAPSULE_BYTES,
    }
    print("load before", about["load_before"], "after", [round(each, 1) for each in os.getloadavg()])
    if options.no_publish:
        return
    publish("documents", headline, figures, {"machine": about, "sizes": sizes})


def _beside(folder: Path, size: int) -> dict[str, Any]:
    store = SqliteStore(folder)
    for start in range(0, size, 64):
        store.documents.write([_write(number) for number in range(start, min(start + 64, size))])
    store.close()  # waits for the packs of the load to be gathered
    store = SqliteStore(folder)
    store.documents.write([_write(0)])
    alone = _timed(lambda number: store.documents.write([_write(number % size)]), WRITES)
    appends = _timed(lambda _: store.documents.write([_append()]), WRITES)
    taken: list[float] = []

    def writer(first: int) -> None:
        taken.extend(_timed(lambda turn: store.documents.write([_write((first + turn) % size)]), EACH))

    threads = [threading.Thread(target=writer, args=(number * EACH,)) for number in range(WRITERS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = round(WRITERS * EACH / (time.perf_counter() - started), 1)
    stored = sum(path.stat().st_size for path in (folder / "relay").rglob("*") if path.is_file())
    store.close()
    return {
        f"alone, {size}": milliseconds(alone) | {"per_second": round(1 / percentile(alone, 0.5), 1)},
        f"append, {size}": milliseconds(appends),
        f"{WRITERS} writers, {size}": milliseconds(taken) | {"per_second": rate},
        f"repository, {size}": {"megabytes": round(stored / 1e6, 1)},
    }


def _timed(work: Callable[[int], object], times: int) -> list[float]:
    taken = []
    for number in range(times):
        started = time.perf_counter()
        work(number)
        taken.append(time.perf_counter() - started)
    return taken


def _content(number: int) -> bytes:
    text = f'"priority {number}: finish what was begun at {time.perf_counter_ns()}",'
    return (text * (CAPSULE_BYTES // len(text))).encode()


def _write(number: int) -> Write:
    path = f"memory/continuity/user-{number:06d}.json"
    change = Change(path, ChangeKind.PUT, _content(number))
    message = f"continuity: upsert user {number}"
    return Write(
        tenant_id=TENANT, author="agent:bench", message=message, changes=[change], captures=[_capture(path)]
    )


def _append() -> Write:
    change = Change("messages/inbox/bench.jsonl", ChangeKind.APPEND, b'{"subject": "hello"}\n')
    return Write(tenant_id=TENANT, author="agent:bench", message="messages: send", changes=[change])


def _capture(path: str) -> Capture:
    return Capture(
        EventDraft(
            tenant_id=TENANT,
            scope=RELAY_SCOPE,
            caller="agent:bench",
            observed_actor=Party.of("agent:bench"),
            subject=Party.of("agent:bench"),
            session=None,
            modality="document",
            content={"kind": "text", "text": f"wrote {path}"},
            context=Context(observed_at=SystemClock().now()),
            directives=Directives(),
            origin=Origin("agent:bench", "http", Trust.PRINCIPAL),
        )
    )


def _with_git(folder: Path, size: int) -> list[float]:
    """The baseline: a file, ``git add`` of it and ``git commit``, in a working copy of as many files."""

    def git(*arguments: str) -> None:
        command = ["git", "-C", str(folder), "-c", "user.name=b", "-c", "user.email=b@b.invalid", *arguments]
        subprocess.run(command, check=True, capture_output=True)

    folder.mkdir()
    git("init", "-q")
    for number in range(size):
        (folder / f"user-{number}.json").write_bytes(_content(number))
    git("add", ".")
    git("commit", "-qm", "all")

    def write(number: int) -> None:
        name = f"user-{number}.json"
        (folder / name).write_bytes(_content(number))
        git("add", name)
        git("commit", "-qm", "one", "--", name)

    return _timed(write, 20)


if __name__ == "__main__":
    main()
