"""Vectors of questions asked lately: the model is asked once, and what is kept is bounded."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from lamina.models.ports import Encoded
from lamina.models.recent import RecentQuestions


class Model:
    """Notes what it encodes."""

    name, dim_pooled = "m", 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Encoded:
        self.asked += texts
        return Encoded(np.array([[float(len(text))] for text in texts], np.float32), [])


def test_a_question_is_encoded_once() -> None:
    model = Model()
    recent = RecentQuestions(model)
    assert [recent.asked(text)().pooled[0, 0] for text in ("who?", "where?", "who?")] == [4.0, 6.0, 4.0]
    assert model.asked == ["who?", "where?"]


def test_a_question_in_other_letters_is_another() -> None:
    model = Model()
    recent = RecentQuestions(model)
    for text in ("who?", "Who?", "who? "):
        recent.asked(text)()
    assert model.asked == ["who?", "Who?", "who? "]


def test_the_question_asked_longest_ago_goes_first() -> None:
    model = Model()
    recent = RecentQuestions(model, count_max=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        recent.asked(text)()
    assert model.asked == ["a", "b", "c", "b"]


def test_the_caller_goes_on_while_the_model_runs() -> None:
    runs, may_end = threading.Event(), threading.Event()

    class Slow(Model):
        def encode(self, texts: Sequence[str]) -> Encoded:
            runs.set()
            assert may_end.wait(300)
            return super().encode(texts)

    encoded = RecentQuestions(Slow()).asked("who?")
    assert runs.wait(300)
    may_end.set()
    assert encoded().pooled[0, 0] == 4.0


def test_what_the_model_refuses_is_raised_where_it_is_waited_for() -> None:
    class Broken(Model):
        def encode(self, texts: Sequence[str]) -> Encoded:
            raise RuntimeError("no model")

    encoded = RecentQuestions(Broken()).asked("who?")
    with pytest.raises(RuntimeError, match="no model"):
        encoded()
