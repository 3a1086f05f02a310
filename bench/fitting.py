"""Fitting small logistic models, and the figures that say how good they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 60
_SETTLED = 1e-7


def fit_logistic(rows: Floats, labels: Floats, weights: Floats, prior: float) -> Floats:
    """(k + 1,) constant and weights for (n, k) rows by Newton's method; ``prior`` is the precision of a Gaussian around zero for the
    weights of figures in units of their own spread."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(rows)), (rows - mean) / spread])
    ridge = np.eye(design.shape[1]) * prior
    ridge[0, 0] = 0.0
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (weights * (likely - labels)) + ridge @ found
        curve = (design * (weights * likely * (1 - likely))[:, None]).T @ design + ridge
        step = np.linalg.solve(curve, slope)
        found = found - step
        if np.abs(step).max() < _SETTLED:
            break
    plain = found[1:] / spread
    return np.concatenate([[found[0] - float(plain @ mean)], plain])


def odds_of(model: Floats, rows: Floats) -> Floats:
    """(n,) log odds of (n, k) rows."""
    odds: Floats = model[0] + rows @ model[1:]
    return odds


def auc(yes: Sequence[float] | Floats, no: Sequence[float] | Floats) -> float:
    """How often one of ``yes`` is above one of ``no``, ties counting half; nan where either is empty."""
    above, below = np.asarray(yes, float), np.asarray(no, float)
    if not len(above) or not len(below):
        return float("nan")
    return float((above[:, None] > below[None, :]).mean() + 0.5 * (above[:, None] == below[None, :]).mean())


def part_of(name: str, parts: int) -> int:
    """Which of so many parts a name falls into, the same in every run."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % parts
