"""Which texts of the program Hypothesis may put where a test asks for one, looked up by letter.

It tries thousands of them, letter by letter and interval by interval, for each kind of text that is asked for: 80 ms, and anew whenever
a module was imported. What it draws is the same (``unit/test_choosing.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis.internal.conjecture import providers
from hypothesis.internal.intervalsets import IntervalSet

__all__ = ["looked_up", "share"]

Permitted = Callable[
    [Any, Any], bool
]  # Any: a value of any kind that Hypothesis draws, and what is asked of its kind


class _Letters(dict[str, bool]):
    """Whether each letter is in some intervals, once somebody asked."""

    def __init__(self, intervals: IntervalSet | None) -> None:
        super().__init__()
        self.intervals = intervals

    def __missing__(self, letter: str) -> bool:
        assert self.intervals is not None
        self[letter] = letter in self.intervals
        return self[letter]


def looked_up(permitted: Permitted) -> Permitted:
    """The same answers as ``permitted``, sooner where one kind of text is asked about again and again."""
    letters = _Letters(None)

    def quick(choice: Any, constraints: Any) -> bool:
        nonlocal letters
        if not isinstance(choice, str):
            return permitted(choice, constraints)
        if not constraints["min_size"] <= len(choice) <= constraints["max_size"]:
            return False
        if letters.intervals is not constraints["intervals"]:
            letters = _Letters(constraints["intervals"])
        return all(map(letters.__getitem__, choice))

    return quick


def share() -> None:
    """Let Hypothesis look up what it puts in this process."""
    providers.choice_permitted = looked_up(providers.choice_permitted)
