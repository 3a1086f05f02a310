"""Hostile bodies at both endpoints of MCP: whatever comes, there is no server error and no trace.

The gate tries some of them; MCP_BODIES=20000 tries so many at each endpoint.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lamina import limits
from lamina.errors import Busy, Fault
from lamina.http.bodies import Bodies
from lamina.http.relay.contract import HELP_METHODS
from lamina.http.relay.contract import TOOLS as RELAY_TOOLS
from lamina.mcp.tools import TOOLS
from rpc import MODERN, VERSIONS, http_client, message, post

BODIES = int(os.environ.get("MCP_BODIES", "500"))
SEED = 20261123
ODD: list[Any] = [
    None, True, -1, 0.5, 1e308, 10**400, "", "\u0000", "a" * 5000, "2026-05-13T12:00:00Z",
    [], {}, [[]], [None], {"a": {"b": []}}, {"": ""}, "evt_1", "fact_1",
]  # fmt: skip

Body = tuple[bytes, dict[str, str]]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup that a body happens to ask for lies beside the data folder, which is named relative to the current one."""
    monkeypatch.chdir(tmp_path)


def _mutated(random_: random.Random, body: dict[str, Any]) -> bytes:
    """A message as it is, with one member gone odd, or with bytes that are no longer JSON."""
    if random_.random() < 0.2:
        body[random_.choice([*body, "more"])] = random_.choice(ODD)
    raw = json.dumps(body).encode()
    if random_.random() < 0.2:
        place = random_.randrange(len(raw))
        raw = raw[:place] + bytes([random_.randrange(256)]) + raw[place + random_.randrange(3) :]
    return raw


def _given(random_: random.Random, fields: list[str]) -> dict[str, Any]:
    likely = ["user:ana", "thread", "launch", 1, "memory/core/values.md"]
    return {field: random_.choice([*ODD, *likely]) for field in fields if random_.random() < 0.7}


def _modern(random_: random.Random) -> Iterator[Body]:
    methods = ["tools/call", "tools/list", "resources/read", "prompts/get", "initialize", "ping", "x", "", 7]
    while True:
        version = random_.choice([*VERSIONS, "1999-01-01", ""])
        name = random_.choice([*TOOLS, "nothing", random_.choice(ODD)])
        tool = TOOLS.get(name) if isinstance(name, str) else None
        arguments = _given(random_, list(tool.arguments.model_fields) if tool else ["a"])
        params = random_.choice(
            [{"name": name, "arguments": arguments}, {"name": name, "arguments": None}, {"uri": name}, []]
        )
        method = random_.choice(methods)
        if isinstance(params, dict) and isinstance(method, str):
            body, headers = message(version or MODERN, method, dict(params))
        else:
            body = {"jsonrpc": "2.0", "id": random_.choice(ODD), "method": method, "params": params}
            headers = {}
        yield _mutated(random_, body), {name: each for name, each in headers.items() if _is_sendable(each)}


