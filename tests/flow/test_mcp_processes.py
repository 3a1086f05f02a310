"""``lamina mcp`` as a process: tools at once, two agents on one folder, and nothing lost when one is killed."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from lamina.cli.local_socket import answers, lock_of, socket_path
from processes import answers as serves
from processes import free_port, kill, start, wait_until
from rpc import MODERN, check_exchange

ALONE = {"LAMINA_WORKERS": "0"}
"""A server without a worker: that one ends with its server however that ends is told by ``test_server_process``."""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Iterator[Path]:
    """A folder, left once nobody serves it any more: what a test started ends by itself."""
    folder = tmp_path / "memory"
    yield folder
    wait_until(lambda: _is_free(folder))


def _is_free(folder: Path) -> bool:
    lock = lock_of(folder)
    if lock is not None:
        lock.close()
    return lock is not None


@asynccontextmanager
async def agent(
    folder: Path, mode: str = MODERN, name: str = "agent:one", traffic: Path | None = None, **more: str
) -> Any:
    """A client of ``lamina mcp``; what goes over the pipes is kept in ``traffic``, where one is given."""
    told = {**os.environ, "LAMINA_DATA": str(folder), **more}
    arguments = [sys.executable, "-m", "lamina", "mcp", "--agent", name]
    if traffic is not None:
        asked, answered = (shlex.quote(f"{traffic}-{each}") for each in ("asked", "answered"))
        arguments = ["sh", "-c", f"tee {asked} | {shlex.join(arguments)} | tee {answered}"]
    command = StdioServerParameters(command=arguments[0], args=arguments[1:], env=told)
    with Path(os.devnull).open("w") as nowhere:
        async with Client(stdio_client(command, errlog=nowhere), mode=mode) as client:
            yield client


async def said(client: Client, name: str, **given: Any) -> tuple[str, Any]:
    result = await client.call_tool(name, given)
    (content,) = result.content
    assert not result.is_error, content
    return content.text, result.structured_content


@pytest.mark.slow
def test_two_agents_share_a_folder_and_one_killed_loses_nothing(folder: Path) -> None:
    """Both write at once while the first, and the server that it had started, are killed with -9; the second goes on by itself."""
    kept: list[str] = []
    name = f"agent:{uuid.uuid4().hex}"  # so that nobody else's is killed

    async def write(client: Client, who: str, count: int) -> None:
        for number in range(count):
            kept.append((await said(client, "remember", text=f"{who} says {number}."))[1]["event_id"])

    async def first(ready: asyncio.Event) -> None:
        try:
            async with agent(folder, name=name, **ALONE) as client:
                assert len((await client.list_tools()).tools) == 10
                assert not answers(folder), "the list waited for the server"
                await write(client, "The first", 3)
                ready.set()
                await write(client, "The first", 10_000)
        finally:
            ready.set()

    async def run() -> None:
        ready = asyncio.Event()
        doomed = asyncio.create_task(first(ready))
        await ready.wait()
        assert not doomed.done(), doomed.exception()
        assert stat.S_IMODE(socket_path(folder).stat().st_mode) == 0o600
        async with agent(folder, "legacy", **ALONE) as second:
            await write(second, "The second", 5)
            assert len(_servers(folder)) == 1
            begun = len(kept)
            writing = asyncio.create_task(write(second, "The second", 20))
            while len(kept) < begun + 6:
                await asyncio.sleep(0.01)
            _kill(_servers(folder) + _processes(f"mcp --agent {name}"))
            await writing
            await asyncio.wait([doomed])
            assert doomed.exception() is not None
            assert len(_servers(folder)) == 1
            for event_id in kept:
                assert event_id in (await said(second, "why", id=event_id))[0]

    asyncio.run(run())
    assert len(kept) >= 28


def _servers(folder: Path) -> list[int]:
    return _processes(f"serve --data {folder}")


def _processes(words: str) -> list[int]:
    """The processes whose command has these words, as the system lists them."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    ).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if words in line]


