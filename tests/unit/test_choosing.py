"""The gate's way of telling which texts Hypothesis may draw gives the answers of Hypothesis."""

from __future__ import annotations

from itertools import product

from hypothesis.internal.conjecture.choice import choice_permitted
from hypothesis.internal.intervalsets import IntervalSet

from choosing import looked_up

TEXTS = ["", "a", "é", "abc", "a b", "\x00", "\ud800", "日本", "z" * 20]
INTERVALS = [IntervalSet(each) for each in ([(97, 122)], [(0, 0x10FFFF)], [(32, 32), (97, 99)], [])]


def test_what_is_looked_up_is_what_hypothesis_says() -> None:
    quick, seen = looked_up(choice_permitted), set()
    # The intervals change from text to text, and from size to size.
    for text, (least, most), intervals in product(TEXTS, [(0, 99), (1, 3), (4, 30)], INTERVALS):
        constraints = {"min_size": least, "max_size": most, "intervals": intervals}
        assert quick(text, constraints) == choice_permitted(text, constraints)
        seen.add(quick(text, constraints))
    assert seen == {True, False}
    for number in (0, 9):
        within = {"min_value": 1, "max_value": 9}
        assert quick(number, within) == choice_permitted(number, within)
