"""The first few problems of a request with a hundred thousand of them.

Pydantic looks for all, and to put them into words takes seconds in which the interpreter does nothing else. So a request
with very many is cut down to a few keys and elements of each kind, and asked of again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic import ValidationError

from lamina import limits
from lamina.errors import LaminaError
from lamina.http.errors import TOO_MANY, Problem, problems_of

__all__ = ["few_problems"]

_KEPT: Final = 2 * limits.PROBLEMS_SHOWN_MAX
"""Keys of an object and elements of an array: with the known ones first there are still enough unknown ones to show."""
_VALUES_MAX: Final = 2000


def few_problems(given: Any, validate: Callable[[Any], object]) -> Sequence[Problem]:
    """Some of the problems that ``validate`` raises for a JSON value, the first of them where the beginning has any.

    Empty never: one that says that there are too many stands for what cannot be told.
    """
    try:
        validate(_Cut().cut(given))
    except ValidationError as error:
        problems = [each for each in problems_of(error) if not _cut_away(each, given)]
        return problems or [TOO_MANY]
    except LaminaError:
        pass  # about something that was cut away, perhaps
    return [TOO_MANY]


class _Cut:
    def __init__(self) -> None:
        self._left = _VALUES_MAX

    def cut(self, value: Any) -> Any:
        """The value with the first keys of each object and the first elements of each array."""
        self._left -= 1
        if isinstance(value, dict):
            pairs = zip(range(min(_KEPT, max(0, self._left))), value.items(), strict=False)
            return {name: self.cut(child) for _, (name, child) in pairs}
        if isinstance(value, list):
            return [self.cut(child) for child in value[: min(_KEPT, max(0, self._left))]]
        return value


def _cut_away(problem: Problem, given: Any) -> bool:
    """Whether what is missing was there before the cut."""
    if problem["type"] != "missing":
        return False
    value = given
    for part in problem["loc"]:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True
