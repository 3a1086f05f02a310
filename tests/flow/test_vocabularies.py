"""A tenant's vocabularies over HTTP: registered, replaced, read as of then, made active by policy, and kept to at the door."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from lamina import limits
from lamina.kernel.time import SECOND_US
from told import Memory

SCOPE = "org:acme/user:alice"
PATH = "/v1/vocabularies"
SALES = {
    "name": "sales_v1",
    "predicates": [
        {
            "id": "deal_stage",
            "datatype": "string",
            "values": ["intro", "poc", "close", "signed", "lost"],
            "synonyms": ["stage", {"predicate": "pipeline step", "confidence": 0.8}],
        },
        {"id": "seat_count", "datatype": "integer", "unit": "seats"},
        {"id": "contact_at", "datatype": "entity"},
    ],
}


def _put(world: Any, **changes: Any) -> Any:
    return world.call("POST", PATH, body={**SALES, **changes})


def _activate(world: Any, names: list[str] | None, path: str = SCOPE) -> Any:
    return world.call("PUT", f"/v1/policy/scope?path={path}", body={"vocabularies": names})


def _state(world: Any, predicate: str, value: Any, key: str = "k-1", **more: Any) -> Any:
    body = {
        "scope": SCOPE,
        "modality": "observation",
        "content": {"kind": "triple", "subject": "Acme", "predicate": predicate, "object": value},
        "context": {"observed_at": "2026-05-13T11:00:00Z"},
        "idempotency_key": key,
        **more,
    }
    return world.call("POST", "/v1/experience", body=body)


def test_a_vocabulary_is_registered_listed_and_read(world: Any) -> None:
    made = _put(world, description="Deals")
    assert made.status_code == 201
    shown = made.json()
    assert [term["cardinality"] for term in shown["predicates"]] == ["one", "one", "many"]
    assert shown["predicates"][0]["synonyms"] == [
        {"predicate": "stage", "confidence": 1.0},
        {"predicate": "pipeline step", "confidence": 0.8},
    ]
    assert shown["text"].splitlines() == [
        "sales_v1: Deals",
        "- deal_stage: string, one of: intro, poc, close, signed, lost; one value at a time (also said: pipeline step, stage)",
        "- seat_count: integer in seats; one value at a time",
        "- contact_at: entity; many values",
    ]
    assert world.get(f"{PATH}/sales_v1") == shown
    (listed,) = world.get(PATH)["items"]
    assert (listed["name"], listed["kind"], listed["terms"]) == ("sales_v1", "predicate", 3)
    assert world.refused(f"{PATH}/other") == (404, "NOT_FOUND")


def test_a_name_is_taken_once_and_a_tenant_has_so_many(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _put(world).status_code == 201
    taken = _put(world)
    assert (taken.status_code, taken.json()["error_code"]) == (409, "VOCABULARY_EXISTS")
    monkeypatch.setattr(limits, "VOCABULARIES_MAX", 1)
    full = _put(world, name="other")
    assert (full.status_code, full.json()["error_code"]) == (409, "TOO_MANY_VOCABULARIES")
    assert len(world.get(PATH)["items"]) == 1


def test_what_is_shown_may_be_sent_back_and_lost_terms_are_named(world: Any) -> None:
    shown = _put(world).json()
    world.clock.at += SECOND_US
    assert world.call("PUT", f"{PATH}/sales_v1", body=shown).json()["deprecates"] == []
    world.clock.at += SECOND_US
    fewer = {**SALES, "predicates": SALES["predicates"][:1]}
    replaced = world.call("PUT", f"{PATH}/sales_v1", body=fewer)
    assert (replaced.status_code, replaced.json()["deprecates"]) == (200, ["contact_at", "seat_count"])
    assert world.get(f"{PATH}/sales_v1", as_of="2026-05-13T12:00:01Z")["predicates"] == shown["predicates"]
    assert world.get(PATH, as_of="2026-05-13T11:00:00Z") == {"items": []}
    assert world.call("PUT", f"{PATH}/other", body={**SALES, "name": "other"}).status_code == 404


TERM = {"id": "t"}


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "Sales v1"},
        {"predicates": []},
        {"predicates": None},
        {"kind": "relation"},
        {"kind": "relation", "relations": [{"id": "supplies"}]},
        {"relations": [{"id": "supplies"}]},
        {"predicates": [{"id": "Deal Stage"}]},
        {"predicates": [TERM, TERM]},
        {"predicates": [{**TERM, "datatype": "money"}]},
        {"predicates": [{**TERM, "cardinality": "two"}]},
        {"predicates": [{**TERM, "values": []}]},
        {"predicates": [{**TERM, "values": ["a", "A"]}]},
        {"predicates": [{**TERM, "values": [1]}]},
        {"predicates": [{**TERM, "datatype": "integer", "values": [1.5]}]},
        {"predicates": [{**TERM, "unit": "EUR"}]},
        {"predicates": [{**TERM, "synonyms": [{"predicate": "x", "confidence": 0}]}]},
        {"predicates": [{**TERM, "synonyms": ["other"]}, {"id": "other"}]},
        {"predicates": [{**TERM, "synonyms": ["-"]}]},
        {"predicates": [{"id": f"t{n}"} for n in range(limits.VOCABULARY_TERMS_MAX + 1)]},
        {"predicates": [{"id": f"t{n}", "description": "x" * 1000} for n in range(100)]},
    ],
)
def test_what_is_no_vocabulary_is_refused(world: Any, changes: dict[str, Any]) -> None:
    refused = _put(world, **changes)
    assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_REQUEST")
    assert world.get(PATH) == {"items": []}


def test_capabilities(world: Any) -> None:
    world.policy.deny("vocabulary.write")
    assert _put(world).status_code == world.call("PUT", f"{PATH}/x", body=SALES).status_code == 403
    assert world.call("GET", PATH).status_code == 200
    world.policy.deny("vocabulary.read")
    assert world.call("GET", PATH).status_code == world.call("GET", f"{PATH}/x").status_code == 403


def test_a_policy_names_vocabularies_that_are_there(world: Any) -> None:
    refused = _activate(world, ["sales_v1"])
    assert (refused.status_code, refused.json()["error_code"]) == (422, "UNKNOWN_VOCABULARY")
    _put(world)
    assert _activate(world, ["sales_v1"]).json()["document"]["vocabularies"] == ["sales_v1"]
    actor = world.call("PUT", "/v1/policy/actor/user:local", body={"vocabularies": ["sales_v1"]})
    assert (actor.status_code, actor.json()["error_code"]) == (422, "INVALID_POLICY")


@pytest.mark.parametrize(
    ("predicate", "value", "code"),
    [
        ("deal_stage", "won", "VALUE_NOT_IN_VOCABULARY"),
        ("Stage", "won", "VALUE_NOT_IN_VOCABULARY"),
        ("deal_stage", 7, "VALUE_NOT_IN_VOCABULARY"),
        ("seat_count", "many", "VALUE_NOT_IN_VOCABULARY"),
        ("seat_count", 1.5, "VALUE_NOT_IN_VOCABULARY"),
        ("seat_count", {"value": 200, "unit": "EUR"}, "WRONG_UNIT"),
        ("deal_stage", {"value": 3, "unit": "EUR"}, "WRONG_UNIT"),
    ],
)
def test_a_stated_value_that_is_none_of_its_term_is_refused(
    world: Any, predicate: str, value: Any, code: str
) -> None:
    _put(world)
    assert _state(world, predicate, value, key="before").status_code == 202
    _activate(world, ["sales_v1"])
    refused = _state(world, predicate, value)
    assert (refused.status_code, refused.json()["error_code"]) == (422, code)
    assert refused.json()["details"]["vocabulary"] == "sales_v1"
    assert _state(world, predicate, value, key="before").status_code == 202  # on disk since before
    item = {
        "modality": "observation",
        "content": {"kind": "triple", "subject": "Acme", "predicate": predicate, "object": value},
        "context": {"observed_at": "2026-05-13T11:00:00Z"},
        "idempotency_key": "k-2",
    }
    good = {**item, "content": {"kind": "text", "text": "hello"}, "idempotency_key": "k-3"}
    batch = world.call("POST", "/v1/experience/bulk", body={"scope": SCOPE, "items": [good, item]})
    assert (batch.status_code, batch.json()["error_code"]) == (422, code)
    assert batch.json()["details"]["field"] == "items.1.content.object"


@pytest.mark.parametrize(
    ("predicate", "value"),
    [
        ("deal stage", "Close"),
        ("seat_count", 200),
        ("seat_count", {"value": 200, "unit": "Seats"}),
        ("mood", "won"),
    ],
)
def test_what_fits_or_is_no_term_is_stored(world: Any, predicate: str, value: Any) -> None:
    _put(world)
    _activate(world, ["sales_v1"])
    assert _state(world, predicate, value).status_code == 202


def _predicates(world: Any, **asked: Any) -> list[str]:
    return [fact["predicate"] for fact in world.get("/v1/facts", scope=SCOPE, **asked)["items"]]


def test_a_vanished_term_leaves_the_default_reads_and_no_others(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    _put(world)
    _activate(world, ["sales_v1"])
    world.clock.at += SECOND_US
    stated = _state(world, "Stage", "POC").json()["event_id"]
    memory.derive()
    (fact,) = world.get("/v1/facts", scope=SCOPE)["items"]
    assert (fact["predicate"], fact["object"]["value"]) == ("deal_stage", "poc")
    assert fact["vocabulary"] == {"name": "sales_v1", "predicate_said": "stage", "confidence": 1.0}
    world.clock.at += SECOND_US
    world.call("PUT", f"{PATH}/sales_v1", body={**SALES, "predicates": SALES["predicates"][1:]})
    memory.derive()
    assert _predicates(world) == []
    assert _predicates(world, as_of="2026-05-13T12:00:01.5Z") == ["deal_stage"]
    assert _predicates(world, include_superseded=True) == ["deal_stage"]
    beliefs = {"scope": SCOPE, "predicate": "deal_stage"}
    assert world.get("/v1/beliefs", **beliefs)["items"] == []
    (belief,) = world.get("/v1/beliefs", **beliefs, include_deprecated=True)["items"]
    assert (belief["stance"], belief["supports"][0]["id"]) == ("deprecated", fact["id"])
    assert world.ids("/v1/events") == [stated]  # the changes are in no list
    recalled = world.post("/v1/recall", {"scope": SCOPE, "query": "What stage is Acme at?"}).json()
    assert recalled["layers"]["facts"] == recalled["layers"]["beliefs"] == []


def test_corrections_of_a_fact_by_a_term_fit_it(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    _put(world)
    _activate(world, ["sales_v1"])
    _state(world, "deal_stage", "poc")
    memory.derive()
    (fact,) = world.get("/v1/facts", scope=SCOPE)["items"]
    refused = world.call("POST", f"/v1/facts/{fact['id']}/correct", body={"object": "won"})
    assert (refused.status_code, refused.json()["error_code"]) == (422, "VALUE_NOT_IN_VOCABULARY")
    world.clock.at += SECOND_US
    assert world.call("POST", f"/v1/facts/{fact['id']}/correct", body={"object": "CLOSE"}).status_code == 202
    memory.derive()
    (right,) = world.get("/v1/facts", scope=SCOPE)["items"]
    assert (right["object"]["value"], right["supersedes"]) == ("close", fact["id"])
    assert right["vocabulary"]["name"] == "sales_v1"


def test_every_place_of_policy_makes_vocabularies_active_and_takes_them_back(world: Any) -> None:
    _put(world)
    _put(world, name="other", predicates=[{"id": "deal_stage", "values": ["won"]}])

    keys = count()

    def accepts_won() -> bool:
        return bool(_state(world, "deal_stage", "won", key=f"k-{next(keys)}").status_code == 202)

    def put(path: str, body: dict[str, Any]) -> None:
        world.clock.at += SECOND_US
        assert world.call("PUT", path, body=body).status_code == 200

    put("/v1/policy/tenant/acme", {"vocabularies": ["sales_v1"]})
    assert not accepts_won()
    put("/v1/policy/scope?path=org:acme", {"vocabularies": ["other", "sales_v1"]})
    assert accepts_won()  # the first that knows it
    registered = {"path": SCOPE, "policies": {"vocabularies": ["sales_v1"]}}
    assert world.call("POST", "/v1/scopes", body=registered).status_code == 201
    assert not accepts_won()
    put(f"/v1/policy/scope?path={SCOPE}", {"vocabularies": []})
    assert accepts_won()
    put(f"/v1/policy/scope?path={SCOPE}", {})
    assert not accepts_won()  # the registration's again
    assert world.call("DELETE", f"/v1/scopes?path={SCOPE}").status_code == 200
    assert accepts_won()  # those of org:acme
    put("/v1/policy/scope?path=org:acme", {})
    assert not accepts_won()  # the tenant's
    put("/v1/policy/tenant/acme", {})
    assert accepts_won()
    unknown = world.call("POST", "/v1/scopes", body={"path": "ws:x", "policies": {"vocabularies": ["never"]}})
    assert (unknown.status_code, unknown.json()["error_code"]) == (422, "UNKNOWN_VOCABULARY")
