"""What speaks for a turn as the answer to a question: one column of figures per signal.

Pure functions over values that the caller has gathered. The caller hands over one pool of turns (the
candidates of the cheap arms and, if it likes, their neighbours); windows and sessions are read from that
pool alone, so a session of thousands of turns costs no more than the turns of it that are in the pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lamina.index.bm25 import K1, B, idf
from lamina.kernel.time import SECOND_US, Instant
from lamina.models.maxsim import Interaction
from lamina.models.ports import Float32Array, TokenMatrix, TokenRows

TIME_TOLERANCE_DAYS = 7.0
"""Past the edge of a named time window the time signal falls to 1/e in this many days."""
_TIME_TOLERANCE_US = TIME_TOLERANCE_DAYS * 86_400 * SECOND_US


@dataclass(frozen=True, slots=True)
class ScopeStatistics:
    """Of the whole searched scope: turns, mean terms of a turn, distinct named speakers, and in how many
    turns each term of the question occurs (a missing term counts as in none)."""

    turns: int
    terms_mean: float
    speakers: int
    turns_with_term: Mapping[str, int]

    def idf(self, term: str) -> float:
        """How telling a term of the question is in the scope, > 0."""
        return idf(self.turns_with_term.get(term, 0), self.turns)


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """A question: content terms without repetition, token vectors, and what it names.

    ``persons`` are those speakers of the scope that it names, as the scope spells them; ``window`` is the time in which
    it looks for its answer, from and to, None where it is open.
    """

    terms: tuple[str, ...]
    tokens: TokenMatrix
    persons: frozenset[str] = frozenset()
    asks_assistant: bool = False
    window: tuple[Instant | None, Instant | None] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """A pool of n turns as columns of (n,).

    ``counts`` is (n, q): how often each of the question's terms occurs. ``lengths`` are in terms. ``cosines`` are of the
    pooled vectors. Turns of one session share a number in ``sessions``; ``ALONE`` marks those without one. ``previous``
    and ``following`` are places *in the pool* of the neighbours in the session, n where there is none or the pool
    lacks it. ``named`` says whether the speaker is one of the persons that the question names.
    """

    counts: Float32Array
    lengths: Float32Array
    tokens: TokenRows
    cosines: NDArray[np.float64]
    sessions: NDArray[np.int64]
    previous: NDArray[np.intp]
    following: NDArray[np.intp]
    named: NDArray[np.bool_]
    by_assistant: NDArray[np.bool_]
    observed_at: NDArray[np.int64]
    question_shares: NDArray[np.float64]
    self_shares: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.lengths)


ALONE = -1

Z_SCORED = ("bm25_turn", "bm25_window", "bm25_session", "maxsim_turn", "maxsim_window", "cosine", "length")
PLAIN = ("named_speaker", "question_share", "self_share", "assistant_asked", "assistant_unasked", "time")
SIGNALS = Z_SCORED + PLAIN
"""Order of the columns: the first seven are z-scored inside the pool, the others lie in [0, 1]."""


def signal_matrix(pool: Turns, question: QuestionFeatures, scope: ScopeStatistics) -> Float32Array:
    """(n, len(SIGNALS)) float32, one row a turn of the pool in its order."""
    if not len(pool):
        return np.zeros((0, len(SIGNALS)), np.float32)
    return signals_of(pool, question, scope, Interaction(question.tokens, pool.tokens).best)


def signals_of(
    pool: Turns, question: QuestionFeatures, scope: ScopeStatistics, cosines: Float32Array
) -> Float32Array:
    """As ``signal_matrix``, with the best cosines of the pool (n, t) at hand."""
    counts, lengths, previous, following = pool.counts, pool.lengths, pool.previous, pool.following
    idfs = np.array([scope.idf(term) for term in question.terms], np.float32)
    window_cosines = np.maximum(
        cosines, np.maximum(_shifted(cosines, previous, -1), _shifted(cosines, following, -1))
    )
    window_counts = counts + _shifted(counts, previous, 0) + _shifted(counts, following, 0)
    window_lengths = lengths + _shifted(lengths, previous, 0) + _shifted(lengths, following, 0)
    ranged = np.column_stack(
        [
            bm25(counts, lengths, idfs, scope.terms_mean),
            bm25(window_counts, window_lengths, idfs, max(scope.terms_mean, float(window_lengths.mean()))),
            session_bm25(pool.sessions, counts, idfs),
            cosines.mean(axis=1),
            window_cosines.mean(axis=1),
            pool.cosines,
            np.log1p(lengths),
        ]
    )
    return np.column_stack([_z_scores(ranged), _plain(pool, question, scope)]).astype(np.float32)


def as_if_read(
    pool: Turns,
    cosines: Float32Array,
    unread: NDArray[np.bool_],
    question: QuestionFeatures,
    scope: ScopeStatistics,
) -> tuple[Turns, Float32Array]:
    """The pool and its best cosines (n, t) with figures for the turns that are ``unread``: their vectors are not there yet.

    A turn is found by its words at once, its vectors follow. Until then it is taken to be as near as the turns that were read are on
    average, and, by the share of the question's words that it holds, up to as near as the nearest: without that it would stand
    behind turns that match worse.
    """
    if not unread.any() or unread.all():
        return pool, cosines
    idfs = np.array([scope.idf(term) for term in question.terms], np.float32)
    shares = (pool.counts[unread] > 0) @ idfs / max(float(idfs.sum()), 1e-6)
    best = cosines[~unread][cosines[~unread].mean(axis=1).argmax()]
    mean = cosines[~unread].mean(axis=0)
    cosines = cosines.copy()
    cosines[unread] = mean + shares[:, None] * (best - mean)
    pooled = pool.cosines.copy()
    read = pooled[~unread]
    pooled[unread] = read.mean() + shares * (read.max() - read.mean())
    return replace(pool, cosines=pooled), cosines


def term_counts(texts: Sequence[Sequence[str]], terms: Sequence[str]) -> Float32Array:
    """(n, len(terms)) float32: how often each of the question's terms occurs in each text."""
    column = {term: at for at, term in enumerate(terms)}
    counts = np.zeros((len(texts), len(terms)), np.float32)
    for row, text in enumerate(texts):
        for term in text:
            if term in column:
                counts[row, column[term]] += 1.0
    return counts


