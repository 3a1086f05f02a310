"""What speaks for a turn as the answer to a question: one column of figures per signal.

Pure functions over values that the caller has gathered. The caller hands over one pool of turns (the
candidates of the cheap arms and, if it likes, their neighbours); windows and sessions are read from that
pool alone, so a session of thousands of turns costs no more than the turns of it that are in the pool.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from lamina.models.maxsim import best_cosines
from lamina.models.ports import Float32Array, TokenMatrix

K1, B = 1.2, 0.75
"""BM25 constants, the ones of SQLite's FTS5."""

TIME_TOLERANCE_DAYS = 7.0
"""Past the edge of a named time window the time signal falls to 1/e in this many days."""


@dataclass(frozen=True, slots=True)
class ScopeStatistics:
    """Of the whole searched scope: turns, mean terms of a turn, distinct named speakers, and in how many
    turns each term of the question occurs (a missing term counts as in none)."""

    turns: int
    terms_mean: float
    speakers: int
    turns_with_term: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """A question: content terms without repetition, token vectors, and what it names.

    ``persons`` are those speakers of the scope that it names, spelt as in ``TurnCandidate.speaker``;
    ``window`` is the time in which it looks for its answer, from and to, None where it is open.
    """

    terms: tuple[str, ...]
    tokens: TokenMatrix
    persons: frozenset[str] = frozenset()
    asks_assistant: bool = False
    window: tuple[datetime | None, datetime | None] | None = None


@dataclass(frozen=True, slots=True)
class TurnCandidate:
    """A turn of the pool. ``previous`` and ``next`` are places *in the pool* of its neighbours in the same
    session, None where it has none or the pool lacks it; ``cosine`` is of the pooled vectors."""

    terms: Sequence[str]
    tokens: TokenMatrix
    cosine: float
    session: str | None
    previous: int | None
    next: int | None
    speaker: str
    role: str
    observed_at: datetime
    question_share: float
    self_share: float


Z_SCORED = ("bm25_turn", "bm25_window", "bm25_session", "maxsim_turn", "maxsim_window", "cosine", "length")
PLAIN = ("named_speaker", "question_share", "self_share", "assistant_asked", "assistant_unasked", "time")
SIGNALS = Z_SCORED + PLAIN
"""Order of the columns: the first seven are z-scored inside the pool, the others lie in [0, 1]."""


def signal_matrix(
    pool: Sequence[TurnCandidate], question: QuestionFeatures, scope: ScopeStatistics
) -> Float32Array:
    """(n, len(SIGNALS)) float32, one row a turn of the pool in its order."""
    if not pool:
        return np.zeros((0, len(SIGNALS)), np.float32)
    counts = term_counts([turn.terms for turn in pool], question.terms)
    lengths = np.array([len(turn.terms) for turn in pool], np.float32)
    idfs = np.array([idf(term, scope) for term in question.terms], np.float32)
    previous, following = _neighbours(pool)
    cosines = best_cosines(question.tokens, [turn.tokens for turn in pool])
    window_cosines = np.maximum(
        cosines, np.maximum(_shifted(cosines, previous, -1), _shifted(cosines, following, -1))
    )
    window_counts = counts + _shifted(counts, previous, 0) + _shifted(counts, following, 0)
    window_lengths = lengths + _shifted(lengths, previous, 0) + _shifted(lengths, following, 0)
    ranged = np.column_stack(
        [
            bm25(counts, lengths, idfs, scope.terms_mean),
            bm25(window_counts, window_lengths, idfs, max(scope.terms_mean, float(window_lengths.mean()))),
            session_bm25([turn.session for turn in pool], counts, idfs),
            cosines.mean(axis=1),
            window_cosines.mean(axis=1),
            [turn.cosine for turn in pool],
            np.log1p(lengths),
        ]
    )
    plain = np.array([_plain(turn, question, scope) for turn in pool])
    return np.column_stack([_z_scores(ranged), plain]).astype(np.float32)


