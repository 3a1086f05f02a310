"""How many events a recall looks at: a brief looks at fewer, and finds the same best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from given import ALICE, NOON, TENANT, CountedIds, ManualClock, land_indexed, text_row
from lamina.index.resident import ResidentIndexes
from lamina.index.vectors import pack
from lamina.kernel.operations import Principal
from lamina.kernel.records import Layer
from lamina.models.minilm import unit_rows
from lamina.models.ports import Encoded, quantise
from lamina.recall.plan import NARROW, WIDE, Breadth, plan_recall
from lamina.recall.retrieve import EventPool, Retriever
from lamina.recall.score import score_events
from lamina.store.memory import MemoryStore
from lamina.store.ports.index import VectorRow
from lamina.store.ports.writes import Writes
from lamina.types.recall import Recall

DIMENSIONS = 8
TURNS = 600
EAST = np.eye(DIMENSIONS, dtype=np.float32)[:1]


class East:
    """Every text points the same way."""

    name, dim_pooled = "m", DIMENSIONS

    def encode(self, texts: Sequence[str]) -> Encoded:
        return Encoded(EAST[[0] * len(texts)], [quantise(EAST)] * len(texts))


@pytest.fixture
def retriever() -> Retriever:
    store = MemoryStore(clock=ManualClock(), ids=CountedIds())
    rows = [
        text_row(f"evt_{number}", " ".join(["tea"] * (1 + number % 7) + ["milk"] * (number % 3)))._replace(
            layer=Layer.EVENTS,
            recorded_at=NOON,
            observed_at=NOON + number,
            session=f"s{number // 20}",
        )
        for number in range(TURNS)
    ]
    land_indexed(store, Writes(texts=rows))
    vectors = unit_rows(np.random.default_rng(3).standard_normal((TURNS, DIMENSIONS)).astype(np.float32))
    packed, tokens = pack(vectors), [quantise(row[None]).to_bytes() for row in vectors]  # one token a turn
    store.index.embed(
        [
            VectorRow(TENANT, row.record_id, ALICE, "m", packed[number], tokens[number])
            for number, row in enumerate(rows)
        ]
    )
    return Retriever(store, ResidentIndexes(store.index, "m", DIMENSIONS), East())


def gathered(
    retriever: Retriever, breadth: Breadth, query: str = "tea with milk?"
) -> tuple[EventPool, list[str]]:
    principal = Principal(tenant_id=TENANT, actor="user:alice", channel="http")
    plan = plan_recall(Recall(scope=ALICE, query=query), principal, [ALICE], NOON + TURNS, breadth)
    pool = retriever.gather(plan)
    return pool, [scored.record_id for scored in score_events(pool, plan, 5)]


@pytest.mark.parametrize("breadth", [NARROW, WIDE])
def test_each_arm_brings_as_many_as_the_breadth_says(retriever: Retriever, breadth: Breadth) -> None:
    pool, _ = gathered(retriever, breadth)
    assert (pool.arms["text"], pool.arms["vector"]) == (breadth.text, breadth.vector)
    assert pool.arms["around"] <= 4 * breadth.expanded
    newest, _ = gathered(retriever, breadth, "hm")
    assert newest.arms["newest"] == breadth.newest


def test_a_narrow_recall_finds_the_same_best(retriever: Retriever) -> None:
    narrow, best = gathered(retriever, NARROW)
    wide, of_many = gathered(retriever, WIDE)
    assert len(narrow.turns) < len(wide.turns) / 2
    assert best[0] in of_many
