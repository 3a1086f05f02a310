"""Whether memory seems to hold an answer: how strongly the best turns and facts speak to a question.

Two things have to be so, and each is judged by figures of its own. That something was told of it:

- of the question's rarest words the share that the best turn or fact holds, of all its words the share that the turn holds with those around
  it;
- how near the best turns come to the question, word by word and as a whole, whatever else is stored;
- how many words it has: of more, fewer are held by chance;
- of a question that names a time, how near to it the best turn was said;
- how many of the best turns are an assistant's, whose own words nobody asks for: it speaks of much that it was not told.

And that it was told by, or of, whom the question means:

- in a talk of two, when the question names one of them: that it does, by how much the best of that person's turns ranks above the best of
  the other's, not counting that they were named, by how much more of what is asked their best turns hold, and their share of the best
  three: a question that takes one for the other finds its words with the other;
- how much of the best turn asks, since a question tells nothing, and how much of it speaks of its speaker.

In one sum the two would make up for each other: whose name is right would be told something, however little its words were ever said.

``bench/fit_answerable.py`` fits the weights and prints how well they tell the two kinds of question apart, each half of the questions
by weights of the other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.kernel.records import Fact
from lamina.language.questions import is_stated
from lamina.language.tokens import analyse
from lamina.models.ports import Float32Array
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool
from lamina.recall.score import EVIDENCE_TOP, ScoredEvent, ScoredRecord
from lamina.recall.signals import SIGNALS, Turns

__all__ = [
    "ANSWERABLE_FROM",
    "ANSWER_FIGURES",
    "PERSON_FIGURES",
    "RAISED",
    "TOLD_FIGURES",
    "answer_figures",
    "answer_strength",
]

ANSWERABLE_FROM: Final = 0.5
"""Below this strength of the best evidence memory seems not to hold an answer."""
TOLD_FIGURES: Final = (
    "rarest_words",
    "words_around",
    "nearness",
    "cosine",
    "words",
    "time",
    "by_assistant",
)
"""What says whether something was told of what is asked."""
PERSON_FIGURES: Final = (
    "names_one_of_two",
    "lead_of_person",
    "share_of_best",
    "asks",
    "of_speaker",
    "words_of_person",
)
"""What says whether it was told by, or of, whom the question means."""
ANSWER_FIGURES: Final = (*TOLD_FIGURES, *PERSON_FIGURES)
"""What ``answer_figures`` says of a question, in its order."""

_RAREST: Final = 3
_LIKE_THE_QUESTION: Final = 20
_NEAR, _LIKE = 0.64, 0.58
"""How near and how like the question the best turns are of a question that has an answer, medians of both sets: so a turn whose vectors are
still to come is taken, and its words decide."""
_COMPARED: Final = 40
_BEST_OF_BOTH: Final = 3
_BEST_OF_EACH: Final = 5
_NAMED, _TIME = SIGNALS.index("named_speaker"), SIGNALS.index("time")

_TOLD: Final = np.array([1.364, 2.990, 2.830, 3.993, 0.070, 0.491, -3.000])
_TOLD_CONSTANT: Final = -6.311
_PERSON: Final = np.array([-2.504, 0.931, 3.195, -3.993, 1.775, 2.086])
_PERSON_CONSTANT: Final = 2.669
RAISED: Final = (1.5, 0.8)
"""Log odds by which the two constants stand above their fit, where both kinds of question are as many: a withheld answer is worse than an
empty one. Who was meant is judged more strictly, since only who names one of two is judged by much."""


def answer_strength(
    pool: EventPool, plan: Plan, best: Sequence[ScoredEvent], facts: Sequence[ScoredRecord]
) -> float:
    """How strongly the best turns and facts speak to the question, 0..1 and comparable across questions; 0 where nothing was found.

    Of the two things that have to be so the odds against each are added up. The weights were fitted on questions. What asks nothing is
    spoken to only by what shares a word with it.
    """
    figures = answer_figures(pool, plan, best, facts)
    if figures is None or (is_stated(plan.question) and not figures[ANSWER_FIGURES.index("rarest_words")]):
        return 0.0
    told = _TOLD_CONSTANT + RAISED[0] + float(figures[: len(TOLD_FIGURES)] @ _TOLD)
    person = _PERSON_CONSTANT + RAISED[1] + float(figures[len(TOLD_FIGURES) :] @ _PERSON)
    return round(1 / (1 + math.exp(-told) + math.exp(-person)), 4)


def answer_figures(
    pool: EventPool, plan: Plan, best: Sequence[ScoredEvent], facts: Sequence[ScoredRecord]
) -> NDArray[np.float64] | None:
    """(len(ANSWER_FIGURES),) of a question's pool, its best turns and its best facts; None where there are none."""
    stated = [set(analyse(one.record.text)) for one in facts[:EVIDENCE_TOP] if isinstance(one.record, Fact)]
    if not (best or stated):
        return None
    turns, first = pool.turns, best[0].at if best else None
    told = [] if first is None else [_terms_of(plan, turns.counts[first])]
    around = [] if first is None else [_terms_of(plan, _with_neighbours(turns, first))]
    weights = {term: pool.statistics.idf(term) for term in plan.terms}
    rarest = dict(sorted(weights.items(), key=lambda entry: -entry[1])[:_RAREST])
    unread = float(any(not pool.pooled[one.at].any() for one in best[:EVIDENCE_TOP]))
    person = _Person.of(pool, plan, weights, best[:_COMPARED])
    by_assistant = turns.by_assistant[[one.at for one in best[:_BEST_OF_BOTH]]]
    return np.array(
        [
            max(_share(rarest, each) for each in (*told, *stated)),
            max(_share(weights, each) for each in (*around, *stated)),
            max([unread * _NEAR, *(one.ranked.nearness for one in best[:EVIDENCE_TOP])]),
            max([unread * _LIKE, *turns.cosines[[one.at for one in best[:_LIKE_THE_QUESTION]]].tolist()]),
            len(plan.terms),
            0.0 if first is None else float(best[0].ranked.parts[_TIME]),
            0.0 if first is None or plan.asks_assistant else float(by_assistant.mean()),
            0.0 if person is None else 1.0,
            0.0 if person is None else person.lead,
            0.0 if person is None else person.share - 0.5,
            0.0 if first is None else float(turns.question_shares[first]),
            0.0 if first is None else float(turns.self_shares[first]),
            0.0 if person is None else person.words,
        ]
    )


