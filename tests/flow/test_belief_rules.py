"""What a tenant lays down for its beliefs: the floor, and how often they are revised; with what a reader is told of those that are gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from given import TENANT, CountedIds, ManualClock
from lamina.kernel.belief_rules import BELIEF_RULES, BeliefRules
from lamina.kernel.defining import definition_by
from lamina.kernel.events import Trust
from lamina.kernel.records import Fact, Layer
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.beliefs import BeliefReviser
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.upgrading import Upgrader
from lamina.pipeline.worker import Worker
from lamina.store.memory import MemoryStore
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes
from told import BOB, DAY, START, Memory
from upgrades import derive_anew

MINUTE = 60 * SECOND_US
MakeMemory = Callable[..., Memory]


def stated(value: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "triple", "subject": "Shop", "predicate": "seats", "object": value, **more}


class Ruled:
    """A world whose tenant lays down rules, and a memory that is told things in it."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.memory = Memory(world.store, world.clock)

    def rule(self, **defaults: Any) -> tuple[int, Any]:
        self.world.clock.at += SECOND_US
        named = {name.replace("__", "."): value for name, value in defaults.items()}
        response = self.world.call("PUT", f"/v1/policy/tenant/{TENANT}", body={"defaults": named})
        return response.status_code, response.json()

    def tell(self, content: dict[str, Any], at: int = START, **more: Any) -> None:
        self.memory.tell(content, at, **more)
        self.memory.derive()

    def gone(self, path: str) -> tuple[int, Any]:
        response = self.world.call("GET", path)
        return response.status_code, response.json()

    def believed(self) -> list[dict[str, Any]]:
        self.world.clock.at += SECOND_US
        return list(
            self.world.get("/v1/beliefs", scope="org:acme/user:alice", valid_during="2026-01-01..")["items"]
        )

    def same_after_a_replay(self) -> bool:
        live, again = self.memory.replayed()
        return live == again


@pytest.fixture
def ruled(world: Any) -> Ruled:
    return Ruled(world)


def test_a_belief_below_the_floor_is_deleted_under_an_audit_row(ruled: Ruled) -> None:
    ruled.tell(stated(100, confidence=0.7))
    (belief,) = ruled.believed()
    before = rfc3339(ruled.world.clock.at)
    ruled.tell(stated(100, negated=True, valid_from="2026-03-02T09:00:00Z"), START + DAY)
    status, gone = ruled.gone(f"/v1/beliefs/{belief['id']}")
    assert (status, gone["error_code"]) == (410, "RESOURCE_DELETED")
    assert gone["message"] == "this belief was deleted: its confidence fell below the floor"
    row = ruled.world.get(f"/v1/audit/{gone['details']['audit_id']}")
    assert (row["capability"], row["actor"]) == ("belief.delete", "system:derivation")
    assert "100" not in str(row.get("detail"))
    assert ruled.world.get(f"/v1/beliefs/{belief['id']}", as_of=before)["id"] == belief["id"]
    rows = len(ruled.world.store.audit.walk(TENANT, 0, 1000))
    assert ruled.same_after_a_replay()
    deletions = [
        r for r in ruled.world.store.audit.walk(TENANT, 0, 1000) if r.draft.endpoint == "belief deletion"
    ]
    assert (len(deletions), len(ruled.world.store.audit.walk(TENANT, 0, 1000)) >= rows) == (1, True)
    assert ruled.gone(f"/v1/beliefs/{belief['id']}")[1]["details"] == gone["details"]


def test_a_tenant_sets_the_floor_from_there_on(ruled: Ruled) -> None:
    ruled.tell(stated(100, confidence=0.4))
    (kept,) = ruled.believed()
    before = rfc3339(ruled.world.clock.at)
    assert ruled.rule(tenant__confidence_floor=0.5)[0] == 200
    assert ruled.believed() == [], "lists leave out what is below"
    then = ruled.world.get("/v1/beliefs", scope="org:acme/user:alice", as_of=before)["items"]
    assert [each["id"] for each in then] == [kept["id"]], "by the floor of then it was held"
    ruled.tell(stated(100, confidence=0.45), START + DAY)
    assert ruled.gone(f"/v1/beliefs/{kept['id']}")[0] == 410
    assert ruled.rule()[0] == 200
    ruled.tell(stated(100, confidence=0.45), START + 2 * DAY, who=BOB)
    (back,) = ruled.believed()
    assert back["id"] != kept["id"]
    assert ruled.same_after_a_replay()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tenant.confidence_floor", 1.5), ("tenant.confidence_floor", "0.5"), ("tenant.confidence_floor", True),
        ("beliefs.cooldown", "P2D"), ("beliefs.cooldown", 5),
        ("beliefs.max_revisions_per_hour", 0), ("beliefs.max_revisions_per_hour", 2.5),
    ],
)  # fmt: skip
def test_rules_out_of_bounds_are_refused(ruled: Ruled, name: str, value: Any) -> None:
    status, answer = ruled.rule(**{name: value})
    assert (status, answer["error_code"]) == (422, "INVALID_POLICY")
    assert ruled.memory.store.definitions.held(TENANT, "belief_rules") == []


