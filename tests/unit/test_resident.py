"""A scope's index in memory follows its rows and shows each search what it may see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from given import ALICE, BOB, NOON, TENANT, CountedIds, ManualClock, land, text_row
from lamina.index.resident import ResidentIndexes, ScopeIndex, idf
from lamina.index.vectors import pack
from lamina.kernel.records import Layer
from lamina.store.memory import MemoryStore
from lamina.store.ports import TextRow, VectorRow, Writes

DIMENSIONS = 8


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(clock=ManualClock(), ids=CountedIds())


def put(store: MemoryStore, *rows: TextRow) -> None:
    land(store, Writes(texts=list(rows)))


def turn(number: int, words: str, **more: object) -> TextRow:
    row = text_row(f"evt_{number}", words)
    values = {
        "layer": Layer.EVENTS,
        "recorded_at": NOON + number,
        "observed_at": NOON + number,
        "session": "s1",
    }
    return replace(row, **{**values, **more})  # type: ignore[arg-type]


def followed(store: MemoryStore) -> ScopeIndex:
    return ResidentIndexes(store.index, "m", DIMENSIONS).of(TENANT, ALICE)


def found(index: ScopeIndex, *terms: str, layer: Layer = Layer.EVENTS, **bounds: int) -> list[str]:
    weights = {term: idf(index.frequency(term, layer), len(index)) for term in terms}
    mask = index.mask(layer, **bounds)  # type: ignore[arg-type]
    return [index.record_id(place) for place, _ in index.match(layer, terms, weights, 3.0, mask, 10)]


def test_the_rarer_word_ranks_higher(store: MemoryStore) -> None:
    put(store, turn(1, "tea tea"), turn(2, "tea coffee"), turn(3, "tea milk"))
    assert found(followed(store), "tea", "coffee")[0] == "evt_2"


def test_rows_that_come_later_are_found(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS)
    put(store, turn(1, "tea"))
    assert found(indexes.of(TENANT, ALICE), "tea") == ["evt_1"]
    put(store, turn(2, "tea tea"))
    assert set(found(indexes.of(TENANT, ALICE), "tea")) == {"evt_1", "evt_2"}


def test_a_row_recorded_later_is_not_drawn_as_of_before(store: MemoryStore) -> None:
    put(store, turn(1, "tea"), turn(9, "tea tea tea"))
    assert found(followed(store), "tea", recorded_to=NOON + 5) == ["evt_1"]


def test_a_replaced_row_is_found_by_its_new_words_only(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS)
    put(store, replace(text_row("ep_1", "tea"), layer=Layer.EPISODES))
    indexes.of(TENANT, ALICE)
    put(store, replace(text_row("ep_1", "coffee"), layer=Layer.EPISODES))
    index = indexes.of(TENANT, ALICE)
    assert found(index, "tea", layer=Layer.EPISODES) == []
    assert found(index, "coffee", layer=Layer.EPISODES) == ["ep_1"]


def test_derived_rows_do_not_make_a_word_common_among_events(store: MemoryStore) -> None:
    put(store, turn(1, "tea"), *(replace(text_row(f"fact_{n}", "tea"), layer=Layer.FACTS) for n in range(5)))
    index = followed(store)
    assert (index.frequency("tea"), index.frequency("tea", Layer.FACTS)) == (1, 5)


def test_a_key_finds_a_turn_and_does_not_lengthen_it(store: MemoryStore) -> None:
    put(store, turn(1, "ramen always", keys="favourite food ramen"), turn(2, "nothing here"))
    index = followed(store)
    assert found(index, "favourite") == ["evt_1"]
    assert index.entry(0).terms == ("ramen", "always")
    assert index.terms_total == 4


def test_neighbours_are_those_of_the_session(store: MemoryStore) -> None:
    put(store, turn(1, "a"), turn(2, "b", session="s2"), turn(3, "c"), turn(4, "d"))
    index = followed(store)
    mask = index.mask(Layer.EVENTS)
    assert [index.neighbours(place, mask) for place in range(4)] == [[2], [], [0, 3], [2]]


def test_turns_without_a_session_have_no_neighbours(store: MemoryStore) -> None:
    put(store, turn(1, "a", session=None), turn(2, "b", session=None))
    index = followed(store)
    assert index.neighbours(0, index.mask(Layer.EVENTS)) == []


def test_scopes_do_not_share_words_or_counts(store: MemoryStore) -> None:
    put(store, turn(1, "tea"), turn(2, "tea coffee", scope=BOB))
    index = followed(store)
    assert (index.events, index.frequency("tea"), index.frequency("coffee")) == (1, 1, 0)


def test_the_nearest_vectors_come_first(store: MemoryStore) -> None:
    rows = np.eye(DIMENSIONS, dtype=np.float32)
    put(store, *(turn(number, "x") for number in range(4)))
    packed = pack(rows[:4])
    store.index.embed(
        [VectorRow(TENANT, f"evt_{number}", ALICE, "m", packed[number], b"") for number in range(4)]
    )
    index = followed(store)
    best, *_ = index.nearest(rows[2], index.mask(Layer.EVENTS), 2)
    assert index.record_id(best[0]) == "evt_2"
    assert best[1] == pytest.approx(1.0, abs=0.02)


def test_old_scopes_are_let_go_when_there_are_too_many_rows(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS, rows_max=2)
    put(store, turn(1, "tea"), turn(2, "tea"), turn(3, "tea", scope=BOB))
    first = indexes.of(TENANT, ALICE)
    indexes.of(TENANT, BOB)
    assert indexes.of(TENANT, ALICE) is not first
