"""Curves from what was believed to what came true, and how well they foretell."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from lamina.kernel.calibration import Calibration, logit, sigmoid
from lamina.pipeline.calibrating import (
    JudgedBelief,
    brier_of,
    calibration_of,
    ece_of,
    fit_isotonic,
    fit_platt,
)
from tables import every_row

SECOND = 1_000_000


def judged(*verdicts: tuple[float, bool]) -> list[JudgedBelief]:
    return [
        JudgedBelief(p, true, number + 1, (number + 1) * SECOND) for number, (p, true) in enumerate(verdicts)
    ]


def drawn(count: int, slope: float, intercept: float, seed: int = 1) -> list[JudgedBelief]:
    """Verdicts that come true by a curve of Platt's."""
    chance = random.Random(seed)
    shares = [chance.uniform(0.05, 0.95) for _ in range(count)]
    return judged(*((p, chance.random() < sigmoid(slope * logit(p) + intercept)) for p in shares))


def test_brier_and_ece_are_what_their_definitions_say() -> None:
    told = judged((0.9, True), (0.9, True), (0.9, False), (0.2, False))
    shares = [each.confidence for each in told]
    assert brier_of(shares, told) == pytest.approx((0.01 + 0.01 + 0.81 + 0.04) / 4)
    assert ece_of(shares, told) == pytest.approx((abs(2.7 - 2) + abs(0.2 - 0)) / 4)
    assert ece_of([1.0] * 4, judged(*[(1.0, True)] * 4)) == 0.0


def test_platt_finds_the_curve_that_verdicts_were_drawn_by() -> None:
    ((slope, intercept),) = fit_platt(drawn(4000, 0.5, -1.0))
    assert (slope, intercept) == (pytest.approx(0.5, abs=0.08), pytest.approx(-1.0, abs=0.08))


def test_the_gradient_is_zero_where_platt_ends() -> None:
    told = drawn(200, 1.5, 0.3)
    ((slope, intercept),) = fit_platt(told)
    for_it = sum(each.came_true for each in told)
    hit, miss = (for_it + 1) / (for_it + 2), 1 / (len(told) - for_it + 2)
    errors = [
        (
            sigmoid(slope * logit(e.confidence) + intercept) - (hit if e.came_true else miss),
            logit(e.confidence),
        )
        for e in told
    ]
    assert sum(error for error, _ in errors) == pytest.approx(0, abs=1e-5)
    assert sum(error * x for error, x in errors) == pytest.approx(0, abs=1e-5)


def test_isotonic_pools_what_falls_and_keeps_what_rises() -> None:
    points = fit_isotonic(judged((0.1, False), (0.2, True), (0.3, False), (0.8, True), (0.8, True)))
    assert points == ((0.1, 0.0), (0.2, 0.5), (0.3, 0.5), (0.8, 1.0))
    curve = Calibration("isotonic_v1", points, 5, 5, None, None)
    assert [curve.shown(p) for p in (0.0, 0.25, 0.55, 1.0)] == [0.0, 0.5, 0.75, 1.0]


@every_row("seed", range(60))
def test_a_curve_rises_stays_inside_and_is_turned_around(seed: int) -> None:
    chance = random.Random(seed)
    told = drawn(chance.randrange(50, 200), chance.uniform(-2, 3), chance.uniform(-2, 2), seed)
    for model, fit in (("platt_v1", fit_platt), ("isotonic_v1", fit_isotonic)):
        curve = Calibration(model, fit(told), len(told), 1, None, None)
        shown = [curve.shown(number / 100) for number in range(101)]
        assert all(0.0 <= low <= high <= 1.0 for low, high in pairwise(shown))
        wanted = chance.choice(shown)
        least = curve.least(wanted)
        assert curve.shown(least) >= wanted
        assert least == 0.0 or curve.shown(least - 1e-6) < wanted
        assert Calibration.of(curve.body(), 0) == curve


def test_the_better_curve_is_taken_and_its_figures_are_of_the_last_thirty_days() -> None:
    straight = calibration_of(drawn(400, 0.5, -1.0))
    assert straight.model == "platt_v1"
    chance = random.Random(3)
    steps = [chance.uniform(0.05, 0.95) for _ in range(600)]
    stepped = calibration_of(judged(*((p, chance.random() < (0.05 if p < 0.7 else 0.95)) for p in steps)))
    assert stepped.model == "isotonic_v1"
    assert stepped.brier is not None
    assert 0.03 < stepped.brier < 0.1
    old = [each._replace(at=each.at - 40 * 24 * 3600 * SECOND) for each in drawn(60, 1.0, 0.0)]
    mixed = calibration_of([*old, *drawn(49, 1.0, 0.0, seed=2)])
    assert (mixed.samples, mixed.brier, mixed.ece) == (109, None, None)


def test_a_run_is_the_same_each_time() -> None:
    assert calibration_of(drawn(150, 0.7, 0.1)) == calibration_of(drawn(150, 0.7, 0.1))


def test_one_sided_verdicts_make_a_curve_all_the_same() -> None:
    sure = calibration_of(judged(*[(0.77, True)] * 50))
    assert 0.9 < sure.shown(0.77) <= 1.0