def test_a_belief_that_was_merged_says_into_which(ruled: Ruled) -> None:
    """Two stretches of one claim become one once it is said of the time between."""
    day = "2026-03-{:02}T09:00:00Z".format
    ruled.tell(stated(100, valid_from=day(2), valid_to=day(4)), START + 20 * DAY)
    ruled.tell(stated(100, valid_from=day(6), valid_to=day(9)), START + 20 * DAY)
    first, second = sorted(ruled.believed(), key=lambda each: str(each["valid_from"]))
    ruled.tell(stated(100, valid_from=day(3), valid_to=day(8)), START + 21 * DAY)
    (left,) = ruled.believed()
    gone = next(each["id"] for each in (first, second) if each["id"] != left["id"])
    status, answer = ruled.gone(f"/v1/beliefs/{gone}")
    assert (status, answer["error_code"]) == (410, "RESOURCE_DELETED")
    assert answer["message"] == "this belief was merged into another one, which says the same"
    assert answer["details"]["merged_into"] == left["id"]
    assert ruled.same_after_a_replay()


def test_revisions_wait_and_figures_do_not(ruled: Ruled) -> None:
    ruled.rule(beliefs__cooldown="PT5M", beliefs__max_revisions_per_hour=12)
    people = [BOB, *(type(BOB)(f"user:p{n}", "user", f"P{n}") for n in range(3))]
    ruled.tell(stated(100))
    figures = []
    for who in people[:2]:
        ruled.tell(stated(100), START + DAY, who=who)
        (belief,) = ruled.believed()
        figures.append(
            (belief["confidence"], belief["revision_count"], belief["_partial"], belief["_partial_reason"])
        )
    assert figures == [(0.8375, 0, True, "revision_in_progress"), (0.8682, 0, True, "revision_in_progress")]
    assert belief["revision_policy"]["cooldown"] == "PT5M"
    assert belief["revision_policy"]["max_revisions_per_hour"] == 12
    ruled.world.clock.at += 5 * MINUTE
    (later,) = ruled.believed()
    assert (later["revision_count"], later["_partial"], later["confidence"]) == (1, False, 0.8682)
    ruled.tell(stated(100), START + DAY, who=people[2])
    (last,) = ruled.believed()
    assert (last["revision_count"], last["_partial"], last["last_revised_at"]) == (
        1,
        True,
        later["last_revised_at"],
    )
    assert ruled.same_after_a_replay()


def test_the_figures_are_those_of_a_memory_without_rules(ruled: Ruled) -> None:
    clock = ManualClock(ruled.world.clock.at)
    plain = Memory(MemoryStore(clock=clock, ids=CountedIds()), clock)
    ruled.rule(beliefs__cooldown="P1D", beliefs__max_revisions_per_hour=1)
    said = [stated(100), stated(200), stated(100, negated=True), stated(300)]
    for number, content in enumerate(said):
        trust = Trust.EXTERNAL if number == 3 else Trust.PRINCIPAL
        for memory in (ruled.memory, plain):
            memory.tell(content, START + number * DAY, who=BOB, trust=trust)
            memory.derive()
    slow, fast = (
        sorted(
            repr((b.object.text, b.negated, b.alpha, b.beta, b.stance, b.valid_from, b.valid_to))
            for b in each.held(Layer.BELIEFS)
        )
        for each in (ruled.memory, plain)
    )
    assert slow == fast


def test_an_hour_has_no_more_revisions_than_it_may() -> None:
    rules = BeliefRules(revisions_per_hour=2)
    revised: tuple[int, ...] = (0,)
    counted = 0
    for at in range(10, 200, 10):
        revised, added = rules.revised(
            revised, waits=bool(counted) and revised[-1] != at - 10 * MINUTE, at=at * MINUTE
        )
        counted += added
    hours = [sum(start <= at < start + 60 * MINUTE for at in revised) for start in revised]
    assert max(hours) == 2
    assert counted >= 5


def test_an_upgrade_follows_the_rules_of_then_and_brings_the_rows_of_its_deletions(
    make_memory: MakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = make_memory()
    revise = BeliefReviser.revise

    def without_rows(reviser: BeliefReviser, facts: Sequence[Fact]) -> Writes:
        return replace(revise(reviser, facts), audits=[])

    monkeypatch.setattr(BeliefReviser, "revise", without_rows)  # as a release that wrote none
    memory.tell(stated(100, confidence=0.4), START)
    memory.derive()
    memory.clock.at += SECOND_US
    entry = definition_by(TENANT, "user:root", BeliefRules(confidence_floor=0.5).said(), memory.clock.at)
    memory.store.definitions.define(entry, BELIEF_RULES, lambda standing: None)
    memory.tell(stated(100, confidence=0.45), START + DAY)
    memory.derive()
    before = list(memory.store.snapshot())
    assert memory.held(Layer.BELIEFS) == []
    assert memory.store.audit.walk(TENANT, 0, 10) == []
    monkeypatch.undo()
    memory.store.rederivation.begin({"beliefs": "1"})

    def worker_of(aside: Store) -> Worker:
        deriver = Deriver(aside, RulesExtractor(find_times, use_parser=False), None)
        return Worker(aside, deriver, None, memory.clock, "aside", calibrates=False)

    upgrader = Upgrader(memory.store, {"beliefs": "2"}, worker_of, memory.clock)
    upgrader.begin()
    derive_anew(upgrader)
    upgrader.close()
    assert list(memory.store.snapshot()) == before
    (row,) = memory.store.audit.walk(TENANT, 0, 10)
    assert row.draft.endpoint == "belief deletion"
    (ended,) = [r for table, r in before if table == "record" and row.draft.id in str(r)]
    assert ended
