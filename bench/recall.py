"""Recall over HTTP in a scope of 10^4 and of 10^5 events.

    python bench/recall.py

Promise: p50 at most 30 ms and p95 at most 80 ms at 10^5 events; ten times the events cost at most twice the time; at 10^4
events at most 8 ms of the processor beyond the embedding of the question, which is printed phase by phase;
resident memory at most 250 MB idle and 500 MB with 10^5 events; first answer within 3 s. Baselines of the same run:
SQLite's FTS5 over the same terms alone and an exact numpy scan of as many vectors alone. ``seeding`` says how the scope is made.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import numpy as np

from corpus import questions
from harness import SEED, Server, machine, milliseconds, publish, serving, temporary_folder
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.language.tokens import analyse, content_terms
from lamina.models.minilm import MiniLmEmbedder
from lamina.store.sqlite import SqliteStore
from seeding import Seeder

SIZES = (10_000, 100_000)
ASKED, WARMED = 200, 20
CPU_MS_MAX = 8
"""What a recall of the default block may take of the processor at 10^4 events, beyond the embedding of its question."""
_WAYS: dict[str, dict[str, Any]] = {"all layers": {}, "events only": {"include": ["events"]}}
"""The two are asked in turn, each questions of its own: what the second were asked of the first's would be in every cache."""
_SCOPE = "org:bench/user:recall"
_ALL_ROWS = 10_000_000
_SEARCH = "SELECT rowid FROM said WHERE terms MATCH ? ORDER BY rank LIMIT 20"


class _Timed(NamedTuple):
    """What a question took by the clock and of the server's processor, in seconds, and what its pack says of itself."""

    taken_s: float
    cpu_s: float
    diagnostics: Mapping[str, Any]


