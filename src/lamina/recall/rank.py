"""Order a pool of turns for a question, and say which signal gave how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.models.maxsim import Interaction
from lamina.models.ports import Float32Array
from lamina.recall.signals import SIGNALS, QuestionFeatures, ScopeStatistics, Turns, as_if_read, signals_of
from lamina.recall.weights import DEFAULT


class Ranked(NamedTuple):
    """A turn with its place in the pool, ``at``, its score (higher is better, comparable inside one pool only), its MaxSim with the question,
    comparable across pools, what each of ``SIGNALS`` added to the score, (s,), and its best cosine with each token of the question, (t,)."""

    at: int
    score: float
    nearness: float
    parts: NDArray[np.float64]
    cosines: Float32Array

    @property
    def contributions(self) -> dict[str, float]:
        """The parts by name, without those that are zero; they sum to the score."""
        return {name: part for name, part in zip(SIGNALS, self.parts.tolist(), strict=True) if part}


def rank(
    pool: Turns,
    question: QuestionFeatures,
    scope: ScopeStatistics,
    weights: Mapping[str, float] = DEFAULT,
    *,
    limit: int | None = None,
    compared: Interaction | None = None,
) -> list[Ranked]:
    """The turns of the pool, best first, all or the first ``limit``; equal scores keep the pool's order.

    Signals without a weight add nothing. ``compared`` is the question with the pool's tokens, where somebody has it.
    """
    if not len(pool):
        return []
    near = (compared or Interaction(question.tokens, pool.tokens)).best
    pool, cosines = as_if_read(pool, near, pool.tokens.counts == 0, question, scope)
    parts = _parts(pool, question, scope, cosines, weights)
    scores = parts.sum(axis=1)
    best = np.argsort(-scores, kind="stable")[:limit]
    nearest = cosines[best]
    columns = best.tolist(), scores[best].tolist(), nearest.mean(axis=1).tolist(), parts[best], nearest
    return [Ranked(*row) for row in zip(*columns, strict=True)]


def worth_reading(
    pool: Turns,
    unread: NDArray[np.bool_],
    question: QuestionFeatures,
    scope: ScopeStatistics,
    weights: Mapping[str, float] = DEFAULT,
    *,
    limit: int,
) -> NDArray[np.bool_]:
    """Which turns of the pool, ``limit`` of them, are best by what is known without their tokens: the cosines of their pooled vectors, where
    these are not ``unread``, stand for their MaxSim."""
    pool, cosines = as_if_read(pool, pool.cosines.astype(np.float32)[:, None], unread, question, scope)
    scores = _parts(pool, question, scope, cosines, weights).sum(axis=1)
    worth = np.zeros(len(pool), np.bool_)
    worth[np.argsort(-scores, kind="stable")[:limit]] = True
    return worth


def _parts(
    pool: Turns,
    question: QuestionFeatures,
    scope: ScopeStatistics,
    cosines: Float32Array,
    weights: Mapping[str, float],
) -> NDArray[np.float64]:
    """(n, s): what each signal adds to the score of each turn."""
    unknown = sorted(weights.keys() - set(SIGNALS))
    assert not unknown, f"weights for unknown signals: {unknown}"
    weighing = np.array([weights.get(name, 0.0) for name in SIGNALS])
    parts: NDArray[np.float64] = signals_of(pool, question, scope, cosines) * weighing
    return parts
