"""The contract's own /v1/mcp (seed 004, contracts/cognirelay.md 2): statuses, the order of checks, tools, help, and who is ready."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from capsules import body as capsule
from given import ManualClock
from lamina.access.relay_tokens import issue
from lamina.app import Server, build_server
from lamina.http.relay.contract import HELP_METHODS, TOOLS
from lamina.kernel.ids import RandomIds
from lamina.kernel.relay import RelayGrant
from lamina.kernel.time import SECOND_US
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.ports.audit import AuditQuery
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

START = {"protocolVersion": "2025-11-25"}
ABOUT = {"subject_kind": "thread", "subject_id": "launch"}


class Relay:
    """A server, and a token of its owner."""

    def __init__(self, store: Store, token: str | None = None) -> None:
        self.clock = ManualClock()
        settings = Settings(tenant="acme")
        self.server: Server = build_server(settings, store=store, clock=self.clock)
        self.token = token or self.server.first_token()

    def send(self, content: bytes, headers: dict[str, str], verb: str = "POST") -> httpx.Response:
        async def sent() -> httpx.Response:
            transport = httpx.ASGITransport(self.server.application)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(verb, "/v1/mcp", content=content, headers=headers)

        return asyncio.run(sent())

    def rpc(self, method: str, params: Any = None, *, token: str | None = "", **more: str) -> httpx.Response:
        message = {"jsonrpc": "2.0", "id": 7, "method": method} | (
            {} if params is None else {"params": params}
        )
        shown = self.token if token == "" else token
        headers = more | ({} if shown is None else {"Authorization": f"Bearer {shown}"})
        return self.send(json.dumps(message).encode(), headers)

    def result(self, method: str, params: Any = None, **more: Any) -> Any:
        answer = self.rpc(method, params, **more).json()
        assert "error" not in answer, answer
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
        return answer["result"]

    def error(self, method: str, params: Any = None, **more: Any) -> tuple[int, dict[str, Any]]:
        response = self.rpc(method, params, **more)
        error = response.json()["error"]
        assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
        return error["code"], error["data"]

    def tool(self, name: str, **arguments: Any) -> Any:
        result = self.result("tools/call", {"name": name, "arguments": arguments})
        assert result["content"] == [{"type": "text", "text": f"Executed {name}"}]
        return result["structuredContent"]

    def failed(self, name: str, token: str | None = "", **arguments: Any) -> tuple[int, dict[str, Any]]:
        return self.error("tools/call", {"name": name, "arguments": arguments}, token=token)

    def close(self) -> None:
        self.server.pool.shutdown()
        self.server.close()


@pytest.fixture(scope="module", autouse=True)
def _without_the_document() -> Iterator[None]:
    """The OpenAPI document takes longer than any test here, and none reads it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lamina.http.server.openapi_document", lambda routes: b"{}")
        yield


@pytest.fixture(scope="module", name="relay")
def _relay() -> Iterator[Relay]:
    relay = Relay(MemoryStore(clock=ManualClock()))
    relay.result("initialize", START)
    yield relay
    relay.close()


# ---- what stands around a message


def test_other_verbs_are_405(relay: Relay) -> None:
    for verb, said in (("GET", b""), ("HEAD", b""), ("DELETE", None), ("PUT", None)):
        response = relay.send(b"", {}, verb)
        assert (response.status_code, response.headers["allow"]) == (405, "POST"), verb
        if said is None:
            assert response.json()["detail"] == "Method Not Allowed"
        else:
            assert response.content == said


def test_a_page_of_another_machine_is_refused_before_its_body_is_looked_at(relay: Relay) -> None:
    own = ("http://localhost:3000", "https://127.0.0.1", "http://[::1]:8700", "HTTP://LOCALHOST")
    for origin in own:
        assert relay.send(b"{", {"Origin": origin}).status_code == 400, origin
    others = ("null", "https://evil.example", "http://localhost.evil.example", "file://localhost", "")
    for origin in (*others, "http://user@localhost", "http://[::1", "http://localhost:x"):
        response = relay.send(b"{", {"Origin": origin})
        error = response.json()
        assert (response.status_code, error["id"]) == (403, None), origin
        assert error["error"]["code"] == -32002
        assert error["error"]["message"] == "Forbidden"
        assert error["error"]["data"] == {"reason": "origin not allowed", "origin": origin}


