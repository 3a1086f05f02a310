"""How predicates stand to each other.

What is said of a thing with one of a family, such as likes and dislikes, is evidence on the others. And what somebody lives in or works at
has a predicate of its own where it is described and not named: a "tiny flat" lies in a town, and a "bank" has a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["OF_THE_UNNAMED", "beside_of", "family_of"]

OF_THE_UNNAMED: Final[Mapping[str, str]] = {
    "lives_in": "lives_in_some",
    "works_at": "works_at_some",
    "studies_at": "studies_at_some",
}
"""By a predicate of one named value that of a described one. Neither ends the other, since both may be told of the same."""

_BESIDE: Final = dict(OF_THE_UNNAMED) | {unnamed: named for named, unnamed in OF_THE_UNNAMED.items()}

_FAMILIES: Final[tuple[tuple[str, ...], ...]] = (("likes", "dislikes"), ("owns", "has"))
_FAMILY: Final = {predicate: family for family in _FAMILIES for predicate in family}


def family_of(predicate: str) -> tuple[str, ...]:
    """The predicates of its family, itself among them: of "likes" also "dislikes"."""
    return _FAMILY.get(predicate, (predicate,))


def beside_of(predicate: str) -> str | None:
    """The predicate that tells the described value where this one tells the named one, or the other way round; None where there is none."""
    return _BESIDE.get(predicate)
