"""How near sentences come to turns: by the texts alone, and by no more turns at hand than may be kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from given import CountedIds, ManualClock, append
from lamina.models.minilm import MiniLmEmbedder
from lamina.models.ports import Float32Array
from lamina.pipeline.nearness import Nearness
from lamina.store.memory import MemoryStore


class _Letters:
    """Texts as how often they have each letter; what was read is counted."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def pooled(self, texts: Sequence[str]) -> Float32Array:
        self.read += texts
        rows = np.array([[text.count(each) for each in "abc"] for text in texts], np.float32)
        lengths: Float32Array = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / lengths, np.float32)


def test_a_turn_is_read_once_while_it_is_at_hand() -> None:
    letters = _Letters()
    nearness = Nearness(letters.pooled, turns_max=2)
    one, two, three = append(MemoryStore(clock=ManualClock(), ids=CountedIds()), "a", "b", "c")
    assert nearness.of(["a", "ab"], [one, two]) == {
        one.id: pytest.approx([1.0, 0.5**0.5]),
        two.id: pytest.approx([0.0, 0.5**0.5]),
    }
    nearness.of(["c"], [two, three])
    assert letters.read == ["a", "ab", "a", "b", "c", "c"]
    nearness.of(["c"], [two])
    nearness.of(["c"], [one])
    assert letters.read[-3:] == ["c", "c", "a"]
    assert nearness.of([], [one]) == nearness.of(["a"], []) == {}


def test_pooled_rows_are_those_of_an_encoding() -> None:
    embedder, texts = MiniLmEmbedder(), ["I bank with Chase.", "We bought a house."]
    assert np.array_equal(embedder.pooled(texts), embedder.encode(texts).pooled)
    assert np.array_equal(embedder.pooled(texts[1:]), embedder.pooled(texts)[1:])
    assert embedder.pooled([]).shape == (0, 384)
