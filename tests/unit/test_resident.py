"""A scope's index in memory follows its rows and shows each search what it may see."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest

from given import ALICE, BOB, NOON, TENANT, CountedIds, ManualClock, draft, finish_all, land_indexed, text_row
from lamina.index import vectors
from lamina.index.best import best
from lamina.index.bm25 import idf
from lamina.index.columns import NONE
from lamina.index.resident import ResidentIndexes
from lamina.index.scope import ScopeIndex
from lamina.index.vectors import pack
from lamina.kernel.events import Origin, Trust
from lamina.kernel.records import Layer
from lamina.kernel.relay import DOCUMENTS_CHANNEL
from lamina.kernel.scopes import Scope
from lamina.models.minilm import unit_rows
from lamina.store.memory import MemoryStore
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.index import TextRow, VectorRow
from lamina.store.ports.log import Capture
from lamina.store.ports.writes import Writes

DIMENSIONS = 8


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(clock=ManualClock(), ids=CountedIds())


def put(store: MemoryStore, *rows: TextRow) -> None:
    land_indexed(store, Writes(texts=list(rows)))


def turn(number: int, words: str, **more: object) -> TextRow:
    row = text_row(f"evt_{number}", words)
    values = {
        "layer": Layer.EVENTS,
        "recorded_at": NOON + number,
        "observed_at": NOON + number,
        "session": "s1",
    }
    return row._replace(**{**values, **more})  # type: ignore[arg-type]


def read(indexes: ResidentIndexes, scope: Scope = ALICE) -> ScopeIndex:
    with indexes.reading(TENANT, [scope]) as [index]:
        return index


def followed(store: MemoryStore) -> ScopeIndex:
    return read(ResidentIndexes(store.index, "m", DIMENSIONS))


def found(index: ScopeIndex, *terms: str, layer: Layer = Layer.EVENTS, **bounds: int) -> list[str]:
    weights = {term: idf(index.frequency(term, layer), len(index)) for term in terms}
    scores = index.bm25(layer, terms, weights, 3.0)
    mask = index.mask(layer, **bounds) & (scores > 0)  # type: ignore[arg-type]
    return [index.record_id(place) for place in best(scores, mask, 10)]


def test_the_rarer_word_ranks_higher(store: MemoryStore) -> None:
    put(store, turn(1, "tea tea"), turn(2, "tea coffee"), turn(3, "tea milk"))
    assert found(followed(store), "tea", "coffee")[0] == "evt_2"


def test_rows_that_come_later_are_found(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS)
    put(store, turn(1, "tea"))
    assert found(read(indexes), "tea") == ["evt_1"]
    put(store, turn(2, "tea tea"))
    assert set(found(read(indexes), "tea")) == {"evt_1", "evt_2"}


def test_a_row_recorded_later_is_not_drawn_as_of_before(store: MemoryStore) -> None:
    put(store, turn(1, "tea"), turn(9, "tea tea tea"))
    assert found(followed(store), "tea", recorded_to=NOON + 5) == ["evt_1"]


def tell(store: MemoryStore, kind: ChangeKind, recorded_at: int) -> str:
    """Another event of the one document."""
    content = {"kind": "text", "text": "words", "path": "a"}
    event = draft(content=content, origin=Origin("agent:nia", DOCUMENTS_CHANNEL, Trust.EXTERNAL))
    clock = store.documents._clock  # type: ignore[attr-defined] # the engine's own
    clock.at = recorded_at
    change = Change("a", kind, b"x")
    (written,) = store.documents.write(
        [Write(tenant_id=TENANT, author="a", message="m", changes=[change], captures=[Capture(event)])]
    )
    finish_all(store)
    return written.event_ids[0]


def told(event_id: str, words: str, recorded_at: int) -> TextRow:
    return text_row(event_id, words)._replace(
        layer=Layer.EVENTS, recorded_at=recorded_at, observed_at=recorded_at
    )


@pytest.mark.parametrize("read_early", [False, True], ids=["loaded", "followed"])
def test_what_told_of_an_earlier_version_is_drawn_only_as_of_then(
    store: MemoryStore, read_early: bool
) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS)
    first = tell(store, ChangeKind.PUT, NOON)
    added = tell(store, ChangeKind.APPEND, NOON + 10)
    put(store, told(first, "tea", NOON), told(added, "tea", NOON + 10))
    if read_early:
        assert sorted(found(read(indexes), "tea")) == sorted([first, added])
    second = tell(store, ChangeKind.PUT, NOON + 20)
    assert found(read(indexes), "tea") == []
    put(store, told(second, "tea", NOON + 20))
    index = read(indexes)
    assert found(index, "tea") == [second]
    assert found(index, "tea", recorded_to=NOON + 20) == [second]
    assert sorted(found(index, "tea", recorded_to=NOON + 19)) == sorted([first, added])
    put(store, told(first, "tea", NOON))
    assert found(read(indexes), "tea") == [second], "words put again end as those before them"


def test_an_event_that_ended_before_it_was_indexed_is_not_found(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS)
    first = tell(store, ChangeKind.PUT, NOON)
    tell(store, ChangeKind.REMOVE, NOON + 10)
    read(indexes)
    put(store, told(first, "tea", NOON))
    assert found(read(indexes), "tea") == []
    assert found(read(indexes), "tea", recorded_to=NOON + 9) == [first]


def test_a_replaced_row_is_found_by_its_new_words_only(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS)
    put(store, text_row("ep_1", "tea")._replace(layer=Layer.EPISODES))
    read(indexes)
    put(store, text_row("ep_1", "coffee")._replace(layer=Layer.EPISODES))
    index = read(indexes)
    assert found(index, "tea", layer=Layer.EPISODES) == []
    assert found(index, "coffee", layer=Layer.EPISODES) == ["ep_1"]


def test_derived_rows_do_not_make_a_word_common_among_events(store: MemoryStore) -> None:
    put(store, turn(1, "tea"), *(text_row(f"fact_{n}", "tea")._replace(layer=Layer.FACTS) for n in range(5)))
    index = followed(store)
    assert (index.frequency("tea"), index.frequency("tea", Layer.FACTS)) == (1, 5)


def test_a_key_finds_a_turn_and_does_not_lengthen_it(store: MemoryStore) -> None:
    put(store, turn(1, "ramen always", keys="favourite food ramen"), turn(2, "nothing here"))
    index = followed(store)
    assert found(index, "favourite") == ["evt_1"]
    rows = index.rows(np.array([0, 1]), ["ramen", "favourite"])
    assert (rows.counts.tolist(), rows.lengths.tolist()) == ([[1, 0], [0, 0]], [2, 2])
    assert index.terms_total == 4


def test_neighbours_are_those_of_the_session(store: MemoryStore) -> None:
    put(store, turn(1, "a"), turn(2, "b", session="s2"), turn(3, "c"), turn(4, "d"))
    index = followed(store)
    mask = index.mask(Layer.EVENTS)
    near = [index.neighbours(np.array([place]), mask).tolist() for place in range(4)]
    assert near == [[2], [], [0, 3], [2]]
    assert index.neighbours(np.array([2]), mask & (np.arange(4) != 3)).tolist() == [0]


def test_turns_without_a_session_have_no_neighbours(store: MemoryStore) -> None:
    put(store, turn(1, "a", session=None), turn(2, "b", session=None))
    index = followed(store)
    assert index.neighbours(np.array([0]), index.mask(Layer.EVENTS)).tolist() == []


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
    ((places, cosines),) = index.nearest(rows[2], [(index.mask(Layer.EVENTS), 2)])
    assert index.record_id(places[0]) == "evt_2"
    assert cosines[0] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("large", [False, True])
def test_the_nearest_are_those_of_the_highest_cosines(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    if large:
        monkeypatch.setattr(vectors, "_GLANCED_FROM", 32)
        monkeypatch.setattr(vectors, "_REFINED", 3)
    draw = np.random.default_rng(5).standard_normal((60, DIMENSIONS)).astype(np.float32)
    packed = pack(unit_rows(draw))
    put(store, *(turn(number, "x") for number in range(60)))
    store.index.embed([VectorRow(TENANT, f"evt_{n}", ALICE, "m", packed[n], b"") for n in range(60)])
    index, query = followed(store), unit_rows(draw[7:8] + draw[30:31])[0]
    mask = index.mask(Layer.EVENTS, recorded_to=NOON + 50)
    ((places, cosines),) = index.nearest(query, [(mask, 15)])
    assert places.tolist() == best(index.cosines(query), mask, 15).tolist()
    assert cosines == pytest.approx(index.cosines(query)[places], abs=1e-6)


def test_rows_come_as_columns_in_the_order_asked_for(store: MemoryStore) -> None:
    vector = pack(np.eye(DIMENSIONS, dtype=np.float32)[:1])[0]
    put(
        store,
        turn(1, "tea tea milk", speaker="Ann", role="assistant", question_share=0.25, self_share=0.5),
        turn(2, "", session=None),
        turn(3, "milk", speaker="Bob"),
    )
    store.index.embed([VectorRow(TENANT, "evt_1", ALICE, "m", vector, b"")])
    rows = followed(store).rows(np.array([2, 1, 0]), ["tea", "milk", "unknown"])
    assert rows.record_ids == ["evt_3", "evt_2", "evt_1"]
    assert rows.counts.tolist() == [[0, 1, 0], [0, 0, 0], [2, 1, 0]]
    assert rows.lengths.tolist() == [1, 0, 3]
    assert (rows.sessions.tolist(), rows.speakers.tolist()) == ([0, NONE, 0], [1, NONE, 0])
    assert rows.by_assistant.tolist() == [False, False, True]
    assert rows.observed_at.tolist() == [NOON + 3, NOON + 2, NOON + 1]
    assert (rows.question_shares[2], rows.self_shares[2]) == (0.25, 0.5)
    assert (rows.previous.tolist(), rows.following.tolist()) == ([0, NONE, NONE], [NONE, NONE, 2])
    assert (rows.pooled[:2].any(), rows.pooled[2][0]) == (False, pytest.approx(1.0, abs=0.01))


def test_among_equals_the_earlier_rows_are_the_best() -> None:
    scores = np.array([2, 1, 3, 1, 1, 9], np.float32)
    assert best(scores, scores < 9, 3).tolist() == [2, 0, 1]
    assert best(scores, scores < 9, 99).tolist() == [2, 0, 1, 3, 4]
    assert best(scores, scores < 0, 3).tolist() == best(scores, scores < 9, 0).tolist() == []


def test_old_scopes_are_let_go_when_they_take_too_much_memory(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS, bytes_max=20_000)
    put(store, turn(1, "tea"), turn(2, "tea"), turn(3, "tea", scope=BOB))
    first = read(indexes)
    read(indexes, BOB)
    assert read(indexes) is not first


def test_what_an_index_says_that_it_takes_is_about_what_it_takes(store: MemoryStore) -> None:
    rng, count = random.Random(1), 3000
    vector = pack(np.eye(1, 384, dtype=np.float32))[0]
    words = [" ".join(f"word{rng.randrange(5000)}" for _ in range(rng.randrange(40))) for _ in range(count)]
    put(store, *(turn(number, text) for number, text in enumerate(words)))
    store.index.embed(
        [VectorRow(TENANT, f"evt_{number}", ALICE, "m", vector, b"") for number in range(count)]
    )
    indexes = ResidentIndexes(store.index, "m", 384)
    tracemalloc.start()
    try:
        told = read(indexes).held_bytes
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.6 < told / held < 1.6


def test_a_scope_of_one_row_costs_a_few_kilobytes(store: MemoryStore) -> None:
    """Each user of a chat is a scope of their own."""
    vector = pack(np.eye(1, 384, dtype=np.float32))[0]
    scopes = [Scope(f"org:acme/user:{number}") for number in range(100)]
    put(store, *(turn(number, "tea", scope=scope) for number, scope in enumerate(scopes)))
    store.index.embed(
        [VectorRow(TENANT, f"evt_{number}", scope, "m", vector, b"") for number, scope in enumerate(scopes)]
    )
    indexes = ResidentIndexes(store.index, "m", 384)
    tracemalloc.start()
    try:
        for scope in scopes:
            assert len(read(indexes, scope)) == 1
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held / len(scopes) < 30_000


def test_a_replaced_row_of_a_record_makes_no_word_more_common(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS)
    for words in ("tea coffee", "tea milk", "milk"):
        put(store, text_row("concept_1", words), text_row("concept_2", "tea"))
        index = read(indexes)
    figures = index.figures(Layer.UNDERSTANDING, ["tea", "coffee", "milk"])
    assert (figures.rows, figures.frequencies) == (2, {"tea": 1, "coffee": 0, "milk": 1})
    assert (
        figures.frequencies
        == followed(store).figures(Layer.UNDERSTANDING, ["tea", "coffee", "milk"]).frequencies
    )


def test_figures_of_an_earlier_time_are_those_that_it_had(store: MemoryStore) -> None:
    indexes = ResidentIndexes(store.index, "m", DIMENSIONS)
    put(store, turn(1, "tea tea", speaker="Ann"), text_row("fact_1", "tea"))
    then = read(indexes).figures(Layer.EVENTS, ["tea", "milk"])
    assert (then.rows, then.terms, set(then.speakers)) == (1, 2, {"Ann"})
    put(store, turn(2, "tea milk", speaker="Bob"), text_row("fact_2", "tea", recorded_at=NOON + 2))
    index = read(indexes)
    earlier = index.figures_at(Layer.EVENTS, ["tea", "milk"], NOON + 1)
    assert (earlier.rows, earlier.terms, earlier.frequencies) == (1, 2, {"tea": 1, "milk": 0})
    assert earlier.speakers == {"Ann"}
    of_records = index.figures_at(Layer.FACTS, ["tea"], NOON + 2, ["fact_1", "fact_none"])
    assert (of_records.rows, of_records.frequencies) == (1, {"tea": 1})
