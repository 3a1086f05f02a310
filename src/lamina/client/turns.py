"""Asks of a chat's turn: what to know before it, keeping it, and the end of its session (seed 003)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic.alias_generators import to_camel
from pydantic_core import to_jsonable_python

from lamina.client.asks import Ask, ask
from lamina.client.options import BriefOptions, Conversation, TurnOptions, time_text
from lamina.types.sessions import Brief, Closed, Ingested

__all__ = ["brief_ask", "close_ask", "ingest_ask"]


def brief_ask(query: str | None, options: BriefOptions, *, now: datetime) -> Ask[Brief]:
    """What to know before a turn."""
    return ask("POST", "/brief", Brief, body=_body({"now": now, **options, "query": query}))


def ingest_ask(
    role: Literal["user", "assistant"],
    text: str,
    options: TurnOptions,
    *,
    now: datetime,
    new_key: Callable[[], str],
) -> Ask[Ingested]:
    """Keep a turn.

    Session, role, text and timestamp tell a repetition. Without a session the server would make another one for it,
    so there a key tells.
    """
    given: dict[str, Any] = {"timestamp": now, **options, "role": role, "text": text}
    given["timestamp"] = time_text(given["timestamp"])
    if given.get("session_id") is None and given.get("idempotency_key") is None:
        given["idempotency_key"] = new_key()
    return ask("POST", "/ingest", Ingested, body=_body(given))


def close_ask(conversation: Conversation) -> Ask[Closed]:
    """End a session. One that is named may be ended twice; the newest open one is another the second time."""
    named = conversation.get("session_id") is not None
    return ask("POST", "/session/close", Closed, body=_body(conversation), repeatable=named)


def _body(given: Mapping[str, Any]) -> dict[str, Any]:
    return {to_camel(name): to_jsonable_python(value) for name, value in given.items() if value is not None}
