"""What stands between a client and its server may answer anything: it is retried, or raised as one of the promised family."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from typer.testing import CliRunner

from lamina import AsyncClient, Client
from lamina.cli.main import app
from lamina.errors import LaminaError, Unsupported

STORED = b'{"event_id": "evt_1", "status": "captured", "wal_offset": 1, "lifecycle_stream": "/"}'


def said(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"content-length: {len(body)}", "connection: close", "", ""]
    return "\r\n".join(lines).encode() + body


GOOD = said("202 Accepted", STORED, "content-type: application/json")
BAD_GZIP = said("200 OK", b"null", "content-type: application/json", "content-encoding: gzip")
PAGE = said("200 OK", b"<html>sign in\n\n</html>\n", "content-type: text/html")
MOVED = said("307 Temporary Redirect", b"", "location: https://sso.example/in?ticket=secret")
REPLAYED = "x-cortex-replay: true"


class Between:
    """A server that answers each connection with the next of ``answers``, the last one again and again."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.asked: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with contextlib.suppress(OSError), connection:
                    self.asked.append(whole(connection))
                    answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                    connection.sendall(answer)


def whole(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    length = re.search(rb"content-length: (\d+)", data, re.IGNORECASE)
    while length and len(data.partition(b"\r\n\r\n")[2]) < int(length[1]):
        data += connection.recv(65536)
    return data


Made = Callable[..., Between]


@pytest.fixture
def between() -> Iterator[Made]:
    made: list[Between] = []

    def make(*answers: bytes) -> Between:
        made.append(Between(*answers))
        return made[-1]

    yield make
    for each in made:
        each.listener.close()


def sync_write(url: str, retries: int = 3) -> str:
    with Client(url, actor="user:maya", retries=retries) as client:
        return client.experience("tea").event_id


def async_write(url: str, retries: int = 3) -> str:
    async def write() -> str:
        async with AsyncClient(url, actor="user:maya", retries=retries) as client:
            return (await client.experience("tea")).event_id

    return asyncio.run(write())


BOTH = pytest.mark.parametrize("write", [sync_write, async_write], ids=["sync", "async"])


@BOTH
def test_an_answer_that_cannot_be_decoded_is_asked_for_again_with_the_same_key(
    between: Made, write: Callable[..., str]
) -> None:
    server = between(BAD_GZIP, GOOD)
    assert write(server.url) == "evt_1"
    bodies = {request.partition(b"\r\n\r\n")[2] for request in server.asked}
    assert (len(server.asked), len(bodies)) == (2, 1)
    assert b"idempotency_key" in bodies.pop()


@BOTH
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (BAD_GZIP, "UNREADABLE_RESPONSE"),
        (said("200 OK", b"[]", REPLAYED), "UNREADABLE_RESPONSE"),
        (said("200 OK", b"null", REPLAYED), "UNREADABLE_RESPONSE"),
        (said("200 OK", b'"text"', REPLAYED), "UNREADABLE_RESPONSE"),
        (PAGE, "UNREADABLE_RESPONSE"),
        (MOVED, "UNEXPECTED_STATUS"),
        (said("304 Not Modified", b""), "UNEXPECTED_STATUS"),
        (said("400 Bad Request", b'{"error_code": "X", "message": [1]}'), "UNEXPECTED_STATUS"),
        (said("400 Bad Request", b"[]"), "UNEXPECTED_STATUS"),
    ],
    ids=["gzip", "list", "null", "text", "page", "redirect", "not modified", "odd message", "no envelope"],
)
def test_whatever_comes_is_one_of_the_promised_family(
    between: Made, write: Callable[..., str], answer: bytes, code: str
) -> None:
    with pytest.raises(LaminaError) as caught:
        write(between(answer).url, retries=0)
    assert caught.value.code == code


@BOTH
def test_a_redirect_is_named_and_not_tried_again(between: Made, write: Callable[..., str]) -> None:
    server = between(MOVED)
    with pytest.raises(Unsupported) as caught:
        write(server.url)
    assert "a redirect to https://sso.example/in" in caught.value.message
    assert "secret" not in str(caught.value)
    assert len(server.asked) == 1


def first_of_lifecycle(url: str) -> object:
    with Client(url, actor="user:maya", retries=2) as client:
        return next(iter(client.lifecycle()))


def first_of_lifecycle_async(url: str) -> object:
    async def first() -> object:
        async with AsyncClient(url, actor="user:maya", retries=2) as client:
            return await anext(client.lifecycle())

    return asyncio.run(first())


def first_of_recall(url: str) -> object:
    with Client(url, actor="user:maya", retries=2) as client:
        return next(iter(client.recall_stream("tea")))


STREAMS = pytest.mark.parametrize("read", [first_of_lifecycle, first_of_lifecycle_async, first_of_recall])


@STREAMS
def test_a_page_in_place_of_a_stream_is_asked_for_a_few_times_and_then_raised(
    between: Made, read: Callable[[str], object]
) -> None:
    server = between(PAGE)
    with pytest.raises(Unsupported) as caught:
        read(server.url)
    assert "text/html in place of events" in caught.value.message
    assert len(server.asked) == 3


@STREAMS
@pytest.mark.parametrize(
    "lines",
    [b"event: x\ndata: \xff\xfe\n\n", b"event: x\ndata: [1]\n\n", b"event: policy_revoked\ndata: 1\n\n"],
)
def test_an_event_that_is_none_is_one_of_the_promised_family(
    between: Made, read: Callable[[str], object], lines: bytes
) -> None:
    server = between(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + lines)
    with pytest.raises(Unsupported) as caught:
        read(server.url)
    assert caught.value.code == "UNREADABLE_RESPONSE"


def test_a_stream_that_only_ever_sends_what_is_no_event_is_given_up(between: Made) -> None:
    server = between(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n<html>\n\nab\n")
    with pytest.raises(LaminaError) as caught:
        first_of_lifecycle(server.url)
    assert caught.value.code == "STREAM_CUT"
    assert len(server.asked) == 3


def test_heartbeats_are_signs_of_life(between: Made) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n"
    beats = [head + b": still here\n\n"] * 5
    server = between(*beats, PAGE)
    with pytest.raises(Unsupported):
        first_of_lifecycle(server.url)
    assert len(server.asked) > len(beats)


def test_the_command_says_what_it_was_and_shows_no_traceback(between: Made) -> None:
    for answer, told in (
        (BAD_GZIP, "not encoded as it says"),
        (MOVED, "a redirect to https://sso.example/in"),
    ):
        server = between(answer)
        result = CliRunner().invoke(app, ["remember", "tea", "--url", server.url])
        assert result.exit_code == 7
        assert told in " ".join(result.output.split())
        assert "Traceback" not in result.output