def bm25(counts: Float32Array, lengths: Float32Array, idfs: Float32Array, terms_mean: float) -> Float32Array:
    """(n,) float32, >= 0, from counts (n, q), lengths (n,) in terms and idfs (q,).

    Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, equation 3.15.
    """
    norms = K1 * (1.0 - B + B * lengths / max(terms_mean, 1.0))
    return np.asarray((counts * (K1 + 1.0) / (counts + norms[:, None])) @ idfs, np.float32)


def session_bm25(sessions: NDArray[np.int64], counts: Float32Array, idfs: Float32Array) -> Float32Array:
    """(n,) float32: BM25 of each turn's session, read as one text made of its turns in the pool.

    No length norm: what of a session reached the pool is there because it matched, so its length says
    nothing. A turn without a session stands for itself.
    """
    alone = np.flatnonzero(sessions == ALONE)
    told_apart = sessions.copy()
    told_apart[alone] = -2 - alone
    places, key = np.unique(told_apart, return_inverse=True)
    totals = np.zeros((len(places), counts.shape[1]), np.float32)
    np.add.at(totals, key, counts)
    return np.asarray(((totals * (K1 + 1.0) / (totals + K1)) @ idfs)[key], np.float32)


def persons_named(question_terms: Sequence[str], speakers: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Speakers whose first name term stands in the question; ``speakers`` maps each to its analysed name."""
    asked = frozenset(question_terms)
    return frozenset(speaker for speaker, name in speakers.items() if name and name[0] in asked)


def _shifted(rows: Float32Array, places: NDArray[np.intp], missing: float) -> Float32Array:
    filler = np.full((1, *rows.shape[1:]), missing, np.float32)
    moved: Float32Array = np.concatenate([rows, filler])[places]
    return moved


def _z_scores(columns: Float32Array) -> Float32Array:
    spread = columns.std(axis=0)
    spread[spread < 1e-6] = np.inf
    scores: Float32Array = (columns - columns.mean(axis=0)) / spread
    return scores


def _plain(pool: Turns, question: QuestionFeatures, scope: ScopeStatistics) -> NDArray[np.float64]:
    one_named = scope.speakers > 1 and len(question.persons) == 1
    return np.column_stack(
        [
            pool.named & one_named,
            pool.question_shares,
            pool.self_shares,
            pool.by_assistant & question.asks_assistant,
            pool.by_assistant & (not question.asks_assistant),
            _nearness(pool.observed_at, question.window),
        ]
    )


def _nearness(
    observed_at: NDArray[np.int64], window: tuple[Instant | None, Instant | None] | None
) -> NDArray[np.float64]:
    if window is None:
        return np.zeros(len(observed_at))
    early = 0 if window[0] is None else window[0] - observed_at
    late = 0 if window[1] is None else observed_at - window[1]
    outside = np.maximum(np.maximum(early, late), 0)
    return np.exp(-(outside / _TIME_TOLERANCE_US))
