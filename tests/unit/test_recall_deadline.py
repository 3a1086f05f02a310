"""A recall that nobody waits for any more ends before its next phase."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any

import pytest

from given import ALICE, NOON, TENANT, CountedIds, ManualClock, append
from lamina.index.resident import ResidentIndexes
from lamina.kernel.operations import Call, Principal
from lamina.models.counter import WordPieceCounter
from lamina.recall.deadline import Deadline, TooLate
from lamina.recall.plan import NARROW
from lamina.recall.recalling import Recalling
from lamina.recall.retrieve import Retriever
from lamina.store.memory import MemoryStore
from lamina.types.recall import Recall
from libraries import DIMENSIONS, Meanings
from shelves import Everything

READS = ["tip", "resting_on", "get"]
"""What the three rounds begin with."""


class Late:
    """A store where the answer stops being awaited once something was read."""

    def __init__(self, store: MemoryStore, at: str, late: threading.Event) -> None:
        self.read: list[str] = []
        for port, name in ((store.index, "tip"), (store.records, "resting_on"), (store.log, "get")):
            setattr(port, name, self._noting(name, getattr(port, name), at, late))

    def _noting(self, name: str, read: Any, at: str, late: threading.Event) -> Any:
        def noted(*asked: Any, **more: Any) -> Any:
            if name not in self.read:
                self.read.append(name)
            if name == at:
                late.set()
            return read(*asked, **more)

        return noted


@pytest.mark.parametrize(("at", "read"), [("tip", READS[:1]), ("resting_on", READS[:2])])
def test_nothing_more_is_read_once_nobody_waits(at: str, read: Collection[str]) -> None:
    store, late = MemoryStore(clock=ManualClock(), ids=CountedIds()), threading.Event()
    append(store, "tea at five", "coffee at six")
    noted = Late(store, at, late)
    indexes = ResidentIndexes(store.index, "meanings", DIMENSIONS)
    recalling = Recalling(store, Retriever(store, indexes, Meanings()), WordPieceCounter(), CountedIds())
    principal = Principal(tenant_id=TENANT, actor="user:alice", channel="http")
    call = Call(principal=principal, request_id="r", now=NOON, permits=Everything())
    with pytest.raises(TooLate):
        recalling.remembered(Recall(scope=ALICE, query="tea"), call, NARROW, None, Deadline(late))
    assert noted.read == read


def test_who_waits_gets_all_three_rounds() -> None:
    store = MemoryStore(clock=ManualClock(), ids=CountedIds())
    append(store, "tea at five", "coffee at six")
    noted = Late(store, "never", threading.Event())
    indexes = ResidentIndexes(store.index, "meanings", DIMENSIONS)
    recalling = Recalling(store, Retriever(store, indexes, Meanings()), WordPieceCounter(), CountedIds())
    principal = Principal(tenant_id=TENANT, actor="user:alice", channel="http")
    call = Call(principal=principal, request_id="r", now=NOON, permits=Everything())
    remembered = recalling.remembered(Recall(scope=ALICE, query="tea"), call, NARROW)
    assert noted.read == READS
    assert remembered.values
