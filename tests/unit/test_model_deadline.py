"""A model that sends a byte now and then keeps nobody longer than one that says nothing: one deadline for the whole exchange."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

import pytest

from lamina.errors import Unavailable
from lamina.models.generator import OpenAiGenerator
from lamina.models.ports import ChatMessage, Generated

TIMEOUT_S = 0.4
SAID = json.dumps({"choices": [{"message": {"content": "hello"}}]}).encode()
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(SAID), SAID)


class Dripping:
    """A server that answers each whole request by the parts that it is told to, with a pause after each; ``connections`` counts."""

    def __init__(self, parts: Callable[[], Iterator[bytes]], pause_s: float) -> None:
        self.parts, self.pause_s = parts, pause_s
        self.connections = 0
        self.over = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as requests:
            while read(requests):
                for part in self.parts():
                    connection.sendall(part)
                    if self.over.wait(self.pause_s):
                        return

    def stop(self) -> None:
        self.over.set()
        self.listener.close()


def read(requests: BinaryIO) -> bool:
    """Whether a request was there, now read to its end: an answer to half of one would make its asker close the connection."""
    length = 0
    while (line := requests.readline()) not in {b"", b"\r\n"}:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    requests.read(length)
    return line != b""


def headers() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    for number in itertools.count():
        yield b"x-a%d: b\r\n" % number


def body() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"
    yield from itertools.repeat(b" ")


def interim() -> Iterator[bytes]:
    yield from itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n")


def chunks() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    yield from itertools.repeat(b"1\r\n \r\n")


def silence() -> Iterator[bytes]:
    yield from itertools.repeat(b"")


def ask(url: str) -> Generated:
    generator = OpenAiGenerator(url, "small", timeout_s=TIMEOUT_S)
    try:
        return generator.complete([ChatMessage("user", "hi")], tokens_max=9)
    finally:
        generator.close()


@pytest.mark.parametrize("parts", [headers, body, interim, chunks, silence])
def test_who_drips_is_given_up_when_the_time_is_up(parts: Callable[[], Iterator[bytes]]) -> None:
    server = Dripping(parts, 0.05)
    began = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        ask(server.url)
    took_s = time.monotonic() - began
    server.stop()
    assert caught.value.message.endswith("ReadTimeout")
    assert took_s >= TIMEOUT_S  # none of them ever ends by itself


def test_who_answers_in_time_is_heard_and_asked_again_over_the_same_connection() -> None:
    server = Dripping(lambda: iter([WHOLE[:20], WHOLE[20:60], WHOLE[60:]]), 0.01)
    generator = OpenAiGenerator(server.url, "small", timeout_s=60)
    for _ in range(3):
        assert generator.complete([ChatMessage("user", "hi" * 50_000)], tokens_max=9).text == "hello"
    generator.close()
    server.stop()
    assert server.connections == 1


def test_nobody_there_is_unavailable_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    with pytest.raises(Unavailable) as caught:
        ask(url)
    assert caught.value.message.endswith("ConnectError")
