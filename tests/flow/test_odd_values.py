"""Values that JSON or a cursor can carry and no memory can: each is refused by name, and none is a fault of ours."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from lamina.kernel.canonical import not_finite

SCOPE = "org:acme/user:alice"
BIG = ["1e999", "-1e999", "NaN", "Infinity", "9" * 400 + ".0"]


@pytest.fixture
def client(world: Any) -> TestClient:
    return TestClient(world.application, "http://localhost", raise_server_exceptions=False)


def item(location: Any = "Lisbon", **more: Any) -> dict[str, Any]:
    return {
        "modality": "text",
        "content": {"kind": "text", "text": "tea"},
        "context": {"observed_at": "2026-05-13T11:00:00Z", "location": location, **more},
        "idempotency_key": "k-1",
    }


def sent(client: TestClient, path: str, body: Any, raw: str = "0", headers: Any = None) -> tuple[int, Any]:
    text = json.dumps(body).replace('"@"', raw)
    said = {"Content-Type": "application/json", **(headers or {})}
    answer = client.post(path, content=text, headers=said)
    return answer.status_code, answer.json()


@pytest.mark.parametrize("raw", BIG)
@pytest.mark.parametrize("free", ["location", "recorded_at"])
def test_a_number_that_is_none_is_refused_by_the_name_of_its_field(
    client: TestClient, free: str, raw: str
) -> None:
    odd = item()
    odd["context"][free] = {"place": [1, {"x": "@"}]}
    status, answer = sent(client, "/v1/experience", {"scope": SCOPE, **odd}, raw)
    assert (status, answer["details"]["field"]) == (422, f"context.{free}")
    assert "place.1.x" in answer["message"]
    batch = {"scope": SCOPE, "items": [item(), odd | {"idempotency_key": "k-2"}]}
    status, answer = sent(client, "/v1/experience/bulk", batch, raw)
    assert (status, answer["details"]["field"]) == (422, f"items.1.context.{free}")
    assert client.get("/v1/events", params={"scope": SCOPE}).json()["items"] == []


@pytest.mark.parametrize("size", [0, 40])
@pytest.mark.parametrize(
    ("odd", "field"),
    [
        ({"content": {"kind": "text", "text": " "}}, "items.1.content.text"),
        (
            {"modality": "feedback", "content": {"target_id": "x", "verdict": "x"}},
            "items.1.content.target_id",
        ),
        ({"directives": {"consolidate_into": "nowhere"}}, "items.1"),
        ({"directives": {"consolidate_into": "user:closed"}}, "items.1.directives.consolidate_into"),
    ],
)
def test_a_batch_is_told_which_of_its_items_is_wrong(
    client: TestClient, world: Any, odd: dict[str, Any], field: str, size: int
) -> None:
    """Read as a whole, and past two megabytes item by item; and where the items are sorted first."""
    world.policy.deny("scope.write", "user:closed")
    late = item() | {"context": {"observed_at": "2027-01-01T00:00:00Z"}}
    long = {"content": {"kind": "text", "text": "x" * 60_000}}
    more = [item() | long | {"idempotency_key": f"more-{number}"} for number in range(size)]
    items = [late, item() | {"idempotency_key": "k-2"} | odd, *more]
    body = {"scope": SCOPE, "ordering": "strict_temporal", "items": items}
    status, answer = sent(client, "/v1/experience/bulk", body)
    assert (status, answer["details"]["field"]) == (422, field)
    assert answer["message"].startswith("items.1: ")
    assert client.get("/v1/events", params={"scope": SCOPE}).json()["items"] == []


@pytest.mark.parametrize("odd", [[], None, "one"])
def test_an_item_of_a_batch_that_is_no_object_is_told_in_words_of_json(
    client: TestClient, odd: object
) -> None:
    status, answer = sent(client, "/v1/experience/bulk", {"scope": SCOPE, "items": [item(), odd]}, "1")
    assert (status, answer["details"]["field"]) == (422, "items.1")
    assert answer["message"] == "items.1: Input should be an object"
    assert client.get("/v1/events", params={"scope": SCOPE}).json()["items"] == []


@pytest.mark.parametrize("odd", [1e308, True, "x", {"a": 1}])
def test_a_batch_that_is_no_list_of_a_scope_that_is_none_is_refused(client: TestClient, odd: object) -> None:
    status, answer = sent(client, "/v1/experience/bulk", {"scope": "user:ana%00", "items": odd}, "1")
    assert (status, answer["error_code"]) == (422, "INVALID_SCOPE_GRAMMAR")


@pytest.mark.parametrize("raw", BIG)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/experience", {"scope": SCOPE, **item(), "directives": {"confidence_floor": "@"}}),
        ("/v1/experience", {"scope": SCOPE, **item(), "content": {"kind": "json", "data": "@"}}),
        ("/v1/admin/flush-views", {"timeout_s": "@"}),
        ("/v1/recall", {"scope": SCOPE, "query": "tea", "filters": {"confidence": {"gte": "@"}}}),
        ("/v1/recall", {"scope": SCOPE, "query": "tea", "budgets": {"max_tokens": "@"}}),
        ("/v1/scopes", {"path": SCOPE, "policies": {"children": {"auto_register": "@"}}}),
        ("/v1/write", {"path": "memory/a.md", "content": "a", "not_known": ["@"]}),
        ("/v1/append", {"path": "memory/a.jsonl", "record": {"a": "@"}}),
        ("/memory/query", {"tenantId": "t", "userId": "ana", "query": "x", "limit": "@"}),
    ],
)
def test_no_body_with_such_a_number_is_a_fault(client: TestClient, path: str, body: Any, raw: str) -> None:
    keyed = {} if "idempotency_key" in body else {"X-Cortex-Idempotency-Key": "k-1"}
    status, answer = sent(client, path, body, raw, keyed)
    assert 400 <= status < 500, answer


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ([[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["deep"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]], "nested deeper than 32"),
        ("x" * 262_143, "262145 bytes, 262144 are allowed"),
        ({"a": ["x\0y"]}, "NUL"),
        ("x\0y", "NUL"),
    ],
)
def test_a_location_is_bounded_as_content_is(client: TestClient, location: Any, reason: str) -> None:
    status, answer = sent(client, "/v1/experience", {"scope": SCOPE, **item(location)})
    assert (status, answer["details"]["field"]) == (422, "context.location")
    assert reason in answer["message"]


@pytest.mark.parametrize(
    "location", [None, "Lisbon", "x" * 262_142, {"lat": 38.7, "lon": -9.1}, ["a", [1]], 3]
)
def test_a_location_of_any_shape_is_kept(client: TestClient, location: Any) -> None:
    assert sent(client, "/v1/experience", {"scope": SCOPE, **item(location)})[0] == 202
    (event,) = client.get("/v1/events", params={"scope": SCOPE}).json()["items"]
    assert event["context"].get("location") == location


@pytest.mark.parametrize("path", ["/v1/lifecycle", "/v1/audit", "/v1/scopes", "/v1/events", "/v1/facts"])
def test_a_cursor_that_no_list_made_is_refused(client: TestClient, path: str) -> None:
    for name in ("a", "b"):
        sent(client, "/v1/experience", {"scope": f"org:acme/user:{name}", **item()})
    whole = {"limit": 1, **({"scope": "org:acme"} if path in ("/v1/events", "/v1/facts") else {})}
    made = client.get(path, params=whole).json()["next_cursor"]
    known = json.loads(base64.urlsafe_b64decode(made + "==")) if made else {"f": "x", "i": "x"}
    texts = ["[" * 1500, '{"a":' * 300, "NaN", '"\\ud800"']
    for name in known:
        texts += [json.dumps(known | {name: odd}) for odd in ("\ud800", 1e999, [], "\0", -(1 << 70), None)]
    for text in texts:
        cursor = base64.urlsafe_b64encode(text.encode()).decode()
        answer = client.get(path, params=whole | {"cursor": cursor})
        assert answer.status_code in (404, 422), (text[:80], answer.text)


def test_the_path_of_a_number_that_is_none() -> None:
    assert not_finite({"a": [1, {"b": float("nan")}]}) == "a.1.b"
    assert not_finite(float("inf")) == ""
    assert not_finite({"a": [1.5, "NaN", None, True]}) is None
