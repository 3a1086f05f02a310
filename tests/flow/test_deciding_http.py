"""Deciding which entity an entity is, and having understanding made anew, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.kernel.capabilities import Capability
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.language.entities import entity_id
from told import START, Memory

SCOPE = "org:acme/user:alice"


def of(name: str) -> str:
    return entity_id("acme", name)


@pytest.fixture
def memory(world: Any) -> Memory:
    memory = Memory(world.store, world.clock)
    for subject, predicate, value in (("Bob", "lives_in", "Oslo"), ("Robert", "works_at", "Acme")):
        said = {"kind": "triple", "subject": {"type": "entity", "name": subject}, "predicate": predicate}
        memory.tell({**said, "object": {"type": "entity", "name": value}}, START)
    memory.derive()
    return memory


def facts(world: Any, subject: str, **more: str) -> list[str]:
    items = world.get("/v1/facts", scope=SCOPE, subject=subject, **more)["items"]
    return sorted(item["predicate"] for item in items)


def test_a_merge_is_followed_by_every_name_and_seen_from_before_it_is_not(world: Any, memory: Memory) -> None:
    before = rfc3339(world.clock.at)
    world.clock.at += SECOND_US
    body = {"scope": SCOPE, "into": of("robert"), "why": "he said so"}
    captured = world.post(f"/v1/entities/{of('bob')}/merge", body).json()
    assert (captured["canonical_id"], captured["erased"]) == (of("robert"), False)
    memory.derive()
    for name in ("Bob", "Robert", of("bob")):
        assert facts(world, name) == ["lives_in", "works_at"]
    assert facts(world, "Bob", as_of=before) == ["lives_in"]
    shown = world.get(f"/v1/entities/{of('bob')}", scope=SCOPE)
    assert (shown["canonical_id"], shown["names"]) == (of("robert"), ["Bob"])
    assert [(each["action"], each["why"]) for each in shown["decisions"]] == [("merge", "he said so")]
    whole = world.get(f"/v1/entities/{of('robert')}", scope=SCOPE)
    assert (whole["known_as"], sorted(whole["names"])) == ([of("bob")], ["Bob", "Robert"])
    assert world.get(f"/v1/entities/{of('bob')}", scope=SCOPE, as_of=before)["canonical_id"] is None
    state = world.get(f"/v1/lifecycle/memory-event/{captured['event_id']}")
    assert state["stages_completed"] == ["captured", "extracted", "indexed", "consolidated", "compressed"]
    events = world.get("/v1/events", scope=SCOPE)["items"]
    assert captured["event_id"] not in {event["id"] for event in events}


def test_who_was_found_to_be_another_is_known_as_whoever_that_was_found_to_be(
    world: Any, memory: Memory
) -> None:
    memory.tell(
        {
            "kind": "triple",
            "subject": {"type": "entity", "name": "Rob"},
            "predicate": "likes",
            "object": {"type": "literal", "datatype": "string", "value": "tea"},
        },
        START,
    )
    memory.derive()
    for name, into in (("rob", "bob"), ("bob", "robert")):
        world.clock.at += SECOND_US
        world.post(f"/v1/entities/{of(name)}/merge", {"scope": SCOPE, "into": of(into)})
        memory.derive()
    whole = world.get(f"/v1/entities/{of('robert')}", scope=SCOPE)
    assert whole["known_as"] == sorted([of("bob"), of("rob")])
    assert sorted(whole["names"]) == ["Bob", "Rob", "Robert"]


def test_a_split_takes_the_merge_back(world: Any, memory: Memory) -> None:
    world.post(f"/v1/entities/{of('bob')}/merge", {"scope": SCOPE, "into": of("robert")})
    memory.derive()
    world.clock.at += SECOND_US
    done = world.post(f"/v1/entities/{of('robert')}/split", {"scope": SCOPE, "name": "Bob"}).json()
    assert done["new_id"] == of("bob")
    memory.derive()
    assert (facts(world, "Bob"), facts(world, "Robert")) == (["lives_in"], ["works_at"])


@pytest.mark.parametrize(
    ("path", "body", "refused"),
    [
        ("bob/merge", {"into": of("nobody")}, (404, "NOT_FOUND")),
        ("nobody/merge", {"into": of("bob")}, (404, "NOT_FOUND")),
        ("bob/merge", {"into": of("bob")}, (409, "SAME_ENTITY")),
        ("alice/merge", {"into": of("bob")}, (409, "SCOPE_OWNER_STAYS")),
        ("bob/split", {"name": "Bob"}, (422, "INVALID_REQUEST")),
        ("bob/split", {"name": "Ben Carter"}, (422, "INVALID_REQUEST")),
        ("bob/split", {"name": "Robert"}, (409, "ENTITY_NAME_TAKEN")),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(
    world: Any, memory: Memory, path: str, body: dict[str, Any], refused: tuple[int, str]
) -> None:
    said = {"kind": "triple", "subject": {"type": "entity", "name": "Alice"}, "predicate": "knows"}
    memory.tell({**said, "object": {"type": "entity", "name": "Bob"}}, START)
    memory.derive()
    name, action = path.split("/")
    response = world.call("POST", f"/v1/entities/{of(name)}/{action}", body={"scope": SCOPE, **body})
    assert (response.status_code, response.json()["error_code"]) == refused


def test_whoever_may_not_write_about_others_decides_nothing_of_them(world: Any, memory: Memory) -> None:
    world.policy.deny(Capability.SCOPE_WRITE_ABOUT_OTHER)
    body = {"scope": SCOPE, "into": of("robert")}
    response = world.call("POST", f"/v1/entities/{of('bob')}/merge", body=body)
    assert (response.status_code, response.json()["error_code"]) == (403, "POLICY_DENIED")


def test_understanding_is_made_anew_behind_the_answer(world: Any, memory: Memory) -> None:
    for predicate, value in (("likes", "Tea"), ("owns", "Boat")):
        said = {"kind": "triple", "subject": {"type": "entity", "name": "Bob"}, "predicate": predicate}
        memory.tell({**said, "object": {"type": "entity", "name": value}}, START)
    memory.derive()
    (bob,) = world.get("/v1/understanding", scope=SCOPE, topic="Bob entity")["items"]
    versions = []
    for body in ({}, {"topics": ["Robert"], "force": True}, {"topics": ["Bob"], "force": True}):
        world.clock.at += SECOND_US
        response = world.call("POST", "/v1/understanding/synthesize", body={"scope": SCOPE, **body})
        assert response.status_code == 202
        job = response.json()
        assert job["lifecycle_stream"].endswith(job["job_id"])
        memory.derive()
        rows = world.get("/v1/lifecycle", event_id=job["job_id"])["items"]
        assert [row["stage"] for row in rows] == [
            "captured",
            "extracted",
            "indexed",
            "consolidated",
            "compressed",
        ]
        versions.append(
            (world.get(f"/v1/understanding/{bob['id']}")["version"], rows[-1]["payload"]["understanding_ids"])
        )
    assert [number for number, _ in versions] == [1, 1, 2]
    assert versions[:2] == [(1, []), (1, [])]
    assert bob["id"] in versions[2][1]
    live, replayed = memory.replayed()
    assert live == replayed
    missing = world.call("POST", "/v1/understanding/synthesize", body={"scope": "org:acme/user:never"})
    assert (missing.status_code, missing.json()["error_code"]) == (404, "NOT_FOUND")
