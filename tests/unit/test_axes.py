"""Where a reader stands on both time axes, and lengths of time in words."""

from __future__ import annotations

import pytest

from lamina.kernel.time import SECOND_US, Axes, Interval, duration_text

NOW, THEN = 1000, 400


def test_both_axes_are_pinned_to_now_or_to_as_of() -> None:
    assert Axes.asked(NOW) == Axes(seen_at=NOW, valid_at=NOW)
    assert Axes.asked(NOW, as_of=THEN) == Axes(seen_at=THEN, valid_at=THEN)
    assert Axes.asked(NOW, as_of=THEN, superseded=True).superseded


def test_a_range_takes_the_place_of_the_pin_on_its_axis() -> None:
    span = Interval(100, 200)
    assert Axes.asked(NOW, valid_during=span) == Axes(seen_at=NOW, valid_during=span)
    assert Axes.asked(NOW, recorded_during=span) == Axes(seen_at=199, recorded_during=span)
    assert Axes.asked(NOW, recorded_during=Interval(100)) == Axes(seen_at=NOW, recorded_during=Interval(100))


def test_valid_then_as_seen_from_then() -> None:
    valid, recorded = Interval(100, 200), Interval(None, THEN)
    axes = Axes.asked(NOW, valid_during=valid, recorded_during=recorded)
    assert (axes.seen_at, axes.valid_at) == (THEN - 1, None)
    assert axes.sees_valid(150, None)
    assert not axes.sees_valid(200, None)
    assert axes.sees_recorded(10, THEN)
    assert not axes.sees_recorded(THEN, None)


def test_as_of_narrows_what_a_range_leaves() -> None:
    axes = Axes.asked(NOW, as_of=THEN, recorded_during=Interval(100, 900))
    assert (axes.seen_at, axes.valid_at) == (THEN, THEN)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "PT0S"),
        (-5, "PT0S"),
        (59, "PT59S"),
        (3600, "PT1H"),
        (172_800, "P2D"),
        (90_061, "P1DT1H1M1S"),
    ],
)
def test_durations_are_written_as_iso_8601(seconds: int, text: str) -> None:
    assert duration_text(seconds * SECOND_US) == text
