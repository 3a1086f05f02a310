"""A conversation kept by Strands' memory manager and searched in the next one. No model is asked: the memory at LAMINA_URL is all that is."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from lamina_strands import AsyncClient, LaminaMemoryStore
from strands.memory import MemoryManager
from strands.memory.types import AddMessagesContext


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text}]}


async def main() -> None:
    async with AsyncClient(os.environ["LAMINA_URL"], actor="user:ben") as client:
        store = LaminaMemoryStore(client, user="user:ben", agent="agent:waiter")
        manager = MemoryManager(stores=[store], search_tool_config=True, add_tool_config=True, injection=True)
        said = [
            message("user", "I dislike olives, and I live in Porto."),
            message("assistant", "Noted, no olives."),
            message("user", "I work at Oracle."),
            message("user", "I started a new job at Siemens last week."),
        ]
        ids = await store.add_messages(said, AddMessagesContext(sequence_numbers=[0, 1, 2, 3]))
        again = await store.add_messages(said, AddMessagesContext(sequence_numbers=[0, 1, 2, 3]))
        print("kept:", len(ids), "and again:", len(again))
        assert (len(ids), len(again)) == (4, 0)
        await manager.add("Ben parks at gate B7.")
        assert await store.add("Ben parks at gate B7.") is None
        await client.experience(
            "Ben is here.", scope="user:ben", wait="indexed"
        )  # facts of all before it are drawn by then

        next_time = MemoryManager(stores=[LaminaMemoryStore(client, user="user:ben")])
        for question in ("What food does he dislike?", "Where does he park?"):
            entries = await next_time.search(question)
            print(question, "->", entries[0].content)
        assert "olives" in (await next_time.search("What food does he dislike?"))[0].content
        assert "B7" in entries[0].content
        assert all(entry.store_name == "lamina" for entry in entries)
        work = [entry.content for entry in await next_time.search("Where does he work?")]
        print("Where does he work? ->", work[0])
        assert any("Oracle (may have changed 20" in each for each in work)

        (parking,) = [entry for entry in entries if "B7" in entry.content][:1]
        await store.delete(parking.metadata["id"])
        assert "B7" not in str(await next_time.search("Where does he park?"))
        assert "olives" in str(await next_time.search("What food does he dislike?"))
        await store.clear()
        assert "olives" not in str(await next_time.search("What food does he dislike?"))
        for event_id in ids:
            assert (await client.events.get(event_id)).content["kind"] == "redacted"
        assert "Porto" not in str((await client.facts.list(scope="user:ben")).items)
        print("cleared: nothing of the conversation is there any more")


asyncio.run(main())
