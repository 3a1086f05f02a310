"""Envelopes, parameters and arguments at /v1/mcp: what is wrong with them, in the contract's order (contracts/cognirelay.md 2.2 to 2.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lamina.http.relay.rpc.argument_check import argument_problems
from lamina.http.relay.rpc.messages import INVALID_PARAMS, RpcError, read_message
from lamina.http.relay.rpc.params import closed_params, initialize_version, list_params, tool_use
from tables import every_row

PARSE, ENVELOPE = -32700, -32600


@every_row(
    ("body", "code"),
    [
        (b"", PARSE),
        (b"{", PARSE),
        (b"\xff\xfe", PARSE),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', PARSE),
        (b'"' + b"\\ud800" + b'"', PARSE),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, PARSE),
        (b"[]", ENVELOPE),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', ENVELOPE),
        (b"7", ENVELOPE),
        (b"null", ENVELOPE),
        (b'{"id": 1, "method": "ping"}', ENVELOPE),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', ENVELOPE),
        (b'{"jsonrpc": 2.0, "id": 1, "method": "ping"}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "id": 1}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "id": null, "method": "notifications/initialized"}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "method": "notifications/cancelled"}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "method": "tools/list"}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', ENVELOPE),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "nothing"}', ENVELOPE),
    ],
)
def test_what_is_no_message_is_refused_with_400_and_no_id(body: bytes, code: int) -> None:
    with pytest.raises(RpcError) as refused:
        read_message(body)
    error = refused.value
    assert (error.status, error.code) == (400, code)
    assert error.data["reason"]
    assert error.shown(None)["id"] is None


@pytest.mark.parametrize("message_id", ["", "a", 0, -1, 10**30, 1.0])
def test_an_id_is_a_string_or_an_integer_and_comes_back_as_it_was(message_id: Any) -> None:
    sent = json.dumps({"jsonrpc": "2.0", "id": message_id, "method": "", "more": []}).encode()
    message = read_message(sent)
    assert (message.id, type(message.id), message.has_params) == (message_id, type(message_id), False)


def message(method: str, **more: Any) -> Any:
    return read_message(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, **more}).encode())


def refused(read: Any, *given: Any) -> dict[str, Any]:
    with pytest.raises(RpcError) as caught:
        read(*given)
    assert (caught.value.status, caught.value.code) == (200, INVALID_PARAMS)
    return dict(caught.value.data)


CLIENT = {"name": "agent", "version": "1", "title": "T", "description": "D", "websiteUrl": "u", "icons": []}


@every_row(
    ("params", "field"),
    [
        (None, None),
        ([], None),
        ({}, "protocolVersion"),
        ({"protocolVersion": 7}, "protocolVersion"),
        ({"protocolVersion": "1999-01-01", "colour": "red"}, "colour"),
        ({"protocolVersion": "2025-11-25", "capabilities": []}, "capabilities"),
        ({"protocolVersion": "2025-11-25", "_meta": None}, "_meta"),
        ({"protocolVersion": "2025-11-25", "clientInfo": "agent"}, "clientInfo"),
        ({"protocolVersion": "2025-11-25", "clientInfo": {}}, "clientInfo.name"),
        ({"protocolVersion": "2025-11-25", "clientInfo": {"name": " "}}, "clientInfo.name"),
        ({"protocolVersion": "2025-11-25", "clientInfo": {**CLIENT, "version": ""}}, "clientInfo.version"),
        ({"protocolVersion": "2025-11-25", "clientInfo": {**CLIENT, "title": 1}}, "clientInfo.title"),
        ({"protocolVersion": "2025-11-25", "clientInfo": {**CLIENT, "icons": {}}}, "clientInfo.icons"),
        ({"protocolVersion": "2025-11-25", "clientInfo": {**CLIENT, "os": "x"}}, "clientInfo.os"),
    ],
)
def test_initialize_names_the_field_that_is_wrong(params: Any, field: str | None) -> None:
    assert refused(initialize_version, message("initialize", params=params)).get("field") == field


def test_initialize_takes_two_versions_and_offers_no_other() -> None:
    for version in ("2025-06-18", "2025-11-25"):
        whole = {"protocolVersion": version, "capabilities": {"x": 1}, "clientInfo": CLIENT, "_meta": {}}
        assert initialize_version(message("initialize", params=whole)) == version
    later = message("initialize", params={"protocolVersion": "2026-07-28"})
    with pytest.raises(RpcError) as unsupported:
        initialize_version(later)
    assert unsupported.value.message == "Unsupported protocol version"
    assert unsupported.value.data == {
        "supported": ["2025-06-18", "2025-11-25"],
        "requested": "2026-07-28",
    }
    assert refused(initialize_version, message("initialize"))["reason"]


def test_a_list_has_one_page() -> None:
    for more in ({}, {"params": {}}, {"params": {"cursor": None, "_meta": {}}}, {"params": {"cursor": ""}}):
        list_params(message("tools/list", **more))
    for params in (None, [], {"cursor": "2"}, {"cursor": 2}, {"page": 1}, {"_meta": []}):
        refused(list_params, message("tools/list", params=params))


def test_a_tool_is_named_and_its_arguments_are_an_object() -> None:
    use = tool_use(message("tools/call", params={"name": "a.b", "_meta": {"x": 1}}))
    assert (use.name, use.arguments) == ("a.b", {})
    for params in (
        None,
        {},
        {"name": " "},
        {"name": 7},
        {"name": "a", "arguments": None},
        {"name": "a", "arguments": []},
        {"name": "a", "x": 1},
    ):
        refused(tool_use, message("tools/call", params=params))
    refused(tool_use, message("tools/call"))


def test_a_help_method_takes_its_one_parameter_and_no_other() -> None:
    assert closed_params(message("x"), None) is None
    assert closed_params(message("x", params={"_meta": {}}), None) is None
    assert refused(closed_params, message("x", params={"name": "a"}), None)["field"] == "name"
    assert closed_params(message("x", params={"code": -32600}), "code", int) == -32600
    for params in (None, {}, {"code": "1"}, {"code": True}, {"code": 1.0}, {"code": 1, "id": "x"}):
        refused(closed_params, message("x", params=params), "code", int)
    refused(closed_params, message("x"), "id")


SCHEMA = {
    "type": "object",
    "required": ["kind"],
    "additionalProperties": False,
    "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    "properties": {
        "kind": {"enum": ["thread", 1]},
        "count": {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "null"}]},
        "words": {"type": "array", "maxItems": 2, "items": {"type": "string", "minLength": 1}},
        "node": {"$ref": "#/$defs/Node"},
        "either": {"oneOf": [{"type": "string"}, {"type": "boolean"}]},
        "one": {"const": 1},
        "rate": {"type": "number"},
        "labels": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    },
}


@every_row(
    ("given", "problems"),
    [
        ({"kind": "thread", "count": None, "words": ["a", "b"], "node": {"next": {"next": {}}}}, []),
        ({"kind": 1, "count": 1, "either": True, "one": 1, "rate": 2, "labels": {"a": None}}, []),
        ({"kind": "thread", "count": 3.0, "rate": 10**400}, []),
        ({}, [("/kind", "required")]),
        ({"kind": "x"}, [("/kind", "enum")]),
        ({"kind": True}, [("/kind", "enum")]),
        ({"kind": "thread", "count": "3"}, [("/count", "anyOf")]),
        ({"kind": "thread", "count": True}, [("/count", "anyOf")]),
        ({"kind": "thread", "words": "a"}, [("/words", "type")]),
        ({"kind": "thread", "words": ["", 1, "c"]}, [("/words", "maxItems"), ("/words/0", "minLength"), ("/words/1", "type")]),
        ({"kind": "thread", "node": {"next": {"next": []}}}, [("/node/next/next", "type")]),
        ({"kind": "thread", "either": 1}, [("/either", "oneOf")]),
        ({"kind": "thread", "one": True}, [("/one", "const")]),
        ({"kind": "thread", "rate": "1"}, [("/rate", "type")]),
        ({"kind": "thread", "labels": {"a/b": 1}}, [("/labels/a~1b", "type")]),
        ({"kind": "thread", "colour": "red"}, [("/colour", "additionalProperties")]),
    ],
)  # fmt: skip
def test_arguments_are_held_against_the_schema(
    given: dict[str, Any], problems: list[tuple[str, str]]
) -> None:
    assert [(each.path, each.keyword) for each in argument_problems(SCHEMA, given)] == problems


def test_problems_are_few_and_echo_nothing() -> None:
    many = argument_problems(SCHEMA, {"kind": "secret", "words": [7] * 1000, "labels": {"x" * 500: 1}})
    assert len(many) == 20
    assert "secret" not in " ".join(each.message for each in many)
    (long,) = argument_problems(SCHEMA, {"kind": 1, "labels": {"x" * 500: 1}})
    assert len(long.path) < 100
