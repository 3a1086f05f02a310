"""How sure a claim is, by the family of the rule that made it: of ten claims that say 0.9, nine were right in a judged
sample (`bench/results/claims.md`).

The tables are printed by `bench/claims.py fit`. A family of which few were judged stands near the mean of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.pipeline.extract.values import Kind
from lamina.pipeline.extract.vocabulary import describe

__all__ = ["FACTS", "LOOPS", "family_of"]

FACTS: Final[Mapping[str, float]] = {
    "identity": 0.85, "role": 0.78, "place": 0.83, "possession": 0.73, "relation": 0.86, "preference": 0.84,
    "plan": 0.82, "commitment": 0.76, "quantity": 0.72, "state_change": 0.81, "event": 0.87, "attribute": 0.72,
    "free": 0.78,
}  # fmt: skip
"""By what kind of claim it is; ``free`` where the predicate is a verb that the vocabulary does not have."""
LOOPS: Final[Mapping[str, float]] = {
    "commitment": 0.72,
    "decision": 0.68,
    "friction": 0.77,
    "habit": 0.73,
    "thread": 0.73,
}
"""By the type of the loop that is opened."""


def family_of(predicate: str, kind: Kind) -> str:
    """The family of a fact, as ``FACTS`` has it."""
    return kind if describe(predicate, past=False).known else "free"
