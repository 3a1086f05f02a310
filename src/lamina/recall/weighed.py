"""Weighing derived records by the contract's blend. Pure functions; a record's score is a weighted mean in [0, 1]."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Layer
from lamina.kernel.time import SECOND_US, Instant

__all__ = ["RECORD_WEIGHTS", "WeighedRecord", "weigh"]

RECORD_WEIGHTS: Final[Mapping[str, float]] = {
    "semantic": 0.4,
    "graph": 0.2,
    "recency": 0.15,
    "importance": 0.15,
    "confidence": 0.1,
}
"""The contract's default shape (seed 002, section 9)."""

_HALF_LIFE_DAYS: Final = 90.0
_LASTING_KINDS = frozenset({"identity", "role", "place", "possession", "relation", "preference", "quantity"})
_MUCH: Final = {Layer.BELIEFS: 10, Layer.EPISODES: 20, Layer.UNDERSTANDING: 10}
"""What stands on so much is as important as can be."""


class WeighedRecord(NamedTuple):
    """A derived record with its score and its parts."""

    head: RecordHead
    score: float
    contributions: Mapping[str, float]


def weigh(
    records: Collection[RecordHead],
    lexical: Mapping[str, float],
    graph: Mapping[str, float],
    now: Instant,
    named: Collection[str] = (),
    apart: Collection[str] = (),
) -> list[WeighedRecord]:
    """Records of one layer, best first. ``lexical`` is how much of the question they have, ``graph`` the best score among
    their sources. Where the question has ``named`` entities, what is told of another counts half for both. Of what
    stands ``apart``, and says nothing of what is asked, how new, how important and how sure it is counts half."""
    about = {head.id for head in records if _is_about(head, named)} if named else ()
    scored = []
    for head in records:
        bearing = 0.5 if about and head.id not in about else 1.0
        weight = 0.5 if head.id in apart else 1.0
        parts = {
            "semantic": bearing * lexical.get(head.id, 0.0),
            "graph": bearing * graph.get(head.id, 0.0),
            "recency": weight * _recency(head, now),
            "importance": weight * _importance(head),
            "confidence": weight * head.confidence,
        }
        weighed = {name: round(share * parts[name], 4) for name, share in RECORD_WEIGHTS.items()}
        scored.append(WeighedRecord(head, round(sum(weighed.values()), 6), weighed))
    return sorted(scored, key=lambda one: (-one.score, one.head.id))


def _is_about(head: RecordHead, named: Collection[str]) -> bool:
    return head.is_claim and (head.subject_id in named or head.object_id in named)


def _recency(head: RecordHead, now: Instant) -> float:
    age_days = max(0, now - head.valid_from) / (86_400 * SECOND_US)
    return float(0.5 ** (age_days / _HALF_LIFE_DAYS))


def _importance(head: RecordHead) -> float:
    if head.layer is Layer.FACTS:
        return 1.0 if head.kind in _LASTING_KINDS else 0.5
    return min(1.0, head.amount / _MUCH[head.layer])
