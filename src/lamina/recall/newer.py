"""Later turns of the same matter: which of the best turns may no longer hold, by a later one that speaks to the same question.

No sentence is understood. Of two turns the older may have changed where the later is likely another answer to the same
question: both speak to it, the later is nearer to the older than the other turns found are, and it is of another talk: who goes on talking
adds to what they said. It is a mark for readers of a block and nothing besides; what facts say of a turn counts before it
(``superseded.py``). A turn that marks one is shown with it, however far behind the question's own words left it (``compose.py``): it is
what asking again with the older turn would find. So is the next likeliest, since the likeliest may be another turn of the same talk.

``bench/fit_newer.py`` fits the weights over pairs of turns and prints what they mark, cross-validated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.time import DAY_US
from lamina.language.questions import asks_past
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool
from lamina.recall.score import ScoredEvent
from lamina.recall.signals import ALONE

__all__ = [
    "ALIKE",
    "ALIKE_FROM",
    "NEWER_MAX",
    "OLDER_MAX",
    "PAIR_FIGURES",
    "AnsweredAnew",
    "answers_again",
    "asks_now",
    "newer_answers",
    "pair_figures",
]

OLDER_MAX: Final = 12
"""So many of the best turns may be marked: a mark costs room, and these are what a reader takes for the answer."""
NEWER_MAX: Final = 60
"""Among so many of the best the later turns are looked for; the weights were fitted on as many."""
ALIKE_FROM: Final = 1.0
"""The later must be nearer to the older than others are, by so many standard deviations: what answers a question well would mark whatever
was found for it otherwise."""
LIKELY_FROM: Final = -2.0
"""Log odds, where turns that hold and turns that do not are as many: an old value told as current is worse than a doubt too many."""
PAIR_FIGURES: Final = (
    "nearness",
    "nearness_of_older",
    "alike",
    "terms_of_both",
    "nearest_of_both",
    "own_word_of_both",
    "log_days",
    "one_named_of_both",
)
"""What ``pair_figures`` says of two turns, in its order."""
ALIKE: Final = PAIR_FIGURES.index("alike")
_CONSTANT: Final = -7.371
_WEIGHTS: Final = np.array([8.873, 2.945, 0.616, 1.106, -11.833, 1.654, 0.372, 2.697])
_TALK_US: Final = DAY_US // 2
"""Turns of one session that lie no further apart are of one talk: some who call have one session for ever."""
_SPREAD_MIN: Final = 0.02
_ANY_COUNT: Final = 4
_ANY_ALIKE: Final = 0.3
_ANY_SPREAD: Final = 0.11
"""Cosines of turns that were found for one question: means of LoCoMo .43 and .11, of LongMemEval .21 and .12, of the story .29 and .10."""


class AnsweredAnew(NamedTuple):
    """By event id, the later turn by which each of the best turns may have changed, and the next likeliest where there is one."""

    marks: Mapping[str, MayHaveChanged] = {}
    next_likeliest: Mapping[str, str] = {}

    def worth_of_later(self, scores: Mapping[str, float]) -> dict[str, float]:
        """The later turns, each with the best score of an older one that it is shown beside; of these only some have ``scores``."""
        worth: dict[str, float] = {}
        pairs = [(old, mark.event_id) for old, mark in self.marks.items()]
        for old, new in (*pairs, *self.next_likeliest.items()):
            if old in scores:
                worth[new] = max(worth.get(new, 0.0), scores[old])
        return worth


def newer_answers(pool: EventPool, ranked: Sequence[ScoredEvent], plan: Plan) -> AnsweredAnew:
    """The later turns by which the best turns may have changed. None where the question is of the past."""
    if not asks_now(plan):
        return AnsweredAnew()
    turns = ranked[:NEWER_MAX]
    if len(turns) < 2:
        return AnsweredAnew()
    at = np.array([one.at for one in turns])
    said_at = pool.turns.observed_at[at]
    figures = pair_figures(pool, plan, turns)
    again = answers_again(pool, turns) & (figures[:, :, ALIKE] >= ALIKE_FROM)
    odds = np.where(again, _CONSTANT + figures @ _WEIGHTS, -np.inf)
    order = np.argsort(-odds[:OLDER_MAX], axis=1, kind="stable")
    likely = np.take_along_axis(odds[:OLDER_MAX], order, axis=1) >= LIKELY_FROM
    marks = {
        turns[old].at: MayHaveChanged(turns[new].record_id, int(said_at[new]))
        for old, new in enumerate(order[:, 0].tolist())
        if likely[old, 0]
    }
    marks |= _of_replies(pool, ranked, marks)
    following = {
        turns[old].record_id: turns[new].record_id
        for old, new in enumerate(order[:, 1].tolist())
        if likely[old, 1]
    }
    return AnsweredAnew({pool.record_ids[place]: mark for place, mark in marks.items()}, following)


def asks_now(plan: Plan) -> bool:
    """Whether a question is of what holds where its reader stands: what may have changed since is no matter of one of the past."""
    is_over = plan.window is not None and plan.window[1] is not None and plan.window[1] <= plan.axes.seen_at
    return plan.observed is None and not is_over and not asks_past(plan.question)


def answers_again(pool: EventPool, turns: Sequence[ScoredEvent]) -> NDArray[np.bool_]:
    """(n, n): whether a turn, the column, may answer again what an older one, the row, did: it is a later one, of a person and of
    another talk."""
    at = np.array([one.at for one in turns])
    said_at, sessions = pool.turns.observed_at[at], pool.turns.sessions[at]
    between = said_at[None, :] - said_at[:, None]
    one_talk = (sessions[None, :] == sessions[:, None]) & (sessions != ALONE)[None, :] & (between < _TALK_US)
    again: NDArray[np.bool_] = (between > 0) & ~one_talk & ~pool.turns.by_assistant[at][None, :]
    return again


def pair_figures(pool: EventPool, plan: Plan, turns: Sequence[ScoredEvent]) -> NDArray[np.float64]:
    """(n, n, len(PAIR_FIGURES)): what speaks for a turn, the column, being another answer than an older one, the row.

    How near each is to the question's words; by how many standard deviations they are nearer to each other than the older one is to all n;
    the share of the question's words, weighed by rarity, that both hold; the nearest that both come to one word of it, as it is and in
    standard deviations above what all n come to it; the days between, as a logarithm; and whether both are said by the one whom the question
    names, or neither is.
    """
    at = np.array([one.at for one in turns])
    nearness = np.array([one.ranked.nearness for one in turns])
    cosines = np.array([one.ranked.cosines for one in turns], np.float64)
    rows = pool.pooled[at]
    weights = np.array([pool.statistics.idf(term) for term in plan.terms])
    held = (pool.turns.counts[at] > 0).astype(np.float64)
    named = pool.turns.named[at]
    days = pool.turns.observed_at[at] / DAY_US
    square = (len(turns), len(turns))
    return np.stack(
        [
            np.broadcast_to(nearness[None, :], square),
            np.broadcast_to(nearness[:, None], square),
            _above_others((rows @ rows.T).astype(np.float64)),
            ((held * weights) @ held.T) / max(float(weights.sum()), 1e-9),
            _of_both(cosines),
            _of_both((cosines - cosines.mean(axis=0)) / (cosines.std(axis=0) + _SPREAD_MIN)),
            np.log1p(np.abs(days[None, :] - days[:, None])),
            named[None, :] == named[:, None],
        ],
        axis=2,
    )


def _above_others(alike: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, n) in standard deviations of each row, which its own turn is left out of and a few turns like any join: of two turns alone
    nobody could tell whether they are near each other."""
    others = ~np.eye(len(alike), dtype=np.bool_)
    count = len(alike) - 1 + _ANY_COUNT
    mean = (alike.sum(axis=1, where=others, keepdims=True) + _ANY_COUNT * _ANY_ALIKE) / count
    squares = np.square(alike - mean).sum(axis=1, where=others, keepdims=True)
    of_any = _ANY_COUNT * (np.square(_ANY_ALIKE - mean) + _ANY_SPREAD**2)
    above: NDArray[np.float64] = (alike - mean) / (np.sqrt((squares + of_any) / count) + _SPREAD_MIN)
    return above


def _of_both(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, n) from (n, t): the word to which both of two turns come nearest, and how near the farther comes."""
    both: NDArray[np.float64] = np.minimum(cosines[None, :, :], cosines[:, None, :]).max(axis=2)
    return both


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
