"""Spans of door, gateway, store and model, as whoever sets up a collector sees them; and what they cost where nobody does."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import httpx
import opentelemetry.trace as api
import pytest

from lamina.models.generator import OpenAiGenerator
from lamina.models.ports import ChatMessage
from lamina.observe import traces

SECRET = "the canary sings at noon"
ANSWER = {
    "choices": [{"message": {"content": SECRET}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
}


class Recorded(api.NonRecordingSpan):
    """A span that keeps what is set."""

    def __init__(self, name: str, above: api.Span, number: int) -> None:
        trace_id = above.get_span_context().trace_id or 1
        super().__init__(api.SpanContext(trace_id, number, is_remote=False))
        self.name = name
        self.above = above
        self.noted: dict[str, Any] = {}
        self.failed = False

    def set_attribute(self, key: str, value: Any) -> None:
        self.noted[key] = value

    def set_status(self, status: Any, description: str | None = None) -> None:
        assert description is None
        self.failed = status is api.StatusCode.ERROR

    def record_exception(self, *args: Any, **kwargs: Any) -> None:
        raise AssertionError("the message of an error may quote a memory")


class Collector(api.TracerProvider, api.Tracer):
    """Collects every span in the order of their beginnings."""

    def __init__(self) -> None:
        self.spans: list[Recorded] = []

    def get_tracer(self, *args: Any, **kwargs: Any) -> api.Tracer:
        return self

    def start_span(self, name: str, context: Any = None, attributes: Any = None, **more: Any) -> Recorded:
        made = Recorded(name, api.get_current_span(context), len(self.spans) + 1)
        made.noted.update(attributes or {}, kind=more["kind"].name)
        self.spans.append(made)
        return made

    @contextlib.contextmanager
    def start_as_current_span(self, name: str, context: Any = None, **more: Any) -> Iterator[Recorded]:
        quiet = {each: more.pop(each) for each in ("record_exception", "set_status_on_exception")}
        with api.use_span(self.start_span(name, context, **more), **quiet) as opened:
            yield opened

    def of_gateway(self) -> Recorded:
        return next(each for each in self.spans if each.name.startswith("lamina "))

    def named(self, name: str) -> Recorded:
        return next(each for each in self.spans if each.name == name)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Collector:
    made = Collector()
    monkeypatch.setattr(api, "get_tracer_provider", lambda: made)
    return made


def test_a_call_is_a_span_of_its_door_above_its_gateway_and_its_store(
    world: Any, collector: Collector
) -> None:
    above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    body = {"path": "memory/core/a.md", "content": SECRET}
    assert world.call("POST", "/v1/write", body=body, headers={"traceparent": above}).status_code == 200
    door, gateway = collector.named("POST /v1/write"), collector.of_gateway()
    assert (door.noted["kind"], door.noted["http.response.status_code"]) == ("SERVER", 200)
    assert f"{door.get_span_context().trace_id:032x}" == above.split("-")[1]
    assert gateway.above is door
    assert collector.named("sqlite COMMIT").above is gateway
    said = str([(each.name, each.noted) for each in collector.spans])
    assert "canary" not in said
    assert "core/a.md" not in said


def test_a_capture_shows_its_commit_below_what_waits_for_it(world: Any, collector: Collector) -> None:
    content = {"kind": "message", "role": "user", "text": SECRET}
    context = {"observed_at": "2026-05-13T11:42:00Z"}
    sent = {"scope": "user:ana", "modality": "conversation", "content": content, "context": context}
    for key in ("makes the pepper", "is written"):
        collector.spans.clear()
        answer = world.call("POST", "/v1/experience", body=sent | {"idempotency_key": key})
        assert answer.status_code == 202
    commits = [each for each in collector.spans if each.name == "sqlite COMMIT"]
    assert [each.above for each in commits] == [collector.of_gateway()]


def test_an_error_is_its_code_and_the_callers_fault_is_none_of_the_servers(
    world: Any, collector: Collector
) -> None:
    world.call("GET", "/v1/read?path=memory/core/canary.md")
    door, gateway = collector.spans[0], collector.of_gateway()
    assert (door.failed, door.noted["http.response.status_code"]) == (False, 404)
    assert (gateway.failed, gateway.noted["error.type"]) == (True, "FILE_NOT_FOUND")


def test_a_tool_and_a_model_have_the_names_of_the_conventions(world: Any, collector: Collector) -> None:
    headers = {"Authorization": f"Bearer {world.server.first_token()}"}
    for method, params in (
        ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        ("notifications/initialized", None),
        ("tools/call", {"name": "peers.list", "arguments": {}}),
    ):  # fmt: skip
        message = {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})
        body = message | ({} if method.startswith("not") else {"id": 1})
        world.call("POST", "/v1/mcp", body=body, headers=headers)
    tool = collector.named("execute_tool peers.list")
    assert tool.noted["gen_ai.tool.name"] == "peers.list"
    assert tool.above.name == "POST /v1/mcp"  # type: ignore[attr-defined]

    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=ANSWER))
    model = OpenAiGenerator("http://model/v1", "tiny", timeout_s=1, transport=transport)
    model.complete([ChatMessage("user", SECRET)], tokens_max=9)
    chat = collector.named("chat tiny")
    assert chat.noted["gen_ai.usage.input_tokens"] == 7
    assert chat.noted["kind"] == "CLIENT"
    assert SECRET not in str(chat.noted)


def test_where_nobody_collects_no_span_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert traces.span("one") is traces.inner_span("other", "client", {})
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    assert traces.span("one") is traces.span("other")


def test_calls_are_answered_while_another_thread_loads_the_api(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = ModuleType("opentelemetry.trace")
    half.__spec__ = ModuleSpec("opentelemetry.trace", None)
    half.__spec__._initializing = True  # type: ignore[attr-defined] # as the import system has it
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", half)
    assert world.get("/v1/admin/version")["name"] == "lamina"
