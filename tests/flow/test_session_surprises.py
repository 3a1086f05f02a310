"""Errors that nobody thought of, behind the two calls: each is an attempt of the turn that it comes of, and of nobody else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from given import NOON, CountedIds, ManualClock
from lamina.errors import Fault, Unavailable
from lamina.kernel.events import Event, text_of
from lamina.kernel.local import LocalTime
from lamina.kernel.operations import Principal
from lamina.kernel.time import SECOND_US
from lamina.models.generator import OpenAiGenerator
from lamina.models.ports import Generator
from lamina.observe.rounds import Failures
from lamina.session.drain import Drain
from lamina.session.folders import Folded
from lamina.session.folding import TurnWords, fold_turn
from lamina.session.ingest import turn_capture
from lamina.session.inquirer import Inquirer
from lamina.session.names import scope_of
from lamina.store.ports.sessions import Fold, OutboxRow, SessionKey
from lamina.store.sqlite import SqliteStore

PRINCIPAL = Principal("lamina", "service:app", "http")
SECRET = "Maya is ill"  # as an error may quote it
HALF = b'{"choices":[{"message":{"content":"Ann has to do some numbers \\ud83d"}}]}'


class World:
    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.store = SqliteStore(folder, clock=self.clock, ids=CountedIds(), durable=False)

    def say(self, user: str, *texts: str) -> None:
        turns = [
            turn_capture(
                PRINCIPAL,
                scope_of("t", user),
                actor=f"user:{user}",
                persona=None,
                role="user",
                text=text,
                at=LocalTime(NOON + place * SECOND_US),
                session="s",
                named="s",
            )
            for place, text in enumerate(texts)
        ]
        for turn in turns:
            self.store.sessions.take([turn])

    def summary(self, user: str) -> str:
        sitting = self.store.sessions.sitting(SessionKey("lamina", scope_of("t", user), "s"))
        assert sitting is not None
        return sitting.summary

    def rows(self, user: str) -> list[OutboxRow]:
        return list(reversed(self.store.sessions.outbox("lamina", scope_of("t", user), 99)))

    def let_pass(self, drain: Drain, rounds: int = 6) -> None:
        for _ in range(rounds):
            drain.drain()
            self.clock.at += 400 * SECOND_US


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.store.close()


def left(user: str, count: int = 3) -> list[str]:
    return [f"I need to do {user} number {number}." for number in range(count)]


def turns(user: str, count: int = 3) -> list[str]:
    """So many turns, and those that push them out of the window."""
    return [*left(user, count), *(f"filler {number}" for number in range(12))]


def folded(*texts: str) -> str:
    summary = ""
    for text in texts:
        summary = fold_turn(summary, TurnWords("user", text))
    return summary


def test_half_an_emoji_from_a_model_stops_nobody(world: World) -> None:
    for user in ("ann", "bob"):
        world.say(user, *["I need to do some numbers."] * 3, *turns(user, 0))
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=HALF))
    model = OpenAiGenerator("http://model/v1", "small", timeout_s=5, transport=transport)
    Drain(world.store, world.clock, words_by_model=True).drain()
    assert world.store.sessions.outbox("lamina", None, 10) == []
    ask(Inquirer(world.store, world.clock, model))
    assert world.summary("ann") == "Ann has to do some numbers ?"


class Folding:
    """Folds by rules, and adds to the summary what a text is answered with; raises where that is an error."""

    name = "small"

    def __init__(self, odd: dict[str, str | Exception]) -> None:
        self.odd = odd

    def fold(self, summary: str, turn: TurnWords) -> Folded:
        said = self.odd.get(turn.text, "")
        if isinstance(said, Exception):
            raise said
        return Folded(fold_turn(summary, turn) + said)


@pytest.mark.parametrize(
    "odd",
    [KeyError(SECRET), Fault("INTERNAL", "a bug"), "\ud83d"],
    ids=["an error of a library", "a fault of ours", "a summary that no store can hold"],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_folder_that_breaks_on_one_turn_costs_that_turn_attempts_and_its_words_are_the_rules(
    world: World, odd: str | Exception, place: int
) -> None:
    world.say("ann", *turns("ann"))
    world.say("bob", *turns("bob"))
    Drain(world.store, world.clock, words_by_model=True).drain()
    folder = Folding({left("ann")[place]: odd})
    inquirer = Inquirer(world.store, world.clock, cast(Generator, None), folder=folder)
    ask(inquirer)
    assert {name: world.summary(name) for name in ("ann", "bob")} == {
        name: folded(*left(name)) for name in ("ann", "bob")
    }
    waiting = world.store.inquiries.unsettled("lamina", None, 10)[::-1]
    assert [each.attempts for each in waiting] == [1] + [0] * (2 - place)
    assert SECRET not in str(waiting[0].last_error)
    for _ in range(4):
        world.clock.at += 400 * SECOND_US
        ask(inquirer)
    assert world.summary("ann") == folded(*left("ann"))
    assert world.store.inquiries.unsettled("lamina", None, 10) == []


def ask(inquirer: Inquirer) -> None:
    while inquirer.step():
        pass


def test_a_turn_that_nobody_can_fold_fails_visibly_and_those_behind_it_go_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.say("ann", *turns("ann"))
    land, poison = world.store.sessions.fold, world.rows("ann")[1].id

    def refuse(fold: Fold) -> bool:
        if poison in fold.ids:
            raise TypeError(SECRET)
        return land(fold)

    monkeypatch.setattr(world.store.sessions, "fold", refuse)
    drain = Drain(world.store, world.clock)
    world.let_pass(drain)
    assert [row.state for row in world.store.sessions.outbox("lamina", None, 10)] == ["failed"]
    assert [(row.id, row.attempts, row.last_error) for row in world.rows("ann")] == [
        (poison, 5, "builtins.TypeError")
    ]
    assert world.summary("ann") == folded(left("ann")[0], left("ann")[2])
    monkeypatch.undo()
    world.store.sessions.revive("lamina", scope_of("t", "ann"))
    assert drain.drain().folded == 1


class Graph:
    def __init__(self, odd: str) -> None:
        self.odd, self.sent = odd, list[str]()

    def send(self, row: OutboxRow, event: Event) -> None:
        text = text_of(event.content)
        if text == self.odd:
            raise RuntimeError(text)
        self.sent.append(text)


def test_a_target_that_breaks_on_one_turn_costs_that_turn_attempts_and_nothing_overtakes_it(
    world: World,
) -> None:
    world.say("ann", *turns("ann"))
    graph = Graph(left("ann")[1])
    drain = Drain(world.store, world.clock, target=graph)
    drain.drain()
    assert graph.sent == left("ann")[:1]
    assert world.summary("ann") == folded(*left("ann"))
    world.let_pass(drain)
    assert graph.sent == [left("ann")[0], left("ann")[2]]
    (row,) = world.rows("ann")
    assert (row.state, row.attempts, row.last_error) == ("failed", 5, "builtins.RuntimeError")


def test_what_is_cancelled_while_a_batch_is_sent_stays_here(world: World) -> None:
    world.say("ann", *turns("ann"))
    rows = world.rows("ann")

    class Slow(Graph):
        def send(self, row: OutboxRow, event: Event) -> None:
            super().send(row, event)
            world.store.log.cancel("lamina", rows[1].event_id)

    graph = Slow("")
    Drain(world.store, world.clock, target=graph).drain()
    assert set(graph.sent) == {left("ann")[0], left("ann")[2]}


def test_a_store_that_is_away_costs_no_turn_an_attempt(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.say("ann", *turns("ann"))

    def away(fold: Fold) -> bool:
        raise Unavailable("WAL_UNAVAILABLE", "the disk is full")

    monkeypatch.setattr(world.store.sessions, "fold", away)
    with pytest.raises(Unavailable):
        Drain(world.store, world.clock).drain()
    assert [row.attempts for row in world.rows("ann")] == [0, 0, 0]


def broken(times: list[int]) -> Callable[..., Any]:
    def claim(**asked: Any) -> list[Any]:
        times.append(1)
        raise KeyError(SECRET)

    return claim


def test_a_drain_that_cannot_claim_says_so_and_goes_on_until_it_can(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world.say("ann", *turns("ann"))
    failures, times, stop = Failures(), list[int](), threading.Event()
    drain = Drain(world.store, world.clock, failures=failures, sleep=lambda _: time.sleep(0.001))
    with monkeypatch.context() as patched:
        patched.setattr(world.store.sessions, "claim", broken(times))
        thread = threading.Thread(target=drain.run, args=(stop.is_set,))
        thread.start()
        until = time.monotonic() + 300
        while len(times) < 3 and time.monotonic() < until:
            time.sleep(0.001)
        assert failures.standing() == {"the outbox": "builtins.KeyError"}
    while world.rows("ann") and time.monotonic() < until:
        time.sleep(0.001)
    stop.set()
    thread.join(300)
    assert (world.rows("ann"), failures.standing()) == ([], {})
    assert "builtins.KeyError" in caplog.text
    assert SECRET not in caplog.text
