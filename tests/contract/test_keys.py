"""What every engine promises of idempotency keys."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import pytest

from given import ALICE, NOON, TENANT, ManualClock, draft, key
from lamina import limits
from lamina.errors import Conflict, Unavailable
from lamina.kernel.time import SECOND_US
from lamina.store.ports.idempotency import IdempotencyEntry
from lamina.store.ports.log import Appended, Capture, EventQuery
from lamina.store.ports.store import Store

DAY_US = limits.IDEMPOTENCY_TTL_S * SECOND_US


# ---- idempotency


def test_one_at_a_time_is_alone_with_a_key(store: Store) -> None:
    inside: list[int] = []
    most: list[int] = []

    def enter(number: int) -> None:
        with store.idempotency.alone(key("shared")):
            inside.append(number)
            most.append(len(inside))
            time.sleep(0.002)
            inside.remove(number)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(enter, range(12)))
    assert most == [1] * 12


def test_so_many_wait_for_a_key_and_who_comes_then_is_refused_at_once(store: Store) -> None:
    entered: list[None] = []
    refused = threading.Event()

    def enter() -> None:
        try:
            with store.idempotency.alone(key("shared")):
                entered.append(None)
        except Unavailable:
            refused.set()

    callers = [threading.Thread(target=enter, daemon=True) for _ in range(limits.KEY_WAITS_OF_TENANT_MAX + 1)]
    with store.idempotency.alone(key("shared")):
        for caller in callers:
            caller.start()
        assert refused.wait(300)
        with store.idempotency.alone(key("free")):
            assert entered == []
    for caller in callers:
        caller.join(300)
    assert len(entered) == limits.KEY_WAITS_OF_TENANT_MAX
    with store.idempotency.alone(key("shared")):
        pass


def test_who_waits_too_long_for_a_key_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WAIT_S_MAX", 0.01)
    with (
        store.idempotency.alone(key("shared")),
        pytest.raises(Unavailable, match="has not ended"),
        store.idempotency.alone(key("shared")),
    ):
        pass


def test_who_is_alone_with_a_key_keeps_nobody_waiting_with_another(store: Store) -> None:
    done = threading.Event()

    def enter() -> None:
        with ExitStack() as held:
            for number in range(300):
                held.enter_context(store.idempotency.alone(key(f"k-{number}")))
        done.set()

    threading.Thread(target=enter, daemon=True).start()
    assert done.wait(300)


def test_who_fails_alone_with_a_key_lets_the_next_in(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.idempotency.alone(key("shared")):
        raise ZeroDivisionError
    with store.idempotency.alone(key("shared")):
        pass


def test_a_repeated_key_answers_with_the_first_event(store: Store) -> None:
    capture = Capture(draft(), key("k"), "sha256:a")
    [first] = store.log.append([capture])
    [again] = store.log.append([capture])
    assert (first.replayed, again.replayed) == (False, True)
    assert again.event == first.event
    assert len(store.log.walk(TENANT, 0, 10)) == 1
    assert store.jobs.backlog()["pending"] == 1


def test_a_key_used_twice_in_one_call_is_stored_once(store: Store) -> None:
    capture = Capture(draft(), key("k"), "sha256:a")
    first, second = store.log.append([capture, capture])
    assert (first.replayed, second.replayed) == (False, True)
    assert second.event == first.event
    assert len(store.log.walk(TENANT, 0, 10)) == 1


@pytest.mark.parametrize("known", [True, False])
def test_a_key_with_another_body_is_a_conflict_and_nothing_is_stored(store: Store, known: bool) -> None:
    first = Capture(draft("a"), key("k"), "sha256:a")
    if known:
        store.log.append([first])
    before = store.log.walk(TENANT, 0, 10)
    calls = [Capture(draft("new")), first, Capture(draft("b"), key("k"), "sha256:b"), Capture(draft("last"))]
    with pytest.raises(Conflict) as caught:
        store.log.append(calls)
    assert caught.value.code == "IDEMPOTENCY_CONFLICT"
    assert store.log.walk(TENANT, 0, 10) == before


@pytest.mark.parametrize(
    ("after_us", "stored"), [(DAY_US - 1, 1), (DAY_US, 2)], ids=["just before a day", "a day"]
)
def test_a_key_lives_for_a_day(store: Store, clock: ManualClock, after_us: int, stored: int) -> None:
    store.log.append([Capture(draft(), key("k"), "sha256:a")])
    clock.at += after_us
    store.log.append([Capture(draft(), key("k"), "sha256:a")])
    assert len(store.log.walk(TENANT, 0, 10)) == stored


def test_of_many_at_once_only_those_that_differ_are_refused(store: Store) -> None:
    """Threads that write one at a time: each key three times, the last with another body."""
    captures = [
        Capture(draft(f"{name}"), key(f"k{name}"), body)
        for name in range(12)
        for body in ("same", "same", "other")
    ]

    def write(capture: Capture) -> Appended | Conflict:
        try:
            return store.log.append([capture])[0]
        except Conflict as refused:
            return refused

    with ThreadPoolExecutor(12) as pool:
        outcomes = list(pool.map(write, captures))
    for number in range(12):
        stored = [each for each in outcomes[3 * number : 3 * number + 3] if isinstance(each, Appended)]
        assert 1 <= len(stored) <= 2, "either body may be the first, and the other one is refused"
        assert len({each.event.id for each in stored}) == 1
        assert sum(not each.replayed for each in stored) == 1
    events = store.log.query(EventQuery(tenant_id=TENANT, scopes=[ALICE], ascending=True))
    assert [event.position for event in events] == list(range(1, 13))


@pytest.mark.parametrize("field", ["tenant_id", "caller", "family", "key"])
def test_a_key_means_something_only_in_its_own_family(store: Store, field: str) -> None:
    store.log.append([Capture(draft(), key("k"), "sha256:a")])
    other = key("k")._replace(**{field: "other"})
    [appended] = store.log.append([Capture(draft(), other, "sha256:b")])
    assert not appended.replayed
    assert store.idempotency.find(other._replace(key="never"), NOON) is None


def batch_entry(batch_id: str, body_hash: str = "sha256:a", at: int = NOON) -> IdempotencyEntry:
    return IdempotencyEntry(key("bulk"), body_hash, at, response={"batch_id": batch_id})


def test_an_answer_remembered_with_the_events_stands_with_them(store: Store) -> None:
    entry = batch_entry("batch_1")
    batch = store.log.append_once([Capture(draft()), Capture(draft("b"))], entry)
    assert (batch.entry, batch.replayed, len(batch.appended)) == (entry, False, 2)
    assert store.idempotency.find(key("bulk"), NOON) == entry
    with pytest.raises(ValueError, match="JSON"):
        store.log.append_once([Capture(draft(content={"x": float("inf")}))], replace(entry, key=key("other")))
    assert store.idempotency.find(key("other"), NOON) is None


def test_what_lands_once_lands_under_the_entry_that_was_first(store: Store) -> None:
    first = batch_entry("batch_1")
    store.log.append_once([Capture(draft(batch_id="batch_1"))], first)
    again = store.log.append_once([Capture(draft(batch_id="batch_2"))], batch_entry("batch_2"))
    assert (again.entry, again.replayed, list(again.appended)) == (first, True, [])
    assert store.idempotency.find(key("bulk"), NOON) == first
    with pytest.raises(Conflict) as caught:
        store.log.append_once([Capture(draft("other"))], batch_entry("batch_3", "sha256:b"))
    assert caught.value.code == "IDEMPOTENCY_CONFLICT"
    assert [event.batch_id for event in store.log.walk(TENANT, 0, 10)] == ["batch_1"]


@pytest.mark.parametrize(("after_us", "replayed"), [(DAY_US - 1, True), (DAY_US, False)])
def test_what_lands_once_lands_again_after_a_day(store: Store, after_us: int, replayed: bool) -> None:
    store.log.append_once([Capture(draft())], batch_entry("batch_1"))
    later = batch_entry("batch_2", at=NOON + after_us)
    assert store.log.append_once([Capture(draft("b"))], later).replayed is replayed
    assert store.log.count(TENANT, [ALICE]) == 2 - replayed


def test_many_at_once_under_one_key_land_once(store: Store) -> None:
    entries = [batch_entry(f"batch_{n}") for n in range(16)]
    with ThreadPoolExecutor(8) as pool:
        landed = list(pool.map(lambda entry: store.log.append_once([Capture(draft())], entry), entries))
    assert len({batch.entry.response["batch_id"] for batch in landed if batch.entry.response}) == 1
    assert [batch.replayed for batch in landed].count(False) == 1
    assert store.log.count(TENANT, [ALICE]) == 1


def test_the_older_answer_stands_until_it_expires(store: Store) -> None:
    first = IdempotencyEntry(key("k"), "sha256:a", NOON, response={"n": 1})
    second = replace(first, body_hash="sha256:b", created_at=NOON + 1, response={"n": 2})
    late = replace(second, created_at=NOON + DAY_US)
    assert store.idempotency.remember(first) == first
    assert store.idempotency.remember(second) == first
    assert store.idempotency.remember(late) == late
    assert store.idempotency.find(key("k"), NOON + DAY_US + 1) == late


def test_pruning_forgets_keys_used_before_an_instant(store: Store) -> None:
    for number in range(3):
        store.idempotency.remember(
            IdempotencyEntry(key(f"k{number}"), "sha256:a", NOON + number, response={})
        )
    assert store.idempotency.prune(NOON + 2) == 2
    assert [store.idempotency.find(key(f"k{n}"), NOON + 3) is None for n in range(3)] == [True, True, False]
