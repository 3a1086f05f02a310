import math
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest

from lamina.kernel.time import SECOND_US, from_datetime
from lamina.language.questions import sentence_shares
from lamina.language.tokens import analyse
from lamina.models.ports import TokenMatrix, TokenRows
from lamina.recall.rank import rank, worth_reading
from lamina.recall.signals import (
    ALONE,
    K1,
    SIGNALS,
    B,
    QuestionFeatures,
    ScopeStatistics,
    Turns,
    bm25,
    persons_named,
    session_bm25,
    signal_matrix,
    term_counts,
)

DAY = from_datetime(datetime(2024, 3, 1, 12, tzinfo=UTC))
DAY_US = 86_400 * SECOND_US
SCOPE = ScopeStatistics(turns=50, terms_mean=6.0, speakers=2, turns_with_term={"cat": 3, "paint": 8})
TEXTS = ("I painted the cat", "Do you like cats?", "The weather is fine today", "My sister paints", "Nothing")


def tokens(seed: int, count: int = 4) -> TokenMatrix:
    rows = np.random.default_rng(seed).integers(-127, 128, (count, 8)).astype(np.int8)
    return TokenMatrix(rows, (1 / np.linalg.norm(rows.astype(np.float32), axis=1)).astype(np.float32))


def pool(texts: Sequence[str] = TEXTS, terms: Sequence[str] = ("paint", "cat")) -> Turns:
    """Three turns of one session, two of another; Bob and Ann speak in turn, a day apart."""
    places = np.arange(len(texts))
    analysed = [analyse(text) for text in texts]
    shares = np.array([sentence_shares(text) for text in texts])
    return Turns(
        counts=term_counts(analysed, terms),
        lengths=np.array([len(words) for words in analysed], np.float32),
        tokens=TokenRows.joined([tokens(at) for at in range(len(texts))]),
        cosines=0.1 * places,
        sessions=np.where(places < 3, 1, 2),
        previous=np.array([5, 0, 1, 5, 3]),
        following=np.array([1, 2, 5, 4, 5]),
        named=places % 2 == 0,
        by_assistant=np.zeros(len(texts), np.bool_),
        observed_at=DAY + places * DAY_US,
        question_shares=shares[:, 0],
        self_shares=shares[:, 1],
    )


POOL = pool()
QUESTION = QuestionFeatures(("paint", "cat"), tokens(99, 3), frozenset({"Bob"}))


def column(name: str, pool: Turns, question: QuestionFeatures) -> list[float]:
    return [float(one) for one in signal_matrix(pool, question, SCOPE)[:, SIGNALS.index(name)]]


def test_bm25_equals_the_naive_formula() -> None:
    texts = [analyse(text) for text in TEXTS]
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
    idfs = np.array([SCOPE.idf(term) for term in QUESTION.terms], np.float32)
    assert bm25(term_counts(texts, QUESTION.terms), lengths, idfs, 6.0) == pytest.approx(expected, abs=1e-5)


def test_session_shares_one_score_and_a_lone_turn_has_its_own() -> None:
    counts = np.array([[1.0], [0.0], [2.0], [0.0]], np.float32)
    scores = session_bm25(np.array([7, 7, ALONE, ALONE]), counts, np.array([2.0], np.float32))
    assert scores.tolist() == pytest.approx([2.0, 2.0, 2.0 * 2 * 2.2 / 3.2, 0.0])


def test_contributions_sum_to_the_score() -> None:
    for one in rank(POOL, QUESTION, SCOPE):
        assert sum(one.contributions.values()) == pytest.approx(one.score)


def test_ranking_is_complete_descending_and_repeatable() -> None:
    first, second = rank(POOL, QUESTION, SCOPE), rank(POOL, QUESTION, SCOPE)
    assert [one[:3] for one in first] == [one[:3] for one in second]
    assert sorted(one.at for one in first) == list(range(len(POOL)))
    assert [one.score for one in first] == sorted((one.score for one in first), reverse=True)


def test_equal_turns_keep_the_order_of_the_pool() -> None:
    same = replace(
        pool([TEXTS[2]] * 5),
        tokens=TokenRows.joined([tokens(2)] * 5),
        cosines=np.zeros(5),
        sessions=np.full(5, ALONE),
        previous=np.full(5, 5),
        following=np.full(5, 5),
        named=np.zeros(5, np.bool_),
    )
    assert [one.at for one in rank(same, QUESTION, SCOPE)] == [0, 1, 2, 3, 4]


