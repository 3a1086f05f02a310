"""HTTP with one deadline for a whole exchange. httpx bounds each wait by itself, so that who sends a byte now and then, of the
headers too, could keep a caller for ever. Looking a name up is left to the machine's resolver and its own limits."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpcore
import httpx

__all__ = ["NETWORK_ERRORS", "DeadlineTransport"]

NETWORK_ERRORS: Final = (
    httpcore.ConnectionNotAvailable,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)
"""What the transport raises, also while a body is read."""

_PIECE_BYTES: Final = 16 * 1024


class DeadlineTransport(httpx.BaseTransport):
    """Sends requests of ``httpx``; inside ``within`` all that this thread waits for ends in time. Safe to use from any
    thread."""

    def __init__(self, trusted: ssl.SSLContext) -> None:
        self._clock = _Clock()
        self._pool = httpcore.ConnectionPool(ssl_context=trusted, network_backend=_Sockets(self._clock))

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """What this thread does here takes so long at most."""
        self._clock.until = time.monotonic() + seconds
        try:
            yield
        finally:
            self._clock.until = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; raises one of ``NETWORK_ERRORS``."""
        assert isinstance(request.stream, httpx.SyncByteStream), "a synchronous client's request"
        url = request.url
        asked = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        answer = self._pool.handle_request(asked)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._pool.close()


class _Clock(threading.local):
    until: float | None = None

    def left(self, timeout: float | None, kind: type[httpcore.TimeoutException]) -> float | None:
        """How long a wait may take that alone might take ``timeout``."""
        if self.until is None:
            return timeout
        left = self.until - time.monotonic()
        if left <= 0:
            raise kind("the time for the whole exchange is up")
        return left if timeout is None else min(timeout, left)


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class _Sockets(httpcore.NetworkBackend):
    def __init__(self, clock: _Clock) -> None:
        self._clock = clock
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,  # Any: tuples of several forms, handed on
    ) -> httpcore.NetworkStream:
        left = self._clock.left(timeout, httpcore.ConnectTimeout)
        stream = self._plain.connect_tcp(host, port, left, local_address, socket_options)
        return _Stream(stream, self._clock)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, clock: _Clock) -> None:
        self._stream = stream
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._clock.left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for at in range(0, len(buffer), _PIECE_BYTES):
            left = self._clock.left(timeout, httpcore.WriteTimeout)
            self._stream.write(buffer[at : at + _PIECE_BYTES], left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._clock.left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._clock)

    def get_extra_info(self, info: str) -> Any:  # Any: httpcore's own
        return self._stream.get_extra_info(info)
