"""JSON-RPC messages of MCP as clients send them, the published schemas, and a way to post."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
from jsonschema import Draft202012Validator

__all__ = [
    "MODERN",
    "VERSIONS",
    "answered",
    "check_exchange",
    "http_client",
    "message",
    "post",
    "posted",
    "validator",
]

DATA = Path(__file__).parent / "data/mcp"
MODERN = "2026-07-28"
VERSIONS = ("2025-06-18", "2025-11-25", MODERN)


@cache
def schema(version: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(gzip.decompress((DATA / f"schema-{version}.json.gz").read_bytes()))
    return loaded


@cache
def validator(version: str, name: str) -> Draft202012Validator:
    whole = schema(version)
    place = "$defs" if "$defs" in whole else "definitions"
    return Draft202012Validator({**whole, "$ref": f"#/{place}/{name}"})


_RESULTS = {
    "initialize": "Initialize",
    "server/discover": "Discover",
    "tools/list": "ListTools",
    "tools/call": "CallTool",
    "resources/list": "ListResources",
    "resources/read": "ReadResource",
    "prompts/get": "GetPrompt",
}


def check_exchange(version: str, asked: dict[str, Any], answer: dict[str, Any] | None) -> None:
    """Hold a message of a client, and the answer to it where it has an id, against the published schema."""
    if "id" not in asked:
        validator(version, "ClientNotification").validate(asked)
        return
    assert answer is not None
    validator(version, f"{_RESULTS[asked['method']]}Request").validate(asked)
    validator(version, f"{_RESULTS[asked['method']]}Result").validate(answer["result"])


def posted(world: Any, body: bytes | dict[str, Any], **headers: str) -> httpx.Response:
    async def send() -> httpx.Response:
        async with http_client(world) as client:
            return await post(client, body, headers)

    return asyncio.run(send())


def http_client(world: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(world.application), base_url="http://localhost")


async def post(
    client: httpx.AsyncClient, body: bytes | dict[str, Any], headers: dict[str, str], path: str = "/mcp"
) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    return await client.post(path, content=content, headers={**usual, **headers})


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


def answered(response: Any) -> dict[str, Any]:  # Any: a response of httpx or httpx2
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        (text,) = re.findall(r"^data: (\{.*\})\r?$", text, re.MULTILINE)
    parsed: dict[str, Any] = json.loads(text)
    return parsed
