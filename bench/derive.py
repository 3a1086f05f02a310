"""Derivation from the log to ``consolidated``, without a language model, in process and by the running worker.

    python bench/derive.py

Promise: at least 70 conversation turns/s a core with parser and embeddings, at least 150 with ``embed: lazy``.
Baselines of the same run: the parser alone and the embedding model alone over the same texts. Products of matrices
stay on one core, as they do in a worker.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from corpus import Corpus, Said
from harness import SEED, machine, median, publish, serving, temporary_folder
from lamina.cli.process import use_one_core_a_product
from lamina.kernel.events import Stage
from lamina.kernel.operations import Principal
from lamina.kernel.scopes import Scope
from lamina.language.sentences import split_sentences
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.drafting import draft_of
from lamina.pipeline.extract.syntax import Parser
from lamina.settings import Settings
from lamina.store.ports.jobs import Job
from lamina.store.ports.log import Capture
from lamina.store.sqlite import SqliteStore
from lamina.types.envelope import Envelope
from lamina.worker_app import build_worker

TURNS, ROUNDS = 600, 3
_SCOPE = "org:bench/user:derive"


def main() -> None:
    """Measure, print, publish."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--texts", type=Path, help="turns.jsonl with speaker, session, datetime and text")
    options = parser.parse_args()
    use_one_core_a_product()
    turns = _given(options.texts, options.turns) if options.texts else list(Corpus(SEED).turns(options.turns))
    with temporary_folder() as folder:
        about = machine(folder)
        rounds = []
        for number in range(options.rounds):
            place = folder / str(number)
            found = _models_alone(turns)
            for name, embed in (("eager", "eager"), ("lazy", "lazy")):
                found[f"in process, {name}"] = _in_process(place / name, turns, embed)
                found[f"worker, {name}"] = _by_worker(place / f"{name}-served", turns, embed)
            rounds.append(found)
            _print(found)
    figures = _medians(rounds)
    print("\nmedians")
    _print(figures)
    eager, lazy = figures["in process, eager"], figures["in process, lazy"]
    headline = (
        f"eager {eager['per_cpu_second']:.0f} turns per core second to consolidated ({eager['per_second']:.0f}/s "
        f"by the clock, {figures['worker, eager']['per_second']:.0f}/s by the worker), "
        f"lazy {lazy['per_cpu_second']:.0f} ({lazy['per_second']:.0f}/s, "
        f"{figures['worker, lazy']['per_second']:.0f}/s); alone: parser "
        f"{figures['parser alone']['per_cpu_second']:.0f}, MiniLM {figures['MiniLM alone']['per_cpu_second']:.0f}"
    )
    sizes = {"turns": len(turns), "rounds": options.rounds, "texts": "given" if options.texts else "made up"}
    publish("derive", headline, {**figures, "rounds": rounds}, {"machine": about, "sizes": sizes})


def _in_process(folder: Path, turns: Sequence[Said], embed: str) -> dict[str, Any]:
    """Until nothing waits for ``consolidated``; what comes after (compress, put-off vectors) is timed apart."""
    store = SqliteStore(folder, durable=False)
    _append(store, turns)
    worker = build_worker(Settings(data=folder, embed=embed), store)
    _load_models(worker)
    spent = _watch_stages(worker)
    started, cpu = time.perf_counter(), time.process_time()
    while any(worker._work(stage) for stage in (Stage.EXTRACTED, Stage.INDEXED, Stage.CONSOLIDATED)):
        pass
    elapsed, cpu = time.perf_counter() - started, time.process_time() - cpu
    started = time.perf_counter()
    worker.drain()
    rest = time.perf_counter() - started
    store.close()
    landing = elapsed - sum(spent[stage] for stage in ("extracted", "indexed", "consolidated"))
    shares = {stage: round(spent[stage] / elapsed, 3) for stage in ("extracted", "indexed", "consolidated")}
    return {
        "per_second": round(len(turns) / elapsed, 1),
        "per_cpu_second": round(len(turns) / cpu, 1),
        "share": shares | {"claim and land": round(landing / elapsed, 3)},
        "compressed_ms_per_turn": round(1000 * spent["compressed"] / len(turns), 2),
        "rest_per_turn_ms": round(1000 * rest / len(turns), 2),
    }


