"""A memory service for Google's Agent Development Kit: sessions go to Lamina, and recall answers ``search_memory``.

Runner(agent=agent, app_name="shop", session_service=sessions, memory_service=LaminaMemoryService(AsyncClient()))
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

try:
    from lamina_client import AsyncClient
except ModuleNotFoundError:  # the client inside the server's distribution
    from lamina import AsyncClient

__all__ = ["LaminaMemoryService"]

_PLAIN: Final = re.compile(r"(?!b64-)[A-Za-z0-9_-]+")
_BATCH: Final = 500


class LaminaMemoryService(BaseMemoryService):
    """ADK's memory over Lamina. What an app knows of a user lies in the scope ``app:<app>/user:<user>``.

    A session may be added as often as it grows: each event is kept once in 24 hours. ``results`` is how many memories a search gives at most.
    """

    def __init__(self, client: AsyncClient, *, results: int = 10) -> None:
        self._client = client
        self._results = results

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep what was said in a session."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep what some events say."""
        turns = []
        for event in events:
            text = _text_of(event.content)
            if event.partial or not text.strip():
                continue
            key = hashlib.sha256(f"{app_name}/{user_id}/{session_id}/{event.id}".encode()).hexdigest()
            said_at = datetime.fromtimestamp(event.timestamp, UTC)
            turns.append(_turn(text, event.author, user_id, session_id, said_at, key, custom_metadata))
        for first in range(0, len(turns), _BATCH):
            await self._client.experience_bulk(turns[first : first + _BATCH], scope=_scope(app_name, user_id))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What fits a question, best first: facts, and what was said that none of them holds."""
        pack = await self._client.recall(
            query,
            scope=_scope(app_name, user_id),
            view="local",
            include=["facts", "events"],
            per_layer_limits={"facts": self._results, "events": self._results},
        )
        told = {source for fact in pack.layers.facts for source in fact.supports}
        found = [
            _entry(fact.id, fact.in_words, "user", fact.valid_from, fact.score) for fact in pack.layers.facts
        ]
        for event in pack.layers.events:
            text = str((event.content or {}).get("text", ""))
            if event.id not in told and event.superseded is None and text:
                author = event.actor.partition(":")[2] if event.actor.startswith("agent:") else "user"
                # A turn's score is its share of the best one's; what that is worth, the pack says apart.
                score = event.score * pack.abstain.best_score
                found.append(_entry(event.id, text, author, event.context.observed_at, score))
        found.sort(key=lambda entry: -entry.custom_metadata["score"])
        return SearchMemoryResponse(memories=found[: self._results])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase a memory by the id that a search gave, for good: a fact with the words behind it, or a turn; and what rests on that alone."""
        if memory_id is None:
            raise ValueError(
                "delete_memory takes the id of a memory; everything of a user goes by client.erasures"
            )
        scope = _scope(app_name, user_id)
        layer = self._client.facts if memory_id.startswith("fact_") else self._client.events
        if (await layer.get(memory_id)).scope != scope:
            raise ValueError(f"{memory_id} is no memory of this app and user")
        await self._client.forget(scope, cascade="redact_events", memory_ids=[memory_id], with_derived=True)


def _turn(
    text: str,
    author: str,
    user_id: str,
    session_id: str | None,
    said_at: datetime,
    key: str,
    metadata: Mapping[str, object] | None,
) -> dict[str, Any]:
    by_user = author == "user"
    speaker = {"id": f"user:{_part(user_id)}" if by_user else f"agent:{_part(author)}"}
    content = {"kind": "message", "role": "user" if by_user else "assistant", "text": text}
    return {
        "content": content | ({"metadata": dict(metadata)} if metadata else {}),
        "observed_actor": speaker | ({"session": session_id} if session_id else {}),
        "observed_at": said_at,
        "idempotency_key": key,
    }


def _entry(record_id: str, text: str, author: str, at: int, score: float) -> MemoryEntry:
    said_at = datetime.fromtimestamp(at / 1_000_000, UTC).isoformat()
    content = types.Content(parts=[types.Part(text=text)], role="user" if author == "user" else "model")
    metadata = {"score": round(score, 4)}
    return MemoryEntry(
        content=content, id=record_id, author=author, timestamp=said_at, custom_metadata=metadata
    )


def _text_of(content: types.Content | None) -> str:
    parts = (content.parts if content is not None else None) or []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _scope(app_name: str, user_id: str) -> str:
    return f"app:{_part(app_name)}/user:{_part(user_id)}"


def _part(name: str) -> str:
    """A name as a part of a scope; what none can hold is written in base64url, as the server writes it."""
    if _PLAIN.fullmatch(name):
        return name
    return "b64-" + base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")