def _kill(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_server_with_an_address_is_asked_in_place_of_a_folder(tmp_path: Path) -> None:
    port = free_port()
    server = start(tmp_path / "there", port, "--workers", "0")
    try:
        wait_until(lambda: serves(port))

        async def run() -> None:
            for mode in (MODERN, "legacy"):
                traffic, url = tmp_path / mode, f"http://127.0.0.1:{port}"
                async with agent(tmp_path / "unused", mode, traffic=traffic, LAMINA_URL=url) as client:
                    stored = await _story(client, mode)
                _check_traffic(traffic, MODERN if mode == MODERN else "2025-11-25")
            # The server's own folder has its socket, too.
            async with agent(tmp_path / "there") as beside:
                assert "Darjeeling" in (await said(beside, "why", id=stored))[0]

        asyncio.run(run())
        assert not (tmp_path / "unused").exists()
    finally:
        kill(server)


def _check_traffic(traffic: Path, version: str) -> None:
    asked, answered = (
        [json.loads(line) for line in Path(f"{traffic}-{each}").read_text("utf-8").splitlines()]
        for each in ("asked", "answered")
    )
    answers = {each["id"]: each for each in answered if "id" in each}
    assert len(asked) >= 12
    for each in asked:
        check_exchange(version, each, answers.get(each.get("id")))


async def _story(client: Client, mode: str) -> str:
    """All that an agent does with a memory, but for what is derived behind it: nobody derives here. The id of what was said first."""
    about = {"subject_kind": "thread", "subject_id": f"launch-{mode}"}
    _, stored = await said(client, "remember", text="My favourite tea is Darjeeling.")
    _, wrong = await said(client, "remember", text="Something said by mistake about Rotterdam.")
    assert (await said(client, "cancel_last"))[1]["event_id"] == wrong["event_id"]
    text, found = await said(client, "recall", query="Which tea is my favourite?")
    assert "Darjeeling" in text
    assert "Rotterdam" not in text
    assert stored["event_id"] in found["markers"].values()
    await said(client, "correct", text="My favourite tea is Assam.", event_id=stored["event_id"])
    text, _ = await said(client, "recall", query="Which tea is my favourite?")
    assert "Assam" in text
    await said(
        client, "capsule_write", **about, stance_summary="The door is built.", top_priorities=["ship it"]
    )
    await said(client, "capsule_patch", **about, list="open_loops", action="append", item="who signs")
    await said(client, "remind", title="call the notary", due_at="2099-01-01T00:00:00Z", **about)
    assert f"launch-{mode}" in (await said(client, "capsule_list"))[0]
    page, read = await said(client, "capsule_read", **about)
    assert all(words in page for words in ("The door is built.", "ship it", "who signs"))
    assert read["capsule"]["source"]["producer"] == "agent:one"
    first: str = stored["event_id"]
    return first


def test_a_folder_with_a_long_path_has_its_socket_elsewhere(tmp_path: Path) -> None:
    short, long = tmp_path, tmp_path / ("x" * 120)
    assert len(os.fsencode(socket_path(long))) <= 103
    assert socket_path(long) != socket_path(long / "y")
    assert len(os.fsencode(short)) > 80 or socket_path(short).parent == short


def test_the_owners_token_is_not_said_where_a_host_keeps_a_log(folder: Path) -> None:
    folder.mkdir()
    lock = lock_of(folder)
    assert lock is not None
    held = lock.fileno()
    command = [sys.executable, "-m", "lamina", "serve", "--data", str(folder), "--local", str(held)]
    told = {**os.environ, **ALONE}
    with (folder / "said").open("w+") as said:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=said, pass_fds=(held,), env=told, start_new_session=True
        )
        lock.close()
        wait_until(lambda: answers(folder))
        server.communicate(timeout=60)
        said.seek(0)
        lines = said.read()
    assert "lamina serves a local socket" in lines
    assert "cgr_" not in lines


INITIALIZE = (
    '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    '"capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}}\n'
)
PING = '{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n'


@pytest.mark.parametrize("way", ["Ctrl-C", "nobody reads"])
def test_it_ends_without_a_word_where_its_host_does(way: str) -> None:
    command = [sys.executable, "-m", "lamina", "mcp", "--url", "http://127.0.0.1:1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as serving:
        assert serving.stdin is not None
        assert serving.stdout is not None
        assert serving.stderr is not None
        try:
            serving.stdin.write(INITIALIZE)
            serving.stdin.flush()
            assert '"id":1' in serving.stdout.readline()
            if way == "Ctrl-C":
                serving.send_signal(signal.SIGINT)
            else:
                serving.stdout.close()
                serving.stdin.write(PING)
                serving.stdin.close()
            assert serving.wait(60) == (130 if way == "Ctrl-C" else 0)
            assert serving.stderr.read() == ""
        finally:
            serving.kill()
