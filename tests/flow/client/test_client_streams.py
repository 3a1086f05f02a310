"""Following the lifecycle through the client, across connections that break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice

import httpx
import pytest

from issuing import claims, paseto
from lamina import AsyncClient, Client
from lamina.errors import Unauthenticated, Unavailable


def _first_row(client: Client, event_id: str) -> str:
    return client.lifecycle_of(event_id).lifecycle_event_ids[0]


def test_what_happened_since_a_row_is_replayed_typed(client):
    first = client.experience("one")
    second = client.experience("two")
    since = _first_row(client, first.event_id)
    (event,) = islice(client.lifecycle(since_lifecycle_id=since, event_id=second.event_id), 1)
    assert (event.name, event.event_id, event.payload["modality"]) == (
        "captured",
        second.event_id,
        "conversation",
    )
    assert event.id is not None
    assert event.id.startswith("lce_")
    page = client.lifecycle_page(event_id=second.event_id)
    assert [row.stage for row in page.items] == ["captured"]


class Cutting(httpx.HTTPTransport):
    """Breaks each stream after its first ``captured``, and counts how often one was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = 0
        self.resumed_from: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response, with a stream that breaks."""
        response = super().handle_request(request)
        if "stream" not in request.url.path:
            return response
        self.opened += 1
        self.resumed_from.append(request.headers.get("last-event-id"))
        inner = response.stream

        class Broken(httpx.SyncByteStream):
            def __iter__(self):
                for data in inner:
                    first, end, _ = data.partition(b"\n\n")
                    yield first + end
                    if b"captured" in first:
                        raise httpx.ReadError("cut")

            def close(self) -> None:
                inner.close()

        return httpx.Response(response.status_code, headers=response.headers, stream=Broken())


def test_a_stream_that_breaks_goes_on_behind_the_last_event(live, maya, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    transport = Cutting()
    with Client(live.url, actor=maya, transport=transport) as client:
        first = client.experience("zero")
        since = _first_row(client, first.event_id)
        stored = [client.experience(text).event_id for text in ("one", "two", "three")]
        seen = [event.event_id for event in islice(client.lifecycle(scope=maya, since_lifecycle_id=since), 3)]
    assert seen == stored
    assert transport.opened == 3
    assert transport.resumed_from[0] is None
    assert all(last is not None for last in transport.resumed_from[1:])


class CuttingAtOnce(httpx.HTTPTransport):
    """Breaks the first stream behind its first sign of life. Something happens before another is opened, and once that is."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self.happens = happens
        self.opened = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response, the first with a stream that breaks."""
        response = super().handle_request(request)
        self.opened += 1
        inner, happens, breaks = response.stream, self.happens, self.opened == 1

        class Broken(httpx.SyncByteStream):
            def __iter__(self):
                data = iter(inner)
                yield next(data)
                happens()
                if breaks:
                    raise httpx.ReadError("cut")
                yield from data

            def close(self) -> None:
                inner.close()

        return httpx.Response(response.status_code, headers=response.headers, stream=Broken())


def test_a_stream_that_breaks_before_its_first_event_goes_on_where_it_began(live, client, maya, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    stored: list[str] = []
    transport = CuttingAtOnce(lambda: stored.append(client.experience("tea").event_id))
    with Client(live.url, actor=maya, transport=transport) as following:
        (event,) = islice(following.lifecycle(scope=maya), 1)
    assert event.event_id == stored[0]


def test_a_stream_whose_token_was_revoked_goes_on_with_the_next_or_says_why_not(signing, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    held = {"token": paseto(claims(jti="first"))}
    with (
        Client(signing.url, actor="user:alice", token_provider=lambda: held["token"]) as client,
        Client(signing.url, actor="user:alice", token_provider=lambda: paseto(claims(jti="other"))) as other,
    ):
        since = _first_row(client, client.experience("zero").event_id)
        stored = [client.experience(text).event_id for text in ("one", "two")]
        followed = client.lifecycle(since_lifecycle_id=since)
        seen = [next(followed).event_id, next(followed).event_id]
        held["token"] = paseto(claims(jti="second"))
        _revoke(signing.url, "first")
        stored.append(other.experience("three").event_id)
        seen.append(next(followed).event_id)
        assert seen == stored
        _revoke(signing.url, "second")
        with pytest.raises(Unauthenticated) as caught:
            next(followed)
    assert caught.value.code == "REVOKED_TOKEN"


def _revoke(url: str, jti: str) -> None:
    headers = {"Authorization": f"Bearer {paseto(claims(jti='other'))}", "X-Cortex-Actor": "user:alice"}
    answer = httpx.post(f"{url}/v1/auth/revoke", json={"jti": jti}, headers=headers)
    assert answer.status_code == 204


def test_a_stream_of_a_server_that_is_gone_ends_with_an_error(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with Client("http://127.0.0.1:1", retries=2) as client, pytest.raises(Unavailable):
        next(client.lifecycle())


def test_the_asynchronous_client_does_the_same(live, maya):
    async def story() -> list[str]:
        transport = httpx.ASGITransport(live.server.application)  # type: ignore[arg-type]
        async with AsyncClient("http://127.0.0.1", actor=maya, transport=transport) as client:
            stored = await client.experience("tea")
            await client.experience_bulk(["one", "two"])
            assert (await client.lifecycle_of(stored.event_id)).stages_completed == ["captured"]
            assert (await client.version()).name == "lamina"
            return [event.content["text"] async for event in client.events.iterate(limit=1)]

    assert asyncio.run(story()) == ["two", "one", "tea"]


def test_the_asynchronous_client_follows_and_takes_awaitable_tokens(live, maya):
    async def story() -> str:
        async with AsyncClient(live.url, actor=maya) as client:
            stored = await client.experience("one")
            await client.experience("two")
            since = (await client.lifecycle_of(stored.event_id)).lifecycle_event_ids[0]
            events = client.lifecycle(scope=maya, since_lifecycle_id=since)
            event = await anext(events)
            await events.aclose()
            return event.name

    async def token() -> str:
        return "t"

    async def signed() -> str:
        async with AsyncClient(live.url, token_provider=token) as client:
            return (await client.version()).name

    assert asyncio.run(story()) == "captured"
    assert asyncio.run(signed()) == "lamina"
