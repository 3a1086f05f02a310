"""Fitting small logistic models, and the figures that say how good they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 60
_SETTLED = 1e-7
_ADAM_STEPS, _ADAM_RATE, _LIKELY = 3000, 0.03, 1.5


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


def fit_all_of(parts: Sequence[Floats], labels: Floats, weights: Floats, prior: float) -> list[Floats]:
    """A constant and weights for each of ``parts``, (n, k) rows that judge one thing each, where all of them have to be so: the odds against
    each are added up. Priors as in ``fit_logistic``. Gradient steps of bounded length (Kingma and Ba, "Adam", ICLR 2015); every run is
    the same."""
    means, spreads = [rows.mean(axis=0) for rows in parts], [rows.std(axis=0) + 1e-9 for rows in parts]
    designs = [
        np.column_stack([np.ones(len(rows)), (rows - mean) / spread])
        for rows, mean, spread in zip(parts, means, spreads, strict=True)
    ]
    ends = np.cumsum([design.shape[1] for design in designs])[:-1]
    ridge = prior * np.concatenate([[0.0, *[1.0] * (design.shape[1] - 1)] for design in designs])
    found = np.concatenate([[_LIKELY, *[0.0] * (design.shape[1] - 1)] for design in designs])
    slopes, squares = np.zeros_like(found), np.zeros_like(found)
    for step in range(1, _ADAM_STEPS + 1):
        against = np.exp(
            [-(design @ own) for design, own in zip(designs, np.split(found, ends), strict=True)]
        )
        whole = against.sum(axis=0)
        error = weights * (1 / (1 + whole) - labels)
        own = [design.T @ (error * one / whole) for design, one in zip(designs, against, strict=True)]
        slope = (np.concatenate(own) + ridge * found) / weights.sum()
        slopes, squares = 0.9 * slopes + 0.1 * slope, 0.999 * squares + 0.001 * slope**2
        found = found - _ADAM_RATE * (slopes / (1 - 0.9**step)) / (
            np.sqrt(squares / (1 - 0.999**step)) + 1e-9
        )
    plain: list[Floats] = []
    for slice_, mean, spread in zip(np.split(found, ends), means, spreads, strict=True):
        weighing = slice_[1:] / spread
        plain.append(np.concatenate([[slice_[0] - float(weighing @ mean)], weighing]))
    return plain


def odds_of_all(models: Sequence[Floats], parts: Sequence[Floats]) -> Floats:
    """(n,) log odds that all is so, of the rows of each part."""
    against = sum(np.exp(-odds_of(model, rows)) for model, rows in zip(models, parts, strict=True))
    odds: Floats = -np.log(against)
    return odds


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
