"""Lifecycle streams of an application, as the client of one sees them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import ASGIApp, Message

__all__ = ["open_stream", "parsed", "request_of"]


def parsed(block: str) -> tuple[str, str, Any]:
    """(id, event, data) of a block."""
    lines = dict(line.split(": ", 1) for line in block.strip().splitlines())
    return lines.get("id", ""), lines["event"], json.loads(lines["data"])


def request_of(path: str, query: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """A GET as a server hands it to the application."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "server": ("localhost", 80),
    }


@asynccontextmanager
async def open_stream(
    application: ASGIApp, query: str = "", headers: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.Queue[str]]:
    """An open lifecycle stream: its blocks, one by one; the last is empty. Begins once it is subscribed."""
    blocks: asyncio.Queue[str] = asyncio.Queue()
    gone = asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            await blocks.put(str(message["status"]))
        elif message.get("body"):
            for block in message["body"].decode().split("\n\n")[:-1]:
                await blocks.put(f"{block}\n\n")
        elif not message.get("more_body"):
            await blocks.put("")

    asked = request_of("/v1/lifecycle/stream", query, {**(headers or {}), "host": "localhost"})
    task = asyncio.create_task(application(asked, receive, send))
    try:
        assert await blocks.get() == "200"
        assert (await blocks.get()).startswith(":")
        yield blocks
    finally:
        gone.set()
        await task
