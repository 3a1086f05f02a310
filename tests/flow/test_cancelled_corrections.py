"""After a cancellation, memory is what it would be had the event never been told; and a replay makes the same of it."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, TENANT, ManualClock
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.events import Event, Party
from lamina.kernel.records import Layer
from lamina.kernel.time import rfc3339
from lamina.store.ports.erasing import Erasure
from lamina.store.sqlite import SqliteStore
from told import ANA, BOB, DAY, START, Memory


def test_a_cancelled_correction_gives_back_what_it_replaced(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    wrong = memory.tell("I live in Lisbon.", START + DAY)
    memory.derive()
    memory.cancel(wrong)
    memory.derive()
    assert memory.homes() == [("Porto", START, None)]
    (belief,) = memory.held(Layer.BELIEFS)
    assert (belief.object.text, belief.stance, belief.valid_to, belief.contradicts) == (
        "Porto",
        "supported",
        None,
        (),
    )
    assert memory.shown()["identity"]["facts"] == {"home": "Porto"}


def test_what_was_held_before_a_cancellation_stays_for_readers_of_that_time(memory: Memory) -> None:
    first = memory.tell("I live in Porto.", START)
    memory.derive()
    wrong = memory.tell("I live in Lisbon.", START + DAY)
    memory.derive()
    memory.cancel(wrong)
    memory.derive()
    assert memory.homes(first.recorded_at) == [("Porto", START, None)]
    assert memory.homes(wrong.recorded_at) == [("Porto", START, START + DAY)]
    assert memory.homes(memory.clock.at) == [("Porto", START, None)]


def test_what_follows_a_cancelled_correction_follows_what_was_there_before(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    wrong = memory.tell("I live in Lisbon.", START + DAY)
    memory.tell("I live in Berlin.", START + 2 * DAY)
    memory.derive()
    memory.cancel(wrong)
    memory.derive()
    assert memory.homes() == [("Porto", START, START + 2 * DAY), ("Berlin", START + 2 * DAY, None)]
    memory.tell("I live in Rome.", START + 3 * DAY)
    memory.derive()
    assert memory.homes()[1:] == [
        ("Berlin", START + 2 * DAY, START + 3 * DAY),
        ("Rome", START + 3 * DAY, None),
    ]


def test_what_is_understood_tells_the_value_before_a_cancelled_correction(memory: Memory) -> None:
    for text in ("My name is Ana.", "I work at Fernhill.", "I like ramen.", "I live in Porto."):
        memory.tell(text, START)
    wrong = memory.tell("I live in Lisbon.", START + DAY)
    memory.derive()
    memory.cancel(wrong)
    memory.derive()
    (concept,) = [each for each in memory.held(Layer.UNDERSTANDING) if each.topic == "entity"]
    assert "Porto" in concept.summary
    assert "Lisbon" not in concept.summary


def test_every_door_shows_the_value_before_a_cancelled_correction(world: Any) -> None:
    who = {"tenantId": "t", "userId": "mov", "personaId": "p", "sessionId": "s-1", "role": "user"}
    user, scope = {"tenantId": "t", "userId": "mov"}, "org:t/user:mov"
    wrong = ("I live in Lisbon.", "My name is Bob.")
    for day, texts in (("03", ("I live in Porto.", "My name is Ana.")), ("04", wrong)):
        for text in texts:
            world.post("/ingest", {**who, "text": text, "timestamp": f"2026-05-{day}T10:00:00Z"})
    memory = Memory(world.store, world.clock)
    memory.derive()
    assert world.get("/user/identity", **user)["facts"] == {"home": "Lisbon"}
    for event in world.get("/v1/events", scope=scope)["items"]:
        if event["content"]["text"] in wrong:
            world.post(f"/v1/lifecycle/memory-event/{event['id']}/cancel", {})
    memory.derive()
    identity = world.get("/user/identity", **user)
    assert (identity["name"], identity["facts"]) == ("Ana", {"home": "Porto"})
    facts = world.get("/v1/facts", scope=scope, predicate="lives_in")["items"]
    assert [(fact["object"]["name"], fact["valid_to"]) for fact in facts] == [("Porto", None)]
    (belief,) = world.get("/v1/beliefs", scope=scope, predicate="lives_in")["items"]
    assert (belief["stance"], belief["contradicts"]) == ("supported", [])
    assert [each["polarity"] for each in belief["supports"]] == ["supports"]
    why = world.get("/v1/beliefs/why", belief_id=belief["id"])
    assert "Lisbon" not in json.dumps(why)
    assert {edge["relation"] for edge in why["support_graph"]["edges"]} == {"supported_by", "extracted_from"}
    line = world.get("/v1/facts/timeline", scope=scope, subject="mov", predicate="lives_in")["timeline"]
    assert [(entry["value"], entry["valid_to"]) for entry in line] == [("Porto", None)]
    assert len(world.get("/v1/events", scope=scope)["items"]) == 2


def test_what_was_cancelled_is_read_under_its_id_and_says_that_it_was(world: Any) -> None:
    who = {"tenantId": "t", "userId": "mov", "personaId": "p", "sessionId": "s-1", "role": "user"}
    world.post("/ingest", {**who, "text": "I live in Porto.", "timestamp": "2026-05-03T10:00:00Z"})
    memory = Memory(world.store, world.clock)
    memory.derive()
    before = {"as_of": rfc3339(world.clock.at)}
    world.clock.at += DAY
    scope = "org:t/user:mov"
    (event,) = world.get("/v1/events", scope=scope)["items"]
    paths = {}
    for layer in ("facts", "beliefs"):
        (item,) = world.get(f"/v1/{layer}", scope=scope)["items"]
        paths[layer] = f"/v1/{layer}/{item['id']}"
    world.post(f"/v1/lifecycle/memory-event/{event['id']}/cancel", {})
    memory.derive()
    for layer in paths:
        assert world.get(f"/v1/{layer}", scope=scope)["items"] == []
        assert world.get(f"/v1/{layer}", scope=scope, **before)["items"] == []
    for path in (f"/v1/events/{event['id']}", paths["facts"]):
        assert world.get(path)["excluded_from_recall"] is True
    for path in paths.values():
        assert world.get(path, **before)["excluded_from_recall"] is True
    assert world.refused(paths["beliefs"]) == (410, "RESOURCE_DELETED")


TOLD: tuple[Any, ...] = (
    "I live in Porto.", "I live in Lisbon.", "I live in Berlin.", "I work at Fernhill.", "I work at Tidewater.",
    "My name is Ana.", "My name is Anna Lind.", "I no longer live in Porto.", "I used to live in Berlin.",
    {"kind": "triple", "subject": "Ana", "predicate": "lives_in", "object": {"value": "Rome", "datatype": "string"}},
)  # fmt: skip


def test_a_cancelled_turn_whose_words_are_erased_is_not_derived_by_a_replay(memory: Memory) -> None:
    """Once a replay made an episode of what was left of it, and an erased scope told again of a conversation."""
    turn = memory.tell("I live in Porto.", START)
    memory.derive()
    memory.cancel(turn)
    memory.derive()
    erasure = Erasure(
        tenant_id=TENANT, erasure_id="e", by_actor="user:root", cascade="gdpr", scopes=frozenset([ALICE]),
        redact=[turn.id], factor=0.5, floor=0.3,
    )  # fmt: skip
    assert list(erased_in_steps(memory.store, erasure))
    live, replayed = memory.replayed()
    assert replayed == live
    assert memory.store.records.dependants_of(TENANT, [turn.id]) == {}


def test_what_an_older_release_left_of_such_a_turn_is_not_derived_either(tmp_path: Path) -> None:
    """It kept the mark of how far the turn had come before it was cancelled."""
    memory = Memory(SqliteStore(tmp_path, clock=ManualClock(), durable=False), ManualClock())
    turn = memory.tell("I live in Porto.", START)
    memory.derive()
    memory.cancel(turn)
    memory.derive()
    erasure = Erasure(
        tenant_id=TENANT, erasure_id="e", by_actor="user:root", cascade="gdpr", scopes=frozenset([ALICE]),
        redact=[turn.id], factor=0.5, floor=0.3,
    )  # fmt: skip
    assert list(erased_in_steps(memory.store, erasure))
    with closing(sqlite3.connect(tmp_path / "lamina.db")) as database, database:
        database.execute("UPDATE event SET cancelled_after = 'compressed' WHERE id = ?", (turn.id,))
    memory.replayed()
    assert memory.store.records.dependants_of(TENANT, [turn.id]) == {}
    memory.store.close()


@pytest.mark.parametrize("seed", range(12))
def test_memory_is_what_it_would_be_without_the_cancelled_events(
    make_memory: Callable[[], Memory], seed: int
) -> None:
    chance = random.Random(seed)
    memory, fresh = make_memory(), make_memory()
    told: list[tuple[Any, int, Party, Event]] = []
    gone: set[str] = set()
    times = chance.sample(range(200), 40)
    for number in range(chance.randrange(5, 30)):
        what, at = chance.choice(TOLD), START + times[number] * DAY // 4
        who = chance.choice([ANA, ANA, BOB]) if isinstance(what, str) else ANA
        told.append((what, at, who, memory.tell(what, at, who)))
        if chance.random() < 0.3:
            event = chance.choice(told)[3]
            memory.cancel(event)
            gone.add(event.id)
        if chance.random() < 0.3:
            memory.derive()
    memory.derive()
    for what, at, who, event in told:
        if event.id not in gone:
            fresh.tell(what, at, who)
    fresh.derive()
    assert memory.shown() == fresh.shown(), f"seed {seed}"
    live, replayed = memory.replayed()
    assert replayed == live, f"seed {seed}"
