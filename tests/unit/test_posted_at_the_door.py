"""A write that waits for the disk alone holds no thread of the door's."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from test_write_turns_at_the_door import ByTenant, NoRules, Tell, Told

from given import ManualClock
from lamina import limits
from lamina.errors import Conflict
from lamina.gateway import Gateway
from lamina.http import server
from lamina.http.routes import Route
from lamina.kernel.ids import RandomIds
from lamina.kernel.operations import Answer, Call, Effect, Grant, Landing, Operation, Posting, Tier
from lamina.kernel.scopes import Scope
from lamina.observe.figures import OUTCOMES, CallCounts
from lamina.store.memory import MemoryStore
from policies import OpenPolicy


class Held:
    """A write that lands when it is told to."""

    def __init__(self, outcome: Callable[[], Any]) -> None:
        self.sent = False
        self._outcome = outcome
        self._over = threading.Event()
        self._told: list[Callable[[], None]] = []

    def send(self) -> None:
        self.sent = True

    def tell(self, told: Callable[[], None]) -> None:
        self._told.append(told)

    def result(self) -> Any:
        assert self._over.wait(30)
        return self._outcome()

    def land(self) -> None:
        self._over.set()
        self._told.pop()()


class Door:
    """An operation that posts what does not say ``wait``, over a door with one thread."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.writes: list[Held] = []
        self.threads: list[str] = []
        self.calls = CallCounts()
        self.store = MemoryStore()
        gateway = Gateway(
            principals=ByTenant(),
            policy=OpenPolicy(),
            clock=ManualClock(),
            ids=RandomIds(),
            store=self.store,
            rules=NoRules(),
            calls=self.calls,
        )
        operation = Operation(
            "told",
            Tell,
            Told,
            "scope.write",
            Effect.WRITE,
            Tier.STABLE,
            self.handle,
            "",
            grants=lambda request, principal: [Grant("scope.write", Scope("org:acme"))],
            keeps_keys=True,
            posting=Posting(lambda request: request.what != "wait", self.begin),
        )
        self.application = server.create_application(
            gateway, [Route("POST", "/v1/told", operation)], pool=pool
        )

    def handle(self, request: Tell, given: Call) -> Answer:
        self.threads.append(threading.current_thread().name)
        return Answer(Told(what=request.what))

    def begin(self, request: Tell, given: Call) -> Landing:
        self.threads.append(threading.current_thread().name)
        if request.what == "refused before":
            raise Conflict("IDEMPOTENCY_CONFLICT", "another")
        self.writes.append(Held(lambda: request.what))
        return Landing(self.writes[-1], _told)


def _told(what: str) -> Answer:
    if what == "refused behind":
        raise Conflict("IDEMPOTENCY_CONFLICT", "another")
    return Answer(Told(what=what))


async def told(door: Door, what: str) -> tuple[int, Any]:
    sent: list[Any] = []
    headers = [(b"content-type", b"application/json"), (b"x-cortex-actor", b"user:acme")]
    scope = {"type": "http", "method": "POST", "path": "/v1/told", "headers": headers, "query_string": b""}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps({"what": what}).encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    await door.application(scope, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def run(story: Callable[[Door], Any]) -> None:
    async def whole() -> None:
        with ThreadPoolExecutor(1, thread_name_prefix="door") as pool:
            door = Door(pool)
            # The tenant's first call makes what its audit rows are hashed with, and may wait for that.
            assert await told(door, "wait") == (200, {"what": "wait"})
            await story(door)

    asyncio.run(whole())


def test_more_writes_wait_for_the_disk_than_there_are_threads() -> None:
    async def story(door: Door) -> None:
        waiting = [asyncio.ensure_future(told(door, f"t{number}")) for number in range(8)]
        while len(door.writes) < 8:
            await asyncio.sleep(0)
        assert await told(door, "wait") == (200, {"what": "wait"}), "the one thread is free"
        assert door.threads == ["door_0", *["MainThread"] * 8, "door_0"]
        assert not any(each.done() for each in waiting)
        for write in door.writes:
            write.land()
        assert await asyncio.gather(*waiting) == [(200, {"what": f"t{number}"}) for number in range(8)]

    run(story)


def test_writes_are_sent_together_once_a_round_of_the_loop_begins_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lamina.limits.WRITE_JOINED_S", 600.0)

    async def story(door: Door) -> None:
        waiting = [asyncio.ensure_future(told(door, f"t{number}")) for number in range(4)]
        while len(door.writes) < 4:
            await asyncio.sleep(0)
        waiting.append(asyncio.ensure_future(told(door, "a round later")))
        while len(door.writes) < 5:
            assert not any(write.sent for write in door.writes)
            await asyncio.sleep(0)
        while not any(write.sent for write in door.writes):
            await asyncio.sleep(0)
        assert [write.sent for write in door.writes] == [False] * 4 + [True], (
            "the others were begun before it"
        )
        for write in door.writes:
            write.land()
        await asyncio.gather(*waiting)

    run(story)


def test_writes_that_begin_round_after_round_are_not_held_for_ever() -> None:
    async def story(door: Door) -> None:
        waiting: list[asyncio.Future[tuple[int, Any]]] = []
        while not any(write.sent for write in door.writes):
            waiting.append(asyncio.ensure_future(told(door, "more")))
            await asyncio.sleep(0)
            assert len(waiting) < 10_000
        while len(door.writes) < len(waiting):
            await asyncio.sleep(0)
        for write in door.writes:
            write.land()
        await asyncio.gather(*waiting)

    run(story)


@pytest.mark.parametrize("what", ["refused before", "refused behind"])
def test_what_fails_is_told_counted_and_recorded(what: str) -> None:
    async def story(door: Door) -> None:
        waiting = asyncio.ensure_future(told(door, what))
        while what == "refused behind" and not door.writes:
            await asyncio.sleep(0)
        for write in door.writes:
            write.land()
        status, body = await waiting
        assert (status, body["error_code"]) == (409, "IDEMPOTENCY_CONFLICT")
        (figures,) = door.calls.figures(["told"])
        counted = {name: count for name, count in zip(OUTCOMES, figures.outcomes, strict=True) if count}
        assert counted == {"ok": 1, "conflict": 1}
        rows = [row.draft for row in door.store.audit.walk("acme", 0, 10)]
        assert [row.response_status for row in rows] == [200, 409]

    run(story)


@pytest.mark.parametrize(("what", "status"), [("landed", 200), ("refused behind", 409)])
def test_a_call_that_is_stopped_while_its_write_waits_is_counted_and_recorded(what: str, status: int) -> None:
    """A server that ends does not wait for ever."""

    async def story(door: Door) -> None:
        waiting = asyncio.ensure_future(told(door, what))
        while not door.writes:
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        door.writes[0].land()
        assert await told(door, "wait") == (200, {"what": "wait"}), "the one thread has ended it before"
        (figures,) = door.calls.figures(["told"])
        assert sum(figures.outcomes) == 3
        rows = [row.draft for row in door.store.audit.walk("acme", 0, 10)]
        assert [row.response_status for row in rows] == [200, status, 200]

    run(story)


def test_a_large_body_is_handed_to_a_thread() -> None:
    async def story(door: Door) -> None:
        large = "x" * limits.BODY_PLAIN_BYTES_MAX
        assert (await told(door, large))[0] == 200
        assert door.threads == ["door_0", "door_0"]

    run(story)
