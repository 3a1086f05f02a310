"""Spans as OpenTelemetry's own SDK collects them, by the names of its conventions. Nothing here needs the SDK: without it this is skipped.

python -m venv /tmp/spans && /tmp/spans/bin/pip install opentelemetry-sdk, beside what the tests need
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import opentelemetry.trace as api
import pytest

from lamina.models.generator import OpenAiGenerator
from lamina.models.ports import ChatMessage

_WHY = "needs opentelemetry-sdk, which nothing else does"
sdk = pytest.importorskip("opentelemetry.sdk.trace", reason=_WHY)
export = pytest.importorskip("opentelemetry.sdk.trace.export", reason=_WHY)
in_memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter", reason=_WHY)
gen_ai = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes", reason=_WHY)
db = pytest.importorskip("opentelemetry.semconv._incubating.attributes.db_attributes", reason=_WHY)
http = pytest.importorskip("opentelemetry.semconv.attributes.http_attributes", reason=_WHY)
error = pytest.importorskip("opentelemetry.semconv.attributes.error_attributes", reason=_WHY)

SECRET = "the canary sings at noon"
ANSWER = {
    "choices": [{"message": {"content": SECRET}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
}
ABOVE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def names_of(*conventions: Any) -> set[str]:
    """The attributes that the conventions have."""
    return {value for each in conventions for value in vars(each).values() if isinstance(value, str)}


CONVENTIONS = names_of(gen_ai, db, http, error)


@pytest.fixture(name="exporter")
def _exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    exporter, provider = in_memory.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    monkeypatch.setattr(api, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


def attributes(span: Any) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_door_gateway_store_and_model_arrive_in_one_trace(world: Any, exporter: Any) -> None:
    body = {"path": "memory/core/a.md", "content": SECRET}
    assert world.call("POST", "/v1/write", body=body, headers={"traceparent": ABOVE}).status_code == 200
    found = {each.name: each for each in exporter.get_finished_spans()}
    door, commit = found["POST /v1/write"], found["sqlite COMMIT"]
    (gateway,) = [each for name, each in found.items() if name.startswith("lamina ")]
    assert f"{door.context.trace_id:032x}" == ABOVE.split("-")[1]
    assert (door.kind, attributes(door)[http.HTTP_RESPONSE_STATUS_CODE]) == (
        api.SpanKind.SERVER,
        200,
    )
    assert (gateway.parent, commit.parent) == (door.context, gateway.context)
    assert attributes(commit)[db.DB_SYSTEM_NAME] == "sqlite"
    assert {each.context.trace_id for each in found.values()} == {door.context.trace_id}
    _say_nothing(exporter)


def test_models_and_tools_have_the_names_of_the_conventions(world: Any, exporter: Any) -> None:
    headers = {"Authorization": f"Bearer {world.server.first_token()}"}
    for method, params in (
        ("initialize", {"protocolVersion": "2025-11-25"}),
        ("tools/call", {"name": "peers.list", "arguments": {}}),
    ):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        world.call("POST", "/v1/mcp", body=message, headers=headers)
    world.call("POST", "/v1/recall", body={"scope": "org:acme/user:alice", "query": SECRET})
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=ANSWER))
    OpenAiGenerator("http://model/v1", "tiny", timeout_s=1, transport=transport).complete(
        [ChatMessage("user", SECRET)], tokens_max=9
    )
    model = {
        attributes(each)[gen_ai.GEN_AI_OPERATION_NAME]: each
        for each in exporter.get_finished_spans()
        if gen_ai.GEN_AI_OPERATION_NAME in attributes(each)
    }
    assert model.keys() == {"chat", "embeddings", "execute_tool"}
    assert attributes(model["execute_tool"])[gen_ai.GEN_AI_TOOL_NAME] == "peers.list"
    chat = attributes(model["chat"])
    assert (model["chat"].name, model["chat"].kind) == ("chat tiny", api.SpanKind.CLIENT)
    assert chat[gen_ai.GEN_AI_REQUEST_MODEL] == "tiny"
    assert chat[gen_ai.GEN_AI_USAGE_INPUT_TOKENS] == 7
    assert chat[gen_ai.GEN_AI_USAGE_OUTPUT_TOKENS] == 3
    assert model["embeddings"].name.startswith("embeddings ")
    _say_nothing(exporter)


def _say_nothing(exporter: Any) -> None:
    """Every attribute is one of the conventions or ours, and none holds what was said."""
    for each in exporter.get_finished_spans():
        ours = {name for name in attributes(each) if name.startswith("lamina.")}
        assert attributes(each).keys() - ours <= CONVENTIONS, each.name
        assert "canary" not in each.to_json()
