"""The document says in words what everything in it means, and its examples are requests that the server takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from documented import document, routes
from lamina.continuity.changes.deciding import upserted
from lamina.http.describing import words
from lamina.types.lifecycle import LifecycleName
from tables import every_row

ROUTES = routes()


def _schemas() -> dict[str, Any]:
    schemas: dict[str, Any] = document()["components"]["schemas"]
    return schemas


def _operations() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{verb.upper()} {path}", each)
        for path, by_verb in document()["paths"].items()
        for verb, each in by_verb.items()
    ]


BY_NAME = {route.operation.name: route for route in ROUTES}


def _properties(schema: Any, seen: set[str], at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, list):
        for part in schema:
            yield from _properties(part, seen, at)
    elif isinstance(schema, dict):
        name = str(schema.get("$ref", "")).rsplit("/", 1)[-1]
        if name and name not in seen:
            seen.add(name)
            yield from _properties(_schemas()[name], seen, name)
        for field, shape in schema.get("properties", {}).items():
            yield f"{at}|{field}", shape
        for key, part in schema.items():
            if key != "examples":
                yield from _properties(list(part.values()) if key == "properties" else part, seen, at)


def _bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    for label, each in _operations():
        if "requestBody" in each:
            yield label, each["requestBody"]["content"]["application/json"]


def test_every_parameter_says_what_it_means() -> None:
    silent = {
        f"{label} {parameter['name']}"
        for label, each in _operations()
        for parameter in each["parameters"]
        if not parameter.get("description")
    }
    assert silent == set()


def test_every_field_of_a_request_says_what_it_means() -> None:
    seen: set[str] = set()
    fields = [found for label, body in _bodies() for found in _properties(body["schema"], seen, label)]
    assert len(fields) > 300
    assert {name for name, shape in fields if not shape.get("description")} == set()


def test_no_word_is_left_that_describes_nothing() -> None:
    """A field that was renamed leaves its line behind."""
    names = {name.rsplit(".", 1)[-1]: name for name in words().fields if "." in name and name[0].isupper()}
    models = {name.partition(".")[0] for name in words().fields if name[0].isupper() and "." in name}
    requests = {route.operation.request.__name__ for route in ROUTES}
    assert models <= _schemas().keys() | requests
    known = {
        name.rsplit("|", 1)[-1]
        for schema in _schemas().values()
        for name, _ in _properties(schema, set(_schemas()), "|")
    }
    known |= {parameter["name"] for _, each in _operations() for parameter in each["parameters"]}
    plain = {name for name in words().fields if not (name[0].isupper() and "." in name)}
    assert plain - known == set()
    assert names.keys() - known == set()


def test_every_body_has_an_example_that_the_server_takes() -> None:
    asked = {name for name, route in BY_NAME.items() if route.has_body and route.requires_a_body}
    assert asked - words().examples.keys() == set()
    assert words().examples.keys() - BY_NAME.keys() == set()


@every_row("name", words().examples)
def test_an_example_is_a_request(name: str) -> None:
    route = BY_NAME[name]
    filled = {field: _ELSEWHERE[field] for field in (*route.in_path, *route.query)}
    if "path" in route.operation.request.model_fields and not name.startswith(("file_", "scope_register")):
        filled["path"] = _ELSEWHERE["path"]
    body = words().examples[name]
    if route.body_field is not None:
        body = {route.body_field: body}
    route.operation.request.model_validate({**body, **filled})


_ELSEWHERE = {
    "fact_id": "fact_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b", "entity_id": "ent_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b",
    "path": "org:acme", "evt_id": "evt_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b", "tenant_id": "acme", "actor_id": "user:ana",
    "handoff_id": "handoff_0", "task_id": "t", "shared_id": "shared_0", "reconciliation_id": "recon_0",
    "schedule_id": "sched_a", "peer_id": "bo", "erasure_id": "erasure_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b", "scope_path": "org:acme", "name": "sales_v1",
}  # fmt: skip


def test_the_capsule_of_the_example_is_one_that_can_be_stored() -> None:
    request = BY_NAME["continuity_upsert"].operation.request
    kept = upserted(None, request.model_validate(words().examples["continuity_upsert"])).capsule  # type: ignore[arg-type]
    assert kept["thread_descriptor"]["label"] == "Release plan"


def test_every_operation_has_an_area_and_every_area_operations() -> None:
    areas = {tag["name"] for tag in document()["tags"]}
    assert {tag for _, each in _operations() for tag in each["tags"]} == areas
    assert all(tag["description"].endswith((".", "?")) for tag in document()["tags"])


def test_a_server_without_tokens_can_be_asked_by_what_reads_the_document() -> None:
    for label, each in _operations():
        assert each["security"] == [] or {} in each["security"], label


def test_no_name_of_a_schema_is_private() -> None:
    assert [name for name in _schemas() if name.startswith("_")] == []


def test_a_stream_names_its_events() -> None:
    (stream,) = document()["paths"]["/v1/lifecycle/stream"]["get"]["responses"]["200"]["content"].values()
    assert all(
        name in stream["schema"]["description"]
        for name in (LifecycleName.CAPTURED, LifecycleName.CONSOLIDATED)
    )
    recall = document()["paths"]["/v1/recall"]["post"]["responses"]["200"]["content"]["text/event-stream"]
    for name in ("plan", "layer", "context_block", "provenance", "diagnostics", "done"):
        assert f"`{name}`" in recall["schema"]["description"]
