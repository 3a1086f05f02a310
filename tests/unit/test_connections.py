"""Connections: how many at once, and how long a request may take to arrive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from lamina.http.connections import ConnectionBounds, Connections, bounded_protocol

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"


class Wire(asyncio.Transport):
    """A transport in memory."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.sent = b""
        self.closing = self.aborted = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": (self.address, 5000), "sockname": ("127.0.0.1", 8740)}.get(name, default)

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.aborted = self.closing = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def echo(
    scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


class House:
    """Connections over an application, and the time that the test says."""

    def __init__(self, **bounds: Any) -> None:
        self.connections = Connections(ConnectionBounds(**bounds), ["10.9.0.0/16"])
        self.kind = bounded_protocol(self.connections)
        self.config = uvicorn.Config(echo, log_config=None, lifespan="off", timeout_keep_alive=900)
        self.config.load()
        self.state = ServerState()

    def connect(self, address: str = "10.0.0.1") -> tuple[Any, Wire]:
        protocol: Any = self.kind(self.config, self.state, {})  # type: ignore[call-arg] # as Uvicorn makes it
        wire = Wire(address)
        protocol.connection_made(wire)
        return protocol, wire

    def pass_s(self, protocol: Any, seconds: float) -> None:
        protocol.end_if_late(protocol.loop.time() + seconds)


def run(story: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(story(), 30)

    asyncio.run(bounded())


def refusal(wire: Wire) -> tuple[int, str]:
    head, _, body = wire.sent.partition(b"\r\n\r\n")
    assert b"Connection: close" in head
    return int(head.split()[1]), json.loads(body)["error_code"]


def test_one_address_has_a_share_and_the_server_a_bound() -> None:
    async def story() -> None:
        house = House(most=3, of_address=2)
        first = house.connect()
        house.connect()
        third, wire = house.connect()
        assert wire.sent == b""  # told once there is a request to answer
        third.data_received(HEAD)
        assert refusal(wire) == (429, "TOO_MUCH_AT_ONCE")
        assert b"Retry-After: 5" in wire.sent
        house.connect("10.0.0.2")
        fourth, wire = house.connect("10.0.0.3")
        fourth.data_received(HEAD)
        assert refusal(wire) == (503, "SERVER_FULL")
        for gone in (first[0], third, fourth):
            gone.connection_lost(None)
        free, wire = house.connect()
        free.data_received(HEAD + b"hello")
        await asyncio.sleep(0.01)
        assert wire.sent.startswith(b"HTTP/1.1 200")

    run(story)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.9.1.1"])
def test_a_proxy_and_this_machine_stand_for_many(address: str) -> None:
    async def story() -> None:
        house = House(most=9, of_address=1)
        for _ in range(9):
            house.connect(address)
        assert len(house.connections.open) == 9

    run(story)


def test_a_network_of_version_6_is_one_address() -> None:
    async def story() -> None:
        house = House(of_address=1)
        house.connect("2001:db8::1")
        other, wire = house.connect("2001:db8::ffff")
        other.data_received(HEAD)
        assert refusal(wire)[0] == 429
        assert house.connect("2001:db8:0:1::1")[0] in house.connections.open

    run(story)


def test_past_those_who_are_told_a_connection_is_cut_off() -> None:
    async def story() -> None:
        house = House(most=1, refused=1)
        house.connect()
        told, _ = house.connect()
        assert house.connect()[1].aborted
        told.connection_lost(None)
        assert not house.connect()[1].aborted

    run(story)


@pytest.mark.parametrize("sent", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: a\r\n", b"\r\n"])
def test_headers_have_a_deadline(sent: bytes) -> None:
    async def story() -> None:
        house = House(headers_s=10)
        protocol, wire = house.connect()
        if sent:
            protocol.data_received(sent)
        house.pass_s(protocol, 9)
        assert not wire.closing
        house.pass_s(protocol, 11)
        assert wire.closing
        assert refusal(wire) == (408, "REQUEST_TIMEOUT")

    run(story)


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (b"GET / HTTP/1.1\r\n", b"X-A: a\r\n"),
        (b"GET / HTTP/1.1\r\nX-A: ", b"abcd"),
        (b"GET /?", b"abcd"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"X-A: a\r\n"),
    ],
)
def test_headers_do_not_go_on_for_ever(first: bytes, more: bytes) -> None:
    async def story() -> None:
        house = House(headers_bytes=1000)
        protocol, wire = house.connect()
        protocol.data_received(first)
        for _ in range(900 // len(more)):
            protocol.data_received(more)
        assert not wire.closing
        protocol.data_received(more * (200 // len(more)))
        assert refusal(wire) == (431, "HEADERS_TOO_LARGE")
        assert wire.closing

    run(story)


def test_headers_of_one_request_are_not_counted_for_the_next() -> None:
    async def story() -> None:
        house = House(headers_bytes=100)
        protocol, wire = house.connect()
        for _ in range(20):
            for each in (b"GET / HTTP/1.1\r\n", b"X-A: aaaaaaaaaa\r\n", b"\r\n"):
                protocol.data_received(each)
            await asyncio.sleep(0.001)
        protocol.data_received(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(200):
            protocol.data_received(b"1\r\na\r\n")
        assert not wire.closing

    run(story)


def test_a_body_has_as_long_as_it_has_bytes() -> None:
    async def story() -> None:
        house = House(body_s=20, body_bytes_per_s=1)
        protocol, wire = house.connect()
        protocol.data_received(HEAD + b"hel")
        await asyncio.sleep(0.01)
        house.pass_s(protocol, 22)
        assert not wire.closing
        house.pass_s(protocol, 24)
        assert refusal(wire) == (408, "REQUEST_TIMEOUT")

    run(story)


def test_a_request_that_arrived_and_a_kept_connection_have_no_deadline_here() -> None:
    async def story() -> None:
        house = House()
        protocol, wire = house.connect()
        protocol.data_received(HEAD + b"hello")
        house.pass_s(protocol, 10_000)  # a stream, or a wait
        await asyncio.sleep(0.01)
        house.pass_s(protocol, 10_000)
        assert not wire.closing
        protocol.data_received(b"\r\n")  # and from here on a request is on its way
        house.pass_s(protocol, 11)
        assert wire.closing

    run(story)


UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"
ASKS = {
    "get": b"GET / HTTP/1.1\r\nHost: a\r\n" + UPGRADE + b"\r\n",
    "post": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n" + UPGRADE + b"\r\nhello",
    "chunks": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
    + UPGRADE
    + b"\r\n5\r\nhello\r\n0\r\n\r\n",
    "websocket": b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
}


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("at_once", [1, 3, 10_000])
def test_a_request_that_offers_another_protocol_is_served_in_this_one(name: str, at_once: int) -> None:
    """RFC 9110, 7.8: a server may ignore the field. Java's client offers h2c with every first request."""

    async def story() -> None:
        protocol, wire = House().connect()
        both = ASKS[name] * 2
        for place in range(0, len(both), at_once):
            protocol.data_received(both[place : place + at_once])
        await asyncio.sleep(0.01)
        assert wire.sent.count(b"HTTP/1.1 200") == 2
        assert not wire.closing
        protocol.data_received(HEAD + b"hello")  # and so is the next one, on the same connection
        await asyncio.sleep(0.01)
        assert wire.sent.count(b"HTTP/1.1 200") == 3

    run(story)
