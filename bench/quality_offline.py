"""Recall of evidence by the ranking as shipped, beside stemmed BM25 alone, without a server.

    python bench/quality_offline.py --data DATA --cache CACHE

DATA holds the folders ``locomo`` and ``longmemeval``; nothing of them is stored but encodings, in CACHE.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from datasets import Scope, locomo, longmemeval
from lamina.recall.rank import rank
from measures import measure, table
from pools import Index


def main() -> None:
    """Rank every question of both sets and print the means, by set and by kind of question."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    sets = {
        "LoCoMo": locomo(options.data / "locomo"),
        "LongMemEval": longmemeval(options.data / "longmemeval"),
    }
    for name, scopes in sets.items():
        report(name, scopes, options.cache)


def report(name: str, scopes: list[Scope], cache: Path) -> None:
    """Print the table of one set and what ranking one pool costs."""
    rows: dict[str, list[list[float]]] = {f"{name}: BM25 alone": [], f"{name}: Lamina": []}
    spent, turns = 0.0, 0
    for scope in scopes:
        index = Index(scope, cache)
        for number, question in enumerate(scope.questions):
            asked = index.ask(number)
            started = time.perf_counter()
            ranked = rank(asked.pool, asked.features, asked.statistics)
            spent, turns = spent + time.perf_counter() - started, turns + len(asked.pool)
            order = [int(asked.places[one.at]) for one in ranked]
            figures = measure(order, question, asked.sessions)
            rows[f"{name}: BM25 alone"].append(measure(asked.baseline.tolist(), question, asked.sessions))
            rows[f"{name}: Lamina"].append(figures)
            rows.setdefault(f"  {question.kind}", []).append(figures)
    asked_count = len(rows[f"{name}: Lamina"])
    print(table(rows))
    print(
        f"ranking: {1000 * spent / asked_count:.1f} ms a question, pool of {turns / asked_count:.0f} turns\n"
    )


if __name__ == "__main__":
    main()