def test_empty_pool_and_empty_question_rank_without_fault() -> None:
    nothing = QuestionFeatures((), TokenMatrix(np.zeros((0, 8), np.int8), np.zeros(0, np.float32)))
    nobody = Turns(
        **{each.name: getattr(POOL, each.name)[:0] for each in fields(Turns) if each.name != "tokens"},
        tokens=TokenRows.joined([]),
    )
    assert rank(nobody, QUESTION, SCOPE) == []
    assert len(rank(pool(terms=()), nothing, SCOPE)) == len(POOL)


def test_a_turn_whose_vectors_are_not_there_yet_stands_by_its_words() -> None:
    """Else one that was written just now would stand behind whatever matches worse and was read."""
    texts = ("I painted the cat", "The weather is fine today", "The cat and the paint", "Nothing")
    alone = {"sessions": np.full(4, ALONE), "previous": np.full(4, 4), "following": np.full(4, 4)}
    some = np.zeros((0, 8), np.int8), np.zeros(0, np.float32)
    for unread in range(4):
        matrices = [TokenMatrix(*some) if at == unread else tokens(at) for at in range(4)]
        cosines = np.where(np.arange(4) == unread, 0.0, 0.4)
        pooled = replace(pool(texts), tokens=TokenRows.joined(matrices), cosines=cosines, **alone)
        order = [one.at for one in rank(pooled, replace(QUESTION, persons=frozenset()), SCOPE)]
        assert (unread in order[:2]) == (unread in {0, 2}), f"turn {unread} unread: {order}"


def test_of_a_large_pool_those_are_read_that_words_and_pooled_vectors_speak_for() -> None:
    """The names of who speaks and the words of neighbours count as they do in the ranking; who is read by nobody yet stands by its words."""
    nobody = np.zeros(5, np.bool_)
    alone = {"sessions": np.full(5, ALONE), "previous": np.full(5, 5), "following": np.full(5, 5)}
    plain = replace(QUESTION, persons=frozenset())
    far = replace(pool(), cosines=np.array([0.1, 0.1, 0.9, 0.1, 0.2]), named=nobody, **alone)

    def worth(turns: Turns, unread: Sequence[int] = (), limit: int = 2) -> set[int]:
        waits = np.isin(np.arange(5), unread)
        return set(np.flatnonzero(worth_reading(turns, waits, plain, SCOPE, limit=limit)).tolist())

    assert worth(far) == {0, 2}  # the most words, the nearest
    late = replace(far, cosines=np.where(np.arange(5) == 0, 0.0, far.cosines))
    assert worth(late, [0]) == {0, 2}
    assert worth(replace(late, cosines=np.zeros(5)), range(5), 1) == {0}
    assert worth(far, limit=9) == set(range(5))


def test_unknown_weight_is_refused() -> None:
    with pytest.raises(AssertionError, match="speling"):
        rank(POOL, QUESTION, SCOPE, {"speling": 1.0})


def test_named_speaker_counts_only_when_one_person_is_named_among_several() -> None:
    assert column("named_speaker", POOL, QUESTION) == [1, 0, 1, 0, 1]
    both = replace(QUESTION, persons=frozenset({"Ann", "Bob"}))
    assert column("named_speaker", POOL, both) == [0] * 5


def test_time_signal_is_full_inside_the_window_and_fades_outside() -> None:
    asked = replace(QUESTION, window=(DAY, DAY + DAY_US))
    near = column("time", POOL, asked)
    assert near[:2] == [1.0, 1.0]
    assert near[2:] == sorted(near[2:], reverse=True)
    assert column("time", POOL, QUESTION) == [0.0] * 5


def test_time_signal_is_full_on_the_open_side_of_a_window() -> None:
    since = column("time", POOL, replace(QUESTION, window=(DAY + 2 * DAY_US, None)))
    assert since[2:] == [1.0, 1.0, 1.0]
    assert since[0] < since[1] < 1.0
    until = column("time", POOL, replace(QUESTION, window=(None, DAY)))
    assert until[0] == 1.0 > until[1]


def test_assistant_turn_is_told_apart_by_what_is_asked() -> None:
    spoken = replace(POOL, by_assistant=np.array([True, False, False, False, False]))
    assert column("assistant_unasked", spoken, QUESTION) == [1, 0, 0, 0, 0]
    assert column("assistant_asked", spoken, replace(QUESTION, asks_assistant=True)) == [1, 0, 0, 0, 0]


def test_person_is_named_by_the_first_name() -> None:
    speakers = {"Ann Lee": ["ann", "lee"], "Bob": ["bob"]}
    assert persons_named(analyse("What did Ann's brother say?"), speakers) == {"Ann Lee"}
