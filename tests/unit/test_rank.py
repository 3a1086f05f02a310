import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from lamina.language.questions import sentence_shares
from lamina.language.tokens import analyse
from lamina.models.ports import TokenMatrix
from lamina.recall.rank import rank
from lamina.recall.signals import (
    K1,
    SIGNALS,
    B,
    QuestionFeatures,
    ScopeStatistics,
    TurnCandidate,
    bm25,
    idf,
    persons_named,
    session_bm25,
    signal_matrix,
    term_counts,
)

DAY = datetime(2024, 3, 1, 12, tzinfo=UTC)
SCOPE = ScopeStatistics(turns=50, terms_mean=6.0, speakers=2, turns_with_term={"cat": 3, "paint": 8})
TEXTS = ("I painted the cat", "Do you like cats?", "The weather is fine today", "My sister paints", "Nothing")


def tokens(seed: int, count: int = 4) -> TokenMatrix:
    rows = np.random.default_rng(seed).integers(-127, 128, (count, 8)).astype(np.int8)
    return TokenMatrix(rows, (1 / np.linalg.norm(rows.astype(np.float32), axis=1)).astype(np.float32))


def turn(at: int, text: str) -> TurnCandidate:
    asking, own = sentence_shares(text)
    return TurnCandidate(
        terms=analyse(text),
        tokens=tokens(at),
        cosine=0.1 * at,
        session="one" if at < 3 else "two",
        previous=at - 1 if at in (1, 2, 4) else None,
        next=at + 1 if at in (0, 1, 3) else None,
        speaker="Ann" if at % 2 else "Bob",
        role="user",
        observed_at=DAY + timedelta(days=at),
        question_share=asking,
        self_share=own,
    )


POOL = [turn(at, text) for at, text in enumerate(TEXTS)]
QUESTION = QuestionFeatures(("paint", "cat"), tokens(99, 3), frozenset({"Bob"}))


def column(name: str, pool: list[TurnCandidate], question: QuestionFeatures) -> list[float]:
    return [float(one) for one in signal_matrix(pool, question, SCOPE)[:, SIGNALS.index(name)]]


def test_bm25_equals_the_naive_formula() -> None:
    texts = [one.terms for one in POOL]
    lengths = np.array([len(text) for text in texts], np.float32)
    expected = [
        sum(
            math.log(1 + (50 - n + 0.5) / (n + 0.5))
            * text.count(term)
            * (K1 + 1)
            / (text.count(term) + K1 * (1 - B + B * len(text) / 6.0))
            for term, n in (("paint", 8), ("cat", 3))
        )
        for text in texts
    ]
    idfs = np.array([idf(term, SCOPE) for term in QUESTION.terms], np.float32)
    assert bm25(term_counts(texts, QUESTION.terms), lengths, idfs, 6.0) == pytest.approx(expected, abs=1e-5)


def test_session_shares_one_score_and_a_lone_turn_has_its_own() -> None:
    counts = np.array([[1.0], [0.0], [2.0], [0.0]], np.float32)
    scores = session_bm25(["a", "a", None, None], counts, np.array([2.0], np.float32))
    assert scores.tolist() == pytest.approx([2.0, 2.0, 2.0 * 2 * 2.2 / 3.2, 0.0])


def test_contributions_sum_to_the_score() -> None:
    for one in rank(POOL, QUESTION, SCOPE):
        assert sum(one.contributions.values()) == pytest.approx(one.score)


def test_ranking_is_complete_descending_and_repeatable() -> None:
    first, second = rank(POOL, QUESTION, SCOPE), rank(POOL, QUESTION, SCOPE)
    assert first == second
    assert sorted(one.index for one in first) == list(range(len(POOL)))
    assert [one.score for one in first] == sorted((one.score for one in first), reverse=True)


def test_equal_turns_keep_the_order_of_the_pool() -> None:
    same = [replace(POOL[2], previous=None, next=None)] * 4
    assert [one.index for one in rank(same, QUESTION, SCOPE)] == [0, 1, 2, 3]


def test_empty_pool_and_empty_question_rank_without_fault() -> None:
    nothing = QuestionFeatures((), TokenMatrix(np.zeros((0, 8), np.int8), np.zeros(0, np.float32)))
    assert rank([], QUESTION, SCOPE) == []
    assert len(rank(POOL, nothing, SCOPE)) == len(POOL)


def test_unknown_weight_is_refused() -> None:
    with pytest.raises(AssertionError, match="speling"):
        rank(POOL, QUESTION, SCOPE, {"speling": 1.0})


def test_named_speaker_counts_only_when_one_person_is_named_among_several() -> None:
    assert column("named_speaker", POOL, QUESTION) == [1, 0, 1, 0, 1]
    both = replace(QUESTION, persons=frozenset({"Ann", "Bob"}))
    assert column("named_speaker", POOL, both) == [0] * 5


def test_time_signal_is_full_inside_the_window_and_fades_outside() -> None:
    asked = replace(QUESTION, window=(DAY, DAY + timedelta(days=1)))
    near = column("time", POOL, asked)
    assert near[:2] == [1.0, 1.0]
    assert near[2:] == sorted(near[2:], reverse=True)
    assert column("time", POOL, QUESTION) == [0.0] * 5


def test_time_signal_is_full_on_the_open_side_of_a_window() -> None:
    since = column("time", POOL, replace(QUESTION, window=(DAY + timedelta(days=2), None)))
    assert since[2:] == [1.0, 1.0, 1.0]
    assert since[0] < since[1] < 1.0
    until = column("time", POOL, replace(QUESTION, window=(None, DAY)))
    assert until[0] == 1.0 > until[1]


def test_assistant_turn_is_told_apart_by_what_is_asked() -> None:
    pool = [replace(POOL[0], role="assistant")]
    assert column("assistant_unasked", pool, QUESTION) == [1.0]
    assert column("assistant_asked", pool, replace(QUESTION, asks_assistant=True)) == [1.0]


def test_person_is_named_by_the_first_name() -> None:
    speakers = {"Ann Lee": ["ann", "lee"], "Bob": ["bob"]}
    assert persons_named(analyse("What did Ann's brother say?"), speakers) == {"Ann Lee"}
