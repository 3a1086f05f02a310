"""Every test here runs once for each engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from given import CountedIds, ManualClock
from lamina.store.memory import MemoryStore
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    engine: Store
    if request.param == "memory":
        engine = MemoryStore(clock=clock, ids=CountedIds())
    else:
        engine = SqliteStore(tmp_path, clock=clock, ids=CountedIds(), durable=False)
    yield engine
    engine.close()
