"""Many streams at once: whose places are whose, and that rows read once for all reach each stream whole and in order."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from starlette.types import Message

from lamina import limits
from lamina.access.policy import PolicyPermits
from lamina.access.principals import Credentials
from lamina.errors import Unavailable
from lamina.gateway import Inbound
from lamina.kernel.operations import Principal
from lamina.kernel.streams import Burst, ServerSentEvent
from lamina.lifecycle.feed import Listener
from lamina.lifecycle.places import Places, PlacesMax
from neighbours import Neighbours
from streaming import open_stream, parsed, request_of

SCOPES = ("org:acme/user:alice", "org:acme/user:bob", "org:acme", "ws:other")


@pytest.fixture
def here() -> Iterator[Neighbours]:
    neighbours = Neighbours("dev_local")
    yield neighbours
    neighbours.close()


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 300))


def caller(actor: str, tenant: str = "acme") -> dict[str, str]:
    return {"X-Cortex-Actor": f"user:{actor}", "Authorization": f"Bearer {tenant}"}


# ---- places


@pytest.mark.parametrize(
    ("most", "refused", "welcome"),
    [
        (PlacesMax(of_actor=2), ("ana", "acme"), [("bob", "acme"), ("ana", "beta")]),
        (PlacesMax(of_tenant=2), ("bob", "acme"), [("bob", "beta")]),
        (PlacesMax(in_all=2), ("bob", "beta"), []),
    ],
)
def test_nobody_takes_the_places_of_others(
    here: Neighbours, most: PlacesMax, refused: tuple[str, str], welcome: list[tuple[str, str]]
) -> None:
    here.server.feed.places = Places(most)

    async def refusal() -> Any:
        name, tenant = refused
        return await asyncio.to_thread(
            here.call, "GET", "/v1/lifecycle/stream", by=f"user:{name}", tenant=tenant
        )

    async def story() -> None:
        async with AsyncExitStack() as stack:
            for _ in range(2):
                await stack.enter_async_context(open_stream(here.server.application, "", caller("ana")))
            answer = await refusal()
            assert (answer.status_code, answer.json()["error_code"]) == (429, "TOO_MANY_STREAMS")
            assert answer.json()["details"]["streams_max"] == 2
            for name, tenant in welcome:
                async with open_stream(here.server.application, "", caller(name, tenant)):
                    pass
        assert not here.server.feed.places._taken

    run(story())


def test_the_bounds_leave_places_for_others() -> None:
    assert limits.LIFECYCLE_STREAMS_OF_ACTOR_MAX < limits.LIFECYCLE_STREAMS_OF_TENANT_MAX
    assert limits.LIFECYCLE_STREAMS_OF_TENANT_MAX < limits.LIFECYCLE_STREAMS_MAX


def test_a_client_that_takes_nothing_is_cut_off_and_its_place_is_free(
    here: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LIFECYCLE_LAG_S_MAX", 0.2)
    never = asyncio.Event()

    async def receive() -> Message:
        await never.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message.get("body"):
            await never.wait()

    async def story() -> None:
        headers = {"host": "localhost", **caller("ana")}
        asked = request_of("/v1/lifecycle/stream", "", headers)
        await asyncio.wait_for(here.server.application(asked, receive, send), 300)
        assert not here.server.feed.places._taken
        assert not here.server.feed._listeners

    run(story())


def test_a_stream_that_cannot_be_made_holds_no_place(
    here: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Any:
        raise Unavailable("WAL_UNAVAILABLE", "the disk refuses")

    monkeypatch.setattr(PolicyPermits, "denials", refuse)
    assert here.call("GET", "/v1/lifecycle/stream", by="user:ana").status_code == 503
    assert not here.server.feed.places._taken


def test_a_client_who_goes_while_its_stream_begins_leaves_nothing_behind(
    here: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = here.server.feed
    begun, gone = threading.Event(), threading.Event()
    add = feed.add

    def slowly(listener: Listener) -> None:
        begun.set()
        assert gone.wait(300)
        add(listener)

    monkeypatch.setattr(feed, "add", slowly)

    async def story() -> None:
        async def receive() -> Message:
            await asyncio.to_thread(begun.wait, 300)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None: ...

        asked = request_of("/v1/lifecycle/stream", "", {"host": "localhost", **caller("ana")})
        await asyncio.wait_for(here.server.application(asked, receive, send), 300)
        gone.set()

    run(story())
    assert not feed.places._taken
    assert not feed._listeners


# ---- rows


def test_rows_are_read_once_for_all_streams(here: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    query = here.store.lifecycle.query

    def counted(what: Any) -> Any:
        asked.append(what.after)
        return query(what)

    async def story() -> None:
        async with AsyncExitStack() as stack:
            streams = [
                await stack.enter_async_context(
                    open_stream(here.server.application, "", caller(f"u{number}"))
                )
                for number in range(20)
            ]
            await asyncio.to_thread(here.write, SCOPES[0])
            first = [parsed(await stream.get())[0] for stream in streams]
            await asyncio.sleep(0.1)
            monkeypatch.setattr(here.store.lifecycle, "query", counted)
            await asyncio.to_thread(here.write, SCOPES[1])
            second = [parsed(await stream.get())[0] for stream in streams]
            assert len({*first}) == len({*second}) == 1
        assert 1 <= len(asked) <= 4

    run(story())


class Reader:
    """A client that reads when it likes, and what it has seen."""

    def __init__(self, here: Neighbours, asked: dict[str, Any]) -> None:
        (operation,) = [each for each in here.server.operations if each.name == "lifecycle_stream"]
        request, shown = (
            operation.request.model_validate(asked),
            Credentials("http", "Bearer acme", "user:ana"),
        )
        principal = Principal("acme", "user:ana", "http")
        self.asked = asked
        self.stream = here.server.gateway.execute(
            operation, request, Inbound(shown, "req"), principal
        ).answer.result
        self.seen: list[str] = []

    async def read(self) -> None:
        event = await anext(self.stream)
        events = (
            event.events
            if isinstance(event, Burst)
            else [event]
            if isinstance(event, ServerSentEvent)
            else []
        )
        assert len(events) <= limits.LIFECYCLE_BATCH_MAX
        # Who made a scope may administer it, and its first write says so to the others.
        self.seen += [each.id for each in events if each.event != "policy_changed"]

    async def read_for(self, seconds: float) -> None:
        reading = asyncio.create_task(self._read_on())
        await asyncio.wait([reading], timeout=seconds)
        reading.cancel()
        await asyncio.wait([reading])

    async def _read_on(self) -> None:
        while True:
            await self.read()


def wanted(here: Neighbours, reader: Reader, since: str) -> list[str]:
    found, query = [], {**reader.asked, "since_lifecycle_id": since, "limit": 1000}
    for item in here.said("GET", "/v1/lifecycle", by="user:ana", **query)["items"]:
        found.append(item["lifecycle_id"])
    return found


@pytest.mark.parametrize("seed", range(6))
def test_slow_and_quick_readers_see_every_row_once_and_in_order(
    here: Neighbours, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(limits, "LIFECYCLE_TAIL_ROWS_MAX", 5)
    monkeypatch.setattr(limits, "LIFECYCLE_BATCH_MAX", 3)
    monkeypatch.setattr(limits, "LIFECYCLE_LOOK_S", 0.002)
    chance = random.Random(seed)
    here.write(SCOPES[0])
    since = here.said("GET", "/v1/lifecycle", by="user:ana")["items"][0]["lifecycle_id"]
    filters: list[dict[str, Any]] = [{}, *({"scope": scope} for scope in SCOPES), {"events": ["extracted"]}]

    async def write_some() -> None:
        for _ in range(chance.choice([1, 1, 2, 12])):
            await asyncio.to_thread(here.write, chance.choice(SCOPES))
            await asyncio.sleep(chance.choice([0, 0, 0.004]))

    async def story() -> None:
        readers = [Reader(here, asked) for asked in filters]
        for reader in readers:
            await reader.read()
        for _ in range(12):
            awake = chance.sample(readers, chance.randint(0, 3))
            await asyncio.gather(
                write_some(), *(reader.read_for(chance.choice([0.01, 0.05])) for reader in awake)
            )
        await asyncio.gather(*(reader.read_for(0.3) for reader in readers))
        for reader in readers:
            assert reader.seen == await asyncio.to_thread(wanted, here, reader, since), reader.asked
            reader.stream.close()

    run(story())
