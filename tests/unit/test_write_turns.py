"""Writes of several tenants where more come than have a place: who gets the next one."""

from __future__ import annotations

import asyncio

from lamina.http.turns import WriteTurns


class Writers:
    """Tenants that each hold a place until they are told, and the order in which places became theirs."""

    def __init__(self, places: int, of_tenant: int | None = None) -> None:
        self.turns = WriteTurns(of_tenant or places, places)
        self.order: list[str] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def come(self, *tenants: str) -> list[asyncio.Task[None]]:
        tasks = [asyncio.ensure_future(self._take(tenant)) for tenant in tenants]
        self._tasks += tasks
        await asyncio.sleep(0)
        return tasks

    async def _take(self, tenant: str) -> None:
        await self.turns.take(tenant)
        self.order.append(tenant)

    async def end(self, *tenants: str) -> None:
        for tenant in tenants:
            self.turns.give(tenant)
        await asyncio.sleep(0)


def test_a_tenant_with_few_writes_goes_before_the_queue_of_one_with_many() -> None:
    async def story() -> None:
        writers = Writers(2)
        await writers.come(*["acme"] * 50)
        assert writers.order == ["acme", "acme"]
        await writers.come("globex")
        await writers.end("acme")
        assert writers.order == ["acme", "acme", "globex"]
        await writers.end("acme", "globex", "acme")
        assert writers.order[3:] == ["acme"] * 3
        assert writers.turns.waiting == 45

    asyncio.run(story())


def test_a_tenant_whose_writes_take_long_leaves_places_for_others() -> None:
    async def story() -> None:
        writers = Writers(3, of_tenant=2)
        await writers.come("acme", "acme", "acme")
        assert writers.order == ["acme", "acme"]
        await writers.come("globex")
        assert writers.order[2:] == ["globex"]
        await writers.end("globex")
        assert writers.turns.waiting == 1
        await writers.end("acme")
        assert writers.order[3:] == ["acme"]

    asyncio.run(story())


def test_tenants_that_hold_as_many_take_turns_in_the_order_in_which_they_came() -> None:
    async def story() -> None:
        writers = Writers(1)
        await writers.come("a", "b", "b", "c", "c", "a")
        for _ in range(5):
            await writers.end(writers.order[-1])
        assert writers.order == ["a", "b", "c", "a", "b", "c"]

    asyncio.run(story())


def test_who_leaves_the_queue_takes_no_place() -> None:
    async def story() -> None:
        writers = Writers(1)
        _, left, given, last = await writers.come("a", "b", "c", "d")
        left.cancel()
        writers.turns.give("a")
        given.cancel()  # the place is theirs, and they are gone before they know
        for _ in range(3):
            await asyncio.sleep(0)
        assert last.done()
        assert writers.order == ["a", "d"]
        assert writers.turns.waiting == 0

    asyncio.run(story())
