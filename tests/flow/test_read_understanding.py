"""Reading episodes and concepts over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lamina.index.rows import record_row
from lamina.kernel.ids import Prefix
from lamina.kernel.records import Edge, Stance
from lamina.kernel.ties import Tie
from lamina.kernel.time import instant
from lamina.recall.wording import reworded

SCOPE = "org:acme/user:alice"


def test_an_episode_holds_its_events_in_order_with_their_roles(world: Any) -> None:
    episode = world.episode(size=3)
    events = [world.event(str(number)).id for number in range(4)]
    roles = ("trigger", "context", "outcome", "outcome")
    supports = [
        world.support(episode.id, event, relation=Tie.CONTAINS, place=place, part=role)
        for place, (event, role) in enumerate(zip(events, roles, strict=True))
    ]
    world.land(episode, supports=list(reversed(supports)))
    shown = world.get(f"/v1/episodes/{episode.id}")
    assert shown["events"] == events[:3]
    assert shown["causal_chain"] == [
        {"event": events[0], "role": "trigger"},
        {"event": events[2], "role": "outcome"},
    ]
    assert (shown["name"], shown["centrality_score"], shown["_partial"]) == ("deal", 0.5, False)
    assert shown["actors_involved"] == ["user:alice"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {"may"}),
        ({"overlapping": "2026-04-01..2026-05-01"}, {"april"}),
        ({"overlapping": "2026-04-20.."}, {"april", "may"}),
        ({"overlapping": "2026-04-21..2026-05-01"}, set()),
        ({"valid_during": "2026-04-01..2026-05-01"}, {"april"}),
        ({"actor": "user:bob"}, {"may"}),
        ({"observed_actor": "user:carol"}, set()),
        ({"session": "s-1"}, {"may"}),
        ({"session": "s-9"}, set()),
    ],
)
def test_episodes_are_filtered(world: Any, filters: dict[str, str], found: set[str]) -> None:
    begin, end = instant("2026-04-10T00:00:00Z"), instant("2026-04-20T12:00:00Z")
    april = world.episode("april", started_at=begin, ended_at=end, valid_from=begin, valid_to=end + 1)
    may = world.episode("may", actors=("user:alice", "user:bob"))
    world.land(april, may)
    items = world.get("/v1/episodes", scope=SCOPE, **filters)["items"]
    assert {item["name"] for item in items} == found


def test_an_episode_without_its_chain(world: Any) -> None:
    world.land(world.episode())
    (item,) = world.get("/v1/episodes", scope=SCOPE, with_causal_chain="false")["items"]
    assert item["causal_chain"] is None


def test_a_concept_has_every_documented_field(world: Any) -> None:
    fact, earlier, belief = world.fact(), world.fact("earlier"), world.belief()
    other, nowhere = world.concept("other"), world.id(Prefix.CONCEPT, "nowhere")
    edges = (Edge(other.id, "specializes", 0.81), Edge(nowhere, "is_a", 0.2))
    concept = world.concept(edges=edges, about="ent_acme", inputs=(fact.id, belief.id), unread=("episodes",))
    supports = [world.support(concept.id, each.id) for each in (fact, earlier, belief)]
    world.land(concept, other, fact, earlier, supports=supports)
    shown = world.get(f"/v1/understanding/{concept.id}")
    assert shown["supported_by"] == {
        "events": [],
        "facts": [fact.id],
        "episodes": [],
        "beliefs": [belief.id],
        "concepts": [],
        "external": [],
    }
    assert shown["synthesis_inputs"] == {
        "layers": ["facts", "beliefs"],
        "filters": {"topic": "sales_process"},
        "as_of": "2026-05-13T12:00:00Z",
        "synthesizer": "lamina-concepts",
        "synthesizer_version": "1",
    }
    assert shown["edges"] == [
        {"to": other.id, "relation": "specializes", "weight": 0.81, "vocabulary": "default"}
    ]
    assert (shown["coverage_score"], shown["support_loss_fraction"]) == (0.75, 0.5)
    assert (shown["canonical_id"], shown["previous_version"], shown["derived_from"]) == (None, None, [])
    partial = (shown["_partial"], shown["_partial_reason"], shown["_progress"])
    assert partial == (True, "no_implementation_yet", 0.75)


def test_a_summary_loses_whole_sentences_of_what_was_cancelled(world: Any) -> None:
    """Once the end of another sentence that ends alike went with them, and what was left of it was told."""
    kept, gone = world.event("Big Bob knows Ana."), world.event("Bob knows Ana.")
    facts = [
        world.fact(event.content["text"], event_id=event.id, text=event.content["text"])
        for event in (kept, gone)
    ]
    concept = world.concept("ana", summary="Big Bob knows Ana. Bob knows Ana.")
    supports = [world.support(fact.id, event.id) for fact, event in zip(facts, (kept, gone), strict=True)] + [
        world.support(concept.id, fact.id, relation=Tie.SYNTHESIZED_FROM) for fact in facts
    ]
    world.land(*facts, concept, supports=supports)
    world.post(f"/v1/lifecycle/memory-event/{gone.id}/cancel", {})
    assert world.get(f"/v1/understanding/{concept.id}")["summary"] == "Big Bob knows Ana."


def test_a_recall_has_the_edges_that_a_list_has(world: Any) -> None:
    """Once it named what an edge led to and was forgotten since."""
    nowhere = world.id(Prefix.CONCEPT, "nowhere")
    other = world.concept("sales team")
    concept = world.concept("deals", edges=(Edge(other.id, "specializes", 0.8), Edge(nowhere, "is_a", 0.9)))
    world.land(concept, other, texts=[record_row(each) for each in (concept, other)])
    asked = {"scope": SCOPE, "query": "How do deals go?"}
    pack = world.post("/v1/recall", asked).json()
    listed = {each["id"]: each["edges"] for each in world.get("/v1/understanding", scope=SCOPE)["items"]}
    recalled = {each["id"]: each["edges"] for each in pack["layers"]["understanding"]}
    assert recalled == {key: listed[key] for key in recalled}
    assert [each["to"] for each in recalled[concept.id]] == [other.id]
    graph = world.post("/v1/recall", {**asked, "view": "structured"}).json()["knowledge_subgraph"]
    assert nowhere not in str(graph)
    assert other.id in str(graph)


def test_earlier_versions_of_a_concept_can_be_read(world: Any, at: Any) -> None:
    first = world.concept(
        recorded_from=instant("2026-04-01T00:00:00Z"), valid_from=instant("2026-04-01T00:00:00Z")
    )
    second = replace(first, version=2, summary="newer", recorded_from=instant("2026-05-01T00:00:00Z"))
    world.land(replace(first, recorded_to=second.recorded_from), second)
    path = f"/v1/understanding/{first.id}"
    assert (world.get(path)["version"], world.get(path)["previous_version"]) == (2, 1)
    assert world.get(path, version=1)["summary"] == "How deals go."
    assert world.get(path, as_of="2026-04-15")["version"] == 1
    assert world.refused(path, version=9) == (404, "NOT_FOUND")


@pytest.fixture
def web(world: Any) -> Any:
    """a -> b (specializes) -> c (is_a); a -> old, deprecated; d stands alone."""
    ids = {name: world.id(Prefix.CONCEPT, name) for name in ("a", "b", "c", "old")}
    world.land(
        world.concept("a", edges=(Edge(ids["b"], "specializes", 0.8), Edge(ids["old"], "is_a", 0.9))),
        world.concept("b", edges=(Edge(ids["c"], "is_a", 0.5), Edge(ids["a"], "part_of", 0.4))),
        world.concept("c", scope="org:acme/user:bob", topic="B2B SaaS"),
        world.concept("d", topic="B2B SaaS", confidence=0.4),
        world.concept("old", stance=Stance.DEPRECATED),
    )
    return ids


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({}, [("b", "specializes", 1)]),
        ({"depth": 2}, [("b", "specializes", 1), ("c", "is_a", 2)]),
        ({"depth": 2, "relation": "specializes"}, [("b", "specializes", 1)]),
        ({"relation": "causes"}, []),
    ],
)
def test_related_concepts(world: Any, web: Any, params: dict[str, Any], found: list[Any]) -> None:
    page = world.get(f"/v1/understanding/{web['a']}/related", **params)
    assert [(i["concept"]["name"], i["relation"], i["depth"]) for i in page["items"]] == found


def test_related_concepts_are_bounded_and_stay_where_the_caller_may_read(world: Any, web: Any) -> None:
    path = f"/v1/understanding/{web['a']}/related"
    page = world.get(path, depth=2, limit=1)
    assert (len(page["items"]), page["has_more"]) == (1, True)
    world.policy.deny("understanding.read.cross_scope", "org:acme/user:bob")
    assert [item["concept"]["name"] for item in world.get(path, depth=3)["items"]] == ["b"]
    assert world.refused(path, depth=4) == (422, "INVALID_REQUEST")
    assert world.refused(path, relation="zork") == (422, "INVALID_REQUEST")


def test_related_concepts_may_be_asked_by_a_relation_of_an_active_vocabulary(world: Any) -> None:
    ids = {name: world.id(Prefix.CONCEPT, name) for name in ("maker", "seller")}
    world.land(
        world.concept("maker", edges=(Edge(ids["seller"], "supplies", 0.8, "trade"),)),
        world.concept("seller"),
    )
    path = f"/v1/understanding/{ids['maker']}/related"
    assert world.refused(path, relation="supplies") == (422, "INVALID_REQUEST")
    trade = {"name": "trade", "kind": "relation", "relations": [{"id": "supplies"}]}
    assert world.call("POST", "/v1/vocabularies", body=trade).status_code == 201
    active = world.call("PUT", "/v1/policy/tenant/acme", body={"vocabularies": ["trade"]})
    assert active.status_code == 200
    page = world.get(path, relation="supplies")
    assert [item["concept"]["name"] for item in page["items"]] == ["seller"]
    assert world.get(path, relation="is_a")["items"] == []


@pytest.mark.parametrize(
    ("params", "found", "related"),
    [
        ({}, {"a", "b", "d"}, set()),
        ({"topic": "saas b2b"}, {"d"}, set()),
        ({"topic": "process a"}, {"a"}, set()),
        ({"topic": "process a", "depth": 2}, {"a"}, {"b"}),
        ({"topic": "process a", "depth": 3}, {"a"}, {"b", "c"}),
        ({"min_confidence": 0.8}, {"a", "b"}, set()),
        ({"include_deprecated": "true"}, {"a", "b", "d", "old"}, set()),
    ],
)
def test_concepts_are_filtered(
    world: Any, web: Any, params: dict[str, Any], found: set[str], related: set[str]
) -> None:
    page = world.get("/v1/understanding", scope=SCOPE, **params)
    assert {item["name"] for item in page["items"]} == found
    assert {item["name"] for item in page["related"]} == related


def test_coverage_counts_what_was_read_of_what_there_is(world: Any, web: Any, at: Any) -> None:
    facts = [world.fact(name) for name in ("poc", "won", "lost")]
    concept = world.concept("read", about="ent_acme", inputs=(facts[0].id,))
    world.land(concept, *facts, world.episode(), supports=[world.support(concept.id, facts[0].id)])
    at("2026-05-15T12:00:00Z")
    event = world.event()
    shown = world.get("/v1/understanding/coverage", scope=SCOPE)
    assert shown == {
        "scope": SCOPE,
        "concept_count": 4,
        "by_topic": [
            {"topic": "sales_process", "concepts": 3, "avg_confidence": 0.9},
            {"topic": "B2B SaaS", "concepts": 1, "avg_confidence": 0.4},
        ],
        "inputs": [
            {"layer": "facts", "consulted": 1, "available": 3},
            {"layer": "episodes", "consulted": 0, "available": 1},
            {"layer": "beliefs", "consulted": 0, "available": 0},
        ],
        "coverage_score": 0.25,
        "synthesis_lag": "P2D",
        "_partial": True,
    }
    world.store.log.cancel(event.tenant_id, event.id)
    left = world.get("/v1/understanding/coverage", scope=SCOPE)
    assert (left["synthesis_lag"], left["_partial"]) == ("PT0S", True)


def test_coverage_is_whole_where_everything_was_read(world: Any) -> None:
    fact = world.fact()
    concept = world.concept(about="ent_acme", inputs=(fact.id,))
    world.land(concept, fact, supports=[world.support(concept.id, fact.id)])
    shown = world.get("/v1/understanding/coverage", scope=SCOPE)
    assert (shown["coverage_score"], shown["synthesis_lag"], shown["_partial"]) == (1.0, "PT0S", False)


def test_a_concept_is_stale_where_facts_came_or_went_after_it(world: Any, at: Any) -> None:
    old, kept = world.fact("old"), world.fact("kept")
    concept = world.concept(about="ent_acme", topic="entity", inputs=(old.id, kept.id))
    world.land(concept, old, kept, supports=[world.support(concept.id, each.id) for each in (old, kept)])
    path = f"/v1/understanding/{concept.id}"
    assert (world.get(path)["staleness_score"], world.get(path)["staleness_reason"]) == (0.0, None)
    later = at("2026-05-14T12:00:00Z")
    ended = replace(old, version=2, superseded_by=kept.id, recorded_from=later)
    world.land(ended, world.fact("new", recorded_from=later))
    shown = world.get(path)
    assert (shown["staleness_score"], shown["_partial"]) == (0.6667, True)
    assert shown["staleness_reason"] == "2 of 3 inputs changed after the last synthesis"
    assert world.get(path, as_of="2026-05-13T13:00:00Z")["staleness_score"] == 0.0


def test_a_concept_that_lost_more_than_half_of_its_supports_is_hidden(world: Any) -> None:
    facts = [world.fact(str(number)) for number in range(3)]
    events = [world.event(str(number)) for number in range(3)]
    concept = world.concept(about="ent_acme", inputs=tuple(fact.id for fact in facts))
    supports = [world.support(concept.id, fact.id) for fact in facts]
    supports += [
        world.support(fact.id, event.id, relation=Tie.EXTRACTED_FROM)
        for fact, event in zip(facts, events, strict=True)
    ]
    world.land(concept, *facts, supports=supports)
    path = f"/v1/understanding/{concept.id}"
    seen = []
    for event in events:
        shown = world.get(path)
        listed = len(world.get("/v1/understanding", scope=SCOPE)["items"])
        asked = len(world.get("/v1/understanding", scope=SCOPE, include_deprecated="true")["items"])
        seen.append((shown["support_loss_fraction"], shown["stance"], listed, asked))
        world.store.log.cancel(event.tenant_id, event.id)
    assert seen == [(0.0, "supported", 1, 1), (0.3333, "supported", 1, 1), (0.6667, "deprecated", 0, 1)]


def test_a_summary_in_a_models_words_loses_each_sentence_that_tells_what_is_hidden(world: Any) -> None:
    """Once such a summary stayed as it was, for readers of earlier times for good."""
    home, health = world.fact("home"), world.fact("health", excluded=True)
    told = (("Ana lives in Porto.", (home.id,)), ("She takes insulin.", (home.id, health.id)))
    concept = world.concept("ana", summary=" ".join(text for text, _ in told), sentences=told)
    shown = reworded(concept, [home, health])
    assert (shown.summary, shown.sentences) == (told[0][0], told[:1])
    assert reworded(concept, [home]) == concept


def test_without_content_no_sentence_of_a_summary_is_told(world: Any) -> None:
    sentences = (("Deals go well.", ()),)
    concept = world.concept("deals", summary="Deals go well.", sentences=sentences, worded_from="0" * 64)
    world.land(concept, texts=[record_row(concept)])
    asked = {"scope": SCOPE, "query": "How do deals go?"}
    (whole,) = world.post("/v1/recall", asked).json()["layers"]["understanding"]
    (bare,) = world.post("/v1/recall", {**asked, "exclude_content": True}).json()["layers"]["understanding"]
    assert whole["summary_sentences"] == [{"text": "Deals go well.", "cites": []}]
    assert (bare["summary"], bare["summary_sentences"]) == (None, [])
