"""What web pages may ask of a server that believes its callers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from lamina.http.server import create_application

TURN = json.dumps(
    {
        "tenantId": "t",
        "userId": "ana",
        "personaId": "p",
        "sessionId": "s",
        "role": "user",
        "text": "My bank is another bank.",
        "timestamp": "2026-05-13T11:59:00Z",
    }
)
JSON = {"Content-Type": "application/json"}


def sent(world: Any, verb: str, path: str, headers: dict[str, str], content: str = "") -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(world.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8700") as client:
            return await client.request(verb, path, headers=headers, content=content or None)

    return asyncio.run(send())


@pytest.mark.parametrize(
    "said",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://127.0.0.1:8700"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://localhost:8700", "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_another_page_can_neither_write_nor_forget(world: Any, said: dict[str, str]) -> None:
    refused = sent(world, "POST", "/ingest", {**JSON, **said}, TURN)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "FOREIGN_ORIGIN")
    assert refused.json()["detail"]
    assert "program" in refused.json()["hint"]
    for verb, path in (("POST", "/v1/admin/compact"), ("DELETE", "/v1/scopes?path=org:acme")):
        refused = sent(world, verb, path, said)
        assert (refused.status_code, refused.json()["error_code"]) == (403, "FOREIGN_ORIGIN")
        assert "program" in refused.json()["details"]["hint"]
    assert world.ids("/v1/events", scope="org:t/user:ana") == []


def test_another_page_cannot_read_but_a_link_may_be_followed(world: Any) -> None:
    path = "/v1/events?scope=org:acme"
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert sent(world, "GET", path, {**cross, "Sec-Fetch-Mode": "no-cors"}).status_code == 403
    assert sent(world, "GET", path, {"Origin": "https://evil.example"}).status_code == 403
    assert sent(world, "GET", path, {**cross, "Sec-Fetch-Mode": "navigate"}).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"Origin": "http://localhost:8700", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://LOCALHOST:8700"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_programs_and_pages_of_the_server_itself_are_served(world: Any, said: dict[str, str]) -> None:
    assert sent(world, "POST", "/ingest", {**JSON, **said}, TURN).status_code == 200


def test_a_signed_caller_may_stand_behind_a_page(make_world: Any) -> None:
    """A page has no token of somebody else's to send, so where there are tokens no origin is refused."""
    world = make_world()
    world.application = create_application(world.server.gateway, world.server.routes, pool=world.server.pool)
    said = {**JSON, "Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
    assert sent(world, "POST", "/ingest", said, TURN).status_code == 200


@pytest.mark.parametrize("path", ["/ingest", "/v1/experience", "/v1/admin/flush-views", "/v1/search"])
def test_a_body_says_what_it_is(world: Any, path: str) -> None:
    refused = sent(world, "POST", path, {}, TURN)
    assert (refused.status_code, refused.json()["error_code"]) == (400, "INVALID_BODY")
    assert "Content-Type: application/json" in refused.text
    packed = sent(world, "POST", path, {**JSON, "Content-Encoding": "gzip"}, TURN)
    assert (packed.status_code, packed.json()["error_code"]) == (400, "INVALID_BODY")
    assert "gzip" in packed.text


def test_nothing_needs_no_type(world: Any) -> None:
    assert sent(world, "POST", "/v1/admin/flush-views", {}).status_code == 200
