"""What a reader may see of the why graph, and how often it is asked for."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from given import ALICE, BOB, TENANT, belief, fact, land, support
from lamina.kernel.records import Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.store.memory import MemoryStore
from lamina.store.memory.records import MemoryRecords
from lamina.store.ports.writes import Writes
from lamina.store.queries import CONCEPT_SOURCES_MAX, Shown

THEIRS = belief(id="belief_bob", scope=BOB)


@pytest.fixture
def records() -> MemoryRecords:
    store = MemoryStore()
    edges = [support(fact().id, "evt_1"), support(THEIRS.id, fact().id), support("concept_bob", THEIRS.id)]
    land(store, Writes(records=[fact(), THEIRS], supports=edges))
    return _Counted(store)


class _Counted(MemoryRecords):
    """Notes what it was asked for."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store._memory)
        self.asked: list[str] = []

    def scopes_of(self, tenant_id: str, ids: Collection[str]) -> dict[str, Scope]:
        self.asked += ids
        return super().scopes_of(tenant_id, ids)

    def resting_on(
        self, tenant_id: str, source_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        self.asked += source_ids
        return super().resting_on(tenant_id, source_ids, seen_at=seen_at)

    def supports_of(
        self, tenant_id: str, record_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[Support]]:
        self.asked += record_ids
        return super().supports_of(tenant_id, record_ids, seen_at=seen_at)


def test_behind_a_record_of_a_hidden_scope_nothing_is_seen(records: MemoryRecords) -> None:
    shown = Shown(records, TENANT, lambda scope: scope == ALICE)
    assert shown.derived_from(["evt_1"]) == {"evt_1": [fact().id]}
    assert shown.resting_on([fact().id]) == {}
    everything = Shown(records, TENANT, lambda _: True)
    assert everything.derived_from(["evt_1"]) == {"evt_1": [fact().id, THEIRS.id, "concept_bob"]}


def test_a_scope_at_hand_hides_as_one_that_was_asked_for(records: MemoryRecords) -> None:
    at_hand = {fact().id: ALICE, THEIRS.id: BOB}
    shown = Shown(records, TENANT, lambda scope: scope == ALICE, lambda _: at_hand)
    assert shown.derived_from(["evt_1"]) == {"evt_1": [fact().id]}
    assert shown.scopes_of([THEIRS.id]) == {THEIRS.id: BOB}


def test_what_was_looked_up_is_not_asked_for_again(records: _Counted) -> None:
    shown = Shown(records, TENANT, lambda _: True, lambda _: {fact().id: ALICE})
    for _ in range(2):
        shown.derived_from(["evt_1"])
        shown.supports_of([fact().id, THEIRS.id])
        shown.scopes_of([fact().id, THEIRS.id, "fact_none"])
    rests = ["evt_1", fact().id, THEIRS.id]
    assert sorted(records.asked) == sorted(
        [*rests, fact().id, THEIRS.id, THEIRS.id, "concept_bob", "fact_none"]
    )


def test_what_was_read_at_once_is_not_asked_for_again_and_hides_the_same(records: _Counted) -> None:
    for allowed in ({ALICE}, {ALICE, BOB}):
        shown = Shown(records, TENANT, allowed.__contains__)
        one_by_one = Shown(records, TENANT, allowed.__contains__)
        shown.derived_from(["evt_1"])
        shown.read_below(["concept_bob", fact().id], 8)
        records.asked.clear()
        asked = ["concept_bob", fact().id]
        derived, cited = shown.derived_from(["evt_1"]), shown.cited_by(asked, 8)
        assert records.asked == []
        assert derived == shown.links.derived_from(["evt_1"]) == one_by_one.derived_from(["evt_1"])
        assert cited == shown.links.cited_by(asked) == one_by_one.sources_of(asked)


def test_the_first_sources_are_those_that_are_shown_each_once() -> None:
    store = MemoryStore()
    hidden = [fact(f"fact_h{n}", scope=BOB) for n in range(4)]
    edges = [support("belief_1", each.id, place=n) for n, each in enumerate(hidden)]
    edges += [support("belief_1", f"evt_{n}", place=9 + n) for n in range(3)]
    edges += [support("belief_1", "evt_0", place=9, relation=Tie.DECIDES)]
    land(store, Writes(records=hidden, supports=edges))
    shown = Shown(store.records, TENANT, lambda scope: scope == ALICE)
    assert shown.cited_by(["belief_1"], 2) == {"belief_1": ["evt_0", "evt_1"]}


def test_of_a_concept_few_sources_are_cited_and_of_others_all() -> None:
    store = MemoryStore()
    ids = [f"evt_{n:02}" for n in range(20)]
    edges = [support(each, i, place=n) for each in ("belief_1", "concept_1") for n, i in enumerate(ids)]
    land(store, Writes(supports=edges))
    shown = Shown(store.records, TENANT, lambda _: True)
    assert shown.cited_by(["belief_1", "concept_1"], 32) == {
        "belief_1": ids,
        "concept_1": ids[:CONCEPT_SOURCES_MAX],
    }
