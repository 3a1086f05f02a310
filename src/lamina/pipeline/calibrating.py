"""The calibration of beliefs: what people confirmed and denied, against what the evidence had given (seed 002, 7.4).

A run is a function of the verdicts, with the instants at which they were recorded as its only time, and becomes an entry of the log.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

from lamina import limits
from lamina.kernel.calibration import CALIBRATION, Calibration, logit, sigmoid
from lamina.kernel.defining import definition_by
from lamina.kernel.events import Event
from lamina.kernel.feedback import feedback_of
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.ports.definitions import Definition
from lamina.store.ports.store import Store

__all__ = ["Calibrator", "JudgedBelief", "brier_of", "calibration_of", "ece_of", "fit_isotonic", "fit_platt"]

_ACTOR: Final = "system:calibration"
_RECENT_US: Final = 30 * 24 * 3600 * SECOND_US
_FOLDS: Final = 5
_BINS: Final = 10
_STEPS_MAX: Final = 100
_STILL: Final = 1e-10
_RIDGE: Final = 1e-9

_Points = tuple[tuple[float, float], ...]
_Fit = Callable[[Sequence["JudgedBelief"]], _Points]


class JudgedBelief(NamedTuple):
    """A belief that was confirmed or denied, how far it was believed, 0..1, and where in the log and when that was recorded."""

    confidence: float
    came_true: bool
    position: int
    at: Instant


class Calibrator:
    """Runs the calibration of a tenant, as the worker that derives feedback asks for it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def run(self, tenant_id: str) -> Calibration | None:
        """Put a run into the log where there are verdicts enough, and enough since the last; what it says, or None. A verdict that
        was cancelled since has no part in it."""
        kind, name = CALIBRATION
        held = [each for each in self._store.definitions.held(tenant_id, kind) if each.name == name]
        newest = self._store.log.feedback(tenant_id, limits.CALIBRATION_STEP)
        if held and (len(newest) < limits.CALIBRATION_STEP or newest[-1].position <= held[0].body["up_to"]):
            return None
        found = self._store.log.feedback(tenant_id, limits.CALIBRATION_VERDICTS_MAX)
        judged = [each for event in reversed(found) if (each := _judged(event)) is not None]
        if len(judged) < limits.CALIBRATION_VERDICTS_MIN:
            return None
        made = calibration_of(judged)
        said = {"kind": kind, "name": name, **made.body()}
        entry = definition_by(tenant_id, _ACTOR, said, judged[-1].at)
        try:
            self._store.definitions.define(entry, CALIBRATION, partial(_check_newer, made=made))
        except _ComesLate:
            return None
        return made


class _ComesLate(Exception):
    """Another worker's run took in these verdicts meanwhile."""


def _check_newer(standing: Sequence[Definition], made: Calibration) -> None:
    kind, name = CALIBRATION
    up_to = made.body()["up_to"]
    if any(each.kind == kind and each.name == name and each.body["up_to"] >= up_to for each in standing):
        raise _ComesLate


def _judged(event: Event) -> JudgedBelief | None:
    feedback = feedback_of(event)
    if feedback is None or feedback.believed is None or feedback.verdict not in ("confirm", "deny"):
        return None
    return JudgedBelief(
        feedback.believed.confidence, feedback.verdict == "confirm", event.position, event.recorded_at
    )


def calibration_of(judged: Sequence[JudgedBelief]) -> Calibration:
    """The curve of verdicts, in the order of the log: of Platt's and the isotonic one, that which foretells verdicts better that it has
    not seen. Its figures are of these, too."""
    candidates: list[tuple[float, str, _Fit, list[float]]] = []
    for model, fit in _MODELS:
        foretold = _foretold(judged, model, fit)
        candidates.append((round(brier_of(foretold, judged), 12), model, fit, foretold))
    _, model, fit, foretold = min(candidates, key=lambda each: each[0])
    newest = judged[-1].at
    recent = [(p, each) for p, each in zip(foretold, judged, strict=True) if each.at > newest - _RECENT_US]
    shares, verdicts = [p for p, _ in recent], [each for _, each in recent]
    enough = len(recent) >= limits.CALIBRATION_VERDICTS_MIN
    return Calibration(
        model,
        fit(judged),
        len(judged),
        judged[-1].position,
        round(brier_of(shares, verdicts), 4) if enough else None,
        round(ece_of(shares, verdicts), 4) if enough else None,
    )


