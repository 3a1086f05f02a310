"""A memory store for Strands Agents: messages go to Lamina, which draws facts from them without a model, and recall answers searches.

store = LaminaMemoryStore(AsyncClient(actor="user:ben"), user="user:ben")
Agent(memory_manager=MemoryManager(stores=[store]))
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from typing import Any, Final

from strands.memory.types import AddMessagesContext, MemoryEntry, SearchOptions

try:
    from lamina_client import AsyncClient
except ModuleNotFoundError:  # the client inside the server's distribution
    from lamina import AsyncClient

__all__ = ["LaminaMemoryStore"]

_DEFAULT: Final = 5
_AT_ONCE: Final = 1000


class LaminaMemoryStore:
    """Strands' ``MemoryStore`` protocol over Lamina.

    ``user`` is whose words messages are, ``agent`` whose the answers are where it is named, ``scope`` where all of it lies: the user's own place where none is
    named. ``session`` names the conversation, which ``clear`` erases. Writes may come twice: a message of a run and number, and a content, is kept once in 24 hours.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        user: str,
        agent: str | None = None,
        scope: str | None = None,
        session: str | None = None,
        name: str = "lamina",
        description: str | None = "What is known of the user from earlier conversations, with its sources.",
        max_search_results: int | None = _DEFAULT,
        extraction: Any = True,  # Any: a bool or Strands' ExtractionConfig
    ) -> None:
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = True
        self.extraction = extraction
        self._client = client
        self._user = user
        self._agent = agent
        self._scope = user if scope is None else scope
        self._run = uuid.uuid4().hex
        self._session = session or f"strands-{self._run}"

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """What fits a question, best first: facts, and what was said that none of them holds, each with the id under which Lamina explains it."""
        most = (options or {}).get("max_search_results") or self.max_search_results or _DEFAULT
        pack = await self._client.recall(
            query,
            scope=self._scope,
            include=["facts", "events"],
            per_layer_limits={"facts": most, "events": most},
        )
        told = {source for fact in pack.layers.facts for source in fact.supports}
        found = [(fact.score, fact.in_words, fact.id) for fact in pack.layers.facts]
        # A turn's score is its share of the best one's; what that is worth, the pack says apart.
        found += [
            (event.score * pack.abstain.best_score, str((event.content or {}).get("text", "")), event.id)
            for event in pack.layers.events
            if event.id not in told and event.superseded is None
        ]
        found.sort(key=lambda each: -each[0])
        return [
            MemoryEntry(content=text, metadata={"id": record_id, "score": round(score, 4)})
            for score, text, record_id in found[:most]
            if text
        ]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> str | None:
        """Keep a piece of content; its turn's id, or None where it was kept before."""
        said = {"kind": "text", "text": content, **({"metadata": metadata} if metadata else {})}
        return await self._keep(said, self._user, key=json.dumps(said, sort_keys=True, default=str))

    async def add_messages(
        self, messages: Sequence[Any], context: AddMessagesContext | None = None
    ) -> list[str]:
        """Keep messages in their order; the ids of those that were not kept before."""
        numbers = context.sequence_numbers if context is not None else None
        kept = []
        for place, message in enumerate(messages):
            text = "\n".join(block["text"] for block in message["content"] if block.get("text"))
            if not text.strip():
                continue
            speaker = self._agent if message["role"] == "assistant" and self._agent else self._user
            said = {"kind": "message", "role": message["role"], "text": text}
            key = f"{self._run}:{numbers[place]}" if numbers else f"{self._run}:{uuid.uuid4().hex}"
            event_id = await self._keep(said, speaker, key=key)
            kept += [event_id] if event_id else []
        return kept

    async def delete(self, memory_id: str) -> None:
        """Erase what a search gave, by the ``id`` in its metadata: a fact with the words behind it, or a turn; and what rests on that alone."""
        await self._erase([memory_id])

    async def clear(self) -> None:
        """Erase the conversation: the words of its turns, and what was drawn from them alone."""
        turns = self._client.events.iterate(scope=self._scope, session=self._session)
        await self._erase([event.id async for event in turns])

    async def _erase(self, ids: list[str]) -> None:
        for first in range(0, len(ids), _AT_ONCE):
            await self._client.forget(
                self._scope,
                cascade="redact_events",
                memory_ids=ids[first : first + _AT_ONCE],
                with_derived=True,
            )

    async def _keep(self, content: dict[str, Any], speaker: str, *, key: str) -> str | None:
        try:
            stored = await self._client.experience(
                content=content,
                observed_actor=speaker,
                session=self._session,
                scope=self._scope,
                idempotency_key=hashlib.sha256(f"{self._scope} {key}".encode()).hexdigest(),
            )
        except Exception as error:
            # The same key with another time of day: it was kept the first time.
            if getattr(error, "code", None) == "IDEMPOTENCY_CONFLICT":
                return None
            raise
        return str(stored.event_id)
