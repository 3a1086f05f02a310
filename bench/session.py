"""The two calls of a turn over HTTP, for a user with 10^5 events.

    python bench/session.py

Promise: p50 at most 6 ms for ``/ingest``, 15 ms for ``/brief`` in session. A turn is as an orchestrator makes it: a
brief, then the user's turn, then the assistant's. ``brief`` has no query, so it is Tier 1 alone; ``brief with query``
has one, so it waits for recall up to the deadline of 150 ms, and ``in time`` says how often recall was. Baselines of the same
run: this disk's fsync, and twelve rows of the log read by index in process. ``seeding`` says how the scope is made.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import Corpus, questions
from harness import (
    SEED,
    Server,
    fsync_times,
    machine,
    milliseconds,
    publish,
    serving,
    temporary_folder,
)
from lamina.kernel.scopes import Scope
from lamina.store.ports.log import EventQuery
from lamina.store.sqlite import SqliteStore
from seeding import Seeder

SIZE = 100_000
TURNS, WARMED = 200, 20
_SCOPE = "org:bench/user:session"
_WHO = {"tenantId": "bench", "userId": "session", "personaId": "tester", "sessionId": "measured"}


def main() -> None:
    """Seed, measure, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=SIZE, help="events of the user")
    parser.add_argument("--seeded", type=Path, help="a folder seeded before is measured as it is, and kept")
    parser.add_argument("--no-publish", action="store_true")
    options = parser.parse_args()
    with temporary_folder(options.seeded) as folder:
        about = machine(folder)
        if not (folder / "lamina.db").exists():
            seeder = Seeder(folder, _SCOPE, SEED)
            seeder.grow(options.size)
            seeder.close()
        found: dict[str, Any] = {"fsync": milliseconds(fsync_times(folder)), "rows": _baseline(folder)}
        for name, workers in (("alone", 0), ("beside the worker", 1)):
            with serving(folder, workers=workers) as server:
                found[name] = _measure(server)
            _print(name, found[name])
    alone = found["alone"]
    headline = (
        f"{options.size} events: /ingest p50 {alone['ingest']['p50']} ms, /brief p50 {alone['brief']['p50']} ms (Tier 1), "
        f"{alone['brief with query']['p50']} ms with a query (in time {alone['in time']:.0%}); beside the worker "
        f"{found['beside the worker']['ingest']['p50']} and {found['beside the worker']['brief']['p50']} ms; "
        f"fsync {found['fsync']['p50']}, twelve rows alone {found['rows']['p50']} ms"
    )
    print(headline)
    if not options.no_publish:
        publish(
            "session", headline, found, {"machine": about, "sizes": {"events": options.size, "turns": TURNS}}
        )


def _measure(server: Server) -> dict[str, Any]:
    """Turns without a query first: a recall that is late goes on behind its brief, and would slow the next call."""
    plain = _talk(server, [None] * (TURNS + WARMED), 0)
    asked = _talk(server, questions(SEED + 5, TURNS + WARMED), 1)
    return {
        "ingest": milliseconds(plain["ingest"]),
        "brief": milliseconds(plain["brief"]),
        "brief with query": milliseconds(asked["brief"]),
        "ingest after a query": milliseconds(asked["ingest"]),
        "in time": sum(asked["found"]) / TURNS,
        "memory_mb": server.memory_mb(),
    }


def _talk(server: Server, asked: Sequence[str | None], part: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {"ingest": [], "brief": [], "found": []}
    said = list(Corpus(SEED + 9 + part).turns(2 * len(asked)))
    at = datetime.now(UTC) + timedelta(hours=2 * part)
    for turn, question in enumerate(asked):
        at += timedelta(seconds=20)
        body = {**_WHO, "now": _text(at), "mode": "in_session", "query": question}
        brief_s, answer = _timed(server, "/brief", body)
        spent = [
            _timed(
                server,
                "/ingest",
                {**_WHO, "role": role, "text": said[2 * turn + place].text, "timestamp": _text(at)},
            )[0]
            for place, role in enumerate(("user", "assistant"))
        ]
        if turn >= WARMED:
            taken["brief"].append(brief_s)
            taken["ingest"] += spent
            taken["found"].append(bool(answer["semanticContext"]))
    return taken


def _timed(server: Server, path: str, body: dict[str, Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    answer = server.call("POST", path, body)
    return time.perf_counter() - started, answer


def _text(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _baseline(folder: Path) -> dict[str, float]:
    store = SqliteStore(folder)
    query = EventQuery(tenant_id="local", scopes=[Scope(_SCOPE)], limit=12)
    taken = []
    for _ in range(TURNS):
        started = time.perf_counter()
        store.log.query(query)
        taken.append(time.perf_counter() - started)
    store.close()
    return milliseconds(taken)


def _print(name: str, row: dict[str, Any]) -> None:
    print(f"\n{name}")
    for call in ("ingest", "brief", "brief with query", "ingest after a query"):
        one = row[call]
        print(f"{call:22} p50 {one['p50']:.2f} p95 {one['p95']:.2f} p99 {one['p99']:.2f} ms")
    print(f"recall was in time for {row['in time']:.0%}; memory {row['memory_mb']}", flush=True)


if __name__ == "__main__":
    main()
