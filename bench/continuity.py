"""Capsules over HTTP with an owner's token: upserts, reads, lists and search, beside 1, 1,000 and 10,000 of them.

    python bench/continuity.py

Promise: an upsert's p50 is at most 15 ms and flat, 8 writers make at least 200/s, a read takes at most 3 ms (with the
startup view too), a list over 1,000 capsules 30 ms (by salience too), a search among all of them 10 ms. Baseline of the
same run: this disk's fsync. ``documents`` measures the store below without the rules of capsules. Nothing is derived
beside the writes; the search is asked once everything is, by the server's own pipeline over pooled vectors (``seeding``).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from lamina.access.relay_tokens import issue, owner_grant
from lamina.continuity.capsule.wording import in_words
from lamina.kernel.ids import RandomIds
from lamina.kernel.time import SystemClock, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore
from load import Load, encode, run_apart
from seeding import PooledEmbedder

SIZES, TIMES, WRITERS, EACH, LISTED = (1, 1000, 10_000), 200, 8, 50, 1000
POOL_VECTORS = 200
PROMISED = {"upsert": 15.0, "read": 3.0, "startup": 3.0, "list": 30.0, "salience": 30.0, "search": 10.0}
WRITTEN_PER_SECOND = 200.0
_TOPICS = ("the harbour survey", "a parser for old dates", "the violin repair", "tax forms", "a garden plan")


@dataclass(slots=True)
class Capsules:
    """Capsules of a server, numbered from 0. ``written`` counts the upserts: each is a millisecond younger."""

    server: Server
    written: int = 0

    def upsert(self, number: int) -> None:
        """Write a capsule anew."""
        self.server.send("POST", "/v1/continuity/upsert", self._upsert(number))

    def together(self, numbers: list[int]) -> Load:
        """Write capsules as ``WRITERS`` callers at once."""
        token = self.server.token
        bodies = [self._upsert(number) for number in numbers]
        requests = [encode("/v1/continuity/upsert", body, token=token) for body in bodies]
        return run_apart(self.server.port, requests, WRITERS)

    def ask(self, operation: str, **body: Any) -> Any:
        """The answer of one operation over capsules."""
        return self.server.call("POST", f"/v1/continuity/{operation}", body)

    def _upsert(self, number: int) -> bytes:
        self.written += 1
        return json.dumps(_subject(number) | {"capsule": _capsule(number, self.written)}).encode()


def main() -> None:
    """Measure, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="capsules, growing")
    parser.add_argument("--times", type=int, default=TIMES, help="of each call alone")
    parser.add_argument("--each", type=int, default=EACH, help="upserts of each writer")
    parser.add_argument("--no-publish", action="store_true")
    options = parser.parse_args()
    sizes = sorted(options.sizes)
    with temporary_folder() as folder:
        about = machine(folder)
        figures: dict[str, Any] = {"disk fsync": milliseconds(fsync_times(folder))}
        figures |= _measured(folder / "data", sizes, options.times, options.each)
    for name, row in figures.items():
        print(f"{name:28}" + "".join(f"{key} {value}  " for key, value in row.items()))
    print("load before", about["load_before"], "after", [round(each, 1) for each in os.getloadavg()])
    if not options.no_publish:
        counts = {"capsules": sizes, "times": options.times, "writers": WRITERS, "each": options.each}
        publish("continuity", _headline(figures, sizes), figures, {"machine": about, "sizes": counts})


def _measured(data: Path, sizes: list[int], times: int, each: int) -> dict[str, Any]:
    token = _owner_token(data)
    found: dict[str, Any] = {}
    with serving(data, workers=0) as server:
        server.token = token
        capsules = Capsules(server)
        grown = 0
        for size in sizes:
            if size > grown:
                load = capsules.together(list(range(grown, size)))
                found[f"growing to {size}"] = {"per_second": round(load.per_second, 1)}
                grown = size
            found |= _beside(capsules, size, times, each)
    _derive(data)
    with serving(data, workers=0) as server:
        server.token = token
        _search(server, 0)
        found[f"search, {sizes[-1]}"] = _row("search", _timed(lambda number: _search(server, number), times))
    return found


