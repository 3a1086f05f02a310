"""What ``lamina mcp`` passes on: progress comes through, and a call that its client took back is taken back from the server, too."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.server.stdio import stdio_server

from lamina.cli.links import RemoteLink
from lamina.mcp.service import build_service
from lamina.mcp.stdio import _Passing
from lamina.mcp.unreadable import AnsweringStream
from rpc import MODERN

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
def test_progress_comes_through_and_a_cancelled_call_leaves_the_server(mode: str) -> None:
    gone: list[bytes] = []
    bodies: list[Any] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = [
            int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
        ]
        bodies.append(json.loads(await reader.readexactly(length)))
        token = bodies[-1]["params"]["_meta"]["progressToken"]
        told = {"progressToken": token, "progress": 1.0, "message": "remember goes on"}
        notice = {"jsonrpc": "2.0", "method": "notifications/progress", "params": told}
        event = b"data: " + json.dumps(notice).encode() + b"\n\n"
        writer.write(HEAD + f"{len(event):x}\r\n".encode() + event + b"\r\n")
        await writer.drain()
        gone.append(await reader.read())  # nothing, once the other side has closed
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        heard = asyncio.Event()
        messages: list[str | None] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            messages.append(message)
            heard.set()

        passing = _Passing(RemoteLink(f"http://127.0.0.1:{port}/mcp", {}), ())
        async with Client(build_service(passing), mode=mode) as client:
            arguments = {"text": "tea", "wait": "consolidated"}
            call = asyncio.create_task(client.call_tool("remember", arguments, progress_callback=progress))
            await asyncio.wait_for(heard.wait(), 60)
            call.cancel()
            await asyncio.wait([call])
            assert call.cancelled()
            while not gone:
                await asyncio.sleep(0.01)
            assert len((await client.list_tools()).tools) == 10
        await passing.close()
        server.close()
        assert (gone, messages) == ([b""], ["remember goes on"])
        assert bodies[0]["params"]["arguments"] == arguments

    asyncio.run(asyncio.wait_for(run(), 120))


HALF = '"method": "tools/call", "params": {"name": "remember", "arguments": {"text": "cut \\ud83d"}}'


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        (f'{{"jsonrpc": "2.0", "id": 7, {HALF}}}', (7, -32700)),
        (f'{{"jsonrpc": "2.0", "id": "seven", {HALF}}}', ("seven", -32700)),
        (f'{{"jsonrpc": "2.0", "id": "\\udc00", {HALF}}}', (None, -32700)),
        ('{"jsonrpc": "2.0", "id": 7, "result": {"text": "cut \\ud83d"}}', (None, -32700)),
        ("tea", (None, -32700)),
        ("[" * 5000, (None, -32700)),
        ("[]", (None, -32600)),
        ('{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', (None, -32600)),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', (None, -32600)),
        ('{"jsonrpc": "2.0", "id": true, "method": "tools/list"}', (None, -32600)),
        ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', (None, -32600)),
    ],
    ids=[
        "half",
        "half named",
        "half an id",
        "an answer",
        "words",
        "depth",
        "list",
        "null",
        "part",
        "true",
        "object",
    ],
)
def test_a_line_that_is_no_message_is_answered(line: str, answered: tuple[object, int]) -> None:
    written = io.StringIO()

    async def run() -> None:
        lines = io.StringIO(f'{line}\n\n{{"jsonrpc": "2.0", "id": 8, "method": "ping"}}\n')
        async with stdio_server(anyio.wrap_file(lines), anyio.wrap_file(written)) as (incoming, outgoing):
            async with AnsweringStream(incoming, outgoing) as messages:
                heard = [each async for each in messages]
            assert [each.message.id for each in heard] == [8]  # type: ignore[union-attr]
            await outgoing.aclose()

    asyncio.run(asyncio.wait_for(run(), 60))
    (said,) = [json.loads(each) for each in written.getvalue().splitlines()]
    assert (said["id"], said["error"]["code"]) == answered


def test_a_notification_is_passed_on_and_not_answered() -> None:
    written = io.StringIO()

    async def run() -> None:
        lines = io.StringIO('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        async with stdio_server(anyio.wrap_file(lines), anyio.wrap_file(written)) as (incoming, outgoing):
            async with AnsweringStream(incoming, outgoing) as messages:
                heard = [each async for each in messages]
            assert [each.message.method for each in heard] == ["notifications/initialized"]  # type: ignore[union-attr]
            await outgoing.aclose()

    asyncio.run(asyncio.wait_for(run(), 60))
    assert written.getvalue() == ""


def test_tools_are_listed_without_what_a_memory_needs() -> None:
    """The SDK is most of what a start imports; store, models and the application are the server's."""
    heavy = [
        "numpy",
        "onnxruntime",
        "tokenizers",
        "spacy",
        "apsw",
        "pygit2",
        "lamina.app",
        "lamina.store",
        "lamina.client",
    ]
    code = f"import sys, lamina.cli.mcp, lamina.mcp.stdio, lamina.cli.links; print([n for n in {heavy} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_memories_and_the_token_go_to_the_server_itself_and_through_no_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n")).decode())
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        link = RemoteLink(f"http://127.0.0.1:{port}/mcp", {})
        async with link.client() as client:
            await client.post(link.url)
        server.close()

    asked: list[str] = []
    asyncio.run(run())
    assert asked == ["POST /mcp HTTP/1.1\r\n"]


def test_a_call_that_is_too_large_is_told_so() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 22\r\n\r\nRequest body too large")
        await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        passing = _Passing(RemoteLink(f"http://127.0.0.1:{port}/mcp", {}), ())
        async with Client(build_service(passing), mode=MODERN) as client:
            result = await client.call_tool("remember", {"text": "tea"})
        await passing.close()
        server.close()
        assert result.is_error
        assert str(result.content[0]).find("BODY_TOO_LARGE") >= 0

    asyncio.run(asyncio.wait_for(run(), 60))
