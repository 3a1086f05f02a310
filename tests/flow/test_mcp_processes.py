"""``lamina mcp`` as a process: tools at once, two agents on one folder, and nothing lost when one is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
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

MODERN = "2026-07-28"


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
async def agent(folder: Path, mode: str = MODERN, **more: str) -> Any:
    told = {**os.environ, "LAMINA_DATA": str(folder), **more}
    command = StdioServerParameters(command=sys.executable, args=["-m", "lamina", "mcp"], env=told)
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
    async def run() -> None:
        async with agent(folder) as first:
            _, kept = await said(first, "remember", text="The first agent was here.")
            assert stat.S_IMODE(socket_path(folder).stat().st_mode) == 0o600
            async with agent(folder, "legacy") as second:
                _, also = await said(second, "remember", text="So was the second.")
                assert _serving(folder) == 1
                _kill_serving(folder)
                # Whoever is asked next takes over; both go on.
                _, again = await said(second, "remember", text="And it still is.")
                _, last = await said(first, "remember", text="So is the first.")
                _, found = await said(first, "why", id=kept["event_id"])
                assert "The first agent was here." in found["words"]
                for each in (also, again, last):
                    words = (await said(first, "why", id=each["event_id"]))[0]
                    assert each["event_id"] in words
                assert _serving(folder) == 1

    asyncio.run(run())


def _serving(folder: Path) -> int:
    return len(_processes(folder))


def _processes(folder: Path) -> list[int]:
    """The servers of a folder, as the system lists them."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    ).stdout
    lines = [line for line in listed.splitlines() if f"serve --data {folder}" in line]
    return [int(line.split()[0]) for line in lines]


def _kill_serving(folder: Path) -> None:
    for pid in _processes(folder):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_tools_are_listed_before_a_server_answers(folder: Path) -> None:
    async def run() -> None:
        began = time.monotonic()
        async with agent(folder) as client:
            listed = await client.list_tools()
            assert len(listed.tools) == 10
            assert not answers(folder), f"it waited for the server, {time.monotonic() - began:.1f} s"

    asyncio.run(run())


@pytest.mark.slow
def test_a_server_with_an_address_is_asked_in_place_of_a_folder(tmp_path: Path) -> None:
    port = free_port()
    server = start(tmp_path / "there", port, "--workers", "0")
    try:
        wait_until(lambda: serves(port))

        async def run() -> None:
            async with agent(tmp_path / "unused", LAMINA_URL=f"http://127.0.0.1:{port}") as client:
                _, stored = await said(client, "remember", text="tea")
                assert '"tea"' in (await said(client, "why", id=stored["event_id"]))[0]
            # The server's own folder has its socket, too.
            async with agent(tmp_path / "there") as beside:
                assert '"tea"' in (await said(beside, "why", id=stored["event_id"]))[0]

        asyncio.run(run())
        assert not (tmp_path / "unused").exists()
    finally:
        kill(server)


def test_a_folder_with_a_long_path_has_its_socket_elsewhere(tmp_path: Path) -> None:
    short, long = tmp_path, tmp_path / ("x" * 120)
    assert len(os.fsencode(socket_path(long))) <= 103
    assert socket_path(long) != socket_path(long / "y")
    assert len(os.fsencode(short)) > 80 or socket_path(short).parent == short
