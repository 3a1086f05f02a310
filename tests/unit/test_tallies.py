"""What several processes count together, as they see it: each has its own view of one piece of memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from lamina.access.ratelimit import RateLimiter
from lamina.access.rules import Rate, RateRules
from lamina.errors import Busy
from lamina.kernel.operations import Effect
from lamina.kernel.time import SECOND_US
from lamina.lifecycle.places import Places, PlacesMax
from lamina.store.tallies import Bucket, SharedTallies

NOW = 1_000 * SECOND_US
RULES = RateRules(Rate(3, 1), Rate(3, 1), Rate(3, 1))
Process = Callable[[int], SharedTallies]


@pytest.fixture
def descriptor() -> Iterator[int]:
    made = SharedTallies.make()
    yield made
    os.close(made)


@pytest.fixture
def process(descriptor: int) -> Process:
    return lambda number: SharedTallies(descriptor, number)


def test_a_bucket_is_the_same_whichever_process_is_asked(process: Process) -> None:
    limiters = [RateLimiter(lambda *_: RULES, buckets=process(number)) for number in (1, 2)]
    taken = [limiters[n % 2].take("acme", "user:a", Effect.READ, NOW) for n in range(4)]
    assert [each.remaining for each in taken] == [2, 1, 0, 0]
    assert taken[-1].retry_after_s == pytest.approx(1 / 3)
    for limiter in limiters:
        assert limiter.take("acme", "user:b", Effect.READ, NOW).remaining <= 2
    with pytest.raises(Busy):
        [each.take_from("upsert", {"token": Rate(3, 60)}, NOW) for each in limiters * 2]


def test_buckets_of_more_callers_than_there_is_room_for_forget_the_longest_unused(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.store.tallies._BUCKETS", 64)
    table = process(1)
    for number in range(400):
        table.put((f"user:{number}",), Bucket(0.0, NOW + number))
    assert table.get(("user:399",)) == Bucket(0.0, NOW + 399)
    assert table.get(("user:0",)) is None


def test_streams_of_a_caller_count_in_every_process(process: Process) -> None:
    most = PlacesMax(in_all=9, of_tenant=3, of_actor=2)
    one, other = (Places(most, process(number)) for number in (1, 2))
    one.take("acme", "user:a")
    other.take("acme", "user:a")
    for places in (one, other):
        with pytest.raises(Busy, match="2 lifecycle streams of user:a"):
            places.take("acme", "user:a")
    other.take("acme", "user:b")
    with pytest.raises(Busy, match="3 lifecycle streams of the tenant acme"):
        one.take("acme", "user:c")
    one.give("acme", "user:a")
    other.take("acme", "user:a")


def test_a_process_that_is_full_takes_nothing_of_the_others(process: Process) -> None:
    most = PlacesMax(in_all=1, of_tenant=2, of_actor=2)
    one, other = (Places(most, process(number)) for number in (1, 2))
    one.take("acme", "user:a")
    with pytest.raises(Busy, match="1 lifecycle streams of this server"):
        one.take("acme", "user:a")
    other.take("acme", "user:a")


def test_what_a_process_held_when_it_died_is_free_once_it_is_back(process: Process) -> None:
    most = PlacesMax(of_actor=2)
    Places(most, process(2)).take("acme", "user:a")
    left = Places(most, process(1))
    left.take("acme", "user:a")
    with pytest.raises(Busy):
        left.take("acme", "user:a")
    process(2)
    left.take("acme", "user:a")


def test_two_names_that_come_together_get_a_slot_each(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 33 slots and a window of 32 nearly every pair begins in the other's; the first free slot of both may be one."""
    monkeypatch.setattr("lamina.store.tallies._PLACES", 33)
    tallies = process(1)
    for number in range(100):
        names = [(f"tenant:{number}",), (f"user:{number}",)]
        assert tallies.take([(name, 1) for name in names]) is None
        assert [tallies.take([(name, 1)]) for name in names] == [0, 0], number
        tallies.give(names)
        assert tallies.take([(name, 1) for name in names]) is None, number
        tallies.give(names)


HOLDER = """
import sys
from lamina.store.tallies import SharedTallies
with SharedTallies(int(sys.argv[1]), 2).held():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_of_a_process_that_is_killed_is_nobodys(descriptor: int, process: Process) -> None:
    command = [sys.executable, "-c", HOLDER, str(descriptor)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[descriptor]
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        tallies = process(1)
        with tallies.held() as table:  # it does not wait for one that never gives it back
            table.put(("a",), Bucket(1.0, NOW))
        holder.send_signal(signal.SIGKILL)
    assert tallies.get(("a",)) == Bucket(1.0, NOW)