def test_a_body_needs_no_content_type_and_a_wrong_one_has_status_400(relay: Relay) -> None:
    for headers in ({}, {"Content-Type": "text/plain"}, {"Accept": "text/html"}):
        response = relay.send(b'{"jsonrpc": "2.0", "id": 1.0, "method": "ping"}', headers)
        assert response.status_code == 200
        assert b'"id":1.0' in response.content
    for body, code in ((b"\xff", -32700), (b"[]", -32600), (b'{"method": "ping"}', -32600)):
        response = relay.send(body, {"Content-Type": "application/json"})
        said = response.json()
        assert (response.status_code, said["id"], said["error"]["code"]) == (400, None, code)
    assert relay.send(b" " * 3_000_000, {}).status_code == 413


def test_the_one_notification_has_no_answer(relay: Relay) -> None:
    for token in ({}, {"Authorization": "Bearer x"}):
        response = relay.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', token)
        assert (response.status_code, response.content) == (204, b"")


# ---- who is ready


def test_methods_come_before_readiness_and_readiness_before_parameters(relay: Relay) -> None:
    assert relay.error("tools/lists", [], token="fresh") == (-32601, {"method": "tools/lists"})
    assert relay.error("initialize", {"colour": 1}, token="fresh")[0] == -32602
    for method in ("tools/list", "tools/call", "system.help"):
        assert relay.error(method, [7], token="fresh") == (-32000, {"required_step": "initialize"})
        assert relay.error(method, [7])[0] == -32602
    assert set(relay.result("ping", token="fresh")) == {"ok", "ts"}


def test_who_shows_no_token_initialises_in_vain_and_a_bad_one_lists_and_calls_nothing(relay: Relay) -> None:
    begun = relay.result("initialize", START, token=None)
    assert set(begun) == {"protocolVersion", "capabilities", "serverInfo"}
    assert begun["protocolVersion"] == "2025-11-25"
    assert begun["capabilities"] == {"tools": {"listChanged": False}}
    assert relay.error("tools/list", token=None)[0] == -32000
    relay.result("initialize", {"protocolVersion": "2025-06-18"}, token="nobody's")
    assert relay.result("tools/list", token="nobody's")["tools"]
    refused = (-32001, {"reason": "authentication required"})
    for name in ("continuity.list", "system.health"):
        code, data = relay.failed(name, token="nobody's")
        data.pop("error_code")
        assert (code, data) == refused
    # What is wrong with the arguments is said before anybody asks who calls.
    assert relay.failed("continuity.read", token="nobody's")[0] == -32602


def test_readiness_outlives_the_server_for_half_a_day_and_is_kept_by_use(tmp_path: Path) -> None:
    clock = ManualClock()
    token: str | None = None
    for hours in (0, 11, 11, 11):
        relay = Relay(SqliteStore(tmp_path, clock=clock, durable=False), token)
        token = relay.token
        relay.clock.at = clock.at = clock.at + hours * 3600 * SECOND_US
        if hours == 0:
            assert relay.error("tools/list")[0] == -32000
            relay.result("initialize", START)
            relay.result("initialize", START, token="nobody's")
        else:
            assert relay.error("tools/list", token="nobody's")[0] == -32000
        relay.result("tools/list", {"cursor": ""})
        relay.close()
    relay = Relay(SqliteStore(tmp_path, clock=clock, durable=False), token)
    relay.clock.at = clock.at + 25 * 3600 * SECOND_US
    assert relay.error("tools/list")[0] == -32000
    relay.close()
    assert b"cgr_" not in (tmp_path / "lamina.db").read_bytes()


# ---- tools


def test_the_tools_are_those_of_the_discovery_page_in_the_words_of_mcp(relay: Relay) -> None:
    tools = relay.result("tools/list", {})["tools"]
    served = {f"{row.verb} {row.path}" for row in relay.server.routes}
    assert [tool["name"] for tool in tools] == [t.name for line, t in TOOLS.items() if line in served]
    for tool in tools:
        assert set(tool) == {"name", "description", "inputSchema", "metadata"}
        assert set(tool["metadata"]) == {"method", "path", "scopes", "idempotent", "local_only"}
        if tool["metadata"]["method"] == "GET":
            assert tool["inputSchema"]["additionalProperties"] is False


