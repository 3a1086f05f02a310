"""Claims that are stated as such may say when they hold, how sure they are, and that they are denied."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.kernel.records import Layer
from lamina.kernel.time import instant
from told import Memory

MAY = instant("2026-05-01T00:00:00Z")


def _triple(value: Any, **said: Any) -> dict[str, Any]:
    return {"kind": "triple", "subject": "Ana", "predicate": "lives_in", "object": value, **said}


def _day(text: str) -> int:
    return instant(f"{text}T00:00:00Z")


def test_dates_say_when_a_value_held_whatever_the_order(memory: Memory) -> None:
    memory.tell(_triple("Hamburg", valid_from="2020-01-01"), MAY)
    memory.tell(_triple("Berlin", valid_from="2015-01-01T00:00:00Z"), MAY + 1)
    memory.derive()
    assert memory.homes() == [
        ("Berlin", _day("2015-01-01"), _day("2020-01-01")),
        ("Hamburg", _day("2020-01-01"), None),
    ]
    live, again = memory.replayed()
    assert live == again


def test_a_value_with_both_ends_is_over(memory: Memory) -> None:
    memory.tell(_triple("Rome", valid_from="2018-01-01", valid_to="2019-01-01"), MAY)
    memory.derive()
    assert memory.homes() == [("Rome", _day("2018-01-01"), _day("2019-01-01"))]


@pytest.mark.parametrize(
    ("since", "until", "offset"),
    [
        ("2020-01-01", "2020-01-01T03:00:00Z", "-08:00"),
        ("2020-01-01T20:00:00Z", "2020-01-02", "+14:00"),
        ("0001-01-01", "0001-01-02", "+14:00"),
        ("9999-12-30", "9999-12-31", "-12:00"),
    ],
)
def test_a_value_with_both_ends_is_over_by_any_clock(world: Any, since: str, until: str, offset: str) -> None:
    """A day begins by the clock of who states it: behind the end that has a time of its own, or outside of the calendar."""
    stated = _triple("Rome", valid_from=since, valid_to=until)
    body = {
        "scope": "org:acme/user:alice",
        "modality": "conversation",
        "content": stated,
        "context": {"observed_at": f"2026-05-01T12:00:00{offset}"},
        "idempotency_key": "k",
    }
    world.post("/v1/experience", body)
    Memory(world.store, world.clock).derive()
    assert world.store.jobs.backlog()["failed"] == 0
    (fact,) = world.get("/v1/facts", scope="org:acme/user:alice", valid_during="0001-01-01..")["items"]
    assert fact["valid_to"] is not None
    assert instant(fact["valid_from"]) < instant(fact["valid_to"]), fact


def test_a_value_of_a_single_valued_predicate_supersedes(memory: Memory) -> None:
    memory.tell(_triple("Porto"), MAY)
    memory.tell(_triple("Lisbon"), MAY + 10)
    memory.derive()
    assert memory.homes() == [("Porto", MAY, MAY + 10), ("Lisbon", MAY + 10, None)]


def test_confidence_and_denial_are_the_callers(memory: Memory) -> None:
    memory.tell(_triple("Oslo", confidence=0.4), MAY)
    memory.tell({**_triple("tea"), "predicate": "likes", "negated": True}, MAY)
    memory.derive()
    facts = {fact.predicate: fact for fact in memory.held(Layer.FACTS)}
    assert (facts["lives_in"].confidence, facts["likes"].negated) == (0.4, True)


def test_what_an_older_log_has_there_counts_for_nothing(memory: Memory) -> None:
    memory.tell(_triple("Oslo", valid_from="long ago", valid_to=7, confidence="high", negated="no"), MAY)
    memory.derive()
    (fact,) = memory.held(Layer.FACTS)
    assert (fact.valid_from, fact.valid_to, fact.confidence, fact.negated) == (MAY, None, 0.95, False)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"valid_from": "long ago"}, "content.valid_from"),
        ({"valid_to": 7}, "content.valid_to"),
        ({"valid_from": "2020-01-01", "valid_to": "2020-01-01"}, "content.valid_to"),
        ({"confidence": 1.5}, "content.confidence"),
        ({"confidence": True}, "content.confidence"),
        ({"negated": "no"}, "content.negated"),
        ({"object": {"value": True, "unit": "km"}}, "content.object"),
        ({"object": {"value": "three", "unit": "km"}}, "content.object"),
        ({"object": {"value": None, "unit": "km"}}, "content.object"),
        ({"object": {"value": 3, "unit": 7}}, "content.object"),
        ({"object": {"value": 3, "unit": " "}}, "content.object"),
        ({"object": {"value": 3, "unit": "k" * 65}}, "content.object"),
        ({"subject": None}, "content.subject"),
        ({"subject": " "}, "content.subject"),
        ({"subject": {"type": "entity", "id": "ent_ana"}}, "content.subject"),
        ({"predicate": " "}, "content.predicate"),
        ({"predicate": 5}, "content.predicate"),
        ({"object": {}}, "content.object"),
        ({"object": ["Oslo"]}, "content.object"),
        ({"object": {"value": None}}, "content.object"),
        ({"object": ""}, "content.object"),
    ],
)
def test_the_door_refuses_what_cannot_be_read(world: Any, said: dict[str, Any], field: str) -> None:
    body = {
        "scope": "org:acme/user:alice",
        "modality": "observation",
        "content": {**_triple("Oslo"), **said},
        "context": {"observed_at": "2026-05-01T00:00:00Z"},
    }
    refused = world.call("POST", "/v1/experience", body=body)
    assert refused.status_code in (400, 422)
    assert (refused.json()["error_code"], refused.json()["details"]["field"]) == ("INVALID_ENVELOPE", field)


@pytest.mark.parametrize("missing", ["subject", "predicate", "object"])
def test_a_claim_that_says_nothing_is_not_taken(world: Any, missing: str) -> None:
    """202 for a misspelt field would be the last that anybody heard of the claim."""
    said = _triple("Oslo")
    said["verb"] = said.pop(missing)
    body = {
        "scope": "org:acme/user:alice",
        "modality": "observation",
        "content": said,
        "idempotency_key": "k",
        "context": {"observed_at": "2026-05-01T00:00:00Z"},
    }
    refused = world.call("POST", "/v1/experience", body=body)
    assert (refused.status_code, refused.json()["details"]["field"]) == (422, f"content.{missing}")
    bulk = {"scope": body.pop("scope"), "items": [body]}
    assert world.call("POST", "/v1/experience/bulk", body=bulk).status_code == 422
    assert world.ids("/v1/events") == []


@pytest.mark.parametrize(
    "value", [{"value": 3.5, "unit": "km"}, {"value": True, "unit": None}, {"value": "three"}]
)
def test_a_value_with_its_unit_or_without_one_is_taken(world: Any, value: dict[str, Any]) -> None:
    body = {
        "scope": "org:acme/user:alice",
        "modality": "observation",
        "content": _triple(value),
        "idempotency_key": "k",
        "context": {"observed_at": "2026-05-01T00:00:00Z"},
    }
    assert world.call("POST", "/v1/experience", body=body).status_code == 202
