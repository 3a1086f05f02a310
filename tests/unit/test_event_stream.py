"""The response that carries a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

from lamina.http.sse import EventStream


def test_a_head_has_the_headers_of_a_stream_and_holds_none() -> None:
    async def for_ever() -> AsyncGenerator[bytes]:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(0)

    async def stays() -> MutableMapping[str, Any]:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def ask() -> None:
        events = for_ever()
        response = EventStream(events, {"X-Cortex-Request-ID": "req_1"})
        scope = {"type": "http", "method": "HEAD", "asgi": {"spec_version": "2.3"}}
        await asyncio.wait_for(response(scope, stays, send), 5)
        assert [each async for each in events] == []  # closed

    asyncio.run(ask())
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
    assert (sent[0]["status"], sent[1].get("more_body", False)) == (200, False)
    assert (b"content-type", b"text/event-stream; charset=utf-8") in sent[0]["headers"]
