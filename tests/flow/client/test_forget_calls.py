"""Forgetting a part of a scope by the Python clients."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from lamina.client import AsyncClient, Client
from lamina.errors import Gone, Invalid


def test_a_part_of_a_scope_is_forgotten_by_the_clients(client: Client, live: Any, maya: str) -> None:
    said = {"kind": "triple", "subject": "Acme", "predicate": "lives_in", "object": "Porto"}
    event = client.experience(content=said, modality="observation").event_id
    live.drain()
    (fact,) = client.facts.list(subject="Acme").items
    with pytest.raises(Invalid, match="EMPTY_SELECTOR_WITHOUT_CONFIRMATION"):
        client.forget()
    before = (datetime(2001, 1, 1, tzinfo=UTC), datetime(2002, 1, 1, tzinfo=UTC))
    assert client.forget(predicate="lives_in", recorded_during=before).deleted.facts == 0
    assert client.forget(predicate="lives_in", layers=["facts"]).deleted.facts == 1
    with pytest.raises(Gone):
        client.facts.get(fact.id)

    async def redact() -> int:
        async with AsyncClient(live.url, actor=maya) as other:
            gone = await other.forget(memory_ids=[event], cascade="redact_events", audit_note="case 1")
            return gone.deleted.events

    assert asyncio.run(redact()) == 1
    assert client.events.get(event).content == {"kind": "redacted", "original_kind": "triple"}
