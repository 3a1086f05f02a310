"""A session of ADK kept by the memory service and searched in the next one. No model is asked: the memory at LAMINA_URL is all that is."""

from __future__ import annotations

import asyncio
import os

from google.adk.events.event import Event
from google.adk.sessions import InMemorySessionService
from google.genai import types
from lamina_google_adk import AsyncClient, LaminaMemoryService

ANA = {"app_name": "shop", "user_id": "ana@example.org"}


def event(author: str, text: str) -> Event:
    role = "user" if author == "user" else "model"
    return Event(author=author, content=types.Content(parts=[types.Part(text=text)], role=role))


async def main() -> None:
    async with AsyncClient(os.environ["LAMINA_URL"], actor="service:shop", scope="app:shop") as client:
        memory, sessions = LaminaMemoryService(client), InMemorySessionService()
        session = await sessions.create_session(**ANA)
        await sessions.append_event(session, event("user", "I am allergic to peanuts."))
        await memory.add_session_to_memory(session)
        await sessions.append_event(session, event("waiter", "Noted, no peanuts."))
        await sessions.append_event(session, event("user", "My table is number twelve."))
        await memory.add_session_to_memory(session)  # it has grown, and nothing is kept twice
        place = "app:shop/user:b64-YW5hQGV4YW1wbGUub3Jn"
        kept = (await client.events.list(scope=place)).items
        print("kept:", len(kept))
        assert len(kept) == 3
        await client.experience(
            "Ana is here.", scope=place, wait="indexed"
        )  # facts of all before it are drawn by then

        found = (await memory.search_memory(**ANA, query="What must she not eat?")).memories
        print("found:", found[0].content.parts[0].text, found[0].author, found[0].timestamp)
        assert "allergic to peanuts" in found[0].content.parts[0].text
        other = await memory.search_memory(app_name="shop", user_id="bob", query="What must she not eat?")
        assert other.memories == []
        (table,) = [each for each in found if "twelve" in each.content.parts[0].text]
        await memory.delete_memory(**ANA, memory_id=table.id)
        after = (await memory.search_memory(**ANA, query="Which table?")).memories
        assert "twelve" not in " ".join(each.content.parts[0].text for each in after)
        (peanuts,) = [
            each for each in found if each.id.startswith("fact_") and "peanuts" in each.content.parts[0].text
        ]
        turn = (await client.facts.get(peanuts.id)).supports
        await memory.delete_memory(**ANA, memory_id=peanuts.id)
        assert "allergic" not in str(
            (await memory.search_memory(**ANA, query="What must she not eat?")).memories
        )
        for event_id in turn:
            assert (await client.events.get(event_id)).content["kind"] == "redacted"
        print("deleted: nothing says the table or the allergy any more")


asyncio.run(main())
