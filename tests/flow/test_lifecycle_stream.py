"""Lifecycle streams over HTTP: order, resuming, filters, and how they end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from given import append
from lamina.kernel.events import LifecycleRow, Stage
from lamina.kernel.ids import Prefix
from lamina.kernel.time import SECOND_US
from lamina.lifecycle.feed import Feed, Listener
from lamina.lifecycle.places import PlacesMax
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.registry import PolicyRow
from lamina.store.sqlite import SqliteStore
from streaming import parsed

ALICE, BOB = "org:acme/user:alice", "org:acme/user:bob"
HOUR_US = 3600 * SECOND_US


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 300))


def rows(world: Any) -> list[str]:
    return [item["lifecycle_id"] for item in world.get("/v1/lifecycle")["items"]]


def test_a_stream_gives_what_happens_from_now_on_in_order(world: Any) -> None:
    world.event("before", BOB)

    async def story() -> None:
        async with world.stream() as blocks:
            event = await asyncio.to_thread(world.event)
            await asyncio.to_thread(world.advance, event, Stage.EXTRACTED, Stage.INDEXED)
            shown = [parsed(await blocks.get()) for _ in range(3)]
        assert [name for _, name, _ in shown] == ["captured", "extracted", "indexed"]
        assert [data["sequence"] for _, _, data in shown] == [1, 2, 3]
        assert shown[0][2] == {
            "event_id": event.id,
            "job_id": None,
            "timestamp": "2026-05-13T12:00:00.000001Z",
            "scope": ALICE,
            "sequence": 1,
            "payload": {"actor": "user:alice", "modality": "conversation", "wal_offset": 2},
        }

    run(story())
    assert len(rows(world)) == 4


@pytest.mark.parametrize("by_header", [True, False])
def test_a_stream_resumes_after_the_row_that_was_seen(world: Any, by_header: bool) -> None:
    for number in range(3):
        world.event(str(number))
    seen = rows(world)

    async def story() -> None:
        headers = {"Last-Event-ID": seen[0]} if by_header else {}
        query = f"since_lifecycle_id={seen[1 if by_header else 0]}"
        async with world.stream(query, headers) as blocks:
            assert [parsed(await blocks.get())[0] for _ in range(2)] == seen[1:]

    run(story())


def test_who_follows_goes_on_behind_a_row_that_was_erased(world: Any) -> None:
    world.event(scope=BOB)
    gone = world.event()
    world.event("later", BOB)
    page = world.get("/v1/lifecycle", limit=2)
    before = rows(world)
    world.clock.at += SECOND_US
    world.store.erasing.erase(
        Erasure(
            tenant_id=gone.tenant_id,
            erasure_id="ers",
            by_actor="user:alice",
            cascade="gdpr",
            delete=[gone.id],
        )
    )
    left = rows(world)
    assert left[:2] == [before[0], before[2]]
    behind = left[1:]
    assert [item["stage"] for item in world.get("/v1/lifecycle", since_lifecycle_id=before[1])["items"]] == [
        "captured",
        "forgotten",
    ]
    (following,) = [
        item["lifecycle_id"]
        for item in world.get("/v1/lifecycle", limit=1, cursor=page["next_cursor"])["items"]
    ]
    assert following == behind[0]

    async def story() -> None:
        async with world.stream(headers={"Last-Event-ID": before[1]}) as blocks:
            assert [parsed(await blocks.get())[0] for _ in behind] == behind

    run(story())


def test_a_replay_longer_than_a_batch_is_whole(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.limits.LIFECYCLE_BATCH_MAX", 3)
    for number in range(9):
        world.event(str(number))
    seen = rows(world)

    async def story() -> None:
        async with world.stream(f"since_lifecycle_id={seen[0]}") as blocks:
            assert [parsed(await blocks.get())[0] for _ in range(8)] == seen[1:]

    run(story())


def test_only_the_last_hour_is_replayed(world: Any) -> None:
    world.event("old")
    world.event("old too")
    seen = rows(world)
    world.clock.at += HOUR_US + SECOND_US
    world.event("new")
    newest = rows(world)[-1]

    async def story() -> None:
        async with world.stream(f"since_lifecycle_id={seen[0]}") as blocks:
            assert parsed(await blocks.get())[0] == newest

    run(story())


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("scope=org:acme/user:bob", ["captured", "extracted"]),
        ("scope=org:acme&events=captured", ["captured", "captured"]),
        ("events=extracted", ["extracted"]),
        ("event_id={bob}", ["captured", "extracted"]),
        ("batch_id={batch}", ["captured"]),
    ],
)
def test_streams_are_filtered(world: Any, query: str, found: list[str]) -> None:
    batch = world.id(Prefix.BATCH, "batch")
    world.event("first")
    (since,) = rows(world)
    world.event("alice", batch_id=batch)
    bob = world.event("bob", BOB)
    world.advance(bob, Stage.EXTRACTED)

    async def story() -> None:
        asked = query.format(bob=bob.id, batch=batch)
        async with world.stream(f"{asked}&since_lifecycle_id={since}") as blocks:
            shown = [parsed(await blocks.get())[1] for _ in found]
            await asyncio.to_thread(world.feed.close)
            assert await blocks.get() == ""
        assert shown == found

    run(story())


def test_rows_of_scopes_that_may_not_be_read_are_not_streamed(world: Any) -> None:
    world.policy.deny("scope.read.local", BOB)

    async def story() -> None:
        async with world.stream() as blocks:
            await asyncio.to_thread(world.event, "hidden", BOB)
            await asyncio.to_thread(world.event, "shown")
            assert parsed(await blocks.get())[2]["scope"] == ALICE

    run(story())


def test_streams_end_when_the_server_stops(world: Any) -> None:
    async def story() -> None:
        async with world.stream() as one, world.stream("events=captured") as other:
            await asyncio.to_thread(world.feed.close)
            assert (await one.get(), await other.get()) == ("", "")

    run(story())
    assert world.refused("/v1/lifecycle/stream") == (503, "SERVER_STOPPING")


def test_streams_are_counted_and_give_their_place_back(world: Any) -> None:
    world.feed.places._most = PlacesMax(in_all=2)

    async def story() -> None:
        async with world.stream(), world.stream():
            refused = await asyncio.to_thread(world.call, "GET", "/v1/lifecycle/stream")
            assert refused.status_code == 429
            assert refused.json()["error_code"] == "TOO_MANY_STREAMS"
            assert refused.headers["retry-after"] == "5"
        async with world.stream():
            pass

    run(story())


def test_a_client_that_falls_behind_is_told_and_let_go(world: Any) -> None:
    async def story() -> None:
        async with world.stream() as blocks:
            event = await asyncio.to_thread(world.event)
            await blocks.get()
            arrived_at = world.clock.at
            world.clock.at = arrived_at + 31 * SECOND_US
            # The row is stamped by a clock that stood; the stream reads it half a minute later.
            world.store.log._clock = world.store.jobs._lifecycle._clock = _Standing(arrived_at)
            await asyncio.to_thread(world.event, "late")
            assert parsed(await blocks.get())[1:] == ("lagging", {"behind_by": "PT30S"})
            assert await blocks.get() == ""
            assert event.id

    run(story())


class _Standing:
    def __init__(self, at: int) -> None:
        self._at = at

    def now(self) -> int:
        return self._at


def test_a_subscription_that_policy_takes_back_ends(world: Any) -> None:
    async def story() -> None:
        async with world.stream(f"scope={ALICE}") as blocks:
            world.policy.deny("lifecycle.subscribe", ALICE)
            row = PolicyRow(
                tenant_id="acme",
                tier="tenant",
                target="acme",
                document={},
                set_by="user:root",
                set_at=world.clock.at,
            )
            await asyncio.to_thread(world.store.registry.put_document, row)
            await asyncio.to_thread(world.event)
            assert parsed(await blocks.get())[1] == "policy_revoked"
            assert await blocks.get() == ""

    run(story())


def test_a_quiet_stream_shows_that_it_is_alive(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.limits.LIFECYCLE_HEARTBEAT_S", 0.005)

    async def story() -> None:
        async with world.stream() as blocks:
            assert await blocks.get() == ": still here\n\n"

    run(story())


def test_a_commit_of_another_process_is_noticed(world: Any, tmp_path: Any) -> None:
    event = world.event()
    other = SqliteStore(tmp_path, clock=world.clock, durable=False)

    async def story() -> None:
        async with world.stream() as blocks:
            own, world.store = world.store, other
            await asyncio.to_thread(world.advance, event, Stage.EXTRACTED)
            world.store = own
            assert parsed(await blocks.get())[1] == "extracted"

    run(story())
    other.close()


def test_the_look_out_rests_without_streams(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.limits.LIFECYCLE_LOOK_S", 0.001)

    async def story() -> None:
        async with world.stream():
            thread = world.feed._thread
            assert thread.is_alive()
        thread.join(300)
        assert world.feed._thread is None

    run(story())


def test_a_failed_look_out_ends_its_streams_and_comes_back(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> int:
        raise OSError("the disk is gone")

    async def story() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(world.store.changes, "follow", broken)
            async with world.stream() as blocks:
                assert await blocks.get() == ""
        async with world.stream() as blocks:
            await asyncio.to_thread(world.event)
            assert parsed(await blocks.get())[1] == "captured"

    run(story())
    assert "the look-out of lifecycle streams failed" in caplog.text


def test_one_failure_of_the_look_out_ends_no_stream_that_begins_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path, durable=False)
    feed = Feed(store)

    async def listening(tenant_id: str) -> Listener:
        listener = Listener(LifecycleQuery(tenant_id=tenant_id, limit=9), asyncio.get_running_loop())
        await asyncio.to_thread(feed.add, listener)
        return listener

    async def story() -> None:
        with monkeypatch.context() as patched:
            patched.setattr(store.lifecycle, "query", _hiccup)
            ended = await listening("a")
            while not ended.ended:
                await asyncio.sleep(0.01)
        # Its client is slow to take its last words: it is still there while others come.
        for _ in range(2):
            other = await listening("b")
            await asyncio.to_thread(append, store, "news", tenant_id="b")
            while other.due is None and not other.ended:
                await asyncio.sleep(0.01)
            assert not other.ended
            feed.remove(other)
        feed.remove(ended)

    try:
        run(story())
    finally:
        feed.close()
        store.close()


def _hiccup(query: LifecycleQuery) -> list[LifecycleRow]:
    raise OSError("the disk hiccups once")
