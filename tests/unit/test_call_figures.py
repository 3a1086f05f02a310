"""What calls came to: counted by every process, and the same whoever is asked."""

from __future__ import annotations

import mmap
import threading

import pytest

from lamina import limits
from lamina.errors import Busy, Malformed
from lamina.observe.figures import BOUNDS_S, OUTCOMES, CallCounts

ASKED = ("recall", "upsert")


@pytest.fixture
def shared() -> memoryview:
    return memoryview(mmap.mmap(-1, CallCounts.SIZE))


def test_processes_count_together_and_say_the_same(shared: memoryview) -> None:
    one, other = CallCounts(shared, 1), CallCounts(shared, 2)
    one.ended("recall", 0.004)
    other.ended("upsert", 0.02)
    other.ended("recall", 99.0, Busy("RATE_LIMITED", "too fast"))
    other.ended("recall", None, Malformed("INVALID_BODY", "no JSON"))
    assert one.figures(ASKED) == other.figures(ASKED)
    recall, upsert = one.figures(ASKED)
    ends = {name: count for name, count in zip(OUTCOMES, recall.outcomes, strict=True) if count}
    assert ends == {"ok": 1, "busy": 1, "invalid": 1}
    assert (sum(recall.durations), recall.durations[-1], recall.seconds) == (2, 1, 99.004)
    assert upsert.durations[BOUNDS_S.index(0.025)] == 1


def test_a_process_that_takes_anothers_place_goes_on_from_its_counts(shared: memoryview) -> None:
    CallCounts(shared, limits.PROCESSES_MAX).ended("recall", 0.1)
    CallCounts(shared, limits.PROCESSES_MAX).ended("recall", 0.1)
    (recall,) = CallCounts(shared, 1).figures(ASKED)
    assert recall.outcomes[0] == 2


def test_threads_lose_no_call_and_no_more_names_are_kept_than_there_is_room_for() -> None:
    counts = CallCounts()

    def call() -> None:
        for _ in range(500):
            counts.ended("recall", 0.001)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(limits.METRIC_OPERATIONS_MAX + 5):
        counts.ended(f"operation {number}", 0.001)
    assert [each.outcomes[0] for each in counts.figures(ASKED)] == [2000]