def term_counts(texts: Sequence[Sequence[str]], terms: Sequence[str]) -> Float32Array:
    """(n, len(terms)) float32: how often each of the question's terms occurs in each text."""
    column = {term: at for at, term in enumerate(terms)}
    counts = np.zeros((len(texts), len(terms)), np.float32)
    for row, text in enumerate(texts):
        for term in text:
            if term in column:
                counts[row, column[term]] += 1.0
    return counts


def idf(term: str, scope: ScopeStatistics) -> float:
    """How telling a term is in the scope, > 0: ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene."""
    found = scope.turns_with_term.get(term, 0)
    return math.log1p((max(scope.turns - found, 0) + 0.5) / (found + 0.5))


def bm25(counts: Float32Array, lengths: Float32Array, idfs: Float32Array, terms_mean: float) -> Float32Array:
    """(n,) float32, >= 0, from counts (n, q), lengths (n,) in terms and idfs (q,).

    Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, equation 3.15.
    """
    norms = K1 * (1.0 - B + B * lengths / max(terms_mean, 1.0))
    return np.asarray((counts * (K1 + 1.0) / (counts + norms[:, None])) @ idfs, np.float32)


def session_bm25(sessions: Sequence[str | None], counts: Float32Array, idfs: Float32Array) -> Float32Array:
    """(n,) float32: BM25 of each turn's session, read as one text made of its turns in the pool.

    No length norm: what of a session reached the pool is there because it matched, so its length says
    nothing. A turn without a session stands for itself.
    """
    places: dict[object, int] = {}
    key = np.array(
        [places.setdefault(at if name is None else name, len(places)) for at, name in enumerate(sessions)],
        np.intp,
    )
    totals = np.zeros((len(places), counts.shape[1]), np.float32)
    np.add.at(totals, key, counts)
    return np.asarray(((totals * (K1 + 1.0) / (totals + K1)) @ idfs)[key], np.float32)


def persons_named(question_terms: Sequence[str], speakers: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Speakers whose first name term stands in the question; ``speakers`` maps each to its analysed name."""
    asked = frozenset(question_terms)
    return frozenset(speaker for speaker, name in speakers.items() if name and name[0] in asked)


def _neighbours(pool: Sequence[TurnCandidate]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    missing = len(pool)
    previous = [missing if turn.previous is None else turn.previous for turn in pool]
    following = [missing if turn.next is None else turn.next for turn in pool]
    return np.array(previous, np.intp), np.array(following, np.intp)


def _shifted(rows: Float32Array, places: NDArray[np.intp], missing: float) -> Float32Array:
    filler = np.full((1, *rows.shape[1:]), missing, np.float32)
    moved: Float32Array = np.concatenate([rows, filler])[places]
    return moved


def _z_scores(columns: Float32Array) -> Float32Array:
    spread = columns.std(axis=0)
    spread[spread < 1e-6] = np.inf
    scores: Float32Array = (columns - columns.mean(axis=0)) / spread
    return scores


def _plain(turn: TurnCandidate, question: QuestionFeatures, scope: ScopeStatistics) -> tuple[float, ...]:
    one_named = scope.speakers > 1 and len(question.persons) == 1 and bool(turn.speaker)
    is_assistant = turn.role == "assistant"
    return (
        float(one_named and turn.speaker in question.persons),
        turn.question_share,
        turn.self_share,
        float(is_assistant and question.asks_assistant),
        float(is_assistant and not question.asks_assistant),
        _nearness(turn.observed_at, question.window),
    )


def _nearness(instant: datetime, window: tuple[datetime | None, datetime | None] | None) -> float:
    if window is None:
        return 0.0
    early = window[0] - instant if window[0] else timedelta(0)
    late = instant - window[1] if window[1] else timedelta(0)
    return math.exp(-(max(early, late, timedelta(0)) / timedelta(days=TIME_TOLERANCE_DAYS)))
