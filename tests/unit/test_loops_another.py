"""Whether a report speaks of what a loop speaks of, or of another thing of its kind."""

from __future__ import annotations

import pytest

from lamina.pipeline.loops.another import speaks_of_another

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
]
THE_SAME = [
    ("Buy milk and eggs", "bought milk and eggs"),
    ("Call Bob and Ana", "called them both"),
    ("Call Bob and Ana", "called everyone"),
    ("Book a flight to Rome", "booked the flight"),
    ("Book a flight to Rome", "booked the flight to Rome on Friday"),
    ("Send the report to Ann", "sent the report"),
    ("Send the report to Ann", "sent Ann the report"),
    ("Send the rota to Marcus", "sent the rota to everyone"),
    ("Call mum", "called mum about the car"),
    ("Buy dog food for Biscuit", "bought dog food"),
    ("Pay the electricity bill", "paid the electricity"),
    ("Pay the electricity bill", "paid the bill"),
    ("Renew my passport", "renewed my passport at the town hall"),
    ("Call the bank", "called Bob and the bank"),
    ("Book the B&B in Tenby", "booked the B&B in the afternoon"),
    ("Send the report by Friday", "sent the quarterly report"),
    ("Pick up the kids at 4", "picked up the kids at 5"),
    ("Go to the gym", "went to the gym with Tom"),
]


@pytest.mark.parametrize(("wording", "said"), ANOTHER)
def test_another_value_in_the_same_place_is_another_thing(wording: str, said: str) -> None:
    assert speaks_of_another(wording, said, deed_first=True)


@pytest.mark.parametrize(("wording", "said"), THE_SAME)
def test_less_or_more_of_the_same_thing_is_the_same(wording: str, said: str) -> None:
    assert not speaks_of_another(wording, said, deed_first=True)


@pytest.mark.parametrize(
    ("wording", "said", "another"),
    [
        ("Book a flight to Rome", "the flight to Paris is booked", True),
        ("Book a flight to Rome", "the flight to Rome is booked", False),
        ("Pay the electricity bill", "the bill is paid", False),
    ],
)
def test_a_state_has_places_too(wording: str, said: str, another: bool) -> None:
    assert speaks_of_another(wording, said, deed_first=False) is another
