"""Writing through the client, also when answers get lost."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from lamina import AsyncClient, Client
from lamina.errors import Conflict, Invalid, NotFound, Unauthenticated, Unavailable
from lamina.kernel.time import to_datetime


def test_a_one_liner_is_stored_under_the_actors_own_scope(client, maya):
    stored = client.experience("I moved to Lisbon")
    event = client.events.get(stored.event_id)
    assert stored.status == "captured"
    assert (event.scope, event.actor, event.caller) == (maya, maya, maya)
    assert event.content == {"kind": "message", "role": "user", "text": "I moved to Lisbon"}
    assert abs((to_datetime(event.context.observed_at) - datetime.now(UTC)).total_seconds()) < 60


def test_a_lost_answer_does_not_store_twice(live, maya, losing):
    transport = losing(1)
    with Client(live.url, actor=maya, transport=transport) as client:
        stored = client.experience("tea at five")
        assert stored.replayed
        assert len(transport.sent) == 2
        assert [event.id for event in client.events.iterate()] == [stored.event_id]


def test_a_batch_of_which_the_answer_is_lost_is_stored_once(live, maya, losing):
    with Client(live.url, actor=maya, transport=losing(1)) as client:
        assert client.experience_bulk(["one", "two", "three"]).accepted == 3
        assert len(client.events.list().items) == 3


def test_a_key_of_two_dots_leads_back_to_its_event(client):
    stored = client.experience("tea", idempotency_key="..")
    assert client.by_idempotency_key("..").event_id == stored.event_id


@pytest.mark.model
def test_a_batch_can_be_waited_for(client, live):
    assert client.experience_bulk(["tea"]).status == "captured"
    with live.draining():
        stored = client.experience_bulk(["I live in Lisbon.", "I live in Porto now."], wait="consolidated")
    assert (stored.accepted, stored.status) == (2, "consolidated")
    (fact,) = client.facts.list(predicate="lives_in").items
    assert fact.text.endswith("lives in Porto")


@pytest.mark.model
def test_a_batch_can_be_awaited(live, maya):
    async def story() -> str:
        async with AsyncClient(live.url, actor=maya) as client:
            return (await client.experience_bulk(["one", "two"], wait="indexed")).status

    with live.draining():
        assert asyncio.run(story()) == "indexed"


def test_a_batch_that_nobody_derives_is_stored_all_the_same(client, monkeypatch):
    monkeypatch.setattr("lamina.limits.WAIT_S_MAX", 0.3)
    stored = client.experience_bulk(["one", "two"], wait="indexed")
    assert (stored.accepted, stored.status) == (2, "captured")


def test_a_server_that_never_answers_is_unavailable(live, maya, losing):
    with (
        Client(live.url, actor=maya, retries=1, transport=losing(9)) as client,
        pytest.raises(Unavailable) as caught,
    ):
        client.version()
    assert type(caught.value.__cause__).__name__ == "ReadError"


def test_a_key_leads_back_to_its_event(client):
    stored = client.experience("tea", idempotency_key="tea-1")
    assert client.by_idempotency_key("tea-1").event_id == stored.event_id
    with pytest.raises(Conflict) as caught:
        client.experience("coffee", idempotency_key="tea-1")
    assert (caught.value.code, caught.value.status) == ("IDEMPOTENCY_CONFLICT", 409)
    with pytest.raises(NotFound):
        client.by_idempotency_key("nobody")


def test_a_refusal_says_what_the_server_said(client):
    with pytest.raises(Invalid) as caught:
        client.experience("x", modality="no\nsuch")
    error = caught.value
    assert error.code == "INVALID_ENVELOPE"
    assert error.details["field"] == "modality"
    assert error.request_id is not None
    assert error.request_id.startswith("req_")


def test_a_token_is_fetched_for_every_request(live):
    class Tokens:
        asked = 0

        def token(self) -> str:
            self.asked += 1
            return "t"

    tokens = Tokens()
    with Client(live.url, token_provider=tokens) as client:
        assert client.version().name == "lamina"
        with pytest.raises(Unauthenticated):
            client.events.list(scope="user:maya")
    assert tokens.asked == 2


def test_pages_are_walked_to_the_end(client):
    client.experience_bulk([f"turn {n}" for n in range(7)])
    page = client.events.list(limit=3)
    assert page.has_more
    assert len(page.items) == 3
    assert len({event.id for event in client.events.iterate(limit=3)}) == 7


def test_what_was_cancelled_is_not_listed(client):
    stored = client.experience("never mind")
    assert client.cancel(stored.event_id, "a mistake").excluded_from_recall
    assert client.events.list().items == []
    assert client.lifecycle_of(stored.event_id).excluded_from_recall
