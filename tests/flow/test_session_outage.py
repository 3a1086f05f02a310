"""Everything behind the two calls is down, and comes back: nothing is lost, nothing is folded twice, nothing overtakes.

``OUTAGE_TURNS`` is how many turns are taken meanwhile.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from given import NOON, CountedIds, ManualClock, outbox_states
from lamina import limits
from lamina.access.policy import PolicyPermits
from lamina.errors import Invalid, Unavailable
from lamina.forget.planning import place_of_erasure
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Event, text_of
from lamina.kernel.operations import Call, Principal
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.models.ports import Generator
from lamina.session.brief import Briefing
from lamina.session.drain import Drain
from lamina.session.folders import Folded
from lamina.session.folding import TurnWords, fold_turn
from lamina.session.ingest import Ingesting
from lamina.session.inquirer import Inquirer
from lamina.session.names import scope_of
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.erasures import ErasureJob
from lamina.store.ports.sessions import OutboxRow, SessionKey
from lamina.store.ports.traces import ErasedBeside
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.connection import open_connection
from lamina.types.sessions import BriefAsked, Ingest
from policies import OpenPolicy

SESSIONS = 20
TURNS = int(os.environ.get("OUTAGE_TURNS", "400")) // SESSIONS


class Folding:
    """A model that can be down, and knows what it folded."""

    name = "small"

    def __init__(self) -> None:
        self.down = True
        self.folded: list[str] = []

    def fold(self, summary: str, turn: TurnWords) -> Folded:
        if self.down:
            raise Unavailable("MODEL_UNAVAILABLE", "down")
        self.folded.append(turn.text)
        return Folded(fold_turn(summary, turn))


class Graph:
    """A graph that can be down, or refuse, and knows what it was sent."""

    def __init__(self) -> None:
        self.error: Exception | None = Unavailable("GRAPH_UNAVAILABLE", "down")
        self.sent: dict[str, list[str]] = defaultdict(list)

    def send(self, row: OutboxRow, event: Event) -> None:
        if self.error is not None:
            raise self.error
        self.sent[row.place.session].append(text_of(event.content))


class World:
    def __init__(self, folder: Path) -> None:
        self.clock, self.folder = ManualClock(), folder
        self.store = SqliteStore(folder, clock=self.clock, ids=CountedIds(), durable=False)
        self.model, self.graph = Folding(), Graph()
        self.drain = Drain(self.store, self.clock, words_by_model=True, target=self.graph)
        self.inquirer = Inquirer(self.store, self.clock, cast(Generator, None), folder=self.model)
        self.principal = Principal("lamina", "service:app", "http")

    def call(self) -> Call:
        permits = PolicyPermits(OpenPolicy(), self.principal)
        return Call(self.principal, "req_1", self.clock.now(), permits)

    def say(self, session: str, number: int) -> dict[str, Any]:
        body = {
            "tenantId": "t",
            "userId": "u",
            "personaId": "p",
            "role": "user",
            "text": f"I need to do {session} number {number}.",
            "timestamp": rfc3339(NOON + number * SECOND_US),
            "sessionId": session,
        }
        return Ingesting(self.store).ingest(Ingest.model_validate(body), self.call()).result.model_dump()

    def brief(self, session: str) -> Any:
        now = rfc3339(NOON + TURNS * SECOND_US)
        asked = BriefAsked(
            tenant_id="t", user_id="u", persona_id="p", session_id=session, now=now, mode="in_session"
        )
        return Briefing(self.store).brief(asked, self.call()).result

    def ask(self) -> None:
        while self.inquirer.step():
            pass

    def row(self) -> OutboxRow:
        return self.store.sessions.outbox("lamina", None, 99)[-1]


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path)
    yield world
    world.store.close()


def texts(session: str, count: int = TURNS) -> list[str]:
    return [f"I need to do {session} number {number}." for number in range(count)]


@pytest.mark.slow
def test_turns_taken_with_everything_down_fold_once_and_in_order_when_it_comes_back(world):
    start = threading.Barrier(SESSIONS)

    def talk(session: str) -> None:
        start.wait()
        for number in range(TURNS):
            assert world.say(session, number) == {"ok": True, "session_id": session}
            shown = [turn.text for turn in world.brief(session).working_memory]
            assert shown == texts(session, number + 1)[-12:]

    names = [f"s-{n}" for n in range(SESSIONS)]
    with ThreadPoolExecutor(SESSIONS) as pool:
        list(pool.map(talk, names))
    for _ in range(3):  # it is tried, and fails, and calls go on
        world.drain.drain()
        world.ask()
        world.clock.at += 60 * SECOND_US
    assert outbox_states(world.store) == ["pending"] * SESSIONS * (TURNS - 12)
    world.model.down, world.graph.error = False, None
    world.drain.drain()
    world.ask()
    left = TURNS - limits.SESSION_WINDOW_TURNS
    assert sorted(world.model.folded) == sorted(t for name in names for t in texts(name, left))
    assert {name: world.graph.sent[name] for name in names} == {name: texts(name, left) for name in names}
    for name in names:
        summary = ""
        for text in texts(name, left):
            summary = fold_turn(summary, TurnWords("user", text))
        assert world.brief(name).rolling_summary == summary
    assert outbox_states(world.store) == []


def test_a_model_that_stays_down_keeps_no_turn_from_the_summary_and_words_it_when_it_is_back(world):
    for number in range(14):
        world.say("s", number)
    by_rules = fold_turn(fold_turn("", TurnWords("user", texts("s")[0])), TurnWords("user", texts("s")[1]))
    assert world.brief("s").rolling_summary == by_rules, "before anybody folded it"
    world.drain.drain()
    for _ in range(20):
        world.ask()
        world.clock.at += 60 * SECOND_US
    assert world.brief("s").rolling_summary == by_rules
    waiting = world.store.inquiries.unsettled("lamina", None, 9)
    assert {(each.state, each.attempts) for each in waiting} == {("pending", 0)}
    state = world.store.upkeep.state()
    assert (state.summaries_waiting, state.summaries_waiting_since) == (2, NOON)
    world.model.down = False
    world.ask()
    assert world.model.folded == texts("s", 2)
    assert world.store.inquiries.unsettled("lamina", None, 9) == []
    assert world.store.upkeep.state().summaries_waiting == 0


def test_a_graph_that_stays_down_fails_a_row_after_five_attempts_and_keeps_it_visible(world):
    world.model.down = False
    for number in range(13):
        world.say("s", number)
    for _ in range(5):
        world.drain.drain()
        world.clock.at += 400 * SECOND_US
    row = world.row()
    assert (row.state, row.attempts, row.folded_at is not None) == ("failed", 5, True)
    assert row.next_attempt_at is not None
    assert world.drain.drain().claimed == 0
    world.graph.error = None
    world.store.sessions.revive("lamina", scope_of("t", "u"))
    assert world.drain.drain().sent == 1
    assert world.graph.sent["s"] == texts("s", 1)


def test_a_graph_that_refuses_a_row_fails_it_at_once_and_takes_the_next(world):
    world.model.down = False
    world.graph.error = Invalid("GRAPH_REFUSED", "no such field")
    for number in range(13):
        world.say("s", number)
    world.drain.drain()
    row = world.row()
    assert (row.state, row.attempts, row.next_attempt_at) == ("failed", 1, None)
    world.graph.error = None
    world.say("s", 13)
    world.drain.drain()
    assert world.graph.sent["s"] == [texts("s")[1]]


def test_a_fold_that_crashed_before_it_landed_is_made_again_once(world):
    world.model.down, world.graph.error = False, None
    for number in range(13):
        world.say("s", number)
    now = world.clock.at
    world.store.sessions.claim(
        limit=9, lease_until=now + 60 * SECOND_US, now=now, owner="dead"
    )  # and then its worker dies
    assert world.drain.drain().claimed == 0
    world.clock.at += 61 * SECOND_US
    assert world.drain.drain().folded == 1
    assert world.brief("s").rolling_summary == fold_turn("", TurnWords("user", texts("s")[0]))


def test_a_summary_of_words_that_go_while_it_is_made_is_kept_nowhere(world):
    world.model.down, world.graph.error = False, None
    for number in range(15):
        world.say("s", number)
    world.drain.drain()
    first, *_ = world.store.log.walk("lamina", 0, 9)
    asked = []

    def fold(summary: str, turn: TurnWords) -> Folded:
        asked.append(turn.text)
        if turn.text == texts("s")[1]:
            erasure = Erasure(
                tenant_id="lamina", erasure_id="erasure_1", by_actor="user:root", cascade="redact_events",
                redact=[first.id],
            )  # fmt: skip
            assert list(erased_in_steps(world.store, erasure))
            world.store.traces.erase_beside(ErasedBeside(tenant_id="lamina", event_ids=[first.id]))
        return Folded(f"{summary} Then: {turn.text}")

    world.model.fold = fold
    world.inquirer.step()
    while texts("s")[1] not in asked:
        world.inquirer.step()
    connection = open_connection(world.folder / "lamina.db", durable=False, read_only=True)
    kept = connection.execute("SELECT text FROM model_output").fetchall()
    connection.close()
    assert not any("number 0" in text for (text,) in kept)
    assert "number 0" not in world.brief("s").rolling_summary


def test_what_was_cancelled_is_neither_folded_nor_sent(world):
    world.model.down, world.graph.error = False, None
    for number in range(14):
        world.say("s", number)
    first = world.row()
    world.store.log.cancel("lamina", first.event_id)
    assert world.drain.drain().sent == 2
    assert world.graph.sent["s"] == [texts("s")[1]]
    window = world.store.sessions.sitting(SessionKey("lamina", scope_of("t", "u"), "s"))
    assert window is not None
    world.store.log.cancel("lamina", window.window[0])
    assert len(world.brief("s").working_memory) == 11


def test_no_turn_goes_to_a_graph_while_its_memory_is_being_erased(world):
    """The graph would keep it: nobody erases there."""
    world.model.down, world.graph.error = False, None
    for number in range(14):
        world.say("s", number)
    home = scope_of("t", "u")
    place = place_of_erasure("erasure_1", home, ErasureRules())
    world.store.erasures.begin(
        ErasureJob(
            tenant_id="lamina",
            id="erasure_1",
            scope=home,
            place=place,
            requested_by="user:u",
            audit_note="",
            started_at=NOON,
        )
    )
    assert world.drain.drain().sent == 0
    assert (world.graph.sent, outbox_states(world.store)) == ({}, ["pending"] * 2)
    held = world.store.erasures.claim(now=NOON, lease_until=NOON + SECOND_US, owner="test")
    assert world.store.erasures.end(replace(held, status="cancelled"))
    world.clock.at += int(limits.OUTBOX_LEASE_S * SECOND_US)
    assert world.drain.drain().sent == 2
    assert world.graph.sent["s"] == texts("s", 2)