def _beside(capsules: Capsules, size: int, times: int, each: int) -> dict[str, Any]:
    """What every call takes beside so many capsules."""
    for number in range(min(size, 10)):
        capsules.upsert(number)  # the first of each are slower: code, caches
    found = {f"upsert, {size}": _row("upsert", _timed(lambda n: capsules.upsert(n * 7 % size), times))}
    if size >= WRITERS * 4:  # fewer would write over each other
        load = capsules.together([n * 7 % size for n in range(WRITERS * each)])
        rate = {"per_second": round(load.per_second, 1), "promised": WRITTEN_PER_SECOND}
        found[f"{WRITERS} writers, {size}"] = milliseconds(load.taken_s) | rate
    startup = {"view": "startup", "allow_fallback": True}
    calls: dict[str, Callable[[int], object]] = {
        "read": lambda n: capsules.ask("read", **_subject(n * 7 % size)),
        "startup": lambda n: capsules.ask("read", **_subject(n * 7 % size), **startup),
    }
    if size == LISTED:
        calls["list"] = lambda _: capsules.ask("list")
        calls["salience"] = lambda _: capsules.ask("list", sort="salience")
    for name, call in calls.items():
        found[f"{name}, {size}"] = _row(name, _timed(call, times))
    return found


def _headline(figures: dict[str, Any], sizes: list[int]) -> str:
    upserts = ", ".join(f"{figures[f'upsert, {size}']['p50']} ms beside {size}" for size in sizes)
    last = sizes[-1]
    rate = figures.get(f"{WRITERS} writers, {last}", {}).get("per_second", "-")
    names = (f"read, {last}", f"startup, {last}", f"list, {LISTED}", f"salience, {LISTED}", f"search, {last}")
    rest = "; ".join(f"{name} p50 {figures[name]['p50']} ms" for name in names if name in figures)
    return f"upsert p50 {upserts}; {WRITERS} writers {rate}/s; {rest}; fsync {figures['disk fsync']['p50']}"


def _row(name: str, seconds: list[float]) -> dict[str, float]:
    return milliseconds(seconds) | {"promised": PROMISED[name]}


def _timed(work: Callable[[int], object], times: int) -> list[float]:
    taken = []
    for number in range(times):
        started = time.perf_counter()
        work(number)
        taken.append(time.perf_counter() - started)
    return taken


def _owner_token(data: Path) -> str:
    """A token that may do everything, made before the server starts: its own is shown on its screen only."""
    store = SqliteStore(data)
    now, tenant_id = SystemClock().now(), Settings().tenant
    token = issue(
        store.relay_tokens, RandomIds(), now, tenant_id=tenant_id, peer_id="bench", grant=owner_grant()
    )
    store.close()
    return token


def _derive(data: Path) -> None:
    """What the worker does, with vectors of other capsules: real ones of so many take minutes and cost a search the same."""
    store = SqliteStore(data)
    words = [f"agent:bench: {in_words(_capsule(number, number))}" for number in range(POOL_VECTORS)]
    embedder = PooledEmbedder(words, SEED)
    deriver = Deriver(store, RulesExtractor(find_times), embedder, embed_eagerly=True)
    Worker(store, deriver, embedder, SystemClock(), "bench").drain()
    store.close()


def _search(server: Server, number: int) -> None:
    query = f"{_TOPICS[number % len(_TOPICS)]} step {number}"
    found = server.call("POST", "/v1/search", {"query": query, "limit": 10})
    assert found["count"], "every capsule is about one of the topics"


def _subject(number: int) -> dict[str, str]:
    return {"subject_kind": "thread", "subject_id": f"thread-{number:06d}"}


def _capsule(number: int, written: int) -> dict[str, Any]:
    """A capsule of some 3 kB, as a working agent keeps one."""
    topic = _TOPICS[number % len(_TOPICS)]
    at = rfc3339(1_780_000_000_000_000 + written * 1000)
    lines = [f"{topic}, step {number + step}: look at it again after round {written}" for step in range(5)]
    state = {
        "top_priorities": lines,
        "active_concerns": [f"the time that {topic} takes"],
        "active_constraints": ["two cores, one disk", "nothing leaves the machine"],
        "open_loops": [f"ask about {line}" for line in lines],
        "stance_summary": f"Finish {topic} first, in small steps; everything else of {number} can wait.",
        "drift_signals": [],
        "session_trajectory": lines,
        "trailing_notes": lines[:3],
    }
    return {
        **_subject(number),
        "updated_at": at,
        "verified_at": at,
        "source": {"producer": "bench", "update_reason": "manual"},
        "continuity": state,
        "confidence": {"continuity": 0.8, "relationship_model": 0.5},
        "thread_descriptor": {"label": f"{topic} {number}", "keywords": ["bench"]},
    }


if __name__ == "__main__":
    main()