def test_every_tool_answers_what_its_route_does(relay: Relay) -> None:
    headers = {"Authorization": f"Bearer {relay.token}"}
    asked = {
        "memory.read": {"path": "memory/core/values.md"},
        "schedule.get": {"schedule_id": "sched_a"},
        "coordination.handoffs_query": {"sender_peer": "owner"},
        "coordination.shared_query": {"owner_peer": "owner"},
        "coordination.reconciliations_query": {"owner_peer": "owner"},
    }
    relay.tool("memory.write", path="memory/core/values.md", content="Plain words.")
    relay.tool(
        "schedule.create", schedule_id="sched_a", kind="reminder", title="look", due_at="2027-01-01T00:00:00Z"
    )
    tools = [each for each in relay.result("tools/list")["tools"] if each["metadata"]["method"] == "GET"]
    compared = 0
    for tool in tools:
        given, path = asked.get(tool["name"], {}), tool["metadata"]["path"]
        if tool["inputSchema"].get("required", []) and not given:
            continue
        over_mcp = relay.tool(tool["name"], **given)

        async def get(path: str = path, given: dict[str, str] = given) -> httpx.Response:
            transport = httpx.ASGITransport(relay.server.application)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.get(path.format(**given), params=given, headers=headers)

        over_http = asyncio.run(get()).json()
        if tool["name"] == "metrics.get":  # which counts the calls before it
            del over_mcp["audit"], over_http["audit"]
        assert over_mcp == over_http, tool["name"]
        compared += 1
    assert compared >= 10


def test_a_capsule_over_mcp(relay: Relay) -> None:
    first = relay.tool("continuity.upsert", **ABOUT, capsule=capsule())
    assert first["created"]
    more = capsule(continuity={"open_loops": ["docs"]}, updated_at="2026-05-13T11:30:00Z")
    assert relay.tool("continuity.upsert", **ABOUT, capsule=more, merge_mode="preserve")["updated"]
    read = relay.tool("continuity.read", **ABOUT, view="startup", allow_fallback=True)
    assert read["capsule"]["continuity"]["open_loops"] == ["docs"]
    assert "graph_summary" in read
    code, data = relay.failed("continuity.read", subject_kind="thread", subject_id="none")
    assert (code, data["reason"], data["error_code"]) == (-32004, "not found", "CAPSULE_NOT_FOUND")
    code, data = relay.failed("continuity.upsert", **{**ABOUT, "subject_id": "other"}, capsule=capsule())
    assert (code, data["reason"]) == (-32003, "tool execution failed")
    assert set(data) <= {"reason", "error_code", "hint"}


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("continuity.read", {"subject_kind": "thread"}, ("/subject_id", "required")),
        ("continuity.read", {**ABOUT, "subject_kind": "x"}, ("/subject_kind", "enum")),
        ("continuity.read", {**ABOUT, "view": 7}, ("/view", "anyOf")),
        ("system.health", {"x": 1}, ("/x", "additionalProperties")),
        ("continuity.list", {"limit": 100_000}, ("/limit", "less_than_equal")),
    ],
)
def test_what_does_not_fit_a_tool_is_listed(
    relay: Relay, name: str, given: dict[str, Any], problem: tuple[str, str]
) -> None:
    code, data = relay.failed(name, **given)
    assert (code, data["reason"]) == (-32602, "schema validation failed")
    assert problem in [(each["path"], each["keyword"]) for each in data["details"]]


def test_the_schedule_has_its_own_words(relay: Relay) -> None:
    for name, given, code in [
        ("schedule.create", {"kind": "reminder"}, "invalid_schedule_title"),
        ("schedule.create", {"kind": "x", "title": "t", "due_at": "z"}, "invalid_schedule_kind"),
        ("schedule.list", {"due": "true"}, "invalid_schedule_query"),
        ("schedule.list", {"limit": 7.5}, "invalid_schedule_query"),
        ("schedule.get", {"schedule_id": "Ä"}, "invalid_schedule_id"),
        ("schedule.list", {"colour": 1}, "invalid_schedule_payload"),
    ]:
        failed, data = relay.failed(name, token="", **given)
        assert (failed, data["reason"]) == (-32602, "schema validation failed")
        assert set(data) == {"reason", "detail"}
        assert data["detail"]["code"] == code, (name, given)
    assert relay.tool("schedule.list", due=True, limit=5)["ok"]
    code, data = relay.failed("schedule.get", schedule_id="sched_none")
    assert (code, data["reason"], data["detail"]["code"]) == (
        -32003,
        "tool execution failed",
        "schedule_not_found",
    )


def test_an_unknown_tool_and_one_that_is_served_by_other_means(relay: Relay) -> None:
    for name in ("nothing", "remember", "continuity.history"):
        assert relay.failed(name) == (-32602, {"reason": "unknown tool", "name": name})


def test_every_tool_is_audited_by_its_name_and_needs_what_the_token_grants(relay: Relay) -> None:
    reader = issue(
        relay.server.store.relay_tokens,
        RandomIds(),
        relay.clock.now(),
        tenant_id="acme",
        peer_id="bo",
        grant=RelayGrant(frozenset({"read:files"}), frozenset({"*"}), frozenset()),
    )
    relay.result("initialize", START, token=reader)
    code, data = relay.failed("memory.write", token=reader, path="memory/core/values.md", content="x")
    assert (code, data["reason"]) == (-32002, "forbidden")
    rows = relay.server.store.audit.query(AuditQuery(tenant_id="acme", endpoint="mcp memory.write"))
    assert "agent:bo" in [row.draft.actor for row in rows]


