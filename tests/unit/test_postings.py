"""Postings against a plain count, whatever way the occurrences came in."""

from __future__ import annotations

import random
from array import array
from collections import Counter

import pytest

from lamina.index import postings
from lamina.index.postings import Postings


def taken_in(batches: list[list[tuple[int, int]]]) -> Postings:
    found = Postings()
    for batch in batches:
        found.add(array("I", [term for term, _ in batch]), array("I", [place for _, place in batch]))
    return found


def listed(found: Postings, term: int) -> list[tuple[int, float]]:
    places, counts = found.of(term)
    return list(zip(places.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize("fold_from", [1, 40, 10_000])
@pytest.mark.parametrize("seed", range(3))
def test_postings_count_as_a_plain_loop_does(
    monkeypatch: pytest.MonkeyPatch, fold_from: int, seed: int
) -> None:
    monkeypatch.setattr(postings, "_FOLD_FROM", fold_from)
    chance = random.Random(seed)
    batches = []
    place = 0
    for _ in range(12):
        batch = []
        for _ in range(chance.randrange(6)):
            batch += [(chance.randrange(15), place) for _ in range(chance.randrange(8))]
            place += 1
        batches.append(batch)
    found = taken_in(batches)
    plain = Counter(pair for batch in batches for pair in batch)
    for term in range(16):
        expected = sorted((at, float(count)) for (t, at), count in plain.items() if t == term)
        assert listed(found, term) == expected
        assert found.frequency(term) == len(expected)


def test_a_term_that_never_came_has_no_places() -> None:
    assert listed(taken_in([[(0, 0)]]), 99) == []
    assert Postings().frequency(0) == 0


@pytest.mark.parametrize("fold_from", [1, 10_000])
def test_counts_stop_at_a_byte(monkeypatch: pytest.MonkeyPatch, fold_from: int) -> None:
    monkeypatch.setattr(postings, "_FOLD_FROM", fold_from)
    assert listed(taken_in([[(3, 7)] * 300]), 3) == [(7, 255.0)]
