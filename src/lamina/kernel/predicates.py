"""Families of predicates, such as likes and dislikes: what is said of a thing with one of them is evidence on the others."""

from __future__ import annotations

from typing import Final

__all__ = ["family_of"]

_FAMILIES: Final[tuple[tuple[str, ...], ...]] = (("likes", "dislikes"), ("owns", "has"))
_FAMILY: Final = {predicate: family for family in _FAMILIES for predicate in family}


def family_of(predicate: str) -> tuple[str, ...]:
    """The predicates of its family, itself among them: of "likes" also "dislikes"."""
    return _FAMILY.get(predicate, (predicate,))
