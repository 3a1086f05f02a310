"""The bridge of the Relay contract over HTTP: open, made once, and in the shapes that it documents."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lamina.http.relay.contract import TOOLS
from lamina.http.routes import Route
from neighbours import Neighbours

IDS = {
    "/v1/help/tools/{name}": "continuity.read",
    "/v1/help/topics/{id}": "continuity.read.startup_view",
    "/v1/help/errors/{code}": "validation",
    "/v1/help/onboarding/sections/{id}": "workflow_rules",
    "/v1/help/limits/{field_path:path}": "continuity.capsule_serialized_utf8",
}


@pytest.fixture(scope="module", name="relay")
def _relay() -> Iterator[Neighbours]:
    server = Neighbours()
    yield server
    server.close()


def bridge(relay: Neighbours) -> list[Route]:
    return [
        row
        for row in relay.server.routes
        if row.verb == "GET" and row.operation.name.startswith("relay_") and row.path != "/health"
    ]


def url(path: str) -> str:
    return path if "{" not in path else path[: path.index("{")] + IDS[path]


def test_every_page_has_the_shape_that_its_operation_documents(relay: Neighbours) -> None:
    assert len(bridge(relay)) == 20
    for row in bridge(relay):
        page = relay.said("GET", url(row.path))
        shown = row.operation.result.model_validate(page).model_dump(exclude_unset=True)
        assert shown == page, row.path


def test_what_is_sent_along_is_ignored(relay: Neighbours) -> None:
    for row in bridge(relay):
        plain = relay.call("GET", url(row.path))
        more = relay.call("GET", url(row.path), tenant="no token of ours", by="", verbose="yes")
        assert (more.status_code, more.content) == (200, plain.content)


def test_every_page_is_audited_by_nobody_and_gated_by_nothing(relay: Neighbours) -> None:
    assert all(row.operation.open for row in bridge(relay))


@pytest.mark.parametrize("path", IDS)
def test_an_id_that_is_not_in_a_closed_list_is_a_400_with_the_list(relay: Neighbours, path: str) -> None:
    base, field = path[: path.index("{")], path[path.index("{") + 1 : -1].partition(":")[0]
    answer = relay.call("GET", f"{base}-32602")
    body = answer.json()
    assert (answer.status_code, list(body), list(body["error"])) == (
        400,
        ["error"],
        ["code", "detail", "validation_hints"],
    )
    assert body["error"]["code"] == "validation"
    (hint,) = body["error"]["validation_hints"]
    assert IDS[path] in hint.pop("allowed_values")
    assert hint.pop("correction_hint")
    assert hint == {"field": field, "area": "request.path", "reason": "unsupported_value", "limit": None}


def test_a_long_id_is_not_echoed_whole(relay: Neighbours) -> None:
    answer = relay.call("GET", "/v1/help/tools/" + 1000 * "x")
    assert answer.status_code == 400
    assert 65 * "x" not in answer.text


def test_a_help_path_with_a_slash_too_many_is_not_there(relay: Neighbours) -> None:
    for path in ("/v1/help/", "/v1/help/limits/", "/v1/help/tools/", "/v1/help/hooks/"):
        assert relay.call("GET", path).status_code == 404, path


def test_the_tools_are_the_rows_of_the_relay_door(relay: Neighbours) -> None:
    page = relay.said("GET", "/v1/discovery/tools")
    rows = {f"{row.verb} {row.path}" for row in relay.server.routes}
    shown = {f"{tool['method']} {tool['path']}": tool for tool in page["tools"]}
    assert {line for line in TOOLS if line in rows} == shown.keys() & TOOLS.keys()
    assert [line for line in shown if line not in {plain(line) for line in rows}] == []
    for tool in page["tools"]:
        assert tool["input_schema"]["type"] == "object", tool["name"]
        assert "$ref" not in tool["input_schema"]
        assert json.dumps(tool["input_schema"]).count("#/components/") == 0


def plain(line: str) -> str:
    return line.replace(":path}", "}")


def test_examples_are_requests_that_their_operations_take(relay: Neighbours) -> None:
    rows = {plain(f"{row.verb} {row.path}"): row for row in relay.server.routes}
    tools = relay.said("GET", "/v1/discovery/tools")["tools"]
    by_name = {tool["name"]: rows[f"{tool['method']} {tool['path']}"] for tool in tools}
    for id_ in relay.said("GET", "/v1/help")["tool_topics"]:
        if id_ in by_name:
            row, given = by_name[id_], relay.said("GET", f"/v1/help/tools/{id_}")["minimal_payload"]
            if row.body_field is not None:
                around = {name: given.pop(name) for name in row.in_path}
                given = {**around, row.body_field: given}
            row.operation.request.model_validate(given)
