"""Vectors of questions asked lately: the model is asked once, and what is kept is bounded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.models.ports import Encoded
from lamina.models.recent import RecentQuestions


class Model:
    """Notes what it encodes."""

    name, dim_pooled, dim_tokens = "m", 1, 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Encoded:
        self.asked += texts
        return Encoded(np.array([[float(len(text))] for text in texts], np.float32), [])


def test_a_question_is_encoded_once() -> None:
    model = Model()
    recent = RecentQuestions(model)
    assert [recent.of(text).pooled[0, 0] for text in ("who?", "where?", "who?")] == [4.0, 6.0, 4.0]
    assert model.asked == ["who?", "where?"]


def test_a_question_in_other_letters_is_another() -> None:
    model = Model()
    recent = RecentQuestions(model)
    recent.of("who?"), recent.of("Who?"), recent.of("who? ")
    assert model.asked == ["who?", "Who?", "who? "]


def test_the_question_asked_longest_ago_goes_first() -> None:
    model = Model()
    recent = RecentQuestions(model, count_max=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        recent.of(text)
    assert model.asked == ["a", "b", "c", "b"]
