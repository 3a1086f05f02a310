"""The session for the OpenAI Agents SDK, which needs nothing of the SDK: items come back as they were, and clearing cancels them."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

from lamina import AsyncClient

ADAPTER = Path(__file__).parents[2] / "integrations" / "openai-agents" / "lamina_openai_agents.py"
SAID = [
    {"role": "user", "content": [{"type": "input_text", "text": "I live in Porto."}]},
    {"type": "function_call", "call_id": "c1", "name": "book", "arguments": '{"seats": 2}'},
    {"type": "function_call_output", "call_id": "c1", "output": "done"},
    {
        "role": "assistant",
        "id": "m1",
        "type": "message",
        "content": [{"type": "output_text", "text": "Booked."}],
    },
]


def session_class() -> Any:
    spec = importlib.util.spec_from_file_location("lamina_openai_agents", ADAPTER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LaminaSession


def with_client(world: Any, tell: Callable[[Callable[[str], Any]], Awaitable[None]]) -> None:
    async def within() -> None:
        transport = httpx.ASGITransport(world.application)
        async with AsyncClient("http://localhost", actor="user:ana", transport=transport) as client:
            made = session_class()
            await tell(lambda name: made(name, client, user="user:ana", agent="agent:helper"))

    asyncio.run(within())


def test_items_come_back_as_they_were_and_the_newest_go_first(world: Any) -> None:
    async def tell(session: Callable[[str], Any]) -> None:
        monday = session("monday")
        await monday.add_items(SAID[:2])
        await monday.add_items(SAID[2:])
        await monday.add_items([])
        await session("tuesday").add_items([{"role": "user", "content": "Of another day."}])
        assert await session("monday").get_items() == SAID
        assert await monday.get_items(limit=2) == SAID[2:]
        assert await monday.get_items(limit=0) == []
        assert await monday.pop_item() == SAID[3]
        assert await monday.get_items() == SAID[:3]
        await monday.clear_session()
        assert await monday.get_items() == []
        assert await monday.pop_item() is None
        assert len(await session("tuesday").get_items()) == 1

    with_client(world, tell)


def test_a_write_that_was_begun_is_finished_though_its_caller_is_cancelled(world: Any) -> None:
    async def tell(session: Callable[[str], Any]) -> None:
        monday = session("monday")
        writing = asyncio.create_task(monday.add_items(SAID))
        await asyncio.sleep(0)
        writing.cancel()
        outcome = await asyncio.gather(writing, return_exceptions=True)
        assert isinstance(outcome[0], asyncio.CancelledError)
        assert await monday.get_items() == SAID

    with_client(world, tell)