# ---- help


def test_the_descriptor_says_what_is_served(relay: Relay) -> None:
    async def get(path: str) -> Any:
        transport = httpx.ASGITransport(relay.server.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.get(path)).json()

    shown = asyncio.run(get("/.well-known/mcp.json"))
    assert list(shown) == [
        "ok",
        "protocol",
        "transport",
        "endpoint",
        "contract_version",
        "mcp_protocol_version",
        "supported_mcp_protocol_versions",
        "supplemental",
        "get_endpoint",
        "methods",
        "auth",
    ]
    assert shown["get_endpoint"] == {"path": "/v1/mcp", "status": 405, "allow": "POST"}
    assert len(shown["methods"]) == 15
    for method in shown["methods"]:
        answer = relay.rpc(method, {"x": 1}).json() if not method.startswith("notif") else {"result": {}}
        assert answer.get("error", {}).get("code") != -32601, method
    manifest = asyncio.run(get("/v1/manifest"))["endpoints"]
    assert manifest["GET /v1/mcp"]["status"] == 405
    assert manifest["POST /v1/mcp"]["mcp_protocol_version"] == "2025-11-25"
    features = asyncio.run(get("/capabilities"))["features"]
    assert {"mcp_jsonrpc", "derived_graph_runtime_context"} <= set(features)
    assert "continuity.read.startup_graph_summary" in asyncio.run(get("/v1/capabilities"))["features"]
    assert asyncio.run(get("/v1/help"))["mcp_methods"] == list(HELP_METHODS.values())


HELP: list[tuple[str, Any, dict[str, Any]]] = [
    ("system.help", None, {"surface": "help_index", "httpEquivalent": "/v1/help"}),
    ("system.hook_guide", {"_meta": {}}, {"surface": "hook_guide", "httpEquivalent": "/v1/help/hooks"}),
    ("system.tool_usage", {"name": "continuity.read"}, {"surface": "tool_help", "name": "continuity.read"}),
    ("system.topic_help", {"id": "last-mile-adapter"}, {"surface": "topic_help", "title": "Last-mile adapters"}),
    ("system.topic_help", {"id": "continuity.read.startup_view"}, {"title": "continuity.read.startup_view"}),
    ("system.error_guide", {"code": -32602}, {"surface": "error_guide", "title": "Invalid params"}),
    ("system.onboarding_index", {}, {"kind": "onboarding_index", "httpEquivalent": "/v1/help/onboarding"}),
    ("system.onboarding_bootstrap", None, {"kind": "onboarding_bootstrap"}),
    ("system.onboarding_section", {"id": "hooks"}, {"id": "hooks", "kind": "onboarding_section"}),
    ("system.validation_limits", None, {"httpEquivalent": "/v1/help/limits"}),
    ("system.validation_limit", {"field_path": "continuity.open_loops"}, {"kind": "validation_limit"}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "params", "shown"), HELP)
def test_the_help_as_methods(relay: Relay, method: str, params: Any, shown: dict[str, Any]) -> None:
    result = relay.result(method, params)
    assert set(result) == {"content", "structuredContent"}
    said = result["structuredContent"]
    assert result["content"] == [{"type": "text", "text": said["summary"]}]
    assert said["summary"]
    assert {name: said[name] for name in shown} == shown
    assert said["httpEquivalent"].startswith("/v1/help")


def test_the_help_says_what_it_does_not_know(relay: Relay) -> None:
    for method, params, reason in [
        ("system.tool_usage", {"name": "memory.none"}, "unknown tool"),
        ("system.topic_help", {"id": "x"}, "unknown topic"),
        ("system.error_guide", {"code": 1}, "unknown error code"),
        ("system.onboarding_section", {"id": "../bootstrap"}, "unknown onboarding section"),
        ("system.validation_limit", {"field_path": "x" * 500}, "unknown validation limit"),
    ]:
        code, data = relay.error(method, params)
        assert (code, data["reason"]) == (-32602, reason)
        ((name, value),) = params.items()
        assert data[name] == (value[:64] if isinstance(value, str) else value)
    for code in (-32700, -32600, -32601, -32602, -32000, -32001, -32002, -32003, -32004):
        assert relay.result("system.error_guide", {"code": code})["structuredContent"]["code"] == code
    assert relay.error("system.help", {"name": "x"})[1]["field"] == "name"
