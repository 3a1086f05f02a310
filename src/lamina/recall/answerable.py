"""Whether memory seems to hold an answer: how strongly the best turns and facts speak to a question.

Nine figures, put together as a logistic model does:

- of the question's rarest words the share that the best turn or fact holds, and how rare the rarest is that it lacks, beside a word that
  was never said;
- how much of the best turn asks: a question tells nothing;
- whether one of its words was never said at all, and how many words it has: of more, fewer are held by chance;
- in a talk of two, when the question names one of them: that it does, by how much the best of that person's turns ranks above the best of
  the other's, not counting that they were named, and their share of the best three: a question that takes one for the other finds its
  words with the other;
- how near the best turns come to the question's words, whatever else is stored.

``bench/fit_answerable.py`` fits the weights and prints how well they tell the two kinds of question apart, each half of the questions
by weights of the other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.kernel.records import Fact
from lamina.language.questions import is_stated
from lamina.language.tokens import analyse
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool
from lamina.recall.score import EVIDENCE_TOP, ScoredEvent, ScoredRecord
from lamina.recall.signals import SIGNALS, idf

__all__ = ["ANSWERABLE_FROM", "ANSWER_FIGURES", "answer_figures", "answer_strength"]

ANSWERABLE_FROM: Final = 0.5
"""Below this strength of the best evidence memory seems not to hold an answer."""
ANSWER_FIGURES: Final = (
    "rarest_words",
    "lead_of_person",
    "nearness",
    "names_one_of_two",
    "share_of_best",
    "words",
    "never_said",
    "rarest_lacking",
    "asks",
)
"""What ``answer_figures`` says of a question, in its order."""

_RAREST: Final = 3
_COMPARED: Final = 40
_BEST_OF_BOTH: Final = 3
_NAMED: Final = SIGNALS.index("named_speaker")

_WEIGHTS: Final = np.array([0.851, 0.944, 2.247, -0.67, 2.408, 0.116, -0.323, -1.784, -2.461])
_CONSTANT: Final = 0.452
"""Fitted where both kinds of question are as many, and then raised by 1.35: a withheld answer is worse than an empty one."""


def answer_strength(
    pool: EventPool, plan: Plan, best: Sequence[ScoredEvent], facts: Sequence[ScoredRecord]
) -> float:
    """How strongly the best turns and facts speak to the question, 0..1 and comparable across questions; 0 where nothing was found.

    The weights were fitted on questions. What asks nothing is spoken to only by what shares a word with it.
    """
    figures = answer_figures(pool, plan, best, facts)
    if figures is None or (is_stated(plan.question) and not figures[ANSWER_FIGURES.index("rarest_words")]):
        return 0.0
    return round(1 / (1 + math.exp(-_CONSTANT - float(figures @ _WEIGHTS))), 4)


def answer_figures(
    pool: EventPool, plan: Plan, best: Sequence[ScoredEvent], facts: Sequence[ScoredRecord]
) -> NDArray[np.float64] | None:
    """(len(ANSWER_FIGURES),) of a question's pool, its best turns and its best facts; None where there are none."""
    stated = [set(analyse(one.record.text)) for one in facts[:EVIDENCE_TOP] if isinstance(one.record, Fact)]
    told = [_terms_of(pool, plan, best[0])] if best else []
    if not (told or stated):
        return None
    weights = {term: idf(term, pool.statistics) for term in plan.terms}
    first = best[0].at if best else None
    unheard = idf("", pool.statistics)  # of a word that nobody ever said
    rarest = dict(sorted(weights.items(), key=lambda entry: -entry[1])[:_RAREST])
    nearness = max((one.ranked.nearness for one in best[:EVIDENCE_TOP]), default=0.0)
    person = _Person.of(pool, best[:_COMPARED])
    return np.array(
        [
            max(_share(rarest, each) for each in (*told, *stated)),
            0.0 if person is None else person.lead,
            max(0.0, nearness),
            0.0 if person is None else 1.0,
            0.0 if person is None else person.share - 0.5,
            len(plan.terms),
            float(any(not pool.statistics.turns_with_term.get(term) for term in plan.terms)),
            min(_lacking(weights, each) for each in (*told, *stated)) / unheard,
            0.0 if first is None else float(pool.turns.question_shares[first]),
        ]
    )


def _terms_of(pool: EventPool, plan: Plan, one: ScoredEvent) -> set[str]:
    held = pool.turns.counts[one.at].tolist()
    return {term for term, count in zip(plan.terms, held, strict=True) if count}


def _share(weights: dict[str, float], said: Collection[str]) -> float:
    """The share of weighed words among those said; all of none, so that a question without any is left to the other figures."""
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in said) / whole if whole else 1.0


def _lacking(weights: dict[str, float], said: Collection[str]) -> float:
    """The weight of the weightiest word that is not among those said."""
    return max((weight for term, weight in weights.items() if term not in said), default=0.0)


class _Person(NamedTuple):
    """The one of two speakers whom a question names: by how much the best of their turns ranks ``lead`` above the other's best, and what
    ``share`` of the best few are theirs, both as if nobody had been named."""

    lead: float
    share: float

    @classmethod
    def of(cls, pool: EventPool, best: Sequence[ScoredEvent]) -> _Person | None:
        """None where not two speak, where not one of them is named, or where all turns are of one."""
        named = pool.turns.named
        theirs = named[[one.at for one in best]]
        if pool.statistics.speakers != 2 or len(pool.persons) != 1 or theirs.all() or not theirs.any():
            return None
        scores = np.array([one.ranked.score - float(one.ranked.parts[_NAMED]) for one in best])
        first = np.argsort(-scores, kind="stable")[:_BEST_OF_BOTH]
        return cls(float(scores[theirs].max() - scores[~theirs].max()), float(theirs[first].mean()))
