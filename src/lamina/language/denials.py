"""Words that deny: whoever compares a sentence with what it is said to mean asks whether both deny or neither."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from lamina.language.tokens import analyse

__all__ = ["NEGATIONS", "denies"]

NEGATIONS: Final = frozenset(
    analyse("not no never nor none nobody nothing neither without cannot can't don't doesn't didn't isn't wasn't "
    "aren't weren't hasn't haven't hadn't won't wouldn't shouldn't couldn't")
)  # fmt: skip


def denies(terms: Collection[str]) -> bool:
    """Whether terms of a sentence deny something."""
    return not NEGATIONS.isdisjoint(terms)