def _load_models(worker: Any) -> None:
    """Loading is paid once a process and is no part of the rate."""
    extractor, embedder = worker._deriver._extractor, worker._embedder
    embedder.encode(["warm"])
    extractor._parser = Parser()
    list(extractor._parser.parse(["I moved to Paris last year."]))


def _watch_stages(worker: Any) -> dict[str, float]:
    """Seconds inside each stage, without claiming and landing."""
    spent: dict[str, float] = defaultdict(float)

    def timed(stage: Stage, run: Callable[[Sequence[Job]], Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def stepped(jobs: Sequence[Job]) -> Iterator[Any]:
            landings = run(jobs)
            while True:
                started = time.perf_counter()
                found = next(landings, None)
                spent[stage.value] += time.perf_counter() - started
                if found is None:
                    return
                yield found

        return stepped

    stages = worker._deriver._stages
    worker._deriver._stages = {stage: timed(stage, run) for stage, run in stages.items()}
    return spent


def _by_worker(folder: Path, turns: Sequence[Said], embed: str) -> dict[str, Any]:
    """Turns a second through ``lamina serve``: from the bulk write to the last ``consolidated``, models loaded."""
    items = [said.item(f"turn-{at}") for at, said in enumerate(turns)]
    with serving(folder, embed=embed) as server:
        warm = next(Corpus(SEED + 1).turns(1)).item("warm")
        server.call("POST", "/v1/experience", {"scope": "org:bench/user:warm", **warm})
        server.wait_derived(120)
        started = time.perf_counter()
        for first in range(0, len(items), 1000):
            server.call(
                "POST", "/v1/experience/bulk", {"scope": _SCOPE, "items": items[first : first + 1000]}
            )
        while server.waiting_for(Stage.CONSOLIDATED):
            time.sleep(0.1)
        elapsed = time.perf_counter() - started
        memory = server.memory_mb()
    return {"per_second": round(len(turns) / elapsed, 1), "memory_mb": memory}


def _models_alone(turns: Sequence[Said]) -> dict[str, Any]:
    texts = [said.text for said in turns]
    parser, embedder = Parser(), MiniLmEmbedder()
    sentences = [[s.text for s in split_sentences(text)] for text in texts]
    runs: dict[str, Callable[[], object]] = {
        "parser alone": lambda: [
            list(parser.parse([s for own in sentences[at : at + 32] for s in own]))
            for at in range(0, len(texts), 32)
        ],
        "MiniLM alone": lambda: [embedder.encode(texts[at : at + 32]) for at in range(0, len(texts), 32)],
    }
    parser.parse(["I moved to Paris."])
    embedder.encode(["warm"])
    found = {}
    for name, run in runs.items():
        started, cpu = time.perf_counter(), time.process_time()
        run()
        found[name] = {
            "per_second": round(len(texts) / (time.perf_counter() - started), 1),
            "per_cpu_second": round(len(texts) / (time.process_time() - cpu), 1),
        }
    return found


def _append(store: SqliteStore, turns: Sequence[Said]) -> None:
    principal = Principal("local", "user:local", "http")
    scope = Scope.parse(_SCOPE)
    drafts = [
        draft_of(Envelope.model_validate({"scope": _SCOPE, **said.item(f"turn-{at}")}), scope, principal)
        for at, said in enumerate(turns)
    ]
    store.log.append([Capture(draft, None, "") for draft in drafts])


def _given(path: Path, count: int) -> list[Said]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:count]]
    return [
        Said(r["speaker"], str(r["session"]), datetime.fromisoformat(f"{r['datetime']}+00:00"), r["text"])
        for r in rows
    ]


def _medians(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, first in rounds[0].items():
        found[name] = {
            key: {part: statistics.median(one[name][key][part] for one in rounds) for part in value}
            if isinstance(value, dict)
            else median([one[name][key] for one in rounds])
            for key, value in first.items()
        }
    return found


def _print(figures: dict[str, Any]) -> None:
    print(f"{'':22}{'turns/s':>9}{'per core s':>12}   share of the time")
    for name, row in figures.items():
        cpu = row.get("per_cpu_second", float("nan"))
        print(f"{name:22}{row['per_second']:9.1f}{cpu:12.1f}   {row.get('share', '')}")


if __name__ == "__main__":
    main()