def main() -> None:
    """Seed, measure, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="events, rising; 1000000 is far")
    parser.add_argument("--seeded", type=Path, help="a folder seeded before is measured as it is, and kept")
    parser.add_argument("--no-publish", action="store_true")
    options = parser.parse_args()
    asked = questions(SEED + 5, len(_WAYS) * (ASKED + WARMED))
    found: dict[int, dict[str, Any]] = {}
    with temporary_folder(options.seeded) as folder:
        about = machine(folder)
        reused = (folder / "lamina.db").exists()
        seeder = None if reused else Seeder(folder, _SCOPE, SEED)
        for size in [_events(folder)] if reused else options.sizes:
            started = time.perf_counter()
            if seeder is not None:
                seeder.grow(size)
            found[size] = {"seeded_s": round(time.perf_counter() - started, 1), **_measure(folder, asked)}
            _print(size, found[size])
        if seeder is not None:
            seeder.close()
    first, last = min(found), max(found)
    small, large = found[first]["all layers"]["ms"], found[last]["all layers"]["ms"]
    headline = (
        f"{last} events: p50 {large['p50']} ms, p95 {large['p95']} ms; x{large['p50'] / small['p50']:.2f} of {first} "
        f"events; FTS5 alone {found[last]['FTS5 alone']['p50']} ms, numpy scan alone "
        f"{found[last]['numpy scan alone']['p50']} ms; memory {found[last]['memory_loaded_mb']['server']:.0f} MB "
        f"(idle {found[last]['memory_idle_mb']['server']:.0f}); first answer {found[last]['first_answer_s']} s, "
        f"first recall {found[last]['first_recall_s']} s"
    )
    if not options.no_publish:
        sizes = {"events": list(found), "questions": ASKED}
        publish(
            "recall",
            headline,
            {str(size): row for size, row in found.items()},
            {"machine": about, "sizes": sizes},
        )


def _measure(folder: Path, asked: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"rows": _rows(folder)}
    with serving(folder) as server:
        time.sleep(2)
        found |= {"first_answer_s": round(server.started_s, 2), "memory_idle_mb": server.memory_mb()}
        started = time.perf_counter()
        _recall(server, asked[0], {})
        found["first_recall_s"] = round(time.perf_counter() - started, 2)
        found |= _asked_in_turn(server, asked)
        found["memory_loaded_mb"] = server.memory_mb()
    return found | _baselines(folder, asked)


def _asked_in_turn(server: Server, asked: Sequence[str]) -> dict[str, Any]:
    """By its name, of each way to ask: milliseconds by the clock of each question; of the processor, medians by phase on the thread that
    answers, which the model's own are not in, and the server's mean for a whole request; the same for each asked again at once, which needs
    no model."""
    own = [asked[at :: len(_WAYS)] for at in range(len(_WAYS))]
    first: dict[str, list[_Timed]] = {name: [] for name in _WAYS}
    again: dict[str, list[_Timed]] = {name: [] for name in _WAYS}
    for together in zip(*own, strict=True):
        for (name, wanted), question in zip(_WAYS.items(), together, strict=True):
            for calls in (first[name], again[name]):
                calls.append(_timed_recall(server, question, wanted))
    return {
        name: {**_figures(first[name][WARMED:]), "asked again": _figures(again[name][WARMED:])}
        for name in _WAYS
    }


def _timed_recall(server: Server, question: str, wanted: dict[str, Any]) -> _Timed:
    cpu, started = server.cpu_s(), time.perf_counter()
    pack = _recall(server, question, wanted)
    taken = time.perf_counter() - started
    return _Timed(taken, server.cpu_s() - cpu, pack["diagnostics"])


def _figures(calls: Sequence[_Timed]) -> dict[str, Any]:
    return {
        "ms": milliseconds([each.taken_s for each in calls]),
        "server_cpu_ms": round(1000 * statistics.mean(each.cpu_s for each in calls), 1),
        "phases_ms": _medians("time_ms", calls),
        "phases_cpu_ms": _medians("cpu_ms", calls),
    }


def _medians(figure: str, calls: Sequence[_Timed]) -> dict[str, float]:
    phases = [each.diagnostics[figure] for each in calls]
    return {name: round(statistics.median(one[name] for one in phases), 2) for name in phases[0]}


def _recall(server: Server, question: str, wanted: dict[str, Any]) -> Any:
    body = {"scope": _SCOPE, "query": question, "diagnostics": "summary", **wanted}
    return server.call("POST", "/v1/recall", body)


def _baselines(folder: Path, asked: Sequence[str]) -> dict[str, Any]:
    store = SqliteStore(folder)
    rows = store.index.texts_after("local", Scope.parse(_SCOPE), 0, _ALL_ROWS)
    store.close()
    words = apsw.Connection(":memory:")
    words.execute("CREATE VIRTUAL TABLE said USING fts5 (terms)")
    words.executemany(
        "INSERT INTO said VALUES (?)", [(row.terms,) for row in rows if row.layer is Layer.EVENTS]
    )
    terms = [" OR ".join(f'"{term}"' for term in content_terms(analyse(question))) for question in asked]
    vectors = np.random.default_rng(SEED).normal(size=(_events(folder), 384)).astype(np.float32)
    queries = MiniLmEmbedder().encode(asked).pooled
    return {
        "FTS5 alone": _timed(lambda at: words.execute(_SEARCH, (terms[at],)).fetchall(), len(asked)),
        "numpy scan alone": _timed(lambda at: np.argpartition(-(vectors @ queries[at]), 20)[:20], len(asked)),
    }


def _timed(run: Callable[[int], object], count: int) -> dict[str, float]:
    taken = []
    for at in range(count):
        started = time.perf_counter()
        run(at)
        taken.append(time.perf_counter() - started)
    return milliseconds(taken[WARMED:])


def _rows(folder: Path) -> dict[str, int]:
    database = apsw.Connection(str(folder / "lamina.db"), flags=apsw.SQLITE_OPEN_READONLY)
    found = {
        name: int(next(iter(database.execute(f"SELECT count(*) FROM {name}")))[0])
        for name in ("event", "record", "support", "mention", "text_row", "vector_row")
    }
    found |= {
        f"{layer} ids": count
        for layer, count in database.execute("SELECT layer, count(DISTINCT id) FROM record GROUP BY layer")
    }
    database.close()
    return found


def _events(folder: Path) -> int:
    return _rows(folder)["event"]


def _print(size: int, row: dict[str, Any]) -> None:
    print(f"\n{size} events, seeded in {row['seeded_s']} s: {row['rows']}")
    for name in _WAYS:
        one = row[name]
        print(
            f"{name:18} p50 {one['ms']['p50']:.1f} p95 {one['ms']['p95']:.1f} ms, cpu {one['server_cpu_ms']} ms, {one['phases_ms']}"
        )
        again = one["asked again"]
        print(f"{'':18} cpu by phase beyond the model's, budget {CPU_MS_MAX} ms: {one['phases_cpu_ms']}")
        print(f"{'':18} asked again p50 {again['ms']['p50']:.1f} ms, cpu {again['server_cpu_ms']} ms in all")
    for name in ("FTS5 alone", "numpy scan alone"):
        print(f"{name:18} p50 {row[name]['p50']:.1f} p95 {row[name]['p95']:.1f} ms")
    print(f"first answer {row['first_answer_s']} s, first recall {row['first_recall_s']} s")
    print(f"memory idle {row['memory_idle_mb']}, loaded {row['memory_loaded_mb']}", flush=True)


if __name__ == "__main__":
    main()
