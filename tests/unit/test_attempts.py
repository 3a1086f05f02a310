"""What a failed attempt becomes."""

from __future__ import annotations

import pytest

from lamina import limits
from lamina.kernel.time import SECOND_US
from lamina.store.rules.attempts import JOBS, OUTBOX, Patience, kept_error, lost_wait_us

NOON = 12 * 3600 * SECOND_US


@pytest.mark.parametrize("patience", [JOBS, OUTBOX])
def test_four_failures_wait_twice_as_long_each_time_and_the_fifth_is_for_good(patience: Patience) -> None:
    due = [patience.retry_at(failures, NOON) for failures in range(1, 7)]
    assert due == [NOON + wait * SECOND_US for wait in (5, 10, 20, 40)] + [None, None]
    assert [patience.is_over(failures) for failures in range(7)] == [False] * 5 + [True] * 2


def test_the_outbox_waits_five_minutes_at_most() -> None:
    assert [OUTBOX.wait_us(failures) // SECOND_US for failures in (5, 6, 7, 8, 30)] == [
        80,
        160,
        300,
        300,
        300,
    ]


def test_a_wait_that_is_not_bounded_otherwise_ends_at_a_day() -> None:
    assert Patience(attempts_max=99, base_s=5).wait_us(98) == 86_400 * SECOND_US


def test_the_first_lease_that_is_lost_costs_no_wait() -> None:
    assert [lost_wait_us(lost) // SECOND_US for lost in (0, 1, 2, 3, 4)] == [0, 0, 5, 10, 20]


def test_an_error_is_kept_up_to_a_bound() -> None:
    assert kept_error("down") == "down"
    assert kept_error("x" * 9999) == "x" * limits.JOB_ERROR_LENGTH_MAX
