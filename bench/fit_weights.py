"""Fit the weights of the ranking on both development sets and print honest figures.

    python bench/fit_weights.py --data DATA --cache CACHE [--prior 3.0]

DATA holds the folders ``locomo`` and ``longmemeval``. Every question is one choice among its pool: the
loss is the mean negative log-likelihood of its evidence turns under a softmax of the linear score, both
sets weigh the same, and a Gaussian prior keeps the weights small. Figures are cross-validated: the turns
of a conversation (LoCoMo) or of a question (LongMemEval, five folds) are ranked by weights that never saw it.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets import Question, Scope, locomo, longmemeval
from lamina.recall.signals import SIGNALS, signal_matrix
from measures import measure, table
from pools import Index

FOLDS = 5
STEPS = 25
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One question: the signals of its pool (n, k), the gold rows (n,) and what measuring needs."""

    question: Question
    signals: Matrix
    gold: NDArray[np.bool_]
    places: NDArray[np.int64]
    baseline: NDArray[np.int64]
    sessions: tuple[str, ...]
    fold: int


def cases(scope: Scope, cache: Path, fold: int | None) -> list[Case]:
    """All questions of a scope; ``fold`` None spreads them by a hash of their group."""
    index = Index(scope, cache)
    found = []
    for number, question in enumerate(scope.questions):
        asked = index.ask(number)
        matrix = signal_matrix(asked.pool, asked.features, asked.statistics).astype(np.float64)
        gold = np.isin(asked.places, sorted(question.evidence))
        own = int(hashlib.sha256(question.group.encode()).hexdigest(), 16) % FOLDS if fold is None else fold
        found.append(Case(question, matrix, gold, asked.places, asked.baseline, asked.sessions, own))
    return found


def fit(sets: Sequence[Sequence[Case]], prior: float, used: NDArray[np.bool_]) -> Matrix:
    """Weights (k,) by Newton's method with halved steps; signals that are not ``used`` stay at zero."""
    weights = np.zeros(len(SIGNALS))
    chosen = np.flatnonzero(used)
    loss, gradient, curvature = _slopes(sets, prior, chosen, weights)
    for _ in range(STEPS):
        step = np.zeros(len(SIGNALS))
        step[chosen] = np.linalg.solve(curvature, gradient)
        size = 1.0
        while size > 1e-4:
            tried = _slopes(sets, prior, chosen, weights - size * step)
            if tried[0] < loss:
                break
            size /= 2
        else:
            break
        weights = weights - size * step
        settled = loss - tried[0] < 1e-6 * loss
        loss, gradient, curvature = tried
        if settled:
            break
    return weights


def _slopes(
    sets: Sequence[Sequence[Case]], prior: float, chosen: NDArray[np.intp], weights: Matrix
) -> tuple[float, Matrix, Matrix]:
    loss = prior * float(weights @ weights) / 2
    gradient = prior * weights[chosen]
    curvature = prior * np.eye(len(chosen))
    for one in sets:
        share = 1000.0 / len(one)
        for case in one:
            if not case.gold.any():
                continue
            rows = case.signals[:, chosen]
            scores = rows @ weights[chosen]
            peak = scores.max()
            chance = np.exp(scores - peak)
            total = chance.sum()
            chance /= total
            mean = chance @ rows
            loss += share * float(peak + np.log(total) - scores[case.gold].mean())
            gradient = gradient + share * (mean - rows[case.gold].mean(axis=0))
            curvature = curvature + share * ((rows * chance[:, None]).T @ rows - np.outer(mean, mean))
    return loss, gradient, curvature


def figures(tested: Sequence[Case], weights: Matrix) -> list[list[float]]:
    """Measures of each case when its pool is ordered by ``weights``."""
    orders = [case.places[np.argsort(-(case.signals @ weights), kind="stable")] for case in tested]
    return [
        measure(order.tolist(), case.question, case.sessions)
        for order, case in zip(orders, tested, strict=True)
    ]


def cross_validated(
    sets: Sequence[Sequence[Case]], prior: float, used: NDArray[np.bool_]
) -> list[list[list[float]]]:
    """Figures of each set, every case ranked by weights fitted without its fold."""
    result: list[list[list[float]]] = [[] for _ in sets]
    for fold in range(FOLDS):
        weights = fit([[case for case in one if case.fold != fold] for one in sets], prior, used)
        for at, one in enumerate(sets):
            result[at] += figures([case for case in one if case.fold == fold], weights)
    return result


def main() -> None:
    """Fit, print the table and the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--prior", type=float, default=3.0)
    parser.add_argument("--without", nargs="*", default=[], choices=SIGNALS, metavar="SIGNAL")
    options = parser.parse_args()
    conversations = locomo(options.data / "locomo")
    chats = [case for fold, scope in enumerate(conversations) for case in cases(scope, options.cache, fold)]
    pooled = [
        case
        for scope in longmemeval(options.data / "longmemeval")
        for case in cases(scope, options.cache, None)
    ]
    sets = {"LoCoMo": chats, "LongMemEval": pooled}
    used = np.array([name not in options.without for name in SIGNALS])
    rows: dict[str, list[list[float]]] = {}
    for name, one in sets.items():
        rows[f"{name}: BM25 alone"] = [measure(c.baseline.tolist(), c.question, c.sessions) for c in one]
    for name, held_out in zip(sets, cross_validated(list(sets.values()), options.prior, used), strict=True):
        rows[f"{name}: cross-validated"] = held_out
    weights = fit(list(sets.values()), options.prior, used)
    for name, one in sets.items():
        rows[f"{name}: fitted on all"] = figures(one, weights)
    print(table(rows))
    print("\n".join(f'    "{name}": {weight:.2f},' for name, weight in zip(SIGNALS, weights, strict=True)))


if __name__ == "__main__":
    main()
