"""Whether memory seems to hold an answer: how strongly the best turns and facts speak to a question.

Four figures, put together as a logistic model does, with none of them able to speak against an answer by being high:

- of the question's rarest words, and of all its words, the share that the best turn or fact holds;
- in a talk of two, when the question names one of them, by how much the best of that person's turns ranks above the best of the other's,
  not counting that they were named: a question that takes one for the other finds its words with the other;
- how near the best turns come to the question's words, whatever else is stored.

Fitted on LoCoMo (255 questions with an answer, 182 without) and LongMemEval (133, 16), each with the same say; the share of nearness was
then set by hand, since words that question and answer do not share speak for nothing else here. AUC of the first three with weights of the
other half: 0.835 and 0.746 on the halves of LoCoMo, 0.773 and 0.788 on those of LongMemEval; of all four on all: 0.786 and 0.752. As served, with facts: 0.784
(96 questions with an answer, 59 without) and 0.719 (115, 16), where nearness and the share of words in the best five had 0.604 and 0.688.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from lamina.kernel.records import Fact
from lamina.language.tokens import analyse
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool
from lamina.recall.score import EVIDENCE_TOP, ScoredEvent, ScoredRecord
from lamina.recall.signals import SIGNALS, idf

__all__ = ["ANSWERABLE_FROM", "answer_strength"]

ANSWERABLE_FROM: Final = 0.5
"""Below this strength of the best evidence memory seems not to hold an answer. It withholds about a twentieth of the answers of the
sets that it was fitted on, and 40 % and 19 % of the questions without one."""

_RAREST: Final = 3
_COMPARED: Final = 40
_NAMED: Final = SIGNALS.index("named_speaker")

_OF_RAREST: Final = 1.619
_OF_ALL: Final = 0.767
_OF_PERSON: Final = 0.775
_OF_NEARNESS: Final = 4.017
_CONSTANT: Final = -2.87


def answer_strength(
    pool: EventPool, plan: Plan, best: Sequence[ScoredEvent], facts: Sequence[ScoredRecord]
) -> float:
    """How strongly the best turns and facts speak to the question, 0..1 and comparable across questions; 0 where nothing was found."""
    stated = [set(analyse(one.record.text)) for one in facts[:EVIDENCE_TOP] if isinstance(one.record, Fact)]
    told = [_terms_of(pool, plan, best[0])] if best else []
    if not (told or stated):
        return 0.0
    weights = {term: idf(term, pool.statistics) for term in plan.terms}
    rarest = dict(sorted(weights.items(), key=lambda entry: -entry[1])[:_RAREST])
    nearness = max((one.ranked.nearness for one in best[:EVIDENCE_TOP]), default=0.0)
    odds = (
        _CONSTANT
        + _OF_RAREST * max(_share(rarest, each) for each in (*told, *stated))
        + _OF_ALL * max(_share(weights, each) for each in (*told, *stated))
        + _OF_PERSON * _lead_of_person(pool, best[:_COMPARED])
        + _OF_NEARNESS * max(0.0, nearness)
    )
    return round(1 / (1 + math.exp(-odds)), 4)


def _terms_of(pool: EventPool, plan: Plan, one: ScoredEvent) -> set[str]:
    held = pool.turns.counts[one.at].tolist()
    return {term for term, count in zip(plan.terms, held, strict=True) if count}


def _share(weights: dict[str, float], said: Collection[str]) -> float:
    """The share of weighed words among those said; all of none, so that a question without any is left to the other figures."""
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in said) / whole if whole else 1.0


def _lead_of_person(pool: EventPool, best: Sequence[ScoredEvent]) -> float:
    """By how much the best turn of the one person whom a question names, of two who speak, ranks above the other's best."""
    named = pool.turns.named
    if pool.statistics.speakers != 2 or len(pool.persons) != 1 or named.all() or not named.any():
        return 0.0
    scores = np.array([one.ranked.score - float(one.ranked.parts[_NAMED]) for one in best])
    theirs = named[[one.at for one in best]]
    least = float(scores.min())
    return float(scores[theirs].max(initial=least) - scores[~theirs].max(initial=least))
