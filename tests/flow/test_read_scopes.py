"""Which scopes a read covers, and who may read them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from given import TENANT
from lamina.index.rows import event_row, record_row
from lamina.kernel.events import Stage
from lamina.kernel.records import Mention, Subject
from lamina.kernel.ties import Tie
from lamina.language.entities import entity_id

ORG, TEAM, ALICE, BOB = (
    "org:acme",
    "org:acme/team:x",
    "org:acme/team:x/user:alice",
    "org:acme/team:x/user:bob",
)


@pytest.fixture
def texts(world: Any) -> Any:
    for scope in (ORG, TEAM, ALICE, BOB, "org:acme2"):
        world.event(scope, scope)

    def read(scope: str, view: str | None = None) -> set[str]:
        params = {"view": view} if view else {}
        items = world.get("/v1/events", scope=scope, **params)["items"]
        return {item["content"]["text"] for item in items}

    return read


def test_a_view_is_local_unless_asked(texts: Any) -> None:
    assert texts(TEAM) == {TEAM}
    assert texts(TEAM, "holistic") == {TEAM, ORG}
    assert texts(ALICE, "holistic") == {ALICE, TEAM, ORG}
    assert texts(TEAM, "descend") == {TEAM, ALICE, BOB}
    assert texts(ORG, "descend") == {ORG, TEAM, ALICE, BOB}


@pytest.mark.parametrize(
    ("capability", "view"),
    [
        ("scope.read.local", "local"),
        ("scope.read.holistic", "holistic"),
        ("scope.read.descend", "descend"),
    ],
)
def test_each_view_takes_its_capability(world: Any, texts: Any, capability: str, view: str) -> None:
    world.policy.deny(capability, TEAM)
    for path in ("events", "episodes", "facts", "beliefs", "understanding"):
        assert world.refused(f"/v1/{path}", scope=TEAM, view=view) == (403, "POLICY_DENIED")


def test_scopes_that_may_not_be_read_are_left_out_and_counted(world: Any, texts: Any) -> None:
    world.policy.deny("scope.read.local", ORG)
    world.policy.deny("scope.read.local", BOB)
    assert texts(TEAM, "holistic") == {TEAM}
    response = world.call("GET", "/v1/events", scope=TEAM, view="descend")
    assert {item["content"]["text"] for item in response.json()["items"]} == {TEAM, ALICE}
    assert response.headers["x-cortex-warning"] == "scopes_denied=1"


def test_too_many_scopes_are_said(world: Any, texts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.limits.SCOPES_PER_RECALL_MAX", 2)
    response = world.call("GET", "/v1/events", scope=ORG, view="descend")
    assert response.headers["x-cortex-warning"] == "scopes_truncated"


def test_an_id_opens_no_scope(world: Any) -> None:
    event, fact, belief, episode, concept = (
        world.event(),
        world.fact(),
        world.belief(),
        world.episode(),
        world.concept(),
    )
    world.land(fact, belief, episode, concept)
    world.policy.deny("scope.read.local", fact.scope)
    for path in (
        f"events/{event.id}",
        f"facts/{fact.id}",
        f"beliefs/{belief.id}",
        f"episodes/{episode.id}",
        f"understanding/{concept.id}",
        f"understanding/{concept.id}/related",
        f"beliefs/why?belief_id={belief.id}",
        f"lifecycle/memory-event/{event.id}",
    ):
        assert world.refused(f"/v1/{path}") == (404, "NOT_FOUND"), path
    world.policy.deny("scope.read.local")
    for path in (f"events/{event.id}", f"events/{event.id[:-4]}0000"):
        assert world.refused(f"/v1/{path}") == (403, "POLICY_DENIED")


def test_understanding_takes_its_own_capability(world: Any) -> None:
    concept = world.concept()
    world.land(concept)
    world.policy.deny("understanding.read", concept.scope)
    for path in ("understanding", "understanding/coverage"):
        assert world.refused(f"/v1/{path}", scope=concept.scope) == (403, "POLICY_DENIED")
    assert world.refused(f"/v1/understanding/{concept.id}") == (404, "NOT_FOUND")


@pytest.fixture
def consolidated(world: Any) -> dict[str, str]:
    """What Bob said, the fact from it in his scope, and the belief from that in the scope of the team."""
    event = world.event("Acme is at the stage poc", BOB)
    fact, belief, concept = world.fact(scope=BOB), world.belief(scope=TEAM), world.concept(scope=BOB)
    records = (fact, belief, concept)
    world.advance(
        event,
        Stage.EXTRACTED,
        records=records,
        supports=[
            world.support(fact.id, event.id),
            world.support(belief.id, fact.id),
            world.support(concept.id, fact.id),
        ],
        texts=[event_row(event, [], wants_vector=False), *map(record_row, records)],
    )
    return {"event": event.id, "fact": fact.id, "belief": belief.id, "concept": concept.id}


def test_a_recall_shows_no_concept_to_who_may_read_none(world: Any, consolidated: Any) -> None:
    asked = {"scope": BOB, "query": "How do deals go at Acme?", "view": "local"}
    keyed = asked | {"idempotency_key": "k"}

    def shown(body: dict[str, Any]) -> tuple[list[str], bool, str | None]:
        answer = world.call("POST", "/v1/recall", body=body)
        told = [each["id"] for each in answer.json()["layers"]["understanding"]]
        return told, "How deals go" in answer.text, answer.headers.get("x-cortex-warning")

    only = {"include": ["understanding"]}
    for body in (asked, asked | only, keyed):
        assert shown(body) == ([consolidated["concept"]], True, None)
    world.policy.deny("understanding.read", BOB)
    for body in (asked, asked | only, keyed, asked | {"view": "structured"}):
        assert shown(body) == ([], False, "understanding_denied=1")
    facts_alone = asked | {"include": ["facts"]}
    assert shown(facts_alone) == ([], False, None)


def test_an_answer_rests_on_no_concept_that_may_not_be_read_any_more(world: Any, consolidated: Any) -> None:
    asked, question = (
        {"scope": BOB, "view": "local", "include": ["understanding"]},
        "What is the stage of Acme?",
    )
    pack_id = world.post("/v1/recall", asked | {"query": question}).json()["pack_id"]

    def cited(**more: Any) -> list[str]:
        answer = world.post("/v1/answer", asked | {"question": question} | more).json()
        return [each["id"] for each in answer["citations"]]

    ways: tuple[dict[str, str], ...] = ({}, {"idempotency_key": "k"}, {"use_pack_id": pack_id})
    assert [cited(**way) for way in ways] == [[consolidated["concept"]]] * 3
    world.policy.deny("understanding.read", BOB)
    assert [cited(**way) for way in ways] == [[]] * 3


def test_a_belief_names_nothing_of_a_scope_that_may_not_be_read(world: Any, consolidated: Any) -> None:
    belief_id = consolidated["belief"]
    assert consolidated["fact"] in json.dumps(world.get(f"/v1/beliefs/{belief_id}"))
    world.policy.deny("scope.read.local", BOB)
    seen = [
        world.get(f"/v1/beliefs/{belief_id}"),
        world.get("/v1/beliefs", scope=TEAM),
        world.get("/v1/beliefs/why", belief_id=belief_id),
    ]
    for shown in map(json.dumps, seen):
        assert belief_id in shown
        assert all(consolidated[name] not in shown for name in ("event", "fact", "concept"))


def test_an_event_names_nothing_of_a_scope_that_may_not_be_read(world: Any, consolidated: Any) -> None:
    event_id = consolidated["event"]
    rests = [consolidated["fact"], consolidated["concept"]]
    everything = sorted([*rests, consolidated["belief"]])
    assert sorted(world.get(f"/v1/events/{event_id}")["derives"]) == everything
    world.policy.deny("scope.read.local", TEAM)
    for shown in (
        world.get(f"/v1/events/{event_id}"),
        world.get("/v1/events", scope=BOB)["items"][0],
        world.get(f"/v1/lifecycle/memory-event/{event_id}"),
    ):
        assert sorted(shown["derives"]) == sorted(rests)


@pytest.mark.model
@pytest.mark.parametrize(("asked", "hidden"), [(TEAM, BOB), (BOB, TEAM)])
def test_a_pack_names_nothing_of_a_scope_that_may_not_be_read(
    world: Any, consolidated: Any, asked: str, hidden: str
) -> None:
    own, others = ["belief"], ["event", "fact", "concept"]
    if asked == BOB:
        own, others = others, own
    body = {"scope": asked, "view": "local", "query": "Which stage is Acme at?", "diagnostics": "full"}
    assert any(consolidated[name] in world.post("/v1/recall", body).text for name in others)
    world.policy.deny("scope.read.local", hidden)
    shown = world.post("/v1/recall", body).text
    assert all(consolidated[name] in shown for name in own)
    assert all(consolidated[name] not in shown for name in others)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/v1/facts", {"subject": "Mercury"}),
        ("/v1/beliefs", {"about": "Mercury"}),
        ("/v1/facts/timeline", {"subject": "Mercury", "predicate": "lives_in"}),
    ],
)
def test_whether_others_used_a_name_is_not_told(world: Any, path: str, named: dict[str, str]) -> None:
    world.event("I like tea.", ALICE)
    world.land()
    before = world.get(path, scope=ALICE, view="descend", **named)
    told = world.event("Mercury is fast.", BOB)
    mercury = entity_id(TENANT, "mercury")
    said = Mention(
        tenant_id=TENANT,
        entity_id=mercury,
        event_id=told.id,
        scope=told.scope,
        position=told.position,
        surface="Mercury",
    )
    world.land(entities=[world.entity("mercury", mercury)], mentions=[said])
    assert world.get(path, scope=ALICE, view="descend", **named) == before


@pytest.mark.parametrize("question", ["Who is Mercury?", "Where does Mercury live?"])
def test_whether_others_used_a_name_is_not_told_by_a_recall(world: Any, question: str) -> None:
    """What a split calls Mercury was never said here."""
    world.clock.at += 1
    mercury = Subject(entity_id(TENANT, "mercury"), "Ben")
    event = world.event("Ben likes tea.", ALICE)
    fact = world.fact(
        scope=ALICE, subject=mercury, text="Ben likes tea.", predicate="likes", event_id=event.id
    )
    decided = world.support(event.id, mercury.id, relation=Tie.DECIDES)
    world.land(fact, supports=[world.support(fact.id, event.id), decided])

    def recalled() -> Any:
        body = {"scope": ALICE, "query": question, "include": ["facts"], "diagnostics": "full"}
        pack = world.post("/v1/recall", body).json()
        phases = [{**each, "elapsed_ms": 0} for each in pack["provenance"]["trail"]]
        return phases, pack["layers"], pack["diagnostics"]["lines"]

    before = recalled()
    told = world.event("Mercury is fast.", BOB)
    said = Mention(
        tenant_id=TENANT,
        entity_id=mercury.id,
        event_id=told.id,
        scope=told.scope,
        position=told.position,
        surface="Mercury",
    )
    world.land(entities=[world.entity("mercury", mercury.id)], mentions=[said])
    assert recalled() == before
    assert before[1]["facts"] != []
