"""By what time something is erased: that of a clock that jumps is believed once it has stood."""

from __future__ import annotations

import pytest

from given import NOON, ManualClock
from lamina import limits
from lamina.kernel.time import SECOND_US, Instant
from lamina.observe.steady_clock import SteadyClock

DAY = 24 * 3600 * SECOND_US


class Machine:
    """A clock, and the seconds that have passed whatever it says."""

    def __init__(self, newest: Instant | None = NOON) -> None:
        self.clock = ManualClock(NOON)
        self.passed_s = 0.0
        self.steady = SteadyClock(self.clock, newest, lambda: self.passed_s)

    def let_pass(self, seconds: float) -> Instant:
        self.clock.at += int(seconds * SECOND_US)
        self.passed_s += seconds
        return self.steady.now()


def test_a_clock_that_goes_as_time_passes_is_believed() -> None:
    machine = Machine()
    assert machine.let_pass(60) == NOON + 60 * SECOND_US
    assert machine.let_pass(3 * 86_400) == machine.clock.at


def test_a_jump_ahead_is_believed_once_it_has_stood() -> None:
    machine = Machine()
    machine.clock.at += 400 * DAY
    assert machine.let_pass(60) == NOON + 60 * SECOND_US
    assert machine.let_pass(60) == NOON + 120 * SECOND_US
    assert machine.let_pass(limits.CLOCK_BELIEVED_S) == machine.clock.at


def test_a_jump_that_is_mended_leaves_nothing_behind() -> None:
    machine = Machine()
    machine.clock.at += 400 * DAY
    machine.let_pass(60)
    machine.clock.at -= 400 * DAY
    assert machine.let_pass(60) == machine.clock.at
    machine.clock.at += 400 * DAY
    assert machine.let_pass(limits.CLOCK_BELIEVED_S) < NOON + DAY


def test_a_clock_that_was_set_back_is_believed_at_once() -> None:
    machine = Machine()
    machine.clock.at -= 400 * DAY
    assert machine.let_pass(60) == machine.clock.at
    machine.clock.at += 400 * DAY
    assert machine.let_pass(60) < NOON - 399 * DAY


@pytest.mark.parametrize(
    ("newest", "is_believed"), [(None, True), (NOON - DAY + 1, True), (NOON - DAY, False), (NOON + DAY, True)]
)
def test_at_the_start_it_is_believed_near_what_is_on_record(
    newest: Instant | None, is_believed: bool
) -> None:
    assert (Machine(newest).steady.now() == NOON) is is_believed
