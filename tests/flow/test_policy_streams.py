"""What policy does to lifecycle streams that are open while it changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lamina import limits
from lamina.access.principals import Credentials
from lamina.gateway import Inbound
from lamina.kernel.operations import Principal
from lamina.kernel.streams import Beginning, ServerSentEvent
from lamina.lifecycle.feed import Feed
from neighbours import ROOT, Neighbours

HOME = "org:acme/team:home"


@pytest.fixture
def here() -> Iterator[Neighbours]:
    neighbours = Neighbours()
    yield neighbours
    neighbours.close()


@asynccontextmanager
async def following(here: Neighbours, actor: str, **asked: Any) -> AsyncIterator[Any]:
    (operation,) = [each for each in here.server.operations if each.name == "lifecycle_stream"]
    request = operation.request.model_validate(asked)
    inbound = Inbound(Credentials("http", actor=actor), "req")
    reply = here.server.gateway.execute(operation, request, inbound, Principal("acme", actor, "http"))
    stream = reply.answer.result
    assert isinstance(await anext(stream), Beginning)
    await asyncio.sleep(0.1)  # the look-out has seen how policy stands
    yield stream
    stream.close()


async def after(change: Callable[[], Any], stream: Any) -> ServerSentEvent:
    await asyncio.to_thread(change)
    event = await asyncio.wait_for(anext(stream), 300)
    assert event is not None
    return event


def deny(here: Neighbours, actor: str, *names: str) -> Callable[[], Any]:
    return lambda: here.said("PUT", f"/v1/policy/actor/{actor}", {"deny": list(names)}, by=ROOT)


def test_a_change_that_concerns_a_stream_is_told_and_the_stream_goes_on(here: Neighbours) -> None:
    async def story() -> None:
        async with following(here, "user:alice", scope=HOME) as stream:
            event = await after(deny(here, "user:alice", "import.*", "llm.invoke"), stream)
            assert event.event == "policy_changed"
            payload = event.data["payload"]
            assert (payload["tier"], payload["scope_or_actor"]) == ("actor", "user:alice")
            assert payload["capability_diff"]["granted"] == []
            assert "llm.invoke" in payload["capability_diff"]["revoked"]
            event = await after(deny(here, "user:alice"), stream)
            assert "llm.invoke" in event.data["payload"]["capability_diff"]["granted"]
            assert (await after(lambda: here.write(HOME), stream)).event == "captured"

    asyncio.run(story())


def test_a_change_that_concerns_others_is_not_told(here: Neighbours) -> None:
    async def story() -> None:
        async with following(here, "user:alice", scope=HOME) as stream:
            await asyncio.to_thread(deny(here, "user:bob", "*"))
            assert (await after(lambda: here.write(HOME), stream)).event == "captured"

    asyncio.run(story())


@pytest.mark.parametrize("events", [None, ["captured"]])
def test_a_stream_that_is_no_longer_allowed_is_told_and_ends(here: Neighbours, events: Any) -> None:
    here.write(HOME)

    async def story() -> None:
        async with following(here, "user:bob", scope=HOME, events=events) as stream:
            event = await after(lambda: here.register(HOME, alice="owner"), stream)
            assert (event.event, event.data) == (
                "policy_revoked",
                {"reason": "lifecycle.subscribe is denied"},
            )
            with pytest.raises(StopAsyncIteration):
                await anext(stream)

    asyncio.run(story())


def test_rows_of_a_scope_that_closed_are_no_longer_streamed(here: Neighbours) -> None:
    here.write(HOME)

    async def story() -> None:
        async with following(here, "user:bob") as stream:
            await asyncio.to_thread(lambda: here.register(HOME, alice="owner"))
            await asyncio.to_thread(lambda: here.write(HOME))
            event = await after(lambda: here.write("ws:open"), stream)
            assert event.data.scope == "ws:open"

    asyncio.run(story())


def test_a_stream_that_reads_the_store_itself_looks_at_policy_itself(
    here: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is behind, and the look-out is busy with others."""
    monkeypatch.setattr(limits, "LIFECYCLE_BATCH_MAX", 1)
    monkeypatch.setattr(Feed, "_run", lambda feed: feed._stopping.wait())

    async def story() -> None:
        async with following(here, "user:bob") as stream:
            assert (await after(lambda: here.write(HOME), stream)).data.scope == HOME
            await asyncio.to_thread(lambda: here.register(HOME, alice="owner"))
            await asyncio.to_thread(lambda: here.write(HOME))
            event = await after(lambda: here.write("ws:open"), stream)
            assert event.data.scope == "ws:open"

    asyncio.run(story())
