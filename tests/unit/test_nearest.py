"""Which sentence of a turn comes nearest to a question, and what a line then quotes of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from given import append
from lamina.models.counter import WordPieceCounter
from lamina.models.maxsim import NO_TOKENS, Interaction
from lamina.models.ports import TokenMatrix, TokenRows, quantise
from lamina.recall.excerpts import Excerpts, reading_of
from lamina.recall.nearest import Stretches, maxsims, tokens_of_turns
from lamina.store.memory import MemoryStore

SAID = "I slept badly. We painted the fence green. Then it rained all day."


def matrix(rows: Sequence[Sequence[float]]) -> TokenMatrix:
    return quantise(np.array(rows, np.float32).reshape(-1, 2))


QUESTION = matrix([[1, 0]])
FAR, NEAR = [0.0, 1.0], [1.0, 0.0]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([2, 1, 1], [0, 1, 0]),
        ([2, 2], [0, 1]),
        ([3, 0, 1], [1, NO_TOKENS, 0]),
        ([2, 1, 9], [0, 1, 0]),  # the model read only so much of it
        ([4, 5], [1, NO_TOKENS]),
    ],
)
def test_stretches_of_a_turn_have_the_tokens_that_are_theirs(
    counts: list[int], expected: list[float]
) -> None:
    turns = TokenRows.joined([matrix([NEAR, NEAR]), matrix([FAR, FAR, FAR, NEAR, FAR])])
    first, tokens = tokens_of_turns(Interaction(QUESTION, turns), [0, 1])
    assert first is not None
    assert tokens is not None
    own, other = maxsims([Stretches(tokens, 1, counts), Stretches(first, 0, [1])])
    assert own == pytest.approx(expected, abs=0.01)
    assert other == pytest.approx([1], abs=0.01)


def test_stretches_have_their_tokens_where_some_were_left_out() -> None:
    rows = [FAR, FAR, NEAR, FAR, NEAR]  # of eight tokens, of which the second, fourth and fifth are not here
    all_of = TokenRows.joined([matrix([NEAR]), matrix(rows)])
    turns = TokenRows(all_of.rows, all_of.scales, all_of.counts, [None, 0b11100101])
    first, tokens = tokens_of_turns(Interaction(QUESTION, turns), [0, 1])
    assert first is not None
    assert tokens is not None
    near, other = maxsims([Stretches(tokens, 1, [1, 2, 2, 9]), Stretches(first, 0, [1])])
    assert near == pytest.approx([NO_TOKENS, 0, 1, 1], abs=0.01)
    assert other == pytest.approx([1], abs=0.01)


def test_sentences_are_counted_behind_the_name_of_who_said_them() -> None:
    counter = WordPieceCounter()
    (before, green) = counter.count(["Mia: I slept badly.", "We painted the fence green."])
    rows = [FAR] * before + [NEAR] * green + [FAR] * 6
    (tokens,) = tokens_of_turns(Interaction(QUESTION, TokenRows.joined([matrix(rows)])), [0])
    assert tokens is not None
    said = reading_of(append(MemoryStore(), SAID)[0])
    counts, (name,) = said.counts(counter), counter.count(["Mia:"])
    assert maxsims([Stretches(tokens, name + counts.before, counts.stretches)]) == [
        pytest.approx([0, 1, 0], abs=0.01)
    ]


def test_what_parts_two_sentences_is_read_with_the_first() -> None:
    counter = WordPieceCounter()
    said = reading_of(append(MemoryStore(), "- Bread, milk.\n- Two eggs.")[0])
    counts = said.counts(counter)
    assert [said.line[start:end] for start, end in said.spans] == ["Bread, milk.", "Two eggs."]
    assert (counts.line, counts.sentences) == (9, [4, 3])
    assert (counts.before, counts.stretches) == (1, [5, 3])


def test_a_turn_whose_vectors_are_still_to_come_has_none() -> None:
    rows = TokenRows.joined([matrix([NEAR]), matrix([]), matrix([FAR, NEAR])])
    first, unread, last = tokens_of_turns(Interaction(QUESTION, rows), [0, 1, 2])
    assert unread is None
    assert first is not None
    assert last is not None
    assert maxsims([Stretches(last, 0, [1, 1])]) == [pytest.approx([0, 1], abs=0.01)]
    assert tokens_of_turns(Interaction(matrix([]), rows), [0]) == [None]


@pytest.mark.parametrize(
    ("near", "chars", "words"),
    [
        ([0.1, 0.9, 0.2], 30, "… We painted the fence green. …"),
        ([0.1, 0.9, 0.2], 52, "… We painted the fence green. Then it rained all day."),  # what follows first
        ([0.1, 0.2, 0.9], 52, "… We painted the fence green. Then it rained all day."),
        ([0.9, 0.1, 0.2], 20, "I slept badly. …"),
        ([0.1, 0.9, 0.2], 10, "… We painted …"),
        ([0.1, 0.9, 0.2], 500, SAID),
    ],
)
def test_the_nearest_sentence_is_quoted_with_those_around_it_that_fit(
    near: list[float], chars: int, words: str
) -> None:
    excerpts = Excerpts(reading_of(append(MemoryStore(), SAID)[0]), ("rain",), lambda: near)
    assert excerpts.of(chars, nearest=True).words == words


def test_words_decide_where_nobody_can_tell_what_is_nearest() -> None:
    excerpts = Excerpts(reading_of(append(MemoryStore(), SAID)[0]), ("rain",))
    assert excerpts.of(30, nearest=True) == excerpts.of(30)
    assert "rained" in excerpts.of(30).words
