"""One turn that says something of the same thing twice: what it said last stands, as one version, and a cancelled turn brings
nothing of it back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from given import ALICE
from lamina.kernel.events import Event, Party
from lamina.kernel.records import Layer, Loop
from lamina.kernel.time import instant, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from told import DAY, START, Memory

pytestmark = pytest.mark.model

ANA = Party(ALICE.rsplit("/", 1)[-1], "user", "Ana")
APPOINTMENT = "I have a dentist appointment on Friday."
MONDAY, FRIDAY = instant("2026-03-02T00:00:00Z"), "2026-03-06"
assert MONDAY < START < MONDAY + DAY


@pytest.fixture(scope="module")
def extractor() -> RulesExtractor:
    return RulesExtractor(find_times)


@pytest.fixture
def tell(
    make_memory: Callable[..., Memory], extractor: RulesExtractor
) -> Callable[..., tuple[Memory, list[Event]]]:
    def tell(*turns: str) -> tuple[Memory, list[Event]]:
        memory = make_memory(extractor)
        said = [memory.tell(turn, START + day * DAY, who=ANA) for day, turn in enumerate(turns)]
        memory.derive()
        live, again = memory.replayed()
        assert live == again
        return memory, said

    return tell


def days(memory: Memory) -> list[tuple[str, str]]:
    """The day on which each thing is, and how it stands."""
    loops = [each for each in memory.held(Layer.FACTS) if isinstance(each, Loop) and each.due_at is not None]
    return sorted((rfc3339((each.due_at or 0) - 1)[:10], each.status) for each in loops)


@pytest.mark.parametrize(
    ("turn", "day"),
    [
        ("The dentist appointment was moved to Saturday.", "2026-03-07"),
        ("The dentist appointment was moved to Saturday. Sorry, I meant Sunday.", "2026-03-08"),
        (
            "The dentist appointment is moved to Saturday. The dentist appointment is moved to Sunday.",
            "2026-03-08",
        ),
    ],
)
def test_a_thing_is_on_the_day_that_was_said_last(
    tell: Callable[..., tuple[Memory, list[Event]]], turn: str, day: str
) -> None:
    memory, _ = tell(APPOINTMENT, turn)
    assert days(memory) == [(day, "active")]


def test_what_was_moved_and_cancelled_in_one_turn_stays_cancelled(
    tell: Callable[..., tuple[Memory, list[Event]]],
) -> None:
    memory, said = tell(
        APPOINTMENT,
        "The dentist appointment is moved to Saturday. The dentist appointment is cancelled.",
        "I have a dentist appointment on Thursday.",
    )
    cancelled, again = ("2026-03-06", "dropped"), ("2026-03-05", "active")
    assert days(memory) == [again, cancelled]
    memory.cancel(said[2])
    memory.derive()
    assert days(memory) == [cancelled]
