"""The two calls of a chat's turn through the clients."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from lamina import AsyncClient, Client
from lamina.client import to_datetime
from lamina.errors import Invalid


@pytest.fixture
def who(maya):
    return {"tenant_id": "home", "user_id": maya, "persona_id": "chat"}


def test_a_turn_that_was_kept_is_in_the_next_brief(client, who):
    kept = client.ingest("user", "Let's plan tomorrow.", **who, session_id="monday")
    client.ingest("assistant", "Sure.", **who, session_id="monday")
    brief = client.brief("What was the plan?", **who, session_id="monday")
    assert kept.session_id == "monday"
    assert [(turn.role, turn.text) for turn in brief.working_memory] == [
        ("user", "Let's plan tomorrow."),
        ("assistant", "Sure."),
    ]
    now = to_datetime(brief.temporal_authority.now)
    assert abs(now - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_turn_without_a_session_begins_one_that_the_answer_names(client, who):
    kept = client.ingest("user", "Good morning.", **who)
    brief = client.brief(**who, session_id=kept.session_id)
    assert [turn.text for turn in brief.working_memory] == ["Good morning."]


@pytest.mark.parametrize("session", [{}, {"session_id": "monday"}])
def test_a_turn_of_which_the_answer_is_lost_is_kept_once(live, maya, who, losing, session):
    transport = losing(1)
    with Client(live.url, actor=maya, transport=transport) as client:
        kept = client.ingest("user", "tea at five", **who, **session)
        assert len(transport.sent) == 2
        brief = client.brief(**who, session_id=kept.session_id)
    assert [turn.text for turn in brief.working_memory] == ["tea at five"]


def test_a_time_of_ones_own_is_kept(client, who):
    at = datetime(2026, 2, 3, 18, 34, 12, tzinfo=UTC)
    client.ingest("user", "hello", **who, session_id="old", timestamp=at)
    brief = client.brief(**who, session_id="old", now="2026-02-03T18:36:12Z")
    assert to_datetime(brief.working_memory[0].timestamp) == at
    assert brief.temporal_authority.time_since_last_interaction == "PT2M"


def test_a_session_is_closed_once(client, who):
    client.ingest("user", "hello", **who, session_id="monday")
    assert client.close_session(**who, session_id="monday").closed
    again = client.close_session(**who, session_id="monday")
    assert (again.closed, again.reason is not None) == (False, True)
    assert client.brief(**who, session_id="monday").working_memory == []


def test_a_wrong_turn_is_invalid_and_names_the_field(client, who):
    with pytest.raises(Invalid) as refused:
        client.ingest("user", " ", **who)
    assert refused.value.details["field"] == "text"


def test_the_asynchronous_client_does_the_same(live, maya, who):
    async def turn() -> tuple[list[str], bool]:
        async with AsyncClient(live.url, actor=maya) as client:
            await client.ingest("user", "hello", **who, session_id="async")
            brief = await client.brief("hello?", **who, session_id="async")
            closed = await client.allow_unstable().close_session(**who, session_id="async")
            return [each.text for each in brief.working_memory], closed.closed

    assert asyncio.run(turn()) == (["hello"], True)
