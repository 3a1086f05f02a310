"""Scoring: events by the fitted line of signals, derived records by the contract's blend.

Pure functions. An event's ``score`` is relative to the best of its pool, in (0, 1]; a record's is a weighted mean
in [0, 1]. Whether there is an answer at all is judged elsewhere (``answerable.py``).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lamina.index.scope import idf
from lamina.kernel.records import Belief, Claim, Concept, Episode, Fact, Record
from lamina.kernel.time import SECOND_US, Instant
from lamina.language.tokens import term_set
from lamina.recall.plan import Plan
from lamina.recall.rank import Ranked, rank
from lamina.recall.retrieve import EventPool
from lamina.recall.signals import QuestionFeatures

__all__ = [
    "EVIDENCE_TOP",
    "RECORD_WEIGHTS",
    "TEMPERATURE",
    "ScoredEvent",
    "ScoredRecord",
    "evidence_strength",
    "score_events",
    "score_records",
]

RECORD_WEIGHTS: Final[Mapping[str, float]] = {
    "semantic": 0.4,
    "graph": 0.2,
    "recency": 0.15,
    "importance": 0.15,
    "confidence": 0.1,
}
"""The contract's default shape (seed 002, section 9)."""

TEMPERATURE: Final = 2.0
"""So much more on the line of signals makes an event's score e times as high."""
EVIDENCE_TOP: Final = 5
"""So many of the best turns, and of the best facts, say whether there is an answer."""
_HALF_LIFE_DAYS: Final = 90.0
_LASTING_KINDS = frozenset({"identity", "role", "place", "possession", "relation", "preference", "quantity"})


@dataclass(frozen=True, slots=True)
class ScoredEvent:
    """A turn of the pool with its score; ``at`` is its place there."""

    at: int
    record_id: str
    score: float
    ranked: Ranked

    @property
    def contributions(self) -> Mapping[str, float]:
        """What each signal added before the score was made relative."""
        return {name: round(value, 4) for name, value in self.ranked.contributions.items()}


@dataclass(frozen=True, slots=True)
class ScoredRecord:
    """A derived record with its score and its parts."""

    record: Record
    score: float
    contributions: Mapping[str, float]


def score_events(pool: EventPool, plan: Plan, limit: int) -> list[ScoredEvent]:
    """The ``limit`` best of the pool, best first."""
    if not len(pool.turns):
        return []
    question = QuestionFeatures(
        terms=plan.terms,
        tokens=pool.encoded.tokens[0],
        persons=pool.persons,
        asks_assistant=plan.asks_assistant,
        window=plan.window,
    )
    ranked = rank(pool.turns, question, pool.statistics, limit=limit)
    best = ranked[0].score
    return [
        ScoredEvent(
            one.index,
            pool.record_ids[one.index],
            round(math.exp((one.score - best) / TEMPERATURE), 6),
            one,
        )
        for one in ranked
    ]


def evidence_strength(
    pool: EventPool, plan: Plan, best: Sequence[ScoredEvent], facts: Sequence[ScoredRecord]
) -> float:
    """How strongly the best turns and facts speak to the question, 0..1 and comparable across questions.

    For turns the mean of the best MaxSim (how near their words come to the question's, whatever else is stored) and of
    the share of the question's content words, weighed by their rarity, that the best few hold; for a fact the
    mean of its score and of that share. The stronger of the two counts.
    """
    few = best[:EVIDENCE_TOP]
    nearness = max(0.0, max((scored.ranked.nearness for scored in few), default=0.0))
    held = pool.turns.counts[[scored.at for scored in few]].sum(axis=0).tolist()
    said = {term for term, count in zip(plan.terms, held, strict=True) if count}
    strongest = (nearness + _coverage(pool, said, nearness)) / 2
    for scored in facts[:EVIDENCE_TOP]:
        if isinstance(scored.record, Fact):
            stated = _coverage(pool, term_set(scored.record.text), 0.0)
            strongest = max(strongest, (scored.score + stated) / 2)
    return round(max(0.0, min(1.0, strongest)), 4)


def _coverage(pool: EventPool, said: Collection[str], without_terms: float) -> float:
    """The share of the question's content words in ``said``, weighed by rarity."""
    total = pool.statistics.turns
    weights = {term: idf(found, total) for term, found in pool.statistics.turns_with_term.items()}
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in said) / whole if whole else without_terms


def score_records(
    records: Collection[Record],
    lexical: Mapping[str, float],
    graph: Mapping[str, float],
    now: Instant,
    named: Collection[str] = (),
    apart: Collection[str] = (),
) -> list[ScoredRecord]:
    """Records of one layer, best first. ``lexical`` is how much of the question they have, ``graph`` the best score among
    their sources. Where the question has ``named`` entities, what is told of another counts half for both. Of what
    stands ``apart``, and says nothing of what is asked, how new, how important and how sure it is counts half."""
    about = {record.id for record in records if _is_about(record, named)}
    scored = []
    for record in records:
        bearing = 0.5 if about and record.id not in about else 1.0
        weight = 0.5 if record.id in apart else 1.0
        parts = {
            "semantic": bearing * lexical.get(record.id, 0.0),
            "graph": bearing * graph.get(record.id, 0.0),
            "recency": weight * _recency(record, now),
            "importance": weight * _importance(record),
            "confidence": weight * record.confidence,
        }
        weighed = {name: round(share * parts[name], 4) for name, share in RECORD_WEIGHTS.items()}
        scored.append(ScoredRecord(record, round(sum(weighed.values()), 6), weighed))
    return sorted(scored, key=lambda one: (-one.score, one.record.id))


def _is_about(record: Record, named: Collection[str]) -> bool:
    return isinstance(record, Claim) and (record.subject.id in named or record.object.id in named)


def _recency(record: Record, now: Instant) -> float:
    age_days = max(0, now - record.valid_from) / (86_400 * SECOND_US)
    return float(0.5 ** (age_days / _HALF_LIFE_DAYS))


def _importance(record: Record) -> float:
    match record:
        case Fact():
            return 1.0 if record.kind in _LASTING_KINDS else 0.5
        case Belief():
            return min(1.0, (record.alpha + record.beta) / 10)
        case Episode():
            return min(1.0, record.size / 20)
        case Concept():
            return min(1.0, record.consulted / 10)
        case _:
            return 0.5
