"""Reading facts and beliefs over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lamina.kernel.ids import Prefix
from lamina.kernel.records import Evidence, ObjectValue, Stance, Subject
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import SECOND_US, instant
from lamina.store.ports.writes import Closing

ALICE = Scope("org:acme/user:alice")

SCOPE = "org:acme/user:alice"
NOON = instant("2026-05-13T12:00:00Z")
DAY = 86_400 * SECOND_US
MARCH, APRIL, MAY = (instant(f"2026-0{month}-01T00:00:00Z") for month in (3, 4, 5))


@pytest.fixture
def stages(world: Any) -> Any:
    """poc, learned in March and replaced in May by a close that was true from April on."""
    poc = world.fact("poc", valid_from=MARCH, recorded_from=MARCH, recorded_to=MAY)
    close = world.fact(
        "close",
        valid_from=APRIL,
        recorded_from=MAY,
        supersedes=poc.id,
        object=ObjectValue("literal", "close", "string"),
    )
    poc = replace(poc, superseded_by=close.id)
    ended = replace(poc, version=2, valid_to=APRIL, recorded_from=MAY, recorded_to=None)
    world.land(poc, ended, close, entities=[world.entity()])
    return {(poc.id, 1): "poc1", (poc.id, 2): "poc2", (close.id, 1): "close"}


def test_a_fact_has_every_documented_field(world: Any) -> None:
    event = world.event()
    fact = world.fact(object=ObjectValue("literal", 200, "integer", "seat"))
    world.land(fact, supports=[world.support(fact.id, event.id)])
    shown = world.get(f"/v1/facts/{fact.id}")
    assert shown == {
        "id": fact.id,
        "scope": SCOPE,
        "version": 1,
        "subject": {"type": "entity", "id": "ent_acme", "name": "Acme Corp"},
        "predicate": "deal_stage",
        "object": {"type": "literal", "datatype": "integer", "value": 200, "unit": "seat"},
        "negated": False,
        "kind": "state",
        "text": "Acme Corp is at the stage poc.",
        "supports": [event.id],
        "valid_from": "2026-05-13T12:00:00Z",
        "valid_to": None,
        "valid_from_offset": None,
        "valid_to_offset": None,
        "recorded_from": "2026-05-13T12:00:00Z",
        "recorded_to": None,
        "confidence": 0.9,
        "extractor": "lamina-rules/1",
        "said_by": None,
        "trust": "principal",
        "handed_over": False,
        "superseded_by": None,
        "supersedes": None,
        "may_have_changed": None,
        "target": None,
        "fades_at": None,
        "vocabulary": None,
        "supporting_evidence_redacted": False,
        "excluded_from_recall": False,
        "_partial": False,
        "_partial_reason": None,
        "_progress": None,
    }


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {"close"}),
        ({"include_superseded": "true"}, {"close", "poc1"}),
        ({"as_of": "2026-03-15"}, {"poc1"}),
        ({"as_of": "2026-04-15"}, {"poc1"}),
        ({"as_of": "2026-04-15", "include_superseded": "true"}, {"poc1"}),
        ({"as_of": "2026-05-10"}, {"close"}),
        ({"as_of": "2026-05-10", "include_superseded": "true"}, {"close", "poc1"}),
        ({"as_of": "2026-02-01", "include_superseded": "true"}, set()),
        ({"valid_during": "2026-03-01..2026-03-15"}, {"poc2"}),
        ({"valid_during": "2026-03-15..2026-04-15"}, {"poc2", "close"}),
        ({"valid_during": "2026-04-01.."}, {"close"}),
        ({"recorded_during": "..2026-04-01"}, {"poc1"}),
        ({"recorded_during": "2026-05-01.."}, {"poc2", "close"}),
        ({"valid_during": "2026-04-10..2026-04-11", "recorded_during": "..2026-04-20"}, {"poc1"}),
        ({"valid_during": "2026-04-10..2026-04-11", "recorded_during": "..2026-05-02"}, {"close"}),
    ],
)
def test_time_axes(world: Any, stages: Any, filters: dict[str, str], found: set[str]) -> None:
    items = world.get("/v1/facts", scope=SCOPE, **filters)["items"]
    assert {stages[item["id"], item["version"]] for item in items} == found


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"subject": "ent_acme"}, ["acme"]),
        ({"subject": "the Acme Corp"}, ["acme"]),
        ({"subject": "user:alice"}, ["alice"]),
        ({"subject": "Nobody"}, []),
        ({"predicate": "likes"}, ["alice"]),
        ({"min_confidence": "0.8"}, ["acme"]),
    ],
)
def test_facts_are_filtered(world: Any, filters: dict[str, str], found: list[str]) -> None:
    acme = world.fact("acme")
    alice = world.fact("alice", subject=Subject("ent_alice", "Alice"), predicate="likes", confidence=0.5)
    world.land(acme, alice, entities=[world.entity(), world.entity("alice", "ent_alice")])
    names = {acme.id: "acme", alice.id: "alice"}
    assert [names[record_id] for record_id in world.ids("/v1/facts", **filters)] == found


@pytest.mark.parametrize(
    "path",
    ["/v1/facts?subject={}", "/v1/facts/timeline?predicate=likes&subject={}", "/v1/beliefs?about={}"],
)
def test_what_claims_are_about_is_no_id_of_something_else(world: Any, path: str) -> None:
    """Seed 002, 3.6. An entity of no claim is no fault, and a list of nothing."""
    fact = world.fact()
    world.land(fact)
    assert world.refused(f"{path.format(fact.id)}&scope={SCOPE}") == (422, "INVALID_ID")
    nobody = world.id(Prefix.ENTITY, "nobody")
    assert world.call("GET", f"{path.format(nobody)}&scope={SCOPE}").status_code == 200


@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan", "much"])
def test_a_confidence_is_a_share(world: Any, value: str) -> None:
    assert world.refused("/v1/facts", scope=SCOPE, min_confidence=value) == (422, "INVALID_REQUEST")


def test_pages_pin_the_instant_of_the_first(world: Any) -> None:
    facts = [world.fact(str(n), recorded_from=MAY + n) for n in range(5)]
    world.land(*facts)
    first = world.get("/v1/facts", scope=SCOPE, limit=2)
    world.clock.at += SECOND_US
    late = world.fact("late", recorded_from=world.clock.at)
    closing = Closing(facts[0].tenant_id, facts[0].id, 1, world.clock.at, late.id)
    world.land(late, closings=[closing])
    second = world.get("/v1/facts", scope=SCOPE, limit=2, cursor=first["next_cursor"])
    third = world.get("/v1/facts", scope=SCOPE, limit=2, cursor=second["next_cursor"])
    listed = [item["id"] for page in (first, second, third) for item in page["items"]]
    assert listed == [fact.id for fact in reversed(facts)]
    assert (third["has_more"], third["next_cursor"]) == (False, None)
    assert world.ids("/v1/facts")[0] == late.id


@pytest.mark.parametrize("layer", ["facts", "beliefs"])
def test_pages_as_of_a_time_to_come_pin_what_is_known_at_the_first(world: Any, at: Any, layer: str) -> None:
    """A caller whose clock is ahead asks so: what changed between two pages was on neither."""
    made = world.fact if layer == "facts" else world.belief
    records = [made(str(number), recorded_from=NOON - number) for number in range(3)]
    world.land(*records)
    asked = {"scope": SCOPE, "limit": 1, "as_of": "2026-05-14T12:00:00Z"}
    first = world.get(f"/v1/{layer}", **asked)
    changed_at = at("2026-05-13T12:00:05Z")
    last = records[-1]
    revised = replace(last, version=2, recorded_from=changed_at)
    world.land(revised, closings=[Closing(last.tenant_id, last.id, 1, changed_at, None)])
    shown, cursor = [*first["items"]], first["next_cursor"]
    while cursor is not None:
        page = world.get(f"/v1/{layer}", **asked, cursor=cursor)
        shown, cursor = [*shown, *page["items"]], page["next_cursor"]
    assert [(each["id"], each["version"]) for each in shown] == [(each.id, 1) for each in records]


def test_a_fact_as_it_was_held(world: Any, stages: Any) -> None:
    poc_id = next(record_id for record_id, _ in stages)
    assert world.get(f"/v1/facts/{poc_id}")["version"] == 2
    assert world.get(f"/v1/facts/{poc_id}", as_of="2026-04-15")["version"] == 1
    assert world.refused(f"/v1/facts/{poc_id}", as_of="2026-01-01") == (404, "NOT_FOUND")


def test_a_timeline_runs_in_valid_time(world: Any, stages: Any) -> None:
    shown = world.get("/v1/facts/timeline", scope=SCOPE, subject="Acme Corp", predicate="deal_stage")
    assert shown["subject"] == {"id": "ent_acme", "name": "Acme Corp"}
    assert [(entry["value"], entry["valid_from"], entry["valid_to"]) for entry in shown["timeline"]] == [
        ("poc", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"),
        ("close", "2026-04-01T00:00:00Z", None),
    ]


def test_a_timeline_as_it_was_known(world: Any, stages: Any) -> None:
    asked = {"scope": SCOPE, "subject": "ent_acme", "predicate": "deal_stage", "as_of": "2026-04-15"}
    assert [entry["value"] for entry in world.get("/v1/facts/timeline", **asked)["timeline"]] == ["poc"]
    nobody = world.get("/v1/facts/timeline", scope=SCOPE, subject="Nobody", predicate="deal_stage")
    assert (nobody["subject"], nobody["timeline"]) == ({"id": None, "name": "Nobody"}, [])


def test_a_belief_shows_its_evidence_and_invents_nothing(world: Any) -> None:
    fact, other = world.fact(), world.belief("other", confidence=0.3, stance=Stance.CONTRADICTED)
    belief = world.belief(contradicts=(other.id,), revision_count=1)
    against = world.support(belief.id, world.id(Prefix.EPISODE, "ep"), polarity="against", weight=0.2)
    world.land(fact, other, belief, supports=[world.support(belief.id, fact.id, weight=0.34), against])
    shown = world.get(f"/v1/beliefs/{belief.id}")
    assert shown["claim"]["object"] == {
        "type": "literal",
        "datatype": "string",
        "value": "poc",
        "unit": None,
    }
    assert shown["confidence_interval"] == {
        "lower": 0.48,
        "upper": 0.97,
        "method": "beta_posterior",
        "level": 0.9,
    }
    assert shown["calibration"] == {
        "model": None,
        "brier_score_30d": None,
        "ece_30d": None,
        "samples": 0,
        "last_calibrated_at": None,
    }
    assert {(each["type"], each["weight"], each["polarity"]) for each in shown["supports"]} == {
        ("fact", 0.34, "supports"),
        ("episode", 0.2, "against"),
    }
    assert shown["contradicts"] == [{"belief_id": other.id, "tension": 0.3, "resolution": "stronger_wins"}]
    assert shown["why_url"] == f"/v1/beliefs/why?belief_id={belief.id}"
    assert shown["supporting_evidence_redacted"] is False
    assert shown["last_revised_at"] == "2026-05-13T12:00:00Z"


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {"renews", "doubt"}),
        ({"about": "Acme Corp"}, {"renews"}),
        ({"about": "Nobody"}, set()),
        ({"stance": "uncertain"}, {"doubt"}),
        ({"predicate": "deal_stage"}, {"renews"}),
        ({"min_confidence": "0.6"}, {"renews"}),
        ({"include_deprecated": "true"}, {"renews", "doubt", "old"}),
        ({"stance": "deprecated"}, {"old"}),
        ({"as_of": "2026-05-01"}, set()),
    ],
)
def test_beliefs_are_filtered(world: Any, filters: dict[str, str], found: set[str]) -> None:
    elsewhere = {"subject": Subject("ent_x", "X"), "predicate": "likes", "confidence": 0.5}
    beliefs = [
        world.belief("renews"),
        world.belief("doubt", stance=Stance.UNCERTAIN, **elsewhere),
        world.belief("old", stance=Stance.DEPRECATED, **elsewhere),
    ]
    world.land(*beliefs, entities=[world.entity()])
    names = {belief.id: name for belief, name in zip(beliefs, ("renews", "doubt", "old"), strict=True)}
    assert {names[record_id] for record_id in world.ids("/v1/beliefs", **filters)} == found


def test_a_deleted_belief_is_gone_and_was_there(world: Any) -> None:
    belief = world.belief(recorded_from=APRIL, valid_from=APRIL)
    world.land(belief)
    world.land(closings=[Closing(belief.tenant_id, belief.id, 1, MAY)])
    assert world.ids("/v1/beliefs") == []
    for path in (f"/v1/beliefs/{belief.id}", f"/v1/beliefs/why?belief_id={belief.id}"):
        assert world.refused(path) == (410, "RESOURCE_DELETED")
    assert world.get(f"/v1/beliefs/{belief.id}", as_of="2026-04-15")["confidence"] == 0.9
    assert world.refused(f"/v1/beliefs/{world.id(Prefix.BELIEF, 'none')}") == (404, "NOT_FOUND")


def test_what_rests_in_closed_scopes_is_counted_and_not_named(world: Any) -> None:
    team = Scope("ws:launch")
    event, fact = world.event("I earn 90,000 euros"), world.fact()
    other = world.fact("other")
    evidence = (Evidence(fact.id, 0.9, "supports"), Evidence(other.id, 0.4, "against"))
    belief = world.belief(scope=team, evidence=evidence)
    supports = [
        world.support(fact.id, event.id),
        world.support(belief.id, fact.id, weight=0.9, relation=Tie.SUPPORTED_BY),
        world.support(belief.id, other.id, weight=0.4, relation=Tie.CONTRADICTED_BY, polarity="against"),
    ]
    world.land(fact, other, belief, supports=supports)
    whole = world.get("/v1/beliefs/why", belief_id=belief.id)
    assert whole["support_graph"]["denied"] == []
    world.policy.deny("scope.read.local", ALICE)
    why = world.get("/v1/beliefs/why", belief_id=belief.id)
    assert why["support_graph"] == {
        "nodes": [],
        "edges": [],
        "truncated": False,
        "denied": [
            {"denied": True, "type": "fact", "polarity": side, "item_count": 1, "denied_reason": "scope"}
            for side in ("against", "supports")
        ],
    }
    assert why["narrative"].endswith("from 2 supports, 2 of them in scopes that you may not read.")
    assert world.get(f"/v1/why/{belief.id}")["support_graph"] == why["support_graph"]
    said = str([why, world.get(f"/v1/why/{belief.id}")])
    assert not any(hidden in said for hidden in (fact.id, other.id, event.id, ALICE, "90,000"))


def test_why_walks_down_to_the_events(world: Any) -> None:
    event = world.event("Acme upgraded to 200 seats")
    fact, belief, episode = world.fact(), world.belief(), world.episode()
    supports = [
        world.support(fact.id, event.id),
        world.support(episode.id, event.id, relation=Tie.CONTAINS),
        world.support(belief.id, fact.id, weight=0.34),
        world.support(belief.id, episode.id, weight=0.22, polarity="against"),
    ]
    world.land(fact, belief, episode, supports=supports)
    why = world.get("/v1/beliefs/why", belief_id=belief.id)
    graph = why["support_graph"]
    assert [(node["id"], node["type"], node["weight"]) for node in graph["nodes"]] == [
        (fact.id, "fact", 0.34),
        (episode.id, "episode", 0.22),
        (event.id, "event", 1.0),
    ]
    assert {(edge["from"], edge["to"], edge["relation"]) for edge in graph["edges"]} == {
        (belief.id, fact.id, "supported_by"),
        (belief.id, episode.id, "contradicted_by"),
        (fact.id, event.id, "extracted_from"),
        (episode.id, event.id, "contains"),
    }
    assert graph["nodes"][2]["summary"] == "Acme upgraded to 200 seats"
    assert why["narrative_model"] == "extractive"
    assert why["narrative"] == (
        "I think that Acme Corp deal stage poc because on 2026-05-13 “Acme Corp is at the stage poc.” "
        f"({fact.id}). Against it speaks on 2026-05-13 “deal” ({episode.id}). "
        "The confidence is 0.90, with 90% between 0.48 and 0.97, from 2 supports."
    )


def test_a_claim_that_no_list_shows_was_extracted_from_its_turn_all_the_same(world: Any) -> None:
    """As an erasure leaves it of what was sent to a belief of another scope: its turn bears it out no more."""
    event = world.event("Acme upgraded to 200 seats")
    fact, belief = world.fact(excluded=True), world.belief()
    said = world.support(fact.id, event.id, polarity="against")
    world.land(fact, belief, supports=[said, world.support(belief.id, fact.id)])
    graph = world.get("/v1/beliefs/why", belief_id=belief.id)["support_graph"]
    assert [edge["relation"] for edge in graph["edges"]] == ["supported_by", "extracted_from"]


def test_a_record_of_any_layer_says_why(world: Any) -> None:
    event = world.event("Acme upgraded to 200 seats")
    fact, belief, episode, concept = world.fact(), world.belief(), world.episode(), world.concept()
    supports = [
        world.support(fact.id, event.id),
        world.support(episode.id, event.id, relation=Tie.CONTAINS),
        world.support(belief.id, fact.id),
        world.support(concept.id, fact.id, relation=Tie.SYNTHESIZED_FROM),
    ]
    world.land(fact, belief, episode, concept, supports=supports)
    told = {each.id: world.get(f"/v1/why/{each.id}") for each in (event, fact, belief, episode, concept)}
    edges = {
        key: [(edge["from"], edge["to"]) for edge in why["support_graph"]["edges"]]
        for key, why in told.items()
    }
    assert edges == {
        event.id: [(event.id, episode.id), (event.id, fact.id)],
        fact.id: [(fact.id, event.id)],
        belief.id: [(belief.id, fact.id), (fact.id, event.id)],
        episode.id: [(episode.id, event.id)],
        concept.id: [(concept.id, fact.id), (fact.id, event.id)],
    }
    assert {key: (why["id"], why["record"]["id"]) for key, why in told.items()} == {
        key: (key, key) for key in told
    }
    quoted = "“Acme upgraded to 200 seats”"
    assert all(quoted in told[each.id]["narrative"] for each in (fact, episode))
    assert fact.id in told[event.id]["narrative"]
    assert world.get("/v1/beliefs/why", belief_id=belief.id)["narrative"] == told[belief.id]["narrative"]


def test_a_record_goes_back_to_what_its_version_was_made_from(world: Any) -> None:
    """Once a concept was told to be made from what it had lost, and its beliefs to rest on what they count no more."""
    said, gone = (
        world.fact("said", text="Acme is at the stage poc."),
        world.fact("gone", text="Acme is lost."),
    )
    belief = world.belief(evidence=(Evidence(said.id, 0.9, "supports"),))
    concept = world.concept(about="ent_acme", inputs=(said.id, belief.id), version=2)
    supports = [world.support(belief.id, each.id) for each in (said, gone)]
    supports += [
        world.support(concept.id, each.id, relation=Tie.SYNTHESIZED_FROM) for each in (said, gone, belief)
    ]
    world.land(said, gone, belief, concept, supports=supports)
    why = world.get(f"/v1/why/{concept.id}")
    assert {node["id"] for node in why["support_graph"]["nodes"]} == {said.id, belief.id}
    assert "lost" not in why["narrative"]


@pytest.mark.parametrize("record_id", ["ent_00000000-0000-7000-9852-55e77750460b", "Acme"])
def test_what_is_no_memory_has_no_why(world: Any, record_id: str) -> None:
    assert world.refused(f"/v1/why/{record_id}") == (422, "INVALID_ID")


def test_why_repeats_no_words_of_a_cancelled_event(world: Any) -> None:
    said, taken_back = world.event("Acme upgraded"), world.event("Acme is broke")
    fact, belief = world.fact(), world.belief()
    supports = [world.support(fact.id, event.id) for event in (said, taken_back)]
    world.land(fact, belief, supports=[world.support(belief.id, fact.id), *supports])
    world.store.log.cancel(taken_back.tenant_id, taken_back.id)
    nodes = world.get("/v1/beliefs/why", belief_id=belief.id)["support_graph"]["nodes"]
    summaries = {node["id"]: node["summary"] for node in nodes}
    assert (summaries[said.id], summaries[taken_back.id]) == ("Acme upgraded", None)


def test_why_as_of_an_earlier_time_tells_nothing_later(world: Any, at: Any) -> None:
    fact, belief = world.fact(), world.belief()
    said = world.event("Acme upgraded")
    world.land(fact, belief, supports=[world.support(belief.id, fact.id), world.support(fact.id, said.id)])
    before = world.get("/v1/beliefs/why", belief_id=belief.id)
    changed_at = at("2026-05-20T12:00:00Z")
    later = world.event("Acme is said to have upgraded", context={"observed_at": changed_at - 30 * DAY})
    revised = replace(
        fact, version=2, valid_from=changed_at - 30 * DAY, text="Rewritten.", recorded_from=changed_at
    )
    world.land(
        revised,
        closings=[Closing(fact.tenant_id, fact.id, 1, changed_at, None)],
        supports=[world.support(fact.id, later.id, recorded_at=changed_at)],
    )
    assert world.get("/v1/beliefs/why", belief_id=belief.id, as_of="2026-05-19") == before
    now = world.get("/v1/beliefs/why", belief_id=belief.id)
    assert later.id in {node["id"] for node in now["support_graph"]["nodes"]}


def test_a_record_of_any_layer_says_why_as_of_an_earlier_time(world: Any) -> None:
    event, fact, belief = world.event("Acme upgraded to 200 seats"), world.fact(), world.belief()
    episode, concept = world.episode(), world.concept()
    supports = [world.support(each.id, event.id) for each in (fact, episode, concept)]
    world.land(fact, belief, episode, concept, supports=[world.support(belief.id, fact.id), *supports])
    for each in (event, fact, belief, episode, concept):
        path = f"/v1/why/{each.id}"
        assert world.get(path, as_of="2026-05-13T12:00:00.25Z") == world.get(path)
    assert world.refused(f"/v1/why/{fact.id}", as_of="2026-05-12") == (404, "NOT_FOUND")


def test_a_version_as_of_an_earlier_time_has_no_end_yet(world: Any, at: Any) -> None:
    fact = world.fact()
    changed_at = NOON + DAY
    world.land(
        fact,
        replace(fact, version=2, recorded_from=changed_at),
        closings=[Closing(fact.tenant_id, fact.id, 1, changed_at, "fact_later")],
    )
    at("2026-05-16T12:00:00Z")
    (listed,) = world.get("/v1/facts", scope=SCOPE, as_of="2026-05-13T20:00:00Z")["items"]
    single = world.get(f"/v1/facts/{fact.id}", as_of="2026-05-13T20:00:00Z")
    assert listed == single
    assert (single["version"], single["recorded_to"], single["superseded_by"]) == (1, None, None)
    old = world.get("/v1/facts", scope=SCOPE, as_of="2026-05-15", include_superseded="true")["items"][-1]
    assert (old["version"], old["recorded_to"], old["superseded_by"]) == (
        1,
        "2026-05-14T12:00:00Z",
        "fact_later",
    )


def test_a_timeline_of_nobody_known_here_names_no_entity(world: Any, stages: Any) -> None:
    world.land(entities=[world.entity("globex", "ent_globex")])
    shown = world.get("/v1/facts/timeline", scope=SCOPE, subject="Globex", predicate="deal_stage")
    assert (shown["subject"], shown["timeline"]) == ({"id": None, "name": "Globex"}, [])


def test_why_is_bounded(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.limits.WHY_NODES_MAX", 3)
    belief = world.belief()
    facts = [world.fact(str(number)) for number in range(6)]
    world.land(belief, *facts, supports=[world.support(belief.id, fact.id) for fact in facts])
    graph = world.get("/v1/beliefs/why", belief_id=belief.id)["support_graph"]
    assert (len(graph["nodes"]), len(graph["edges"]), graph["truncated"]) == (3, 3, True)
