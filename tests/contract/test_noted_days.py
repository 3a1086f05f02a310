"""The days that a turn means are noted beside its row, and go where its words go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from given import ALICE, NOON, TENANT, CountedIds, ManualClock
from lamina.index.resident import ResidentIndexes
from lamina.index.rows import days_noted
from lamina.kernel.events import Event
from lamina.kernel.operations import Call, Principal
from lamina.kernel.records import Layer
from lamina.language import days
from lamina.language.temporal import find_times
from lamina.models.counter import WordPieceCounter
from lamina.pipeline import deriver
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.upgrading import Upgrader
from lamina.pipeline.worker import Worker
from lamina.recall.excerpts import _days_found
from lamina.recall.recalling import Recalling
from lamina.recall.retrieve import Retriever
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.index import TextRow
from lamina.store.ports.store import Store
from lamina.types.recall import Recall
from libraries import DIMENSIONS, Meanings
from shelves import Everything
from told import START, Memory
from upgrades import derive_anew

SAID = "I met Zora yesterday."
TOLD = 'I met Zora yesterday." (yesterday: 2026-03-01)'
LONG = f"{'We sang until last night. ' * 20}{SAID}"
"""More than a line shows of a turn: its end alone says who is asked about."""


class Asked(Memory):
    """A memory that is asked, by one process all along."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        super().__init__(store, clock)
        indexes = ResidentIndexes(store.index, Meanings.name, DIMENSIONS)
        self._recalling = Recalling(
            store, Retriever(store, indexes, Meanings()), WordPieceCounter(), CountedIds()
        )

    def block(self) -> str:
        _days_found.cache_clear()  # a line that was worded before needs no note
        principal = Principal(tenant_id=TENANT, actor="user:alice", channel="http")
        call = Call(principal=principal, request_id="r", now=NOON, permits=Everything())
        given = {"scope": ALICE, "query": "Who met Zora?", "include": ["events"]}
        return str(self._recalling.recall(Recall.model_validate(given), call).result.context_block)

    def row(self, event: Event) -> TextRow:
        rows = self.store.index.texts_after(TENANT, ALICE, 0, 100)
        (found,) = [row for row in rows if row.record_id == event.id and row.layer is Layer.EVENTS]
        return found


@pytest.fixture
def memory(store: Store, clock: ManualClock) -> Asked:
    return Asked(store, clock)


def no_days(*asked: Any, **more: Any) -> Iterator[Any]:
    raise AssertionError("days were found anew")


@pytest.mark.parametrize("text", [SAID, LONG])
def test_a_line_says_the_days_that_were_noted(
    memory: Asked, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    event = memory.tell(text, START)
    waiting = memory.block()
    assert TOLD in waiting
    memory.derive()
    assert memory.row(event).days == days_noted(event)
    monkeypatch.setattr(days, "each_time", no_days)
    assert memory.block() == waiting


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "1 00000001 (yesterday: 1999-01-01)",
        f"{days.FINDER} 00000001{SAID.index('yesterday')}-{SAID.index('yesterday') + 9}:1999-01-01",
    ],
)
def test_what_is_not_noted_of_these_words_by_this_finder_is_found(
    memory: Asked, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    monkeypatch.setattr(deriver, "days_noted", lambda _: kept)
    event = memory.tell(SAID, START)
    memory.derive()
    assert memory.row(event).days == kept
    assert TOLD in memory.block()


def test_turns_of_an_earlier_release_are_noted_as_they_are_derived_anew(
    memory: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worker_of(store: Store) -> Worker:
        aside = Deriver(store, RulesExtractor(find_times, use_parser=False), None)
        return Worker(store, aside, None, memory.clock, "aside")

    memory.store.rederivation.begin({"search rows": "1"})
    with monkeypatch.context() as earlier:
        earlier.setattr(deriver, "days_noted", lambda _: "")
        event = memory.tell(SAID, START)
        memory.derive()
    before = memory.block()
    upgrader = Upgrader(memory.store, {"search rows": "2"}, worker_of, memory.clock)
    upgrader.begin()
    derive_anew(upgrader)
    assert memory.row(event).days == days_noted(event)
    monkeypatch.setattr(days, "each_time", no_days)
    assert memory.block() == before


def test_a_note_goes_with_the_words_it_is_of(memory: Asked) -> None:
    gone, stays = memory.tell(SAID, START), memory.tell("Zora and I met last week.", START)
    memory.derive()
    assert "2026-03-01" in memory.row(gone).days
    assert "yesterday: 2026-03-01" in memory.block()
    memory.store.erasing.erase(
        Erasure(
            tenant_id=TENANT,
            erasure_id="erasure_1",
            by_actor="user:root",
            cascade="redact_events",
            redact=[gone.id],
        )
    )
    memory.derive()
    assert ":2026-03-01" not in str(list(memory.store.snapshot()))
    assert "yesterday" not in str(list(memory.store.snapshot()))
    assert "yesterday" not in memory.block()
    assert memory.row(stays).days == days_noted(stays)
