"""Capture over HTTP: one durable event at a time, 32 callers, and batches of 1000.

    python bench/capture.py

Promise: single p50 at most 5 ms and at most 2 x this disk's fsync + 2 ms; 1,000 events/s at 32 callers; 10,000
events/s in batches. Baselines of the same run: write + fsync of this disk, and single-row SQLite commits. The worker
derives beside the writes unless the row says otherwise; the callers share the machine's cores with the server.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import apsw

from corpus import Corpus
from harness import (
    SEED,
    Server,
    fsync_times,
    machine,
    median,
    milliseconds,
    percentile,
    publish,
    serving,
    temporary_folder,
)
from load import encode, run_apart

SINGLE, CALLERS, BATCHES, ROUNDS = 500, 32, 10, 3
CONCURRENT = 6000
_SCOPE = "org:bench/user:capture"


def main() -> None:
    """Measure, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with temporary_folder() as folder:
        about = machine(folder)
        rounds = [_round(folder / str(number), number) for number in range(options.rounds)]
    figures = {name: _medians([one[name] for one in rounds]) for name in rounds[0]}
    _print(figures)
    fsync, single = figures["disk_fsync"]["p50"], figures["single, no worker"]["p50"]
    headline = (
        f"single p50 {single} ms ({figures['single, worker']['p50']} with the worker busy; fsync {fsync}, "
        f"SQLite row {figures['sqlite_row']['p50']}); "
        f"32 callers {figures['32 callers, no worker']['per_second']:.0f}/s "
        f"({figures['32 callers, worker']['per_second']:.0f} with the worker); "
        f"bulk {figures['bulk, no worker']['per_second']:.0f}/s "
        f"({figures['bulk, worker']['per_second']:.0f} with the worker)"
    )
    sizes = {
        "single": SINGLE,
        "concurrent": CONCURRENT,
        "callers": CALLERS,
        "batches": BATCHES,
        "rounds": options.rounds,
    }
    publish("capture", headline, {**figures, "rounds": rounds}, {"machine": about, "sizes": sizes})


def _round(folder: Path, number: int) -> dict[str, dict[str, float]]:
    folder.mkdir()
    found: dict[str, dict[str, float]] = {
        "disk_fsync": milliseconds(fsync_times(folder)),
        "disk_fsync_growing": milliseconds(fsync_times(folder, grows=True)),
        "sqlite_row": _sqlite_rows(folder),
    }
    for name, workers in (("no worker", 0), ("worker", 1)):
        with serving(folder / f"data-{workers}", workers=workers) as server:
            run_apart(server.port, _singles(1000, f"warm-{number}"), 8)
            singles = _singles(SINGLE, f"one-{number}")
            found[f"single, {name}"] = _measured(server, singles, callers=1)
            singles = _singles(CONCURRENT, f"many-{number}")
            found[f"{CALLERS} callers, {name}"] = _measured(server, singles, callers=CALLERS)
            batches = _batches(BATCHES, f"bulk-{number}")
            found[f"bulk, {name}"] = _measured(server, batches, callers=1, events=1000)
    return found


def _measured(server: Server, requests: list[bytes], *, callers: int, events: int = 1) -> dict[str, float]:
    """One load: latencies of its requests, events in a second, and the server's processor time for an event."""
    cpu = server.cpu_s()
    load = run_apart(server.port, requests, callers)
    cpu = server.cpu_s() - cpu
    return {
        **milliseconds(load.taken_s),
        "per_second": round(load.per_second * events, 1),
        "server_cpu_us": round(1e6 * cpu / (len(requests) * events), 1),
        "client_cpu_share": round(load.client_cpu_s / load.elapsed_s, 3),
    }


def _singles(count: int, key: str) -> list[bytes]:
    turns = Corpus(SEED).turns(count)
    return [
        encode("/v1/experience", json.dumps({"scope": _SCOPE, **said.item(f"{key}-{at}")}).encode())
        for at, said in enumerate(turns)
    ]


def _batches(count: int, key: str) -> list[bytes]:
    turns = list(Corpus(SEED + 1).turns(1000 * count))
    requests = []
    for batch in range(count):
        items = [turns[at].item(f"{key}-{at}") for at in range(1000 * batch, 1000 * (batch + 1))]
        requests.append(encode("/v1/experience/bulk", json.dumps({"scope": _SCOPE, "items": items}).encode()))
    return requests


def _sqlite_rows(folder: Path, rows: int = 300) -> dict[str, float]:
    """Single-row commits of the same size in a plain table, flushed as the server flushes them.

    The first thousands fill the write-ahead log to the size at which it is written over, and do not count.
    """
    database = apsw.Connection(str(folder / "plain.db"))
    database.execute("PRAGMA journal_mode = wal")
    database.execute("PRAGMA synchronous = full")
    database.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, body TEXT)")
    bodies = [json.dumps(said.item("key")) for said in Corpus(SEED).turns(rows)]
    for _ in range(6):
        with database:
            database.executemany("INSERT INTO event (body) VALUES (?)", [(body,) for body in bodies * 10])
    taken = []
    for body in bodies:
        started = time.perf_counter()
        database.execute("INSERT INTO event (body) VALUES (?)", (body,))
        taken.append(time.perf_counter() - started)
    database.close()
    return milliseconds(taken) | {"per_second": round(1 / percentile(taken, 0.5), 1)}


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: median([one[name] for one in rounds]) for name in rounds[0]}


def _print(figures: dict[str, Any]) -> None:
    print(
        f"{'medians of the rounds':24}{'p50 ms':>9}{'p95':>9}{'p99':>9}{'events/s':>11}{'server µs/event':>17}"
    )
    for name, row in figures.items():
        rate, cpu = row.get("per_second", float("nan")), row.get("server_cpu_us", float("nan"))
        print(f"{name:24}{row['p50']:9.2f}{row['p95']:9.2f}{row['p99']:9.2f}{rate:11.0f}{cpu:17.0f}")


if __name__ == "__main__":
    main()
