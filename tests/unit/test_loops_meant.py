"""Whether a report speaks of what a loop speaks of, or of another thing of its kind. A promise that is lost is worse than one that is shown
too long."""

from __future__ import annotations

import pytest

from given import loop
from lamina.kernel.records import ObjectValue
from lamina.pipeline.loops.meaning import meant_by
from lamina.pipeline.loops.values import LoopEnding, Way

ANOTHER = [
    ("Pay the electricity bill", "paid the water bill"),
    ("Buy a gift for Tom", "bought a gift for Ann"),
    ("Send the report to Ann", "sent the report to Tom"),
    ("Book a flight to Rome", "booked a flight to Paris"),
    ("Book a flight to Rome", "booked the hotel in Rome"),
    ("Have dinner with Lena", "had dinner with Marcus"),
    ("Call Bob and Ana", "called Bob"),
    ("Buy milk and eggs", "bought eggs"),
    ("Buy milk and eggs", "bought the milk"),
    ("Buy milk", "bought milk chocolate"),
    ("Show my paintings", "made this painting to show my path"),
    ("Call mum", "called the bank about mum"),
    ("Ring him", "rang mum"),
    ("Renew my passport", "renewed Ida's passport"),
    ("Finish the essay", "finished her essay"),
]
THE_SAME = [
    ("Buy milk and eggs", "bought milk and eggs"),
    ("Book a flight to Rome", "booked the flight"),
    ("Book a flight to Rome", "booked the flight to Rome on Friday"),
    ("Send the report to Ann", "sent the report"),
    ("Send the report to Ann", "sent Ann the report"),
    ("Call mum", "called mum about the car"),
    ("Buy dog food for Biscuit", "bought dog food"),
    ("Pay the electricity bill", "transferred the electricity bill"),
    ("Renew my passport", "renewed my passport at the town hall"),
    ("Go to the gym", "went to the gym with Tom"),
    ("Ring him", "rang him on Monday"),
]


def is_meant(wording: str, told: str, way: Way = "did") -> bool:
    held = loop(predicate="commitment", object=ObjectValue("literal", wording, "string"))
    return meant_by(LoopEnding(told, completed=True, confidence=0.9, way=way), [held]) is held


@pytest.mark.parametrize(("wording", "told"), ANOTHER)
def test_another_thing_of_the_kind_is_not_meant(wording: str, told: str) -> None:
    assert not is_meant(wording, told)


@pytest.mark.parametrize(("wording", "told"), THE_SAME)
def test_less_or_more_of_the_same_thing_is_meant(wording: str, told: str) -> None:
    assert is_meant(wording, told)


@pytest.mark.parametrize(
    ("wording", "told", "meant"),
    [
        ("Book a flight to Rome", "the flight to Paris is booked", False),
        ("Book a flight to Rome", "the flight to Rome is booked", True),
        ("Pay the bill", "the bill is paid", True),
        ("Upgrade to Python 3.12", "Python 3.11 works again", False),
        ("Fix the sink", "the car is fixed", False),
        ("Call mum", "mum is ready", False),
        ("Renew my passport", "my daughter's passport is ready", False),
        ("Renew my passport", "my passport's ready", True),
        ("Send her the photos", "her photos are done", True),
    ],
)
def test_a_state_is_of_its_thing(wording: str, told: str, meant: bool) -> None:
    assert is_meant(wording, told, "is") is meant
