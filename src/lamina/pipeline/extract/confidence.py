"""How sure a claim is, by the family of the rule that made it: of ten claims that say 0.9, nine were right in a judged
sample (`bench/results/claims.md`).

The tables are printed by `bench/claims.py fit`. A family of which few were judged stands near the mean of all.
"""

from __future__ import annotations

from typing import Final

from lamina.language.tables import table
from lamina.pipeline.extract.values import Kind
from lamina.pipeline.extract.vocabulary import describe

__all__ = ["FACTS", "LOOPS", "family_of"]

_TABLE: Final = table(__name__)
FACTS: Final = {family: float(share) for family, share in _TABLE.pairs("facts").items()}
"""By what kind of claim it is; ``free`` where the predicate is a verb that the vocabulary does not have."""
LOOPS: Final = {family: float(share) for family, share in _TABLE.pairs("loops").items()}
"""By the type of the loop that is opened."""


def family_of(predicate: str, kind: Kind) -> str:
    """The family of a fact, as ``FACTS`` has it."""
    return kind if describe(predicate, past=False).known else "free"
