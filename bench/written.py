"""How soon what was written is found: by the next recall of another process, and behind a burst of turns.

    python bench/written.py [--tries 1000] [--burst 3000]

Promise: none of the tries is missed, nor the last turn of the burst. Two servers over one folder; one of them has the worker.
``until derived`` is when all that follows derivation could be found too, which is what a reader waited for before.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from corpus import Corpus
from harness import SEED, Server, milliseconds, serving, temporary_folder

TRIES, BURST, SAMPLE = 1000, 3000, 20
_SCOPE, _BURST_SCOPE = "org:bench/user:written", "org:bench/user:burst"


def main() -> None:
    """Write, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tries", type=int, default=TRIES)
    parser.add_argument("--burst", type=int, default=BURST)
    options = parser.parse_args()
    with temporary_folder() as folder, serving(folder) as first, serving(folder, workers=0) as second:
        print(_next_recall(first, second, options.tries), flush=True)
        print(_burst(first, second, options.burst), flush=True)
        print(f"until derived {first.wait_derived(3600):.0f} s more", flush=True)


def _next_recall(first: Server, second: Server, tries: int) -> str:
    """Write in one process, ask in the other, and the other way round."""
    missed, taken = 0, []
    for number in range(tries):
        writer, reader = (first, second) if number % 2 else (second, first)
        written = _write(writer, _SCOPE, f"The parcel kappa{number} went to shelf {number % 17}.", number)
        started = time.perf_counter()
        pack = _recall(reader, _SCOPE, f"Where is parcel kappa{number}?")
        taken.append(time.perf_counter() - started)
        missed += written not in _events(pack)[:5]
    return f"next recall: {missed} of {tries} missed among the first five, {milliseconds(taken)} ms"


def _burst(first: Server, second: Server, count: int) -> str:
    """Many turns at once, then a question about the last of them."""
    turns = list(Corpus(SEED).turns(count))
    for start in range(0, count, 1000):
        items = [turn.item(f"burst-{start + at}") for at, turn in enumerate(turns[start : start + 1000])]
        first.call("POST", "/v1/experience/bulk", {"scope": _BURST_SCOPE, "items": items})
    last = _write(first, _BURST_SCOPE, "The parcel omega went to shelf 99.", count)
    figures = []
    for name, server in (("writer", first), ("other process", second)):
        cpu, started = server.cpu_s(), time.perf_counter()
        pack = _recall(server, _BURST_SCOPE, "Where is parcel omega?")
        spent = round(time.perf_counter() - started, 2)
        again = time.perf_counter()
        _recall(server, _BURST_SCOPE, "Where is parcel omega now?")
        figures.append(
            f"{name}: {'found' if last in _events(pack)[:5] else 'MISSED'} after {spent} s "
            f"(processor {server.cpu_s() - cpu:.2f} s for two), the next after {time.perf_counter() - again:.2f} s"
        )
    # Turns from everywhere in the burst are asked for in their own words.
    asked = turns[:: max(1, count // SAMPLE)]
    hits = sum(_holds(_recall(second, _BURST_SCOPE, turn.text[:400]), turn.text) for turn in asked)
    return f"burst of {count}: {'; '.join(figures)}; {hits} of {len(asked)} found by their words"


def _write(server: Server, scope: str, text: str, number: int) -> str:
    body = {
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "text", "text": text},
        "context": {"observed_at": "2026-05-13T12:00:00Z"},
        "idempotency_key": f"one-{number}",
    }
    written: str = server.call("POST", "/v1/experience", body)["event_id"]
    return written


def _recall(server: Server, scope: str, query: str) -> Any:
    return server.call("POST", "/v1/recall", {"scope": scope, "query": query})


def _events(pack: Any) -> list[str]:
    return [event["id"] for event in pack["layers"]["events"]]


def _holds(pack: Any, text: str) -> bool:
    return any(event["content"]["text"] == text for event in pack["layers"]["events"])


if __name__ == "__main__":
    main()
