"""The adapters of agent frameworks: items of a session come back as they were, and clearing and deleting erase.

The session for the OpenAI Agents SDK needs nothing of that. Of the other two frameworks stand the names that the adapters import; they run
with the frameworks themselves in scripts/adapters.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from lamina import AsyncClient
from lamina.kernel.time import SystemClock
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
FRAMEWORKS = {
    "google.adk.events.event": ["Event"],
    "google.adk.memory.base_memory_service": ["BaseMemoryService", "SearchMemoryResponse"],
    "google.adk.memory.memory_entry": ["MemoryEntry"],
    "google.adk.sessions.session": ["Session"],
    "google.genai": ["types"],
    "strands.memory.types": ["AddMessagesContext", "MemoryEntry", "SearchOptions"],
}
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


def adapter(folder: str) -> Any:
    name = f"lamina_{folder.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(name, INTEGRATIONS / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    for path, names in FRAMEWORKS.items():
        for parent in [path[:at] for at, sign in enumerate(path) if sign == "."]:
            monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
        module = ModuleType(path)
        for each in names:
            setattr(module, each, type(each, (), {}))
        monkeypatch.setitem(sys.modules, path, module)


class Known:
    """What a scope holds, with a worker that draws facts without a model."""

    def __init__(self, world: Any) -> None:
        self._world = world
        deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
        self._worker = Worker(world.store, deriver, None, world.clock, "test")

    def facts(self, scope: str) -> dict[str, str]:
        self._derive()
        items = self._get("/v1/facts", scope=scope)["items"]
        return {item["object"].get("name") or item["object"].get("value"): item["id"] for item in items}

    def turns(self, scope: str) -> list[str]:
        self._derive()
        return [each["id"] for each in self._get("/v1/events", scope=scope)["items"]]

    def is_worded(self, event_id: str) -> bool:
        return bool(self._get(f"/v1/events/{event_id}")["content"]["kind"] != "redacted")

    def _derive(self) -> None:
        self._world.clock.at = SystemClock().now()  # the client says when something was said
        self._worker.drain()

    def _get(self, path: str, **query: Any) -> Any:
        with ThreadPoolExecutor(1) as other:  # this thread has a loop that runs
            return other.submit(self._world.get, path, **query).result()

    def holds(self, words: str) -> bool:
        return words in str(list(self._world.store.snapshot()))


def with_client(world: Any, tell: Callable[[AsyncClient], Awaitable[None]]) -> None:
    async def within() -> None:
        transport = httpx.ASGITransport(world.application)
        async with AsyncClient("http://localhost", actor="user:ana", transport=transport) as client:
            await tell(client)

    asyncio.run(within())


def with_sessions(world: Any, tell: Callable[[Callable[[str], Any]], Awaitable[None]]) -> None:
    made = adapter("openai-agents").LaminaSession
    with_client(
        world,
        lambda client: tell(lambda name: made(name, client, user="user:ana", agent="agent:helper")),
    )


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

    with_sessions(world, tell)


def test_clearing_a_session_erases_it_and_what_was_drawn_from_it_alone(world: Any) -> None:
    known = Known(world)

    async def tell(session: Callable[[str], Any]) -> None:
        monday, tuesday = session("monday"), session("tuesday")
        said = ["I live in Porto.", "I like ramen.", "I dislike olives."]
        await monday.add_items([{"role": "user", "content": text} for text in said])
        await tuesday.add_items(
            [{"role": "user", "content": text} for text in ("I like ramen.", "I work at Fernhill.")]
        )
        assert known.facts("user:ana").keys() == {"Porto", "ramen", "olives", "Fernhill"}
        assert (await monday.pop_item())["content"] == said[2]
        assert known.facts("user:ana").keys() == {"Porto", "ramen", "Fernhill"}
        await monday.clear_session()
        assert known.facts("user:ana").keys() == {"ramen", "Fernhill"}
        assert not known.holds("olives")
        assert not known.holds("Porto")
        assert len(await tuesday.get_items()) == 2
        assert sum(map(known.is_worded, known.turns("user:ana"))) == 2

    with_sessions(world, tell)


@pytest.mark.usefixtures("frameworks")
def test_deleting_a_memory_by_its_id_erases_it(world: Any) -> None:
    known = Known(world)
    home = "app:shop/user:ana"

    async def tell(client: AsyncClient) -> None:
        memory = adapter("google-adk").LaminaMemoryService(client)
        ana = {"app_name": "shop", "user_id": "ana"}
        await client.experience("I live in Porto. I dislike olives.", scope=home, role="user")
        (turn,) = known.turns(home)
        facts = known.facts(home)
        with pytest.raises(ValueError, match="no memory of this app and user"):
            await memory.delete_memory(app_name="shop", user_id="bob", memory_id=turn)
        await memory.delete_memory(**ana, memory_id=facts["olives"])
        assert known.facts(home) == {"Porto": facts["Porto"]}
        assert not known.is_worded(turn)
        await memory.delete_memory(**ana, memory_id=turn)
        assert known.facts(home) == {}

        store = adapter("strands").LaminaMemoryStore(client, user="user:ana", session="monday")
        await store.add("I like ramen.")
        await store.add("I work at Fernhill.")
        await store.delete(known.facts("user:ana")["ramen"])
        assert known.facts("user:ana").keys() == {"Fernhill"}
        await store.clear()
        assert known.facts("user:ana") == {}
        assert not any(map(known.is_worded, known.turns("user:ana")))
        assert not known.holds("Fernhill")

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

    with_sessions(world, tell)
