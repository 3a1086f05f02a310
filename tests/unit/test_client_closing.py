"""A client that is closed tells the calls that are on their way, and later ones, in the family of errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import httpx
import pytest

from lamina import AsyncClient, Client
from lamina.errors import Invalid

BUSY = {"error_code": "RATE_LIMITED", "message": "wait", "details": {}}


class CutStream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A first heartbeat, and then what a connection says that was closed under its reader."""

    def __iter__(self) -> Iterator[bytes]:
        yield b": beat\n\n"
        raise httpx.ReadError("Bad file descriptor")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b": beat\n\n"
        raise httpx.ReadError("Bad file descriptor")


def busy() -> httpx.Response:
    return httpx.Response(429, json=BUSY, headers={"retry-after": "0"})


def stream() -> httpx.Response:
    return httpx.Response(200, stream=CutStream(), headers={"content-type": "text/event-stream"})


def test_a_call_whose_client_is_closed_meanwhile_is_told_so() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        client.close()
        return busy()

    client = Client(transport=httpx.MockTransport(answer))
    for _ in range(2):  # the second finds it closed already
        with pytest.raises(Invalid) as told:
            client.version()
        assert told.value.code == "CLIENT_CLOSED"


def test_a_stream_whose_client_is_closed_meanwhile_is_told_so() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        client.close()
        return stream()

    client = Client(transport=httpx.MockTransport(answer))
    for _ in range(2):
        with pytest.raises(Invalid) as told:
            list(client.lifecycle())
        assert told.value.code == "CLIENT_CLOSED"


def test_an_async_client_tells_it_too() -> None:
    async def answer(request: httpx.Request) -> httpx.Response:
        await client.aclose()
        return stream() if "lifecycle" in request.url.path else busy()

    async def follow() -> None:
        async for _ in client.lifecycle():
            pass

    async def ask() -> None:
        await client.version()

    async def told(call: Callable[[], Awaitable[None]]) -> list[str]:
        nonlocal client
        client = AsyncClient(transport=httpx.MockTransport(answer))
        codes = []
        for _ in range(2):
            with pytest.raises(Invalid) as caught:
                await call()
            codes.append(caught.value.code)
        return codes

    client = AsyncClient()
    assert [asyncio.run(told(call)) for call in (ask, follow)] == [["CLIENT_CLOSED"] * 2] * 2
