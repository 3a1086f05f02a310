"""The index in memory follows rows that other processes write while it reads."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from given import (
    ALICE,
    BOB,
    TENANT,
    CountedIds,
    ManualClock,
    append,
    claim,
    land_indexed,
    text_row,
    vector_row,
)
from lamina.errors import Unavailable
from lamina.index.best import best, closest
from lamina.index.resident import ResidentIndexes
from lamina.index.rows import event_row
from lamina.index.scope import ScopeIndex
from lamina.index.vectors import pack
from lamina.kernel.events import Event, Stage
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.store.memory import MemoryStore
from lamina.store.ports.index import IndexRows, TextRow
from lamina.store.ports.writes import Writes

WIDTH = 4
EAST = np.array([1, 0, 0, 0], np.float32)


class Between:
    """Index rows where something happens just after the texts, or just after the vectors, were read."""

    def __init__(self, rows: IndexRows) -> None:
        self._rows = rows
        self.after_texts: Callable[[], None] = lambda: None
        self.after_vectors: Callable[[], None] = lambda: None

    def texts_after(self, tenant_id: str, scope: Scope, after: int, limit: int) -> list[TextRow]:
        found = self._rows.texts_after(tenant_id, scope, after, limit)
        self.after_texts()
        return found

    def vectors_after(
        self, tenant_id: str, scope: Scope, model: str, after: int, limit: int
    ) -> list[tuple[int, str, bytes]]:
        found = self._rows.vectors_after(tenant_id, scope, model, after, limit)
        self.after_vectors()
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self._rows, name)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(clock=ManualClock(), ids=CountedIds())


@pytest.fixture
def rows(store: MemoryStore) -> Between:
    return Between(store.index)


def indexes(rows: Between, bytes_max: int = 1_000_000) -> ResidentIndexes:
    return ResidentIndexes(rows, "m", WIDTH, bytes_max=bytes_max)  # type: ignore[arg-type] # the rest is forwarded


def index_event(store: MemoryStore, name: str, scope: Scope = ALICE) -> None:
    """Text and vector in one commit, as the worker lands them."""
    text = text_row(name, "harbour", scope, layer=Layer.EVENTS)
    vector = vector_row(name, scope, pooled=pack(EAST[None])[0])
    land_indexed(store, Writes(texts=[text], vectors=[vector]), scope=scope)


def read(resident: ResidentIndexes, scope: Scope) -> ScopeIndex:
    with resident.reading(TENANT, [scope]) as [index]:
        return index


def nearest(index: ScopeIndex) -> list[str]:
    ((places, _),) = index.nearest(EAST, [(index.mask(Layer.EVENTS), 10)])
    return [index.record_id(place) for place in places]


@pytest.mark.parametrize("moment", ["after_texts", "after_vectors"])
def test_an_event_indexed_while_the_index_reads_is_found_by_its_vector(
    store: MemoryStore, rows: Between, moment: str
) -> None:
    resident = indexes(rows)
    index_event(store, "evt_1")

    def second_comes() -> None:
        setattr(rows, moment, lambda: None)
        index_event(store, "evt_2")

    setattr(rows, moment, second_comes)
    read(resident, ALICE)
    assert sorted(nearest(read(resident, ALICE))) == ["evt_1", "evt_2"]


def test_after_an_error_an_index_begins_anew(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows)
    index_event(store, "evt_1")
    read(resident, ALICE)
    index_event(store, "evt_2")

    def fail() -> None:
        rows.after_texts = lambda: None
        raise Unavailable("WAL_UNAVAILABLE", "the disk is gone")

    rows.after_texts = fail
    with pytest.raises(Unavailable):
        read(resident, ALICE)
    index = read(resident, ALICE)
    assert (index.events, sorted(nearest(index))) == (2, ["evt_1", "evt_2"])


def test_scopes_that_hold_nothing_are_forgotten_too(rows: Between) -> None:
    resident = indexes(rows, bytes_max=100_000)
    for number in range(200):
        read(resident, Scope(f"user:nobody{number}"))
    assert len(resident._indexes) <= 10


def test_the_scope_used_last_is_kept_however_large_it_is(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows, bytes_max=1)
    index_event(store, "evt_1")
    index_event(store, "evt_2", BOB)
    kept = read(resident, ALICE)
    assert read(resident, ALICE) is kept
    read(resident, BOB)
    assert read(resident, ALICE) is not kept


def test_a_scope_that_is_loaded_holds_up_nobody_else(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows)
    index_event(store, "evt_1")
    index_event(store, "evt_2", BOB)
    read(resident, BOB)
    found: list[int] = []

    def another_reads() -> None:
        rows.after_texts = lambda: None
        reader = threading.Thread(target=lambda: found.append(read(resident, BOB).events))
        reader.start()
        reader.join(300)

    rows.after_texts = another_reads
    with resident.reading(TENANT, [BOB, ALICE, BOB]) as both:
        assert [index.scope for index in both] == [BOB, ALICE, BOB]
    assert found == [1]


def test_an_index_stands_still_while_it_is_read(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows)
    index_event(store, "evt_1")
    with resident.reading(TENANT, [ALICE]) as [index]:
        index_event(store, "evt_2")
        other = threading.Thread(target=read, args=(resident, ALICE))
        other.start()
        other.join(0.05)
        assert (other.is_alive(), index.events) == (True, 1)
    other.join(300)
    assert read(resident, ALICE).events == 2


@pytest.mark.parametrize("count", [3, 150, 151, 5000])
@pytest.mark.parametrize("digits", [0, 7])
def test_the_best_of_many_are_those_of_a_full_sort(count: int, digits: int) -> None:
    scores = np.random.default_rng(count).normal(size=count).astype(np.float32).round(digits)
    mask = np.arange(count) % 3 > 0
    places = np.flatnonzero(mask)
    expected = places[np.argsort(-scores[places], kind="stable")][:150]
    assert best(scores, mask, 150).tolist() == expected.tolist()


@pytest.mark.parametrize("shown", [7, 900, 40_000])
def test_the_closest_are_all_up_to_some_distance_and_about_as_many_as_asked_for(shown: int) -> None:
    draw = np.random.default_rng(shown)
    distances = draw.binomial(400, 0.4, 40_000).astype(np.uint16)
    mask = np.zeros(40_000, np.bool_)
    mask[draw.permutation(40_000)[:shown]] = True
    places = closest(distances, mask.take, 640)
    assert min(shown, 320) <= len(places) <= 2000
    assert mask[places].all()
    rest = mask.copy()
    rest[places] = False
    assert not rest.any() or distances[places].max() < distances[rest].min()


def test_the_closest_are_found_where_a_sample_tells_nothing_of_them() -> None:
    distances = np.full(40_000, 300, np.uint16)
    distances[: 16 * 300 : 16] = 10  # what a sample sees is nearer than all the rest
    assert len(closest(distances, np.ones(40_000, np.bool_).take, 4000)) >= 2000


# ---- before anybody asks


def test_what_is_loaded_ahead_is_not_loaded_again(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows)
    index_event(store, "evt_1")
    loads: list[int] = []
    rows.after_texts = lambda: loads.append(1)
    assert resident.warm(TENANT, ALICE)
    loaded = len(loads)
    assert nearest(read(resident, ALICE)) == ["evt_1"]
    assert loaded == len(loads) > 0


def test_what_is_loaded_ahead_leaves_half_of_the_room(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows, bytes_max=20_000)
    index_event(store, "evt_1")
    index_event(store, "evt_2", BOB)
    assert resident.warm(TENANT, ALICE)
    assert not resident.warm(TENANT, BOB)


# ---- turns that are not indexed yet


def words_of(event: Event, **more: object) -> TextRow:
    return event_row(event, (), wants_vector=False)._replace(**more)  # type: ignore[arg-type] # fields of a row


def index_words(store: MemoryStore, *texts: TextRow) -> None:
    """The two stages that make the oldest turn findable, as the worker lands them."""
    (job,) = claim(store, limit=1)
    store.jobs.finish([(job, Writes())])
    (job,) = claim(store, Stage.INDEXED, limit=1)
    store.jobs.finish([(job, Writes(texts=list(texts)))])


def with_term(index: ScopeIndex, term: str, **bounds: int) -> list[str]:
    scores = index.bm25(Layer.EVENTS, [term], {term: 1.0}, 3.0)
    mask = index.mask(Layer.EVENTS, **bounds) & (scores > 0)  # type: ignore[arg-type]
    return sorted(index.record_id(place) for place in np.flatnonzero(mask))


def test_a_turn_indexed_between_two_reads_is_not_missed(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows)
    (event,) = append(store, "the zeppelin")
    read_tip = rows.tip

    def tip(*asked: object) -> object:
        found = read_tip(*asked)  # type: ignore[operator]
        if found.waiting_since is not None and store.index.tip(TENANT, ALICE, "m").text == 0:
            index_words(store, words_of(event))
        return found

    rows.tip = tip  # type: ignore[attr-defined]
    assert with_term(read(resident, ALICE), "zeppelin") == [event.id]


def test_keys_that_come_when_a_turn_is_indexed_find_it_too(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows)
    (event,) = append(store, "the zeppelin")
    assert with_term(read(resident, ALICE), "airship") == []
    index_words(store, words_of(event, keys="airship"))
    index = read(resident, ALICE)
    assert (with_term(index, "airship"), with_term(index, "zeppelin")) == ([event.id], [event.id])
    assert (index.events, index.frequency("zeppelin"), index.frequency("airship")) == (1, 1, 1)


def test_words_that_changed_while_a_turn_waited_take_the_place_of_the_old(
    store: MemoryStore, rows: Between
) -> None:
    resident = indexes(rows)
    before, event, behind = append(store, "one", "zeppelin", "three", session="s-1")
    read(resident, ALICE)
    index_words(store, words_of(before))
    index_words(store, words_of(event, terms="balloon"))
    index = read(resident, ALICE)
    assert (with_term(index, "zeppelin"), with_term(index, "balloon")) == ([], [event.id])
    assert (index.events, index.frequency("zeppelin"), index.terms_total) == (
        3,
        0,
        read(indexes(rows), ALICE).terms_total,
    )
    (place,) = np.flatnonzero(index.holds([event.id]))
    beside = index.neighbours(np.array([place]), index.mask(Layer.EVENTS))
    assert [index.record_id(at) for at in beside] == [before.id, behind.id]


def test_a_turn_that_is_indexed_late_stands_where_it_was_said(store: MemoryStore, rows: Between) -> None:
    first, failing, last = append(store, "one", "two", "three", session="s-1")
    rows_in_order = [words_of(first), words_of(last), words_of(failing)]
    land_indexed(store, Writes(texts=rows_in_order))
    index = read(indexes(rows), ALICE)
    (place,) = np.flatnonzero(index.holds([failing.id]))
    beside = index.neighbours(np.array([place]), index.mask(Layer.EVENTS))
    assert [index.record_id(at) for at in beside] == [first.id, last.id]


def test_a_turn_that_waits_is_there_from_when_it_was_recorded(store: MemoryStore, rows: Between) -> None:
    (event,) = append(store, "zeppelin")
    index = read(indexes(rows), ALICE)
    assert with_term(index, "zeppelin", recorded_to=event.recorded_at) == [event.id]
    assert with_term(index, "zeppelin", recorded_to=event.recorded_at - 1) == []
    assert index.waiting_since == event.recorded_at


def test_a_cancelled_turn_is_not_found_though_it_waited(store: MemoryStore, rows: Between) -> None:
    resident = indexes(rows)
    gone, kept = append(store, "zeppelin", "zeppelin")
    read(resident, ALICE)
    store.log.cancel(TENANT, gone.id)
    assert with_term(read(resident, ALICE), "zeppelin") == [kept.id]
