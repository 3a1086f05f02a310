"""What holds now is what was said last about now, also where a newer statement tells a beginning of long ago.

``BEGINNINGS_SEEDS`` is how many histories are tried.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from lamina.kernel.records import Belief, Fact, Layer, Stance
from lamina.kernel.time import SECOND_US, instant
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from told import Memory

SEEDS = int(os.environ.get("BEGINNINGS_SEEDS", "2"))
NOW = instant("2026-10-02T09:00:00Z")
MINUTE = 60 * SECOND_US
DAY = 24 * 60 * MINUTE
MakeMemory = Callable[..., Memory]

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def reader() -> RulesExtractor:
    return RulesExtractor(find_times)


@pytest.fixture
def memory(make_memory: MakeMemory, reader: RulesExtractor) -> Memory:
    return make_memory(reader)


def chain(memory: Memory, predicate: str) -> list[tuple[str, int, int | None]]:
    facts = [f for f in memory.held(Layer.FACTS) if isinstance(f, Fact) and f.slot is not None]
    told = [f for f in facts if f.predicate == predicate and not f.negated]
    found = [(f.object.text, f.valid_from, f.valid_to) for f in told]
    return sorted(found, key=lambda each: each[1])


def now(memory: Memory, predicate: str) -> list[str]:
    return [value for value, _, ends_at in chain(memory, predicate) if ends_at is None]


@pytest.mark.parametrize(
    ("earlier", "later", "predicate", "value"),
    [
        ("I live in Lisbon.", "I moved to Porto yesterday.", "lives_in", "Porto"),
        ("I live in Lisbon.", "Actually, I moved to Porto last week.", "lives_in", "Porto"),
        ("I live in Lisbon.", "I have lived in Porto since May.", "lives_in", "Porto"),
        ("I live in Lisbon.", "I moved to Porto in August.", "lives_in", "Porto"),
        ("My manager is Tom.", "Since Monday my manager is Eva.", "manager", "Eva"),
    ],
)
@pytest.mark.parametrize("arrives", ["in order", "reversed"])
def test_a_newer_statement_with_an_older_beginning_is_what_holds(
    memory: Memory, earlier: str, later: str, predicate: str, value: str, arrives: str
) -> None:
    told = [(earlier, NOW), (later, NOW + MINUTE)]
    for text, at in told if arrives == "in order" else reversed(told):
        memory.tell(text, at)
    memory.derive()
    assert now(memory, predicate) == [value]
    assert len(chain(memory, predicate)) == 2
    live, replayed = memory.replayed()
    assert live == replayed


@pytest.mark.parametrize(
    "past", ["I lived in Porto from May to July.", "I used to live in Porto.", "I lived in Porto in 2019."]
)
@pytest.mark.parametrize("arrives", ["in order", "reversed"])
def test_what_is_over_does_not_become_what_holds(memory: Memory, past: str, arrives: str) -> None:
    told = [("I live in Lisbon.", NOW), (past, NOW + MINUTE)]
    for text, at in told if arrives == "in order" else reversed(told):
        memory.tell(text, at)
    memory.derive()
    assert now(memory, "lives_in") == ["Lisbon"]


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_what_was_over_ends_what_was_said_before_it_whenever_that_arrives(
    memory: Memory, order: tuple[int, ...]
) -> None:
    told = ["I live in Porto.", "I used to live in Porto.", "I live in Porto again."]
    for number in order:
        memory.tell(told[number], NOW + number * 40 * DAY)
    memory.derive()
    ends, again = NOW + 40 * DAY, NOW + 80 * DAY
    assert chain(memory, "lives_in") == [("Porto", NOW, ends), ("Porto", again, None)]
    live, replayed = memory.replayed()
    assert live == replayed


@pytest.mark.parametrize(
    ("told", "days"),
    [
        # what is intended keeps its day, or gets it
        (["I plan to visit Rome on October 17.", "I plan to visit Rome."], [("2026-10-17", "2026-10-18")]),
        # ... and of days the fewer
        (["I plan to visit Rome in October.", "I plan to visit Rome on October 17."], [("2026-10-17", "2026-10-18")]),
        (["We're moving to Lisbon in November.", "We're moving to Lisbon."], [("2026-11-01", "2026-12-01")]),
        (["I plan to visit Rome on October 17.", "I plan to visit Rome on November 3."], [("2026-10-17", "2026-10-18"), ("2026-11-03", "2026-11-04")]),
        # what happened on a day is told beside what happened on none
        (["I visited Rome on September 3.", "I visited Rome."], [None, ("2026-09-03", "2026-09-04")]),
        (["I visited Rome in September.", "I visited Rome on September 3."], [("2026-09-03", "2026-09-04")]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("said", ["in order", "reversed"])
@pytest.mark.parametrize("arrives", ["in order", "reversed"])
def test_a_day_is_not_lost_by_words_that_tell_none(
    memory: Memory, told: list[str], days: list[tuple[str, str] | None], said: str, arrives: str
) -> None:
    turns = [*enumerate(told if said == "in order" else reversed(told))]
    for number, text in turns if arrives == "in order" else reversed(turns):
        memory.tell(text, NOW + number * 3 * DAY)
    memory.derive()
    found = [
        None if fact.days is None else (fact.days[0].isoformat(), fact.days[1].isoformat())
        for fact in memory.held(Layer.FACTS)
        if isinstance(fact, Fact) and fact.predicate in ("plans_to", "visited")
    ]
    assert sorted(found, key=str) == sorted(days, key=str)


@pytest.mark.parametrize(
    ("later", "home"),
    [
        ("I moved back to Porto.", ["Porto"]),
        ("We moved to Postgres.", ["Lisbon"]),
        ("I'm moving to Oslo.", ["Lisbon"]),
        ("If I get the job I'm moving to Oslo.", ["Lisbon"]),
        ("My sister Anna rang. Moved to York.", ["Lisbon"]),
    ],
)
def test_a_home_ends_with_the_next_and_not_before(memory: Memory, later: str, home: list[str]) -> None:
    memory.tell("I live in Lisbon.", NOW)
    memory.tell(later, NOW + 20 * DAY)
    memory.derive()
    assert now(memory, "lives_in") == home


def test_a_history_told_backwards_ends_the_same(memory: Memory) -> None:
    memory.tell("I moved to Hamburg in 2020.", NOW)
    memory.tell("I moved to Berlin in 2015.", NOW + MINUTE)
    memory.derive()
    assert [value for value, _, _ in chain(memory, "lives_in")] == ["Berlin", "Hamburg"]
    assert now(memory, "lives_in") == ["Hamburg"]


def test_a_stay_in_between_gives_back_what_held_around_it(memory: Memory) -> None:
    memory.tell("I have lived in Lisbon since 2015.", NOW)
    memory.tell("I lived in Porto in 2019.", NOW + MINUTE)
    memory.derive()
    assert chain(memory, "lives_in") == [
        ("Lisbon", instant("2015-01-01T00:00:00Z"), instant("2019-01-01T00:00:00Z")),
        ("Porto", instant("2019-01-01T00:00:00Z"), instant("2020-01-01T00:00:00Z")),
        ("Lisbon", instant("2020-01-01T00:00:00Z"), None),
    ]
    live, replayed = memory.replayed()
    assert live == replayed


def test_the_value_before_is_believed_no_more_and_comes_back_with_a_cancellation(memory: Memory) -> None:
    memory.tell("I live in Lisbon.", NOW)
    wrong = memory.tell("I have lived in Porto since May.", NOW + MINUTE)
    memory.derive()
    beliefs = {b.object.text: b for b in memory.held(Layer.BELIEFS) if isinstance(b, Belief)}
    assert beliefs["Porto"].stance is Stance.SUPPORTED
    assert beliefs["Lisbon"].stance is not Stance.SUPPORTED
    assert beliefs["Lisbon"].valid_to == beliefs["Porto"].valid_from == instant("2026-05-01T00:00:00Z")
    assert beliefs["Lisbon"].contradicts == (beliefs["Porto"].id,)
    assert beliefs["Porto"].contradicts == (beliefs["Lisbon"].id,)
    assert [each.polarity for each in beliefs["Porto"].evidence] == ["supports"]
    memory.cancel(wrong)
    memory.derive()
    assert chain(memory, "lives_in") == [("Lisbon", NOW, None)]
    (belief,) = memory.held(Layer.BELIEFS)
    assert (belief.object.text, belief.stance, belief.valid_to) == ("Lisbon", Stance.SUPPORTED, None)
    live, replayed = memory.replayed()
    assert live == replayed


def test_every_reader_of_time_is_told_one_home(world: Any, reader: RulesExtractor) -> None:
    who = {"tenantId": "t", "userId": "mov", "personaId": "p", "sessionId": "s-1", "role": "user"}
    scope = "org:t/user:mov"
    for minute, text in enumerate(("I live in Lisbon.", "I moved to Porto on May 4.")):
        world.post("/ingest", {**who, "text": text, "timestamp": f"2026-05-12T10:0{minute}:00Z"})
    Memory(world.store, world.clock, reader).derive()
    assert world.get("/user/identity", tenantId="t", userId="mov")["facts"] == {"home": "Porto"}
    asked = {
        ("2026-05-05T00:00:00Z", "2026-05-06T00:00:00Z"): ["Porto"],
        ("2026-05-12T10:00:00Z", "2026-05-12T10:00:30Z"): ["Porto"],
        ("2026-05-03T00:00:00Z", "2026-05-04T00:00:00Z"): ["Lisbon"],
    }
    for during, homes in asked.items():
        temporal = {"valid_during": list(during)}
        recall = {"scope": scope, "query": "Where does mov live?", "include": ["facts"], "temporal": temporal}
        facts = world.post("/v1/recall", recall).json()["layers"]["facts"]
        assert [f["object"]["name"] for f in facts if f["predicate"] == "lives_in"] == homes


DATED: tuple[tuple[str, str], ...] = (
    ("I live in Lisbon.", "2026-03-05T09:00:00Z"),
    ("I live in Porto.", "2026-04-05T09:00:00Z"),
    ("I have lived in Rome since February.", "2026-05-05T09:00:00Z"),
    ("I moved to Lisbon in April.", "2026-06-05T09:00:00Z"),
    ("I lived in Porto from March to May.", "2026-07-05T09:00:00Z"),
    ("I live in Rome.", "2026-08-05T09:00:00Z"),
    ("I have lived in Porto since July.", "2026-09-05T09:00:00Z"),
    ("I live in Lisbon.", "2026-09-06T09:00:00Z"),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_the_order_of_arrival_does_not_matter(
    make_memory: MakeMemory, reader: RulesExtractor, seed: int
) -> None:
    chance = random.Random(seed)
    told = chance.sample(DATED, chance.randrange(2, 7))
    outcomes = {}
    for order in (told, told[::-1], chance.sample(told, len(told))):
        memory = make_memory(reader)
        for text, at in order:
            memory.tell(text, instant(at))
            if chance.random() < 0.3:
                memory.derive()
        memory.derive()
        outcomes[tuple(order)] = chain(memory, "lives_in")
        live, replayed = memory.replayed()
        assert live == replayed, f"seed {seed}"
    assert len({tuple(outcome) for outcome in outcomes.values()}) == 1, f"seed {seed}: {outcomes}"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_memory_is_what_it_would_be_without_the_cancelled_statements(
    make_memory: MakeMemory, reader: RulesExtractor, seed: int
) -> None:
    chance = random.Random(seed)
    told = chance.sample(DATED, 6)
    gone = set(chance.sample(told, 2))
    memory, fresh = make_memory(reader), make_memory(reader)
    events = []
    for text, at in told:
        events.append(memory.tell(text, instant(at)))
        if (text, at) not in gone:
            fresh.tell(text, instant(at))
    memory.derive()
    for event, statement in zip(events, told, strict=True):
        if statement in gone:
            memory.cancel(event)
    memory.derive()
    fresh.derive()
    assert memory.shown() == fresh.shown(), f"seed {seed}"
    live, replayed = memory.replayed()
    assert live == replayed, f"seed {seed}"


def test_what_was_denied_is_there_again_without_the_denial(memory: Memory) -> None:
    memory.tell("I visited Rome on April 3.", NOW)
    denial = memory.tell("I did not visit Rome on April 3.", NOW + DAY)
    memory.derive()
    assert [fact.text for fact in memory.held(Layer.FACTS)] == ["Ana did not visit Rome"]
    memory.cancel(denial)
    memory.derive()
    assert [fact.text for fact in memory.held(Layer.FACTS)] == ["Ana visited Rome"]
    live, again = memory.replayed()
    assert live == again
