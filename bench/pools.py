"""Pools of candidates as the server gathers them: the best turns by scoped BM25 and by pooled vector, and of these the best by both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets import Question, Scope, encode
from lamina.index.bm25 import K1, B
from lamina.kernel.time import Instant, from_datetime
from lamina.language.questions import asks_assistant, sentence_shares
from lamina.language.temporal import question_window
from lamina.language.tokens import analyse, content_terms, event_terms
from lamina.models.ports import TokenRows
from lamina.recall.plan import WIDE
from lamina.recall.rank import worth_reading
from lamina.recall.signals import (
    QuestionFeatures,
    ScopeStatistics,
    Turns,
    persons_named,
    term_counts,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its pool; ``places`` maps the pool to turns of the scope, ``baseline`` is BM25's order."""

    question: Question
    pool: Turns
    features: QuestionFeatures
    statistics: ScopeStatistics
    places: NDArray[np.int64]
    baseline: NDArray[np.int64]
    sessions: tuple[str, ...]


class Index:
    """What the server's text and vector indexes know of one scope."""

    def __init__(self, scope: Scope, cache: Path) -> None:
        turns = scope.turns
        self.scope = scope
        self.encoded = encode([f"{t.speaker}: {t.text}" if t.speaker else t.text for t in turns], cache)
        self.stored = [matrix.to_bytes() for matrix in self.encoded.tokens]
        self.asked = encode([q.text for q in scope.questions], cache)
        self.terms = [event_terms(t.text, t.speaker, t.observed_at) for t in turns]
        self.lengths = np.array([len(terms) for terms in self.terms])
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, terms in enumerate(self.terms):
            for term, count in Counter(terms).items():
                self.postings[term].append((at, count))
        self.shares = [sentence_shares(t.text) for t in turns]
        self.speakers = {t.speaker: analyse(t.speaker) for t in turns if t.speaker}

    def statistics(self, terms: Sequence[str]) -> ScopeStatistics:
        found = {term: len(self.postings[term]) for term in terms if term in self.postings}
        return ScopeStatistics(len(self.terms), float(self.lengths.mean()), len(self.speakers), found)

    def bm25(self, terms: Sequence[str], statistics: ScopeStatistics) -> NDArray[np.float64]:
        scores = np.zeros(len(self.terms))
        norms = K1 * (1 - B + B * self.lengths / statistics.terms_mean)
        for term in terms:
            for at, count in self.postings.get(term, ()):
                scores[at] += statistics.idf(term) * count * (K1 + 1) / (count + norms[at])
        return scores

    def ask(self, number: int) -> Asked:
        question = self.scope.questions[number]
        terms = tuple(dict.fromkeys(content_terms(analyse(question.text))))
        statistics = self.statistics(terms)
        scores = self.bm25(terms, statistics)
        cosines = self.encoded.pooled @ self.asked.pooled[number]
        by_words = [int(at) for at in np.argsort(-scores, kind="stable")[: WIDE.text] if scores[at] > 0]
        by_vector = [int(at) for at in np.argsort(-cosines, kind="stable")[: WIDE.vector]]
        chosen = {*by_words, *by_vector}
        for at in [*by_words[: WIDE.expanded], *by_vector[: WIDE.expanded]]:
            chosen |= {near for near in (at - 1, at + 1) if self._together(at, near)}
        places = sorted(chosen)
        window = question_window(question.text, question.asked_at)
        features = QuestionFeatures(
            terms,
            self.asked.tokens[number],
            persons_named(analyse(question.text), self.speakers),
            asks_assistant(question.text),
            None if window is None else (_instant(window.valid_from), _instant(window.valid_to)),
        )
        pool = self._pool(places, cosines, features)
        if len(pool) > WIDE.read:
            nobody = np.zeros(len(pool), np.bool_)
            worth = worth_reading(pool, nobody, features, statistics, limit=WIDE.read)
            places = list(compress(places, worth))
            pool = self._pool(places, cosines, features)
        return Asked(
            question,
            pool,
            features,
            statistics,
            np.array(places),
            np.array(by_words),
            tuple(turn.session for turn in self.scope.turns),
        )

    def _together(self, one: int, other: int) -> bool:
        turns = self.scope.turns
        return 0 <= other < len(turns) and turns[one].session == turns[other].session

    def _pool(self, places: Sequence[int], cosines: NDArray[np.float32], question: QuestionFeatures) -> Turns:
        spot = {at: index for index, at in enumerate(places)}

        def near(at: int, other: int) -> int:
            return spot.get(other, len(places)) if self._together(at, other) else len(places)

        turns = [self.scope.turns[at] for at in places]
        number_of = {name: number for number, name in enumerate(dict.fromkeys(t.session for t in turns))}
        return Turns(
            counts=term_counts([self.terms[at] for at in places], question.terms),
            lengths=self.lengths[places].astype(np.float32),
            tokens=TokenRows.from_payloads([self.stored[at] for at in places]),
            cosines=cosines[places].astype(np.float64),
            sessions=np.array([number_of[turn.session] for turn in turns], np.int64),
            previous=np.array([near(at, at - 1) for at in places], np.intp),
            following=np.array([near(at, at + 1) for at in places], np.intp),
            named=np.array([bool(t.speaker) and t.speaker in question.persons for t in turns], np.bool_),
            by_assistant=np.array([turn.role == "assistant" for turn in turns], np.bool_),
            observed_at=np.array([from_datetime(turn.observed_at) for turn in turns], np.int64),
            question_shares=np.array([self.shares[at][0] for at in places]),
            self_shares=np.array([self.shares[at][1] for at in places]),
        )


def _instant(moment: datetime | None) -> Instant | None:
    return None if moment is None else from_datetime(moment)
