"""Many callers in one cheap process: raw keep-alive sockets over one selector, requests encoded beforehand.

The callers share the machine with the server, so that each request costs the client one send, one receive and a
look at the status line.
"""

from __future__ import annotations

import multiprocessing
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Load", "encode", "run_apart"]


@dataclass(frozen=True, slots=True)
class Load:
    """What a run of callers saw: seconds of each request, and of the whole."""

    taken_s: list[float]
    elapsed_s: float
    client_cpu_s: float

    @property
    def per_second(self) -> float:
        """Requests answered in a second."""
        return len(self.taken_s) / self.elapsed_s


def encode(path: str, body: bytes, verb: str = "POST", token: str | None = None) -> bytes:
    """The bytes of a request on a connection that is kept."""
    head = f"{verb} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {token}\r\n" if token else ""
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def run(port: int, requests: Sequence[bytes], callers: int) -> Load:
    """Send the requests, each as soon as one of ``callers`` connections is free."""
    selector = selectors.DefaultSelector()
    left = iter(requests)
    taken: list[float] = []
    sent_at: dict[int, float] = {}
    received: dict[int, bytes] = {}
    started, cpu = time.perf_counter(), time.process_time()
    for request in [r for _, r in zip(range(callers), left, strict=False)]:
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection, selectors.EVENT_READ)
        sent_at[connection.fileno()] = time.perf_counter()
        connection.sendall(request)
    while selector.get_map():
        for key, _ in selector.select():
            connection = key.fileobj  # type: ignore[assignment] # a socket was registered
            number = key.fd
            data = received.get(number, b"") + connection.recv(262_144)
            if not _complete(data):
                received[number] = data
                continue
            received[number] = b""
            if not data.startswith((b"HTTP/1.1 200", b"HTTP/1.1 202")):
                raise SystemExit(data[:800].decode(errors="replace"))
            now = time.perf_counter()
            taken.append(now - sent_at[number])
            following = next(left, None)
            if following is None:
                selector.unregister(connection)
                connection.close()
            else:
                sent_at[number] = now
                connection.sendall(following)
    return Load(taken, time.perf_counter() - started, time.process_time() - cpu)


def _complete(data: bytes) -> bool:
    end = data.find(b"\r\n\r\n")
    if end < 0:
        if not data:
            raise SystemExit("the server closed a connection")
        return False
    head = data[:end].lower()
    at = head.index(b"content-length:") + 15
    return len(data) >= end + 4 + int(head[at:].split(b"\r\n", 1)[0])


def run_apart(port: int, requests: Sequence[bytes], callers: int) -> Load:
    """``run`` in a process of its own, so that the caller's interpreter does not stand in the way."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(run, (port, list(requests), callers))
