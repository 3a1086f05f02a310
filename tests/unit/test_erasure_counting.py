"""What an erasure reaches, against a naive reading of the contract, on random graphs across scopes."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Mapping

from lamina.forget.counting import Area, plan_of, resting_alone
from lamina.kernel.scopes import Scope
from lamina.store.ports.citations import Citation, ErasureCandidate

SCOPES = [Scope(path) for path in ("user:a", "user:a/ws:x", "user:b", "ws:x", "ws:y", "user:a/ws:held")]
LAYERS = ("fact", "belief", "ep", "concept")
Graph = tuple[dict[str, Scope], dict[str, Scope], dict[str, dict[str, str]]]


def graph(seed: int) -> Graph:
    """Events, records and the supports of each record: sources by polarity. Records rest on events and on earlier records."""
    chance = random.Random(seed)
    events = {f"evt_{n}": chance.choice(SCOPES) for n in range(chance.randint(1, 8))}
    records: dict[str, Scope] = {}
    supports: dict[str, dict[str, str]] = {}
    for n in range(chance.randint(0, 12)):
        known = [*events, *records]
        id_ = f"{chance.choice(LAYERS)}_{n}"
        picked = chance.sample(known, k=min(len(known), chance.randint(0, 3)))
        records[id_] = chance.choice(SCOPES)
        supports[id_] = {source: chance.choice(("supports", "supports", "against")) for source in picked}
    return events, records, supports


def leaves(id_: str, supports: Mapping[str, Mapping[str, str]], polarities: tuple[str, ...]) -> set[str]:
    """The ids without supports of their own that one rests on by such edges: events, and records that nothing speaks for."""
    below = [source for source, polarity in supports.get(id_, {}).items() if polarity in polarities]
    if not below:
        return {id_}
    return set().union(*(leaves(source, supports, polarities) for source in below))


def above(event_id: str, supports: Mapping[str, Mapping[str, str]]) -> set[str]:
    resting = {id_ for id_, sources in supports.items() if event_id in sources}
    return resting.union(*(above(id_, supports) for id_ in resting))


def test_plans_equal_the_contract_read_naively() -> None:
    for seed in range(1500):
        events, records, supports = graph(seed)
        area = Area((Scope("user:a"),), (Scope("user:a/ws:held"),))
        mine = {id_ for id_ in events if events[id_].startswith("user:a") or id_ in ("evt_0", "evt_3")}
        going = {id_ for id_ in mine if events[id_] != "user:a/ws:held"}
        reached = set().union(*(above(id_, supports) for id_ in mine))
        citations = [
            Citation(id_, records[id_], source, polarity)  # type: ignore[arg-type]
            for id_ in sorted(reached)
            for source, polarity in supports[id_].items()
        ]
        plan = plan_of(
            area,
            [ErasureCandidate(id_, events[id_], n) for n, id_ in enumerate(events) if id_ in mine],
            citations,
        )
        outside = {id_ for id_ in records if records[id_] not in ("user:a", "user:a/ws:x")}
        cited = {id_: above(id_, supports) & outside for id_ in going}
        assert set(plan.deleted) == {id_ for id_ in going if not cited[id_]}, seed
        assert {id_: set(plan.cited[id_]) for id_ in plan.redacted} == {
            k: v for k, v in cited.items() if v
        }, seed
        assert set(plan.held) == mine - going, seed
        assert set(plan.resting) == set().union(*cited.values()), seed
        alone = {id_ for id_ in reached if leaves(id_, supports, ("supports",)) <= going}
        assert resting_alone(going, citations) & reached == alone, seed


def test_a_belief_that_rests_on_a_record_of_the_erased_scope_keeps_its_event_as_redacted() -> None:
    events = [ErasureCandidate("evt_1", Scope("user:a"), 1), ErasureCandidate("evt_2", Scope("user:a"), 2)]
    chain = [
        Citation("fact_1", Scope("user:a"), "evt_1", "supports"),
        Citation("belief_1", Scope("ws:x"), "fact_1", "supports"),
    ]
    plan = plan_of(Area((Scope("user:a"),)), events, chain)
    assert (plan.deleted, plan.redacted, plan.resting) == (("evt_2",), ("evt_1",), ("belief_1",))
    assert [(line.kind.value, line.id, line.record_id) for line in plan.lines()] == [
        ("1-delete", "evt_2", ""),
        ("2-redact", "evt_1", ""),
        ("4-reference", "evt_1", "belief_1"),
    ]


def test_a_plan_takes_memory_by_the_number_of_events_not_by_its_square() -> None:
    mine = Scope("user:a")

    def peak_bytes(count: int) -> int:
        events = [ErasureCandidate(f"evt_{n}", mine, n) for n in range(count)]
        facts = [Citation(f"fact_{n}", mine, f"evt_{n}", "supports") for n in range(count)]
        tracemalloc.start()
        plan = plan_of(Area((mine,)), events, facts)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(plan.deleted) == count
        return peak

    assert peak_bytes(12_000) < 8 * peak_bytes(3_000)