def _terms_of(plan: Plan, counts: Float32Array) -> set[str]:
    return {term for term, count in zip(plan.terms, counts.tolist(), strict=True) if count}


def _with_neighbours(turns: Turns, at: int) -> Float32Array:
    """(q,): how often each of the question's terms occurs in a turn and in those before and after it, as far as the pool has them."""
    near = [each for each in (at, turns.previous[at], turns.following[at]) if each < len(turns)]
    around: Float32Array = turns.counts[near].sum(axis=0)
    return around


def _share(weights: dict[str, float], said: Collection[str]) -> float:
    """The share of weighed words among those said; all of none, so that a question without any is left to the other figures."""
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in said) / whole if whole else 1.0


class _Person(NamedTuple):
    """The one of two speakers whom a question names: by how much the best of their turns ranks ``lead`` above the other's best, what
    ``share`` of the best few are theirs, both as if nobody had been named, and how much more of the ``words`` that say what is asked,
    weighed by rarity, the best of their turns hold than the best of the other's."""

    lead: float
    share: float
    words: float

    @classmethod
    def of(
        cls, pool: EventPool, plan: Plan, weights: Mapping[str, float], best: Sequence[ScoredEvent]
    ) -> _Person | None:
        """By the question's terms, with their ``weights``. None where not two speak, where not one of them is named, or where all turns are of one."""
        at = [one.at for one in best]
        theirs = pool.turns.named[at]
        if pool.statistics.speakers != 2 or len(pool.persons) != 1 or theirs.all() or not theirs.any():
            return None
        scores = np.array([one.ranked.score - float(one.ranked.parts[_NAMED]) for one in best])
        first = np.argsort(-scores, kind="stable")[:_BEST_OF_BOTH]
        held = (pool.turns.counts[at] > 0).astype(np.float64)
        more = _of_best(held, theirs) - _of_best(held, ~theirs)
        return cls(
            float(scores[theirs].max() - scores[~theirs].max()),
            float(theirs[first].mean()),
            float(more @ _shares_of_asked(plan, weights)),
        )


def _of_best(held: NDArray[np.float64], turns: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(q,) 1 for each of the question's terms that the best few of some turns hold, from (n, q) and (n,)."""
    of_best: NDArray[np.float64] = held[turns][:_BEST_OF_EACH].max(axis=0)
    return of_best


def _shares_of_asked(plan: Plan, weights: Mapping[str, float]) -> NDArray[np.float64]:
    """(q,) of the question's terms those that are no names, by their weights; the sum is 1 where there are any."""
    asked = plan.asked_for or plan.terms
    shares = np.array([weights[term] if term in asked else 0.0 for term in plan.terms])
    shares /= max(float(shares.sum()), 1e-9)
    return shares
