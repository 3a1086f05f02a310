"""Scoring events by the fitted line of signals.

Pure functions. A ``score`` is relative to the best of its pool, in (0, 1]; derived records have theirs in ``weighed.py``. Whether there is an answer at all is judged elsewhere (``answerable.py``).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from lamina.kernel.records import Fact, Record
from lamina.language.tokens import term_set
from lamina.recall.plan import Plan
from lamina.recall.rank import Ranked, rank
from lamina.recall.retrieve import EventPool, question_features

__all__ = [
    "EVIDENCE_TOP",
    "TEMPERATURE",
    "ScoredEvent",
    "ScoredRecord",
    "evidence_strength",
    "score_events",
]

TEMPERATURE: Final = 2.0
"""So much more on the line of signals makes an event's score e times as high."""
EVIDENCE_TOP: Final = 5
"""So many of the best turns, and of the best facts, say whether there is an answer."""


class ScoredEvent(NamedTuple):
    """A turn of the pool with its score; ``at`` is its place there."""

    at: int
    record_id: str
    score: float
    ranked: Ranked

    @property
    def contributions(self) -> Mapping[str, float]:
        """What each signal added before the score was made relative."""
        return {name: round(value, 4) for name, value in self.ranked.contributions.items()}


class ScoredRecord(NamedTuple):
    """A derived record with its score and its parts."""

    record: Record
    score: float
    contributions: Mapping[str, float]


def score_events(pool: EventPool, plan: Plan, limit: int) -> list[ScoredEvent]:
    """The ``limit`` best of the pool, best first."""
    if not len(pool.turns):
        return []
    question = question_features(plan, pool.encoded, pool.persons)
    ranked = rank(pool.turns, question, pool.statistics, limit=limit, compared=pool.compared)
    best = ranked[0].score
    return [
        ScoredEvent(
            one.at,
            pool.record_ids[one.at],
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
    known = pool.statistics
    weights = {term: known.idf(term) for term in known.turns_with_term}
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in said) / whole if whole else without_terms
