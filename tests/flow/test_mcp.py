"""MCP at /mcp: the whole story by the official client in both eras, results against the published schemas, and what is kept out."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from given import ManualClock
from issuing import claims, issuers_file, paseto
from lamina.app import build_server
from lamina.kernel.local import day_text
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.mcp.tools import INSTRUCTIONS, TOOLS
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from processes import wait_until
from rpc import MODERN, VERSIONS, answered, check_exchange, message, posted, validator
from streaming import request_of
from told import DAY, Memory

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
_LATER = "2026-05-13T12:30:00Z"


def story(
    world: Any, run: Callable[[Client], Awaitable[None]], mode: str, query: str = "", **headers: str
) -> None:
    """Run a client of the SDK against the world; all that goes over the wire is held against the published schema."""
    seen: list[httpx2.Response] = []

    async def keep(response: httpx2.Response) -> None:
        await response.aread()
        seen.append(response)

    async def within() -> None:
        transport = httpx2.ASGITransport(app=world.application)
        hooks = {"response": [keep]}
        async with httpx2.AsyncClient(transport=transport, headers=headers, event_hooks=hooks) as http:
            link = streamable_http_client(f"http://localhost/mcp{query}", http_client=http)
            async with Client(link, mode=mode) as client:
                await run(client)

    asyncio.run(within())
    sent = [each for each in seen if each.request.method == "POST"]
    assert sent
    for each in sent:
        asked = json.loads(each.request.content)
        assert "id" in asked or each.status_code == 202
        check_exchange(
            MODERN if mode == MODERN else "2025-11-25", asked, answered(each) if "id" in asked else None
        )


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


def test_no_operation_fails_as_a_tool_where_it_is_asked_nothing(world: Any) -> None:
    async def run(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            result = await client.call_tool(tool.name, {})
            assert "INTERNAL:" not in result.content[0].text, tool.name  # type: ignore[union-attr]
        manifest = json.loads((await said(client, "relay_manifest"))[0])
        assert manifest["service"] == "lamina"

    story(world, run, MODERN, "?tools=all")


def test_what_only_does_something_is_done_and_gives_an_empty_object(world: Any) -> None:
    async def run(client: Client) -> None:
        assert await said(client, "auth_revoke", jti="t-1") == ("{}", {})
        means = {"valid_during": ["2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"]}
        spring = {"name": "spring", "pattern": "our spring", "resolves_to": means}
        assert not (await client.call_tool("temporal_phrase_register", spring)).is_error
        removed = await client.call_tool("temporal_phrase_remove", {"name": "spring"})
        assert removed.structured_content == {}
        assert json.loads((await said(client, "temporal_phrases"))[0])["items"] == []

    story(world, run, MODERN, "?tools=cortex")
    assert world.store.revocations.is_revoked("acme", "https://any.example", "t-1")


def test_a_secret_in_a_fact_is_no_part_of_a_resource(world: Any) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    facts = [
        world.fact(name, scope=Scope("user:local"), text=text, event_id=world.event(text, "user:local").id)
        for name, text in (("tea", "Ana likes tea."), ("key", f"Ana's key is {key}."))
    ]
    world.land(*facts)

    async def run(client: Client) -> None:
        read = await client.read_resource("lamina://scope/user:local")
        lines = read.contents[0].text  # type: ignore[union-attr]
        assert f"- Ana likes tea. [{facts[0].id}]" in lines
        assert f"- (withheld: secret) [{facts[1].id}]" in lines

    story(world, run, MODERN)


def test_what_may_have_changed_says_so_wherever_it_is_told(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    world.event("I like running.", "user:local", actor="user:ana")
    world.clock.at += DAY
    turn = world.event("These days running hurts.", "user:local", actor="user:ana")
    memory.derive()
    facts = world.get("/v1/facts", scope="user:local")["items"]
    (fact_id,) = [each["id"] for each in facts if each["text"] == "Ana likes running"]
    (belief_id,) = world.ids("/v1/beliefs", scope="user:local")
    words = f"Ana likes running (may have changed {day_text(turn.context.observed_at, None)})"

    async def run(client: Client) -> None:
        read = await client.read_resource("lamina://scope/user:local")
        assert f"- {words} [{fact_id}]" in read.contents[0].text  # type: ignore[union-attr]
        text, _ = await said(client, "why", id=fact_id)
        assert f"Fact: {words} (" in text
        text, _ = await said(client, "why", id=belief_id)
        assert f"Belief: {words} (supported" in text

    story(world, run, MODERN)


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


# ---- progress and cancellation


def test_a_long_call_tells_that_it_goes_on_and_ends_when_its_client_has_gone(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody derives here, so that a wait for it has no end of its own; closing the stream is how a client cancels (2026-07-28)."""
    monkeypatch.setattr("lamina.mcp.door._TELL_S", 0.02)
    monkeypatch.setattr("lamina.store.watch._GONE_S", 0.02)
    monkeypatch.setattr("lamina.limits.WAIT_S_MAX", 120.0)
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
    wait_until(
        lambda: not [each for each in threading.enumerate() if each.name == "lamina-watch"], seconds=60
    )


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
