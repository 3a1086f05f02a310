"""Bounds of connections: how many at once, how long a request may take to arrive, and how long its headers may be.

A proxy and this machine stand for many callers, so that no bound of an address counts for them. A stream that was opened is a
request that has arrived: nothing here ends it.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic_core import to_json
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lamina import limits
from lamina.access.addresses import is_local
from lamina.errors import Busy, LaminaError, Malformed, TooLarge, Unavailable
from lamina.http.errors import envelope, status_of
from lamina.http.offers import OfferIgnoringParser
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.time import SystemClock

__all__ = ["ConnectionBounds", "Connections", "bounded_protocol"]

_REASONS: Final = {
    408: "Request Timeout",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionBounds:
    """How many connections, and how many seconds."""

    most: int = limits.CONNECTIONS_MAX
    of_address: int = limits.CONNECTIONS_OF_ADDRESS_MAX
    refused: int = limits.CONNECTIONS_REFUSED_MAX
    headers_bytes: int = limits.HEADERS_BYTES_MAX
    headers_s: float = limits.HEADERS_S_MAX
    body_s: float = limits.BODY_S_MAX
    body_bytes_per_s: int = limits.BODY_BYTES_PER_S_MIN
    look_s: float = limits.CONNECTIONS_LOOK_S


class Connections:
    """The connections of one server, by address. Used on its event loop only."""

    def __init__(self, bounds: ConnectionBounds, proxies: Sequence[str] = ()) -> None:
        """``proxies`` are addresses or networks that are trusted to speak for others."""
        self.bounds = bounds
        self.open: set[_Bounded] = set()
        self.refused = 0
        self._proxies = [ipaddress.ip_network(name) for name in proxies]
        self._of: Counter[str] = Counter()
        self._looks = False

    def enter(self, connection: _Bounded, address: str) -> LaminaError | None:
        """Count a connection, or say why it has no place."""
        place = self._place(address)
        refusal = self._refusal(place)
        if refusal is None:
            self.open.add(connection)
            self._of[place] += 1
            self._look_later(connection.loop)
        return refusal

    def leave(self, connection: _Bounded, address: str) -> None:
        """A connection is gone; one that had no place does not count."""
        if connection in self.open:
            self.open.discard(connection)
            place = self._place(address)
            self._of[place] -= 1
            if not self._of[place]:
                del self._of[place]

    def _refusal(self, place: str) -> LaminaError | None:
        retry = {"retry_after_s": limits.CONNECTIONS_RETRY_S}
        if place and self._of[place] >= self.bounds.of_address:
            return Busy(
                "TOO_MUCH_AT_ONCE",
                f"your address has {self.bounds.of_address} connections open",
                hint="keep a connection for many requests",
                details={**retry, "connections_max": self.bounds.of_address},
            )
        if len(self.open) >= self.bounds.most:
            return Unavailable(
                "SERVER_FULL",
                f"{self.bounds.most} connections are open",
                hint="wait as Retry-After says, then connect again",
                details=retry,
            )
        return None

    def _place(self, address: str) -> str:
        """Whom an address stands for: nobody in particular, or itself; the subscriber of an address of version 6."""
        try:
            known = ipaddress.ip_address(address)
        except ValueError:
            return ""
        if is_local(address) or any(known in network for network in self._proxies):
            return ""
        return address if known.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._looks:
            self._looks = True
            loop.call_later(self.bounds.look_s, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._looks = False
        now = loop.time()
        for connection in list(self.open):
            connection.end_if_late(now)
        if self.open:
            self._look_later(loop)


class _Bounded(HttpToolsProtocol):
    """A connection that was counted, and is watched until its request has arrived."""

    def __init__(self, connections: Connections, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._parser = OfferIgnoringParser(self)
        self.parser = self._parser  # type: ignore[assignment] # in its place
        self._connections = connections
        self._refused: LaminaError | None = None
        self._awaits: Literal["headers", "body"] | None = None
        self._since = 0.0
        self._received = 0
        self._held = 0
        """Bytes that the parser took since it said last that something is there."""
        self._said = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as Uvicorn has it
        super().connection_made(transport)
        self._begin("headers")
        self._refused = self._connections.enter(self, self._address)
        if self._refused is None:
            return
        if self._connections.refused >= self._connections.bounds.refused:
            self._refused = None
            transport.abort()
            return
        self._connections.refused += 1
        self.loop.call_later(limits.REFUSED_S_MAX, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.leave(self, self._address)
        if self._refused is not None:
            self._connections.refused -= 1
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused is not None:
            # An answer before the request would be lost with the reset of the connection.
            self._end(self._refused)
            return
        said = self._said
        super().data_received(data)
        self._hold(len(data) if said == self._said else 0)
        if self._awaits is None and self._is_idle and self.timeout_keep_alive_task is None:
            self._begin("headers")  # a line break before a request, say: Uvicorn waits for no more than that

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._awaits is None:
            self._begin("headers")

    def on_headers_complete(self) -> None:
        if self._parser.offers:
            return
        self._begin("body")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._received += len(body)
        self._said += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._parser.offers:
            return
        self._awaits = None
        super().on_message_complete()

    def head_without_offer(self) -> bytes:
        """Mirrors ``HearsRequests.head_without_offer``."""
        method, version = self._parser.get_method(), self._parser.get_http_version().encode()
        lines = [b": ".join(each) for each in self.headers if each[0] != b"upgrade"]
        return b"\r\n".join([b"%s %s HTTP/%s" % (method, self.url, version), *lines, b"", b""])

    def end_if_late(self, now: float) -> None:
        """Close the connection when what it waits for is overdue."""
        bounds = self._connections.bounds
        if self._awaits is None or self.transport.is_closing():
            return
        allowed = bounds.headers_s
        if self._awaits == "body":
            allowed = bounds.body_s + self._received / bounds.body_bytes_per_s
            if self.flow.read_paused:
                self._since += bounds.look_s  # it is the server that does not read
        if now - self._since > allowed:
            said = f"the {self._awaits} did not arrive within {allowed:.0f} seconds"
            self._end(Malformed("REQUEST_TIMEOUT", said))

    def _hold(self, size: int) -> None:
        """Count what came of headers, or of trailers, that are not whole yet; where that is too much, close the connection."""
        self._held = self._held + size if size else 0
        if self._awaits is not None and self._held > self._connections.bounds.headers_bytes:
            self._end(
                TooLarge(
                    "HEADERS_TOO_LARGE",
                    f"the headers have more than {self._connections.bounds.headers_bytes} bytes",
                )
            )

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _begin(self, awaits: Literal["headers", "body"]) -> None:
        self._awaits, self._since, self._received = awaits, self.loop.time(), 0
        self._said += 1

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered. Uvicorn's cycle is None before the first one."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _end(self, error: LaminaError) -> None:
        """Say why, unless an answer is on its way or the request whose body is late had its answer, and close."""
        answered = self._awaits == "body" and self._is_idle
        if not answered and (self._is_idle or not self.cycle.response_started):
            self.transport.write(_response(error))
        self.transport.close()


def _response(error: LaminaError) -> bytes:
    request_id = RandomIds().stamped(Prefix.REQUEST, SystemClock().now())
    body = to_json(envelope(error, request_id))
    status = status_of(error.code)
    lines = [
        f"HTTP/1.1 {status} {_REASONS[status]}",
        "Content-Type: application/json; charset=utf-8",
        f"Content-Length: {len(body)}",
        f"X-Cortex-Request-ID: {request_id}",
        "Connection: close",
    ]
    if "retry_after_s" in error.details:
        lines.append(f"Retry-After: {error.details['retry_after_s']:.0f}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def bounded_protocol(connections: Connections) -> type[asyncio.Protocol]:
    """The protocol class of Uvicorn, over the connections of one server."""

    class Protocol(_Bounded):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(connections, *args, **more)

    return Protocol
