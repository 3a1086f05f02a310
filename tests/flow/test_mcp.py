"""MCP at /mcp: the whole story by the official client in both eras, results against the published schemas, and what is kept out."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from given import ManualClock
from issuing import claims, issuers_file, paseto
from lamina.app import build_server
from lamina.kernel.time import SECOND_US
from lamina.mcp.tools import INSTRUCTIONS, TOOLS
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from processes import wait_until
from streaming import request_of
from told import Memory

DATA = Path(__file__).parents[1] / "data/mcp"
MODERN = "2026-07-28"
VERSIONS = ("2025-06-18", "2025-11-25", MODERN)
ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
_LATER = "2026-05-13T12:30:00Z"
FUZZED = 3000


def schema(version: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(gzip.decompress((DATA / f"schema-{version}.json.gz").read_bytes()))
    return loaded


def validator(version: str, name: str) -> Draft202012Validator:
    whole = schema(version)
    place = "$defs" if "$defs" in whole else "definitions"
    return Draft202012Validator({**whole, "$ref": f"#/{place}/{name}"})


def story(
    world: Any, run: Callable[[Client], Awaitable[None]], mode: str, query: str = "", **headers: str
) -> None:
    async def within() -> None:
        transport = httpx2.ASGITransport(app=world.application)
        async with httpx2.AsyncClient(transport=transport, headers=headers) as http:
            link = streamable_http_client(f"http://localhost/mcp{query}", http_client=http)
            async with Client(link, mode=mode) as client:
                await run(client)

    asyncio.run(within())


async def said(client: Client, name: str, **given: Any) -> tuple[str, Any]:
    result = await client.call_tool(name, given)
    (content,) = result.content
    assert not result.is_error, content
    return content.text, result.structured_content


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
def test_the_whole_story(world: Any, mode: str) -> None:
    memory = Memory(world.store, world.clock)

    async def before_the_reset(client: Client) -> None:
        assert mode == MODERN or client.instructions == INSTRUCTIONS
        text, stored = await said(
            client, "remember", text="My favourite tea is Darjeeling.", session="monday"
        )
        assert stored["event_id"] in text
        await said(client, "remember", text="Something said by mistake about Rotterdam.")
        text, cancelled = await said(client, "cancel_last")
        assert "Rotterdam" in text
        assert cancelled["excluded_from_recall"]
        await asyncio.to_thread(memory.derive)
        text, found = await said(client, "recall", query="Which tea do I like?")
        assert "Darjeeling" in text
        assert "Rotterdam" not in text
        assert stored["event_id"] in found["markers"].values()
        assert stored["event_id"] in text
        text, _ = await said(client, "why", id=stored["event_id"])
        assert '"My favourite tea is Darjeeling."' in text
        text, right = await said(
            client, "correct", text="My favourite tea is Assam.", event_id=stored["event_id"]
        )
        assert right["cancelled"] == stored["event_id"]
        await asyncio.to_thread(memory.derive)
        text, _ = await said(client, "recall", query="Which tea do I like?")
        assert "Assam" in text
        assert "Darjeeling" not in text
        stance = "The door is built; tests come next."
        await said(client, "capsule_write", **ABOUT, stance_summary=stance, top_priorities=["ship it"])
        await said(client, "capsule_patch", **ABOUT, list="open_loops", action="append", item="who signs")
        await said(client, "remind", title="call the notary", due_at="2026-05-13T15:00:00+02:00", **ABOUT)

    async def after_it(client: Client) -> None:
        text, _ = await said(client, "capsule_list")
        assert "thread launch" in text
        text, read = await said(client, "capsule_read", **ABOUT)
        for words in ("The door is built", "ship it", "who signs", "call the notary"):
            assert words in text
        _, again = await said(
            client,
            "capsule_write",
            **ABOUT,
            active_constraints=["two cores"],
            expected_sha256=read["capsule_sha256"],
        )
        assert again["changed"]
        state = (await said(client, "capsule_read", **ABOUT))[1]["capsule"]["continuity"]
        assert (state["open_loops"], state["active_constraints"]) == (["who signs"], ["two cores"])

    story(world, before_the_reset, mode)
    world.clock.at += 2 * 3600 * SECOND_US
    story(world, after_it, mode)


def test_one_fact_is_corrected_and_ended_by_its_id(world: Any) -> None:
    memory = Memory(world.store, world.clock)

    async def run(client: Client) -> None:
        _, stored = await said(client, "remember", text="I live in Porto.")
        await asyncio.to_thread(memory.derive)
        text, _ = await said(client, "why", id=stored["event_id"])
        (wrong,) = re.findall(r"fact_[\w-]+", text)
        text, done = await said(
            client, "correct", text="It is Lisbon, not Porto.", fact_id=wrong, value="Lisbon"
        )
        assert (done["corrected"], done["retracted"], done["scope"]) == (wrong, None, "user:local")
        assert "Porto" in text
        await asyncio.to_thread(memory.derive)
        facts = json.loads((await said(client, "facts", scope="user:local"))[0])["items"]
        (right,) = [each["id"] for each in facts if "Lisbon" in each["text"]]
        assert wrong not in [each["id"] for each in facts]
        event = json.loads((await said(client, "event", event_id=done["event_id"]))[0])
        assert event["content"]["quote"] == "It is Lisbon, not Porto."
        _, done = await said(client, "correct", text="I live nowhere now.", fact_id=right, since=_LATER)
        assert (done["corrected"], done["retracted"]) == (None, right)
        await asyncio.to_thread(memory.derive)
        held = json.loads((await said(client, "fact", fact_id=right))[0])
        assert held["valid_to"] == _LATER
        for given, code in [
            ({"fact_id": wrong, "value": "Rome"}, "FACT_ENDED"),
            ({"fact_id": right, "event_id": stored["event_id"]}, "INVALID_REQUEST"),
            ({"fact_id": stored["event_id"]}, "INVALID_ID"),
            ({"value": "Rome"}, "INVALID_REQUEST"),
            ({"fact_id": right, "scope": "user:bo"}, "INVALID_REQUEST"),
            ({"fact_id": right, "text": "x" * 5000}, "INVALID_REQUEST"),
        ]:
            result = await client.call_tool("correct", {"text": "no", **given})
            assert result.structured_content is not None
            assert result.structured_content["error_code"] == code, given

    story(world, run, MODERN, "?tools=cortex")


def test_a_failure_is_a_result_with_its_code_and_hint(world: Any) -> None:
    async def run(client: Client) -> None:
        for name, given, code in [
            ("recall", {}, "MISSING_REQUIRED_FIELD"),
            ("recall", {"query": "x", "colour": "red"}, "INVALID_REQUEST"),
            ("why", {"id": "sched_1"}, "INVALID_ID"),
            ("cancel_last", {}, "NOT_FOUND"),
            (
                "capsule_patch",
                {**ABOUT, "list": "open_loops", "action": "append", "item": "x"},
                "CAPSULE_NOT_FOUND",
            ),
            ("remind", {"title": "x", "due_at": "tomorrow"}, "INVALID_TIMESTAMP"),
        ]:
            result = await client.call_tool(name, given)
            assert result.is_error
            assert result.structured_content is not None
            assert result.structured_content["error_code"] == code
            assert code in result.content[0].text  # type: ignore[union-attr]

    story(world, run, MODERN)
    assert world.ids("/v1/events", scope="user:local") == []


def test_groups_resources_and_prompts(world: Any) -> None:
    async def run(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert set(TOOLS) < names
        assert {"facts_timeline", "auth_whoami"} <= names
        assert "session_brief" not in names
        assert json.loads((await said(client, "facts", scope="user:local"))[0])["items"] == []
        await said(client, "capsule_write", **ABOUT, stance_summary="Here.")
        uris = [each.uri for each in (await client.list_resources()).resources]
        assert "lamina://capsule/thread/launch" in uris
        read = await client.read_resource("lamina://capsule/thread/launch")
        assert '"Here."' in read.contents[0].text  # type: ignore[union-attr]
        prompt = await client.get_prompt("hand_over", ABOUT)
        assert "thread launch" in prompt.messages[0].content.text  # type: ignore[union-attr]

    story(world, run, MODERN, "?tools=cortex")


def test_who_remembers_is_the_caller_and_an_assistants_words_are_the_agents(world: Any) -> None:
    async def run(client: Client) -> None:
        _, stored = await said(client, "remember", text="Noted.", role="assistant")
        assert stored["scope"] == "project:shop"

    headers = {
        "X-Cortex-Actor": "user:ana",
        "X-Lamina-Agent": "agent:helper",
        "X-Lamina-Scope": "project:shop",
    }
    story(world, run, MODERN, **headers)
    (event,) = world.get("/v1/events", scope="project:shop")["items"]
    assert (event["caller"], event["actor"]) == ("user:ana", "agent:helper")
    assert event["origin"]["channel"] == "mcp"


# ---- on the wire


def posted(world: Any, body: bytes | dict[str, Any], **headers: str) -> httpx.Response:
    async def send() -> httpx.Response:
        async with _http(world) as client:
            return await _post(client, body, headers)

    return asyncio.run(send())


def _http(world: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(world.application), base_url="http://localhost")


async def _post(
    client: httpx.AsyncClient, body: bytes | dict[str, Any], headers: dict[str, str]
) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    return await client.post("/mcp", content=content, headers={**usual, **headers})


def message(version: str, method: str, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    headers = {"MCP-Protocol-Version": version}
    if version == MODERN:
        headers |= {"Mcp-Method": method} | ({"Mcp-Name": params["name"]} if "name" in params else {})
        meta = {
            types.PROTOCOL_VERSION_META_KEY: version,
            types.CLIENT_INFO_META_KEY: {"name": "test", "version": "1"},
            types.CLIENT_CAPABILITIES_META_KEY: {},
        }
        params = {**params, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, headers


def answered(response: httpx.Response) -> dict[str, Any]:
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        (text,) = re.findall(r"^data: (\{.*\})\r?$", text, re.MULTILINE)
    parsed: dict[str, Any] = json.loads(text)
    return parsed


@pytest.mark.parametrize("version", VERSIONS)
def test_requests_and_results_are_those_of_the_schemas(world: Any, version: str) -> None:
    remember = {"name": "remember", "arguments": {"text": "tea"}}
    wrong = {"name": "why", "arguments": {"id": "nothing"}}
    calls = [
        ("ListTools", "tools/list", {}),
        ("CallTool", "tools/call", remember),
        ("CallTool", "tools/call", wrong),
        ("ListPrompts", "prompts/list", {}),
        ("GetPrompt", "prompts/get", {"name": "go_on", "arguments": ABOUT}),
        ("ListResources", "resources/list", {}),
        ("ListResourceTemplates", "resources/templates/list", {}),
    ]
    if version == MODERN:
        calls.append(("Discover", "server/discover", {}))
    else:
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        calls.insert(0, ("Initialize", "initialize", hello))
    for name, method, params in calls:
        body, headers = message(version, method, params)
        validator(version, f"{name}Request").validate(body)
        response = posted(world, body, **headers)
        assert response.status_code == 200, response.text
        result = answered(response)["result"]
        validator(version, f"{name}Result").validate(result)
        assert name not in ("Discover", "Initialize") or result["instructions"] == INSTRUCTIONS
        if name == "CallTool" and not result.get("isError"):
            Draft202012Validator(_listed(world, version)["remember"]["outputSchema"]).validate(
                result["structuredContent"]
            )
        if name == "ListTools":
            assert len(json.dumps(result, separators=(",", ":"))) <= 24 * 1024
            assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"]) for tool in result["tools"])
            assert version != MODERN or result["ttlMs"] > 0


def _listed(world: Any, version: str) -> dict[str, Any]:
    body, headers = message(version, "tools/list", {})
    return {tool["name"]: tool for tool in answered(posted(world, body, **headers))["result"]["tools"]}


def test_a_call_that_is_sent_again_under_its_key_takes_effect_once(world: Any) -> None:
    body, headers = message(MODERN, "tools/call", {"name": "remember", "arguments": {"text": "tea"}})
    body["params"]["_meta"] |= {"dev.lamina/key": "k-1", "dev.lamina/at": "2026-05-13T11:00:00Z"}
    first, second = (answered(posted(world, body, **headers))["result"] for _ in range(2))
    assert first["structuredContent"]["event_id"] == second["structuredContent"]["event_id"]
    assert len(world.ids("/v1/events", scope="user:local")) == 1


def test_pages_of_other_origins_and_unknown_hosts_are_kept_out(world: Any) -> None:
    body, headers = message(MODERN, "tools/list", {})
    assert posted(world, body, **headers, Origin="https://evil.example").status_code == 403
    assert posted(world, body, **headers, Host="evil.example").status_code == 421


def test_every_operation_of_a_tool_is_audited_and_needs_its_grant(world: Any) -> None:
    async def run(client: Client) -> None:
        await said(client, "remember", text="tea")
        world.policy.deny("scope.write")
        result = await client.call_tool("remember", {"text": "more tea"})
        assert result.is_error
        assert result.structured_content is not None
        assert result.structured_content["error_code"] == "POLICY_DENIED"

    story(world, run, MODERN)
    rows = world.get("/v1/audit")["items"]
    kept = [row["endpoint"] for row in rows]
    assert kept.count("mcp experience") == 2


@pytest.fixture(name="signed")
def _signed(tmp_path: Path) -> Iterator[Any]:
    clock = ManualClock()
    settings = Settings(preset="on_prem_enterprise", issuers=issuers_file(tmp_path), data=tmp_path)
    server = build_server(settings, store=MemoryStore(clock=clock), clock=clock)
    yield server
    server.pool.shutdown()
    server.close()


def test_who_shows_no_token_is_told_to_sign_in(signed: Any) -> None:
    body, headers = message(MODERN, "tools/list", {})
    refused = posted(signed, body, **headers)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert refused.json()["error_code"]
    assert posted(signed, body, **headers, Authorization="Bearer x.y").status_code == 401
    token = {"Authorization": f"Bearer {paseto(claims())}", "X-Cortex-Actor": "user:alice"}
    assert posted(signed, body, **headers, **token).status_code == 200


# ---- hostile bodies


def _fuzzed(random_: random.Random) -> Iterator[tuple[bytes, dict[str, str]]]:
    odd: list[Any] = [
        None,
        True,
        -1,
        1e308,
        "",
        "\u0000",
        "a" * 5000,
        [],
        {},
        [[]],
        {"a": {"b": []}},
        "evt_1",
    ]
    methods = ["tools/call", "tools/list", "resources/read", "prompts/get", "initialize", "ping", "x", "", 7]
    while True:
        version = random_.choice([*VERSIONS, "1999-01-01", ""])
        name = random_.choice([*TOOLS, "nothing", odd[random_.randrange(len(odd))]])
        tool = TOOLS.get(name) if isinstance(name, str) else None
        fields = list(tool.arguments.model_fields) if tool else ["a"]
        given = {
            field: random_.choice([*odd, "user:ana", "thread"]) for field in fields if random_.random() < 0.7
        }
        params = random_.choice(
            [{"name": name, "arguments": given}, {"name": name, "arguments": odd[5]}, {"uri": name}, odd[9]]
        )
        method = random_.choice(methods)
        if isinstance(params, dict) and isinstance(method, str):
            headered = (
                {**params, "name": name} if isinstance(name, str) and "name" in params else dict(params)
            )
            body, headers = message(version or MODERN, method, headered)
        else:
            body, headers = (
                {"jsonrpc": "2.0", "id": random_.choice(odd), "method": method, "params": params},
                {},
            )
        if random_.random() < 0.2:
            body[random_.choice(list(body))] = random_.choice(odd)
        raw = json.dumps(body).encode()
        if random_.random() < 0.2:
            place = random_.randrange(len(raw))
            raw = raw[:place] + bytes([random_.randrange(256)]) + raw[place + random_.randrange(3) :]
        safe = {
            key: value
            for key, value in headers.items()
            if isinstance(value, str) and value.isascii() and value.isprintable()
        }
        yield raw, safe


def test_no_body_makes_a_server_error(make_world: Any, caplog: pytest.LogCaptureFixture) -> None:
    world = make_world()
    bodies = _fuzzed(random.Random(20261123))

    async def run() -> list[tuple[int, str]]:
        async with _http(world) as client:
            answers = []
            for _ in range(FUZZED):
                raw, headers = next(bodies)
                response = await _post(client, raw, headers)
                answers.append((response.status_code, response.text))
            deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
            for headers in ({}, {"MCP-Protocol-Version": MODERN}):
                response = await _post(client, deep, headers)
                answers.append((response.status_code, response.text))
            return answers

    answers = asyncio.run(run())
    assert {status for status, _ in answers} <= {200, 202, 400, 404, 406, 413}
    assert not [text for _, text in answers if "Traceback" in text or "INTERNAL" in text]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


# ---- progress and cancellation


def test_a_long_call_tells_that_it_goes_on_and_ends_when_its_client_has_gone(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody derives here, so that a wait for it has no end of its own; closing the stream is how a client cancels (2026-07-28)."""
    monkeypatch.setattr("lamina.mcp.door._TELL_S", 0.02)
    monkeypatch.setattr("lamina.store.watch._GONE_S", 0.02)
    arguments = {"text": "I live in Porto.", "wait": "consolidated"}
    body, headers = message(MODERN, "tools/call", {"name": "remember", "arguments": arguments})
    body["params"]["_meta"]["progressToken"] = "p-1"
    sent: list[dict[str, Any]] = []
    gone = asyncio.Event()

    async def run() -> None:
        await _until_gone(world.application, body, headers, sent, gone)

    asyncio.run(run())
    text = b"".join(each.get("body", b"") for each in sent).decode()
    told = [json.loads(line) for line in re.findall(r"^data: (\{.*\})\r?$", text, re.MULTILINE)]
    progress = [each["params"] for each in told]
    assert {each["method"] for each in told} == {"notifications/progress"}, "no answer to what was cancelled"
    assert len(progress) >= 3
    assert all(each["progressToken"] == "p-1" and each["message"] for each in progress)
    assert [each["progress"] for each in progress] == sorted({each["progress"] for each in progress})
    schema_of_progress = validator(MODERN, "ProgressNotification")
    for each in told:
        schema_of_progress.validate(each)
    # What was taken down stays; nobody waits for it any more.
    assert len(world.ids("/v1/events", scope="user:local")) == 1
    wait_until(lambda: not [each for each in threading.enumerate() if each.name == "lamina-watch"])


async def _until_gone(
    application: Any,
    body: dict[str, Any],
    headers: dict[str, str],
    sent: list[dict[str, Any]],
    gone: asyncio.Event,
) -> None:
    """A request whose client goes away after the third notice."""
    whole = json.dumps(body).encode()
    usual = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    asked = request_of("/mcp", "", {**usual, **headers, "host": "localhost"}) | {"method": "POST"}
    parts = iter([{"type": "http.request", "body": whole, "more_body": False}])

    async def receive() -> dict[str, Any]:
        for part in parts:
            return part
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(part: dict[str, Any]) -> None:
        sent.append(part)
        if sum(b"notifications/progress" in each.get("body", b"") for each in sent) == 3:
            gone.set()

    await asyncio.wait_for(application(asked, receive, send), 20)
