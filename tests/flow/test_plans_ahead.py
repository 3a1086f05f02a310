"""Plans: what lies ahead is told before its day, and what has no day fades unless it is said again."""

from __future__ import annotations

from typing import Any

from given import TENANT
from lamina import limits
from lamina.kernel.records import Layer
from lamina.kernel.time import Axes, instant, rfc3339
from lamina.store.ports.records import RecordQuery
from told import ALICE, DAY, LATER, START, Memory

SCOPE = "org:acme/user:ana"
FADES = limits.PLAN_FADES_DAYS * DAY


def plans(memory: Memory, at: int) -> list[str]:
    """What a default list has of plans at an instant."""
    axes = Axes(seen_at=LATER, valid_at=at)
    query = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=axes, limit=50)
    return sorted(f.text for f in memory.store.records.query(query) if f.kind == "plan")


def test_a_plan_is_listed_before_its_day_and_not_after(memory: Memory) -> None:
    memory.tell("I plan to visit Porto on April 10.", START)
    memory.derive()
    (told,) = plans(memory, START + DAY)
    day = instant("2026-04-10T12:00:00Z")
    assert plans(memory, day) == [told]
    assert plans(memory, day + DAY) == []
    live, again = memory.replayed()
    assert live == again


def test_a_plan_without_a_day_fades_unless_it_is_said_again(memory: Memory) -> None:
    memory.tell("I plan to visit Porto.", START)
    memory.derive()
    (told,) = plans(memory, START + FADES - 1)
    assert plans(memory, START + FADES) == []
    memory.tell("I plan to visit Porto.", START + FADES)
    memory.derive()
    assert plans(memory, START + FADES) == [told]
    assert plans(memory, START + 2 * FADES) == []
    live, again = memory.replayed()
    assert live == again


def test_over_http_a_plan_ahead_has_its_target_and_is_recalled(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    world.event("I want to visit Porto on June 10.", SCOPE, actor="user:ana")
    world.clock.at += DAY
    memory.derive()
    (fact,) = [each for each in world.get("/v1/facts", scope=SCOPE)["items"] if each["kind"] == "plan"]
    assert fact["target"] == {"from": "2026-06-10T00:00:00Z", "to": "2026-06-11T00:00:00Z"}
    pack = world.post("/v1/recall", {"scope": SCOPE, "query": "What does Ana want to visit?"}).json()
    assert fact["id"] in [each["id"] for each in pack["layers"]["facts"]]
    world.clock.at += 60 * DAY
    assert [each for each in world.get("/v1/facts", scope=SCOPE)["items"] if each["kind"] == "plan"] == []
    early = world.get("/v1/facts", scope=SCOPE, as_of=rfc3339(world.clock.at - 59 * DAY))["items"]
    assert fact["id"] in [each["id"] for each in early]
