"""Order a pool of turns for a question, and say which signal gave how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lamina.recall.signals import SIGNALS, QuestionFeatures, ScopeStatistics, Turns, signal_matrix
from lamina.recall.weights import DEFAULT


@dataclass(frozen=True, slots=True)
class Ranked:
    """A turn's place in the pool, its score (higher is better, comparable inside one pool only) and what
    each signal added to it; the contributions sum to the score."""

    index: int
    score: float
    contributions: Mapping[str, float]


def rank(
    pool: Turns,
    question: QuestionFeatures,
    scope: ScopeStatistics,
    weights: Mapping[str, float] = DEFAULT,
    *,
    limit: int | None = None,
) -> list[Ranked]:
    """The turns of the pool, best first, all or the first ``limit``; equal scores keep the pool's order.

    Signals without a weight add nothing.
    """
    unknown = sorted(weights.keys() - set(SIGNALS))
    assert not unknown, f"weights for unknown signals: {unknown}"
    if not len(pool):
        return []
    parts = signal_matrix(pool, question, scope) * np.array([weights.get(name, 0.0) for name in SIGNALS])
    scores = parts.sum(axis=1)
    return [
        Ranked(
            int(at), float(scores[at]), {n: float(p) for n, p in zip(SIGNALS, parts[at], strict=True) if p}
        )
        for at in np.argsort(-scores, kind="stable")[:limit]
    ]