def _is_sendable(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable()


def _relay(random_: random.Random, token: str, fields: dict[str, list[str]]) -> Iterator[Body]:
    methods = [*["tools/call"] * 12, "tools/list", "initialize", "ping", *HELP_METHODS.values(), "x", 7]
    while True:
        name = random_.choice([*fields, "nothing", random_.choice(ODD)])
        arguments = _given(random_, fields.get(name, ["a"]) if isinstance(name, str) else ["a"])
        params = random_.choice(
            [
                *[{"name": name, "arguments": arguments}] * 3,
                {"name": name, "arguments": random_.choice(ODD), "_meta": random_.choice(ODD)},
                {random_.choice(["id", "code", "field_path", "cursor"]): random_.choice(ODD)},
                {"protocolVersion": "2025-11-25", "clientInfo": random_.choice(ODD)},
                random_.choice(ODD),
            ]
        )
        sent_id = random_.choice([1, "a", random_.choice(ODD)])
        body = {"jsonrpc": "2.0", "id": sent_id, "method": random_.choice(methods), "params": params}
        shown = random_.choice([token, token, token, "nobody", ""])
        yield _mutated(random_, body), {"Authorization": f"Bearer {shown}"} if shown else {}


def _answers(world: Any, path: str, bodies: Iterator[Body]) -> list[tuple[int, str]]:
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000

    async def run() -> list[tuple[int, str]]:
        async with http_client(world) as client:
            answers = []
            for _ in range(BODIES):
                raw, headers = next(bodies)
                response = await post(client, raw, headers, path)
                answers.append((response.status_code, response.text))
            for headers in ({}, {"MCP-Protocol-Version": MODERN}):
                response = await post(client, deep, headers, path)
                answers.append((response.status_code, response.text))
            return answers

    return asyncio.run(run())


def test_no_body_makes_a_server_error_at_mcp(make_world: Any, caplog: pytest.LogCaptureFixture) -> None:
    answers = _answers(make_world(), "/mcp", _modern(random.Random(SEED)))
    assert {status for status, _ in answers} <= {200, 202, 400, 404, 406, 413}
    _check_clean(answers, caplog)
    assert sum('"event_id"' in text for _, text in answers), "some of them are taken"


def test_no_body_makes_a_server_error_at_the_contracts_own(
    make_world: Any, caplog: pytest.LogCaptureFixture
) -> None:
    world = make_world()
    token = world.server.first_token()
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    begun = [(json.dumps(start).encode(), {"Authorization": f"Bearer {each}"}) for each in (token, "nobody")]
    fields = {
        RELAY_TOOLS[f"{row.verb} {row.path}"].name: list(row.operation.request.model_fields)
        for row in world.server.routes
        if f"{row.verb} {row.path}" in RELAY_TOOLS
    }
    bodies = _relay(random.Random(SEED), token, fields)
    answers = _answers(world, "/v1/mcp", (each for part in (begun, bodies) for each in part))
    assert {status for status, _ in answers} <= {200, 400, 413}
    _check_clean(answers, caplog)
    codes = {json.loads(text).get("error", {}).get("code") for status, text in answers if status == 200}
    assert codes >= {None, -32601, -32602, -32000, -32001}


def _check_clean(answers: list[tuple[int, str]], caplog: pytest.LogCaptureFixture) -> None:
    assert not [text for _, text in answers if "Traceback" in text or "INTERNAL" in text]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_all_doors_of_a_server_count_in_one_place_and_refuse_what_is_too_much(
    make_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(doors="mem0")
    large = b" " * (limits.BODY_UNCOUNTED_BYTES_MAX + 1) + b"{}"
    counted: list[Bodies] = []

    def add(bodies: Bodies, caller: str, size: int) -> None:
        counted.append(bodies)
        raise Busy("TOO_MUCH_AT_ONCE", "too much", details={"retry_after_s": 1})

    async def run() -> list[int]:
        async with http_client(world) as client:
            paths = ("/mcp", "/v1/mcp", "/v1/experience", "/v3/memories/add/")
            return [(await post(client, large, {}, path)).status_code for path in paths]

    monkeypatch.setattr(Bodies, "add", add)
    assert asyncio.run(run()) == [429] * 4
    assert len(counted) == 4
    assert len({id(each) for each in counted}) == 1


@pytest.mark.parametrize(("path", "step"), [("/mcp", "recognise"), ("/v1/mcp", "identify")])
def test_the_log_has_what_went_wrong_before_a_message_was_read(
    make_world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, path: str, step: str
) -> None:
    world = make_world()

    def broken(*_: object) -> None:
        raise Fault("INTERNAL", "the server failed")

    monkeypatch.setattr(world.server.gateway, step, broken)

    async def run() -> int:
        async with http_client(world) as client:
            return (await post(client, b"{", {}, path)).status_code

    assert asyncio.run(run()) == 500
    assert [record.name for record in caplog.records if record.levelname == "ERROR"] == ["lamina.http"]
