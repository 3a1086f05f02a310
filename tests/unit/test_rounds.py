"""Work done round after round: what fails is seen, waits longer each time, and goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from lamina.cli.work import work_beside
from lamina.errors import Unavailable
from lamina.observe.rounds import Failures, class_of, keep_at

SECRET = "Maya is ill"  # as an error may quote it


def rounds(*outcomes: bool | Exception) -> Callable[[], bool]:
    left = list(outcomes)

    def work() -> bool:
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return work


def kept(*outcomes: bool | Exception) -> tuple[list[float], Failures, list[dict[str, str]]]:
    """How long it slept round by round, and what was told of its failures."""
    told: list[dict[str, str]] = []
    failures = Failures(lambda standing: told.append(dict(standing)))
    slept = [0.0]
    work, left = rounds(*outcomes), list(outcomes)

    def one() -> bool:
        slept.append(0.0)
        left.pop()
        return work()

    def sleep(seconds: float) -> None:
        slept[-1] = round(slept[-1] + seconds, 3)

    keep_at("it", one, lambda: not left, idle_s=0.2, failures=failures, sleep=sleep)
    return slept[1:], failures, told


def test_a_round_with_nothing_to_do_is_followed_by_a_pause() -> None:
    slept, _, told = kept(True, False, True, False)
    assert (slept, told) == ([0.0, 0.2, 0.0, 0.0], [])  # told to stop, it does not sleep first


def test_rounds_that_fail_come_later_each_time_and_are_told_of_until_one_succeeds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slept, failures, told = kept(*[KeyError(SECRET)] * 8, Unavailable("GONE", "it is away"), True, False)
    assert slept == pytest.approx([0.6, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 0.0, 0.0])
    assert told == [{"it": "builtins.KeyError"}, {"it": "GONE"}, {}]
    assert failures.standing() == {}
    assert "it failed (9 in a row) and goes on: GONE" in caplog.text
    assert SECRET not in caplog.text


def test_a_pause_after_a_failure_ends_when_told_to_stop() -> None:
    pauses = list[float]()
    keep_at(
        "it",
        rounds(*[OSError()] * 9),
        lambda: len(pauses) >= 4,
        idle_s=1.0,
        failures=Failures(),
        sleep=pauses.append,
    )
    assert pauses == [0.2] * 4


def test_weeks_of_failures_wait_no_longer_than_the_bound() -> None:
    failures = Failures()
    assert max(failures.note("it", "why") for _ in range(3000)) == 30.0


def test_whoever_cannot_be_told_of_failures_does_not_end_the_work() -> None:
    def full(_: object) -> None:
        raise OSError("no space left")

    failures = Failures(full)
    failures.note("it", "why")
    assert failures.standing() == {"it": "why"}


def test_an_error_is_told_of_by_its_class_or_its_code() -> None:
    assert class_of(UnicodeDecodeError("utf-8", b"\xff", 0, 1, SECRET)) == "builtins.UnicodeDecodeError"
    assert class_of(Unavailable("GONE", SECRET)) == "GONE"


def goes_on(stopping: Callable[[], bool]) -> None:
    while not stopping():
        threading.Event().wait(0.001)


def test_a_thread_that_ends_by_itself_ends_the_work_before_it() -> None:
    def ends(stopping: Callable[[], bool]) -> None:
        return None

    assert work_beside(goes_on, [("good", goes_on), ("bad", ends)], lambda: False) == ["bad"]


def test_threads_that_are_told_to_stop_are_not_lost() -> None:
    turns = iter([False, False])

    assert work_beside(goes_on, [("one", goes_on)], lambda: next(turns, True)) == []
