"""Who may recall when all cores are at work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from lamina import limits
from lamina.errors import Busy, Unavailable
from lamina.recall.room import RecallRoom


class Callers:
    """Callers on threads of their own; ``served`` has them in the order in which they had a place."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self.served: list[str] = []

    def ask(self, room: RecallRoom, tenant_id: str) -> Future[None]:
        """One more waits once this returns."""
        before = room.waiting
        asked = self.ask_unseen(room, tenant_id)
        while room.waiting == before and not asked.done():
            threading.Event().wait(0.001)
        return asked

    def ask_unseen(self, room: RecallRoom, tenant_id: str) -> Future[None]:
        """One more asks, perhaps after this returns."""

        def recall() -> None:
            with room.place(tenant_id):
                self.served.append(tenant_id)

        return self._pool.submit(recall)


@pytest.fixture
def callers() -> Iterator[Callers]:
    with ThreadPoolExecutor(8) as pool:
        yield Callers(pool)


def test_as_many_as_there_are_cores_run_at_once_and_the_next_waits(callers: Callers) -> None:
    room = RecallRoom(2)
    with ExitStack() as at_work:
        at_work.enter_context(room.place("acme"))
        with room.place("acme"):
            waits = callers.ask(room, "acme")
            assert (room.waiting, waits.done()) == (1, False)
        waits.result(60)


def test_tenants_are_served_in_turn(callers: Callers) -> None:
    room = RecallRoom(1)
    with room.place("beta"):
        with room.place("acme"):
            asked = [callers.ask(room, tenant_id) for tenant_id in ("acme", "acme", "acme", "zeta")]
        for each in asked:
            each.result(60)
    assert callers.served == ["acme", "zeta", "acme", "acme"]


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_tenant_that_has_all_places_holds_nobody_else_up(callers: Callers, at_once: int) -> None:
    room = RecallRoom(at_once)
    with ExitStack() as at_work:
        for _ in range(at_once):
            at_work.enter_context(room.place("acme"))
        theirs = callers.ask(room, "acme")
        for tenant_id in ("zeta", "beta"):
            callers.ask(room, tenant_id).result(60)
        with room.place("zeta"):
            waits = callers.ask(room, "beta")
            assert (room.waiting, waits.done()) == (2, False)
        waits.result(60)
        assert not theirs.done()
    theirs.result(60)


def test_whoever_waits_has_the_place_more_once_all_are_of_one_tenant(callers: Callers) -> None:
    room = RecallRoom(2)
    served = threading.Event()

    def long_recall() -> None:
        with room.place("acme"):
            served.wait(60)

    with room.place("acme"), ThreadPoolExecutor(1) as pool:
        with room.place("zeta"):
            longer = pool.submit(long_recall)
            while not room.waiting:
                threading.Event().wait(0.001)
            beta = callers.ask(room, "beta")
        beta.result(60)
        served.set()
        longer.result(60)


def test_no_tenant_takes_the_whole_queue(callers: Callers) -> None:
    room = RecallRoom(1, waiting_max=3, of_tenant_max=2)
    with room.place("acme"), room.place("beta"):
        for tenant_id in ("acme", "acme", "zeta"):
            callers.ask(room, tenant_id)
        with pytest.raises(Busy) as theirs, room.place("acme"):
            pass
        with pytest.raises(Unavailable) as anybodys, room.place("zeta"):
            pass
        assert room.waiting == 3
    assert (theirs.value.code, anybodys.value.code) == ("TOO_MUCH_AT_ONCE", "SERVER_FULL")
    assert theirs.value.details["retry_after_s"] >= 1


def test_two_tenants_that_fill_the_queue_make_room_for_a_third(callers: Callers) -> None:
    room = RecallRoom(1, waiting_max=4, of_tenant_max=3)
    with ExitStack() as at_work:
        for tenant_id in ("acme", "beta"):
            at_work.enter_context(room.place(tenant_id))
        acme = [callers.ask(room, "acme") for _ in range(3)]
        beta = callers.ask(room, "beta")
        zeta = callers.ask_unseen(room, "zeta")
        with pytest.raises(Busy) as newest:
            acme[2].result(60)
        with pytest.raises(Unavailable), room.place("zeta"):
            pass
        assert room.waiting == 4
    for each in (*acme[:2], beta, zeta):
        each.result(60)
    assert newest.value.code == "TOO_MUCH_AT_ONCE"
    assert newest.value.details["retry_after_s"] >= 1


def test_who_would_wait_too_long_is_told_at_once(callers: Callers, monkeypatch: pytest.MonkeyPatch) -> None:
    room = RecallRoom(1)
    with room.place("acme"):
        pass  # from now on it knows how long one takes
    monkeypatch.setattr(limits, "RECALL_WAIT_S_MAX", 0.0)
    with room.place("acme"), pytest.raises(Unavailable) as caught, room.place("acme"):
        pass
    assert caught.value.code == "SERVER_FULL"


def test_who_waits_behind_others_alone_is_not_refused_for_their_queue(
    callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = RecallRoom(1)
    with monkeypatch.context() as watched:
        watched.setattr("lamina.recall.room.time.monotonic", iter([0.0, 10.0]).__next__)
        with room.place("acme"):
            pass  # from now on one takes a second
    monkeypatch.setattr(limits, "RECALL_WAIT_S_MAX", 4.0)
    with room.place("beta"):
        with room.place("acme"):
            for _ in range(4):
                callers.ask(room, "acme")
            with pytest.raises(Unavailable) as caught, room.place("acme"):
                pass
            zeta = callers.ask(room, "zeta")
            assert room.waiting == 5
        zeta.result(60)
    assert caught.value.details["retry_after_s"] == 5
    assert callers.served[:2] == ["acme", "zeta"]


def test_a_recall_that_fails_gives_its_place_back() -> None:
    room = RecallRoom(1)
    for _ in range(2):
        with pytest.raises(KeyError), room.place("acme"):
            raise KeyError
