"""A session of the OpenAI Agents SDK whose items are turns in Lamina: what is said in one is remembered in all.

session = LaminaSession("monday", AsyncClient(actor="user:ana"), user="user:ana")
await Runner.run(agent, "I moved to Lisbon.", session=session)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

try:
    from lamina_client import AsyncClient
except ModuleNotFoundError:  # the client inside the server's distribution
    from lamina import AsyncClient

__all__ = ["LaminaSession"]

ResultT = TypeVar("ResultT")
_ITEM: Final = "openai_agents_item"
"""Under which key of a turn's content the item stands as it was."""
_AT_ONCE: Final = 1000
_ROLES: Final = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class LaminaSession:
    """The SDK's ``Session`` protocol over Lamina.

    Messages are turns of ``user``, or of ``agent`` where one is named, from which facts are drawn; other items, such as calls of tools, are kept as they are.
    ``scope`` is where all of it lies, the user's own place where none is named. Popping and clearing erase, for good: the words of the turns, and what was drawn from
    them alone; what other turns say, too, stays. A write that was begun is finished, though its caller be cancelled.
    """

    def __init__(
        self,
        session_id: str,
        client: AsyncClient,
        *,
        user: str,
        agent: str | None = None,
        scope: str | None = None,
        session_settings: Any = None,  # Any: the SDK's SessionSettings, which this module does not import
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client = client
        self._user = user
        self._agent = agent
        self._scope = user if scope is None else scope

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items of the session, the newest ``limit`` of them, oldest first."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        found: list[Any] = []
        if limit is not None and limit <= 0:
            return found
        async for _, item in self._newest_first():
            found.append(item)
            if limit is not None and len(found) >= limit:
                break
        return found[::-1]

    async def add_items(self, items: Sequence[Any]) -> None:
        """Store items, all or none."""
        if items:
            turns = [self._turn(dict(item)) for item in items]
            await _finished(self._client.experience_bulk(turns, scope=self._scope))

    async def pop_item(self) -> Any | None:
        """Erase the newest item and give it; None where there is none."""
        async for event_id, item in self._newest_first():
            await _finished(self._erase([event_id]))
            return item
        return None

    async def clear_session(self) -> None:
        """Erase every item of the session, with what was drawn from these alone."""
        await _finished(self._erase([event_id async for event_id, _ in self._newest_first(cancelled=True)]))

    async def recall(self, question: str, *, max_tokens: int = 1000) -> str:
        """What is known of a question from every session, as a block of text with its sources; empty where nothing is."""
        pack = await self._client.recall(question, scope=self._scope, max_tokens=max_tokens)
        return pack.context_block

    async def _newest_first(self, *, cancelled: bool = False) -> AsyncIterator[tuple[str, Any]]:
        async for event in self._client.events.iterate(scope=self._scope, session=self.session_id):
            content = event.content or {}
            if _ITEM in content and (cancelled or not event.excluded_from_recall):
                yield event.id, content[_ITEM]

    async def _erase(self, event_ids: list[str]) -> None:
        for first in range(0, len(event_ids), _AT_ONCE):
            await self._client.forget(
                self._scope,
                cascade="redact_events",
                memory_ids=event_ids[first : first + _AT_ONCE],
                with_derived=True,
            )

    def _turn(self, item: dict[str, Any]) -> dict[str, Any]:
        text, role = _text_of(item.get("content")), _ROLES.get(str(item.get("role")))
        speaker = self._agent if role == "assistant" and self._agent else self._user
        turn: dict[str, Any] = {"observed_actor": {"id": speaker, "session": self.session_id}}
        if role is None or not text.strip():
            # Nothing that somebody said: it is kept for the session, and read by nobody else.
            directives = {"extract": [], "embed": "none"}
            return turn | {"content": {"kind": "json", _ITEM: item}, "directives": directives}
        return turn | {"content": {"kind": "message", "role": role, "text": text, _ITEM: item}}


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, Mapping) and part.get("text"))


async def _finished(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """What a write gives, awaited to its end also where the caller is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
