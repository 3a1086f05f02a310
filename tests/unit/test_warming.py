"""What is loaded ahead, in the order of what was told last, and by a thread that ends when it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from given import ALICE, BOB, TENANT, CountedIds, ManualClock, append
from lamina.cli.warm import Warming
from lamina.errors import Unavailable
from lamina.index.resident import ResidentIndexes
from lamina.kernel.scopes import Scope
from lamina.models.ports import Embedder, Encoded
from lamina.recall.retrieve import Retriever
from lamina.store.memory import MemoryStore


class Embedding(Embedder):
    """Notes that the model is asked."""

    name, dim_pooled = "m", 16

    def __init__(self) -> None:
        self.asked = threading.Event()

    def encode(self, texts: list[str]) -> Encoded:  # type: ignore[override]
        self.asked.set()
        return Encoded(None, [])  # type: ignore[arg-type] # nobody reads it


class Indexes(ResidentIndexes):
    """Notes which scopes are loaded, as far as there is room for two."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store.index, "m", 16)
        self.loaded: list[Scope] = []

    def warm(self, tenant_id: str, scope: Scope) -> bool:
        assert tenant_id == TENANT
        self.loaded.append(scope)
        return len(self.loaded) < 2


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(clock=ManualClock(), ids=CountedIds())


def test_the_scopes_that_were_told_of_last_are_loaded_while_there_is_room(store: MemoryStore) -> None:
    for scope in (Scope("user:old"), BOB, ALICE):
        append(store, "a", scope=scope)
    indexes, model = Indexes(store), Embedding()
    Retriever(store, indexes, model).warm(lambda: False)
    assert indexes.loaded == [ALICE, BOB]
    assert model.asked.wait(60)


def test_nothing_is_loaded_where_nothing_was_told(store: MemoryStore) -> None:
    indexes, model = Indexes(store), Embedding()
    Retriever(store, indexes, model).warm(lambda: False)
    assert (indexes.loaded, model.asked.is_set()) == ([], False)


def test_no_further_scope_is_loaded_by_a_server_that_stops(store: MemoryStore) -> None:
    append(store, "a")
    indexes = Indexes(store)
    Retriever(store, indexes, Embedding()).warm(lambda: True)
    assert indexes.loaded == []


def test_the_thread_loads_until_it_is_stopped() -> None:
    began = threading.Event()

    def warm(stopping: Callable[[], bool]) -> None:
        began.set()
        while not stopping():
            pass

    warming = Warming(warm, first_s=0)
    warming.start()
    assert began.wait(60)
    warming.stop()


def test_what_cannot_be_loaded_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    def warm(_: Callable[[], bool]) -> None:
        raise Unavailable("STORE_UNAVAILABLE", "of somebody's memory")

    warming = Warming(warm, first_s=0)
    warming.start()
    warming._thread.join(60)
    assert [record.message for record in caplog.records] == [
        "nothing more is loaded ahead: STORE_UNAVAILABLE"
    ]


def test_a_server_that_is_stopped_at_once_loads_nothing() -> None:
    began = threading.Event()
    warming = Warming(lambda _: began.set(), first_s=60)
    warming.start()
    warming.stop()
    assert not began.is_set()
