"""A tenant's own words for stretches of time, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from lamina import limits
from lamina.kernel.time import SECOND_US, instant

SCOPE = "org:acme/user:alice"
PATH = "/v1/temporal/phrases"
Q3 = {
    "name": "fiscal_q3",
    "pattern": "fiscal Q3",
    "resolves_to": {"valid_during": ["2026-03-01", "2026-04-01"]},
}
FEBRUARY, MARCH, APRIL, MAY = (instant(f"2026-0{month}-01T00:00:00Z") for month in (2, 3, 4, 5))


def _put(world: Any, **changes: Any) -> Any:
    return world.call("POST", PATH, body={**Q3, **changes})


@pytest.fixture
def stages(world: Any) -> dict[str, str]:
    """poc held in March, close holds since."""
    poc = world.fact("poc", valid_from=MARCH, valid_to=APRIL, recorded_from=APRIL)
    close = world.fact("close", valid_from=APRIL, recorded_from=APRIL + 1)
    world.land(poc, close, entities=[world.entity()])
    return {poc.id: "poc", close.id: "close"}


def test_a_phrase_is_registered_listed_and_taken_back(world: Any) -> None:
    made = _put(world)
    assert made.status_code == 201
    shown = {**Q3, "resolves_to": {"valid_during": ["2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"]}}
    assert made.json() == shown
    assert world.get(PATH) == {"items": [shown]}
    assert world.call("DELETE", f"{PATH}/fiscal_q3").status_code == 204
    assert world.get(PATH) == {"items": []}
    assert world.call("DELETE", f"{PATH}/fiscal_q3").status_code == 404
    assert _put(world).status_code == 201


@pytest.mark.parametrize(
    "changes", [{}, {"pattern": "third"}, {"name": "third"}, {"name": "third", "pattern": "FISCAL  q3"}]
)
def test_a_name_and_words_are_taken_once(world: Any, changes: dict[str, str]) -> None:
    _put(world)
    refused = _put(world, **changes)
    assert (refused.status_code, refused.json()["error_code"]) == (409, "PHRASE_EXISTS")
    assert len(world.get(PATH)["items"]) == 1


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"pattern": "x" * 65}, "INVALID_REQUEST"),
        ({"pattern": " ?! "}, "INVALID_REQUEST"),
        ({"name": "Fiscal Q3"}, "INVALID_REQUEST"),
        ({"resolves_to": {"valid_during": ["2026-04-01", "2026-03-01"]}}, "INVALID_TIME_RANGE"),
        ({"resolves_to": {"valid_during": ["soon", "2026-03-01"]}}, "INVALID_TIMESTAMP"),
        ({"resolves_to": {"valid_during": "March"}}, "INVALID_REQUEST"),
    ],
)
def test_what_is_no_phrase_is_refused(world: Any, changes: dict[str, Any], code: str) -> None:
    refused = _put(world, **changes)
    assert (refused.status_code, refused.json()["error_code"]) == (422, code)
    assert world.get(PATH) == {"items": []}


def test_a_tenant_has_so_many(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PHRASES_MAX", 2)
    codes = [_put(world, name=f"n{n}", pattern=f"quarter {n}").status_code for n in range(3)]
    assert codes == [201, 201, 409]


def test_capabilities(world: Any) -> None:
    world.policy.deny("temporal.phrases.write")
    assert _put(world).status_code == world.call("DELETE", f"{PATH}/x").status_code == 403
    assert world.call("GET", PATH).status_code == 200
    world.policy.deny("temporal.phrases.read")
    assert world.call("GET", PATH).status_code == 403


def test_lists_and_recalls_read_them(world: Any, stages: dict[str, str]) -> None:
    asked = {"scope": SCOPE, "natural": "Fiscal q3"}
    assert world.refused("/v1/facts", **asked) == (422, "UNPARSEABLE_TEMPORAL")
    _put(world)
    assert [stages[item["id"]] for item in world.get("/v1/facts", **asked)["items"]] == ["poc"]
    body = {"scope": SCOPE, "include": ["facts"], "query": "What stage was Acme Corp at?"}
    natural = world.post("/v1/recall", {**body, "temporal": {"natural": "fiscal Q3"}}).json()
    assert [stages[fact["id"]] for fact in natural["layers"]["facts"]] == ["poc"]


def test_a_phrase_is_understood_as_it_was_registered(world: Any, stages: dict[str, str]) -> None:
    assert _put(world, pattern=" the  long \t quarter").json()["pattern"] == "the long quarter"
    for natural in (" the  long \t quarter", "The long quarter"):
        items = world.get("/v1/facts", scope=SCOPE, natural=natural)["items"]
        assert [stages[item["id"]] for item in items] == ["poc"]


def test_words_of_a_question_are_read_too(world: Any, stages: dict[str, str]) -> None:
    _put(world, pattern="crunch time")
    body = {"scope": SCOPE, "include": ["facts"]}
    inside = world.post("/v1/recall", {**body, "query": "What stage was Acme Corp at in Crunch Time?"}).json()
    assert [stages[fact["id"]] for fact in inside["layers"]["facts"]] == ["poc"]
    other = world.post("/v1/recall", {**body, "query": "What stage was Acme Corp at, scrunch timers?"}).json()
    assert [stages[fact["id"]] for fact in other["layers"]["facts"]] == ["close"]


def test_a_reader_of_then_has_the_words_of_then(world: Any, stages: dict[str, str]) -> None:
    _put(world)
    before = world.clock.at
    world.clock.at += 10 * SECOND_US
    world.call("DELETE", f"{PATH}/fiscal_q3")
    moved = {"valid_during": ["2026-04-02", "2026-04-03"]}
    assert _put(world, resolves_to=moved).status_code == 201
    asked = {"scope": SCOPE, "natural": "fiscal Q3"}
    assert [stages[i["id"]] for i in world.get("/v1/facts", **asked)["items"]] == ["close"]
    for then in ({"as_of": "2026-05-13T12:00:05Z"}, {"recorded_during": "..2026-05-13T12:00:05Z"}):
        assert [stages[i["id"]] for i in world.get("/v1/facts", **asked, **then)["items"]] == ["poc"]
    assert before < world.clock.at
    temporal = {"natural": "fiscal Q3", "as_of": "2026-05-13T12:00:05Z"}
    body = {
        "scope": SCOPE,
        "include": ["facts"],
        "query": "What stage was Acme Corp at?",
        "temporal": temporal,
    }
    assert [stages[fact["id"]] for fact in world.post("/v1/recall", body).json()["layers"]["facts"]] == [
        "poc"
    ]


def test_words_mean_on_every_page_what_they_meant_on_the_first(world: Any) -> None:
    held = [
        world.fact(str(n), valid_from=MARCH + n, valid_to=APRIL, recorded_from=APRIL + n) for n in range(3)
    ]
    world.land(*held, entities=[world.entity()])
    _put(world)
    asked = {"scope": SCOPE, "natural": "fiscal Q3", "limit": 1}
    first = world.get("/v1/facts", **asked)
    world.clock.at += 10 * SECOND_US
    world.call("DELETE", f"{PATH}/fiscal_q3")
    second = world.get("/v1/facts", **asked, cursor=first["next_cursor"])
    assert _put(world, resolves_to={"valid_during": ["2025-03-01", "2025-04-01"]}).status_code == 201
    third = world.get("/v1/facts", **asked, cursor=second["next_cursor"])
    assert [page["items"][0]["id"] for page in (third, second, first)] == [fact.id for fact in held]
    assert world.get("/v1/facts", **asked)["items"] == []


def test_a_later_page_knows_a_phrase_that_was_told_while_the_log_was_ahead(world: Any, at: Any) -> None:
    held = [
        world.fact(str(n), valid_from=MARCH + n, valid_to=APRIL, recorded_from=APRIL + n) for n in range(2)
    ]
    world.land(*held, entities=[world.entity()])
    at("2026-05-13T12:00:30Z")
    _put(world)
    at("2026-05-13T12:00:00Z")
    asked = {"scope": SCOPE, "natural": "fiscal Q3", "limit": 1}
    first = world.get("/v1/facts", **asked)
    second = world.get("/v1/facts", **asked, cursor=first["next_cursor"])
    assert [page["items"][0]["id"] for page in (second, first)] == [fact.id for fact in held]