def _foretold(judged: Sequence[JudgedBelief], model: str, fit: _Fit) -> list[float]:
    """Each verdict as the curve of the others has it: a fifth of them are left out at a time."""
    curves = []
    for fold in range(_FOLDS):
        others = [each for number, each in enumerate(judged) if number % _FOLDS != fold]
        curves.append(Calibration(model, fit(others), len(others), 0, None, None))
    return [curves[number % _FOLDS].curve(each.confidence) for number, each in enumerate(judged)]


def brier_of(foretold: Sequence[float], judged: Sequence[JudgedBelief]) -> float:
    """The mean squared error of probabilities."""
    return math.fsum((p - each.came_true) ** 2 for p, each in zip(foretold, judged, strict=True)) / len(
        judged
    )


def ece_of(foretold: Sequence[float], judged: Sequence[JudgedBelief]) -> float:
    """The expected calibration error: over ten bins of equal width, how far what was foretold is from what came true, by their sizes."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for p, each in zip(foretold, judged, strict=True):
        bins[min(int(p * _BINS), _BINS - 1)].append((p, each.came_true))
    return math.fsum(abs(math.fsum(p - true for p, true in each)) for each in bins) / len(judged)


def fit_platt(judged: Sequence[JudgedBelief]) -> _Points:
    """Slope and intercept over log odds, by Newton's method on the log likelihood, with the targets that Platt gave ("Probabilistic outputs
    for support vector machines", 1999). A slope below 0 would turn the order of beliefs around: then it is 0."""
    for_it = sum(each.came_true for each in judged)
    against = len(judged) - for_it
    hit, miss = (for_it + 1.0) / (for_it + 2.0), 1.0 / (against + 2.0)
    data = [(logit(each.confidence), hit if each.came_true else miss) for each in judged]
    slope, intercept = _newton(data)
    if slope < 0.0:
        mean = math.fsum(target for _, target in data) / len(data)
        slope, intercept = 0.0, logit(mean)
    return ((round(slope, 9), round(intercept, 9)),)


def _newton(data: Sequence[tuple[float, float]]) -> tuple[float, float]:
    def loss(a: float, b: float) -> float:
        return math.fsum(
            math.log1p(math.exp(-abs(z))) + max(z, 0.0) - t * z for x, t in data for z in (a * x + b,)
        )

    slope, intercept = 1.0, 0.0
    for _ in range(_STEPS_MAX):
        p = [sigmoid(slope * x + intercept) for x, _ in data]
        errors = [each - t for each, (_, t) in zip(p, data, strict=True)]
        weights = [each * (1.0 - each) for each in p]
        by_slope = math.fsum(e * x for e, (x, _) in zip(errors, data, strict=True))
        by_intercept = math.fsum(errors)
        a = math.fsum(w * x * x for w, (x, _) in zip(weights, data, strict=True)) + _RIDGE
        b = math.fsum(w * x for w, (x, _) in zip(weights, data, strict=True))
        c = math.fsum(weights) + _RIDGE
        wide = a * c - b * b
        if wide <= 0.0:
            break
        step_slope = (c * by_slope - b * by_intercept) / wide
        step_intercept = (a * by_intercept - b * by_slope) / wide
        share, now = 1.0, loss(slope, intercept)
        while share > _STILL and loss(slope - share * step_slope, intercept - share * step_intercept) > now:
            share /= 2
        slope, intercept = slope - share * step_slope, intercept - share * step_intercept
        if max(abs(step_slope), abs(step_intercept)) * share < _STILL:
            break
    return slope, intercept


class _Block(NamedTuple):
    first: float
    last: float
    true: int
    size: int

    @property
    def share(self) -> float:
        return self.true / self.size


def fit_isotonic(judged: Sequence[JudgedBelief]) -> _Points:
    """The rising steps that come nearest to the verdicts, by pooling neighbours that fall; each step by its two ends."""
    blocks: list[_Block] = []
    ordered = sorted(judged, key=lambda each: each.confidence)
    for confidence, group in groupby(ordered, key=lambda each: each.confidence):
        told = [each.came_true for each in group]
        blocks.append(_Block(confidence, confidence, sum(told), len(told)))
        while len(blocks) > 1 and blocks[-2].share >= blocks[-1].share:
            later, earlier = blocks.pop(), blocks.pop()
            blocks.append(
                _Block(earlier.first, later.last, earlier.true + later.true, earlier.size + later.size)
            )
    points: list[tuple[float, float]] = []
    for block in blocks:
        share = round(block.share, 9)
        points += (
            [(block.first, share)]
            if block.first == block.last
            else [(block.first, share), (block.last, share)]
        )
    return tuple(points)


_MODELS: Final[Sequence[tuple[str, _Fit]]] = (("platt_v1", fit_platt), ("isotonic_v1", fit_isotonic))
