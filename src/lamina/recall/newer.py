"""Later turns of the same matter: which of the best turns may no longer hold, by a later one that speaks to the same question.

No sentence is understood. Of two turns the older may have changed where the later is likely another answer to the same
question: both speak to it, they are near each other, and days lie between them. It is a mark for readers of a block and nothing besides;
what facts say of a turn counts before it (``superseded.py``).

Weights are a logistic fit over pairs of turns: first and later answers of LongMemEval's questions of updates, half of the questions of
``examples/year``, and as pairs without a change evidence that held of both development sets.
It marks all 21 older answers of LongMemEval. Of turns of evidence in a block of 1,000 tokens, most of which still hold, it marks 16 of 69
on LoCoMo and 9 of 53 on LongMemEval: where one matter is spoken of again and again, as in chats, it says "may" too often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.time import SECOND_US
from lamina.language.questions import asks_past
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool
from lamina.recall.score import ScoredEvent
from lamina.recall.signals import idf

__all__ = ["newer_answers"]

OLDER_MAX: Final = 8
"""So many of the best turns may be marked: a mark costs room, and these are what a reader takes for the answer."""
NEWER_MAX: Final = 30
"""Among so many of the best the later turns are looked for; the weights were fitted on as many."""
LIKELY_FROM: Final = -0.85
"""Log odds of three in ten: an old value told as current is worse than a doubt too many."""
_CONSTANT: Final = -2.867
_NEARNESS: Final = 3.59
_NEARNESS_OF_OLDER: Final = -3.80
_ALIKE: Final = 2.27
_TERMS_OF_BOTH: Final = 4.04
_SCORE: Final = 1.71
_SAME_DAY: Final = -4.20
_DAY_US: Final = 86_400 * SECOND_US


def newer_answers(pool: EventPool, ranked: Sequence[ScoredEvent], plan: Plan) -> dict[str, MayHaveChanged]:
    """By event id, the later turn by which each of the best turns may have changed. None where the question is of the past."""
    if plan.window is not None or plan.observed is not None or asks_past(plan.question):
        return {}
    newer = ranked[:NEWER_MAX]
    if len(newer) < 2:
        return {}
    at = np.array([one.at for one in newer])
    said_at = pool.turns.observed_at[at]
    odds = _odds(pool, plan, newer, at)
    later = (said_at[None, :] > said_at[:, None]) & ~pool.turns.by_assistant[at][None, :]
    odds = np.where(later, odds, -np.inf)
    best = odds.argmax(axis=1)
    marks = {
        newer[old].at: MayHaveChanged(newer[new].record_id, int(said_at[new]))
        for old, new in enumerate(best[:OLDER_MAX].tolist())
        if odds[old, new] >= LIKELY_FROM
    }
    marks |= _of_replies(pool, ranked, marks)
    return {pool.record_ids[place]: mark for place, mark in marks.items()}


def _of_replies(
    pool: EventPool, ranked: Sequence[ScoredEvent], marks: Mapping[int, MayHaveChanged]
) -> dict[int, MayHaveChanged]:
    """What an assistant answers to a turn says it again, or rests on it: it may have changed with it."""
    before = {one.at: int(pool.turns.previous[one.at]) for one in ranked if pool.turns.by_assistant[one.at]}
    return {
        at: marks[turn]
        for at, turn in before.items()
        if turn in marks and at not in marks and pool.record_ids[at] != marks[turn].event_id
    }


def _odds(
    pool: EventPool, plan: Plan, turns: Sequence[ScoredEvent], at: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(n, n) log odds that a turn, the column, is another answer than an older one, the row."""
    nearness = np.array([one.ranked.nearness for one in turns])
    scores = np.array([one.score for one in turns])
    rows = pool.pooled[at]
    weights = np.array([idf(term, pool.statistics) for term in plan.terms])
    held = (pool.turns.counts[at] > 0).astype(np.float64)
    said_at = pool.turns.observed_at[at]
    odds: NDArray[np.float64] = (
        _CONSTANT
        + _NEARNESS * nearness[None, :]
        + _NEARNESS_OF_OLDER * nearness[:, None]
        + _ALIKE * (rows @ rows.T)
        + _TERMS_OF_BOTH * ((held * weights) @ held.T) / max(float(weights.sum()), 1e-9)
        + _SCORE * scores[None, :]
        + _SAME_DAY * (np.abs(said_at[None, :] - said_at[:, None]) < _DAY_US)
    )
    return odds
