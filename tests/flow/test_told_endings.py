"""What somebody said last about now holds now: denials, tastes and endings, also those that are dated before what they end."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from lamina.kernel.records import Fact, Layer
from lamina.kernel.time import SECOND_US, instant
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from told import Memory

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


def now(memory: Memory, *predicates: str) -> list[str]:
    """What holds, in words."""
    facts = [fact for fact in memory.held(Layer.FACTS) if isinstance(fact, Fact) and fact.kind != "event"]
    return sorted(fact.text for fact in facts if fact.predicate in predicates and fact.valid_to is None)


def told(memory: Memory, *texts: str, arrives: str = "in order") -> None:
    said = [(text, NOW + n * DAY) for n, text in enumerate(texts)]
    for text, at in said if arrives == "in order" else reversed(said):
        memory.tell(text, at)
    memory.derive()


@pytest.mark.parametrize("arrives", ["in order", "reversed"])
@pytest.mark.parametrize(
    ("texts", "predicates", "holds"),
    [
        (["I work at Google.", "I quit Google last week."], ["works_at"], ["Ana does not work at Google"]),
        (["I quit Google last week.", "I work at Google."], ["works_at"], ["Ana works at Google"]),
        (["I work at Google.", "I no longer work at Google.", "I work at Google."], ["works_at"], ["Ana works at Google"]),
        (["I work at Google.", "I quit Google last week.", "I work at Spire."], ["works_at"], ["Ana does not work at Google", "Ana works at Spire"]),
        (["I live in Porto.", "I no longer live in Porto."], ["lives_in"], ["Ana does not live in Porto"]),
        (["I live in Porto.", "I do not live in Rome."], ["lives_in"], ["Ana does not live in Rome", "Ana lives in Porto"]),
        (["I love jazz.", "I don't like jazz anymore."], ["likes", "dislikes"], ["Ana dislikes jazz"]),
        (["I hate jazz.", "I love jazz."], ["likes", "dislikes"], ["Ana likes jazz"]),
        (["I love jazz.", "I love blues.", "I hate jazz."], ["likes", "dislikes"], ["Ana dislikes jazz", "Ana likes blues"]),
        (["I use Jenkins.", "I don't use Jenkins anymore."], ["uses"], ["Ana does not use Jenkins"]),
        (["I don't eat meat.", "I eat meat again."], ["eats"], ["Ana eats meat"]),
        (["Tom works at Google.", "Tom quit Google."], ["works_at"], ["Tom does not work at Google"]),
        (["I'm allergic to nuts.", "I'm not allergic to nuts."], ["allergic_to"], ["Ana is not allergic to nuts"]),
        # what stands beside each other still does
        (["I'm allergic to nuts.", "I'm allergic to eggs."], ["allergic_to"], ["Ana is allergic to eggs", "Ana is allergic to nuts"]),
        (["I love jazz.", "I hate olives."], ["likes", "dislikes"], ["Ana dislikes olives", "Ana likes jazz"]),
        (["Tom works at Google.", "I quit Google."], ["works_at"], ["Ana does not work at Google", "Tom works at Google"]),
    ],
)  # fmt: skip
def test_what_was_said_last_holds(
    memory: Memory, texts: list[str], predicates: list[str], holds: list[str], arrives: str
) -> None:
    told(memory, *texts, arrives=arrives)
    assert now(memory, *predicates) == holds
    live, replayed = memory.replayed()
    assert live == replayed


def test_the_ended_and_the_end_name_each_other(memory: Memory) -> None:
    told(memory, "I work at Google.", "I quit Google last week.")
    facts = {fact.negated: fact for fact in memory.held(Layer.FACTS) if fact.predicate == "works_at"}
    assert facts[True].supersedes == facts[False].id
    assert facts[False].superseded_by == facts[True].id
    assert memory.shown()["identity"]["facts"] == {}


def test_two_of_one_name_keep_their_homes(memory: Memory) -> None:
    told(memory, "My friend Ben lives in Leeds.", "My colleague Ben lives in Cardiff.")
    assert now(memory, "lives_in") == ["Ben lives in Cardiff", "Ben lives in Leeds"]
    live, replayed = memory.replayed()
    assert live == replayed


@pytest.mark.parametrize(
    "texts",
    [
        ("My friend Ben lives in Leeds.", "My friend Ben lives in Cardiff."),
        ("My friend Ben lives in Leeds.", "Ben lives in Cardiff."),
        ("My husband Ben lives in Leeds.", "My husband Ben lives in Cardiff."),
        ("My boss Ben lives in Leeds.", "My colleague Ben lives in Cardiff."),
    ],
)
def test_one_who_is_introduced_alike_moves(memory: Memory, texts: tuple[str, ...]) -> None:
    told(memory, *texts)
    assert now(memory, "lives_in") == ["Ben lives in Cardiff"]


SAID: tuple[tuple[str, str], ...] = (
    ("I work at Google.", "2026-03-05T09:00:00Z"),
    ("I quit Google last week.", "2026-04-05T09:00:00Z"),
    ("I work at Google.", "2026-04-20T09:00:00Z"),
    ("I no longer work at Google.", "2026-05-05T09:00:00Z"),
    ("I work at Spire.", "2026-06-05T09:00:00Z"),
    ("I have worked at Google since February.", "2026-07-05T09:00:00Z"),
    ("I love jazz.", "2026-03-06T09:00:00Z"),
    ("I don't like jazz anymore.", "2026-04-06T09:00:00Z"),
    ("I have loved jazz since January.", "2026-05-06T09:00:00Z"),
    ("I've gone off jazz.", "2026-06-06T09:00:00Z"),
    ("I use Jenkins.", "2026-03-07T09:00:00Z"),
    ("I stopped using Jenkins in February.", "2026-04-07T09:00:00Z"),
    ("I use Jenkins.", "2026-05-07T09:00:00Z"),
)  # fmt: skip


def spans(memory: Memory) -> list[tuple[Any, ...]]:
    facts = [f for f in memory.held(Layer.FACTS) if isinstance(f, Fact) and f.slot is not None]
    return sorted((f.predicate, f.object.text, f.negated, f.valid_from, f.valid_to or 0) for f in facts)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_arrival_does_not_matter(
    make_memory: MakeMemory, reader: RulesExtractor, seed: int
) -> None:
    chance = random.Random(seed)
    some = chance.sample(SAID, chance.randrange(3, 10))
    outcomes = set()
    for order in (some, some[::-1], chance.sample(some, len(some))):
        memory = make_memory(reader)
        for text, at in order:
            memory.tell(text, instant(at))
            if chance.random() < 0.3:
                memory.derive()
        memory.derive()
        outcomes.add(tuple(spans(memory)))
        live, replayed = memory.replayed()
        assert live == replayed, f"seed {seed}"
    assert len(outcomes) == 1, f"seed {seed}: {some}"


@pytest.mark.parametrize("seed", range(4))
def test_memory_is_what_it_would_be_without_what_was_cancelled(
    make_memory: MakeMemory, reader: RulesExtractor, seed: int
) -> None:
    chance = random.Random(seed)
    some = chance.sample(SAID, 8)
    gone = set(chance.sample(some, 3))
    memory, fresh = make_memory(reader), make_memory(reader)
    events = []
    for text, at in some:
        events.append((memory.tell(text, instant(at)), (text, at) in gone))
        if (text, at) not in gone:
            fresh.tell(text, instant(at))
    memory.derive()
    for event, cancelled in events:
        if cancelled:
            memory.cancel(event)
    memory.derive()
    fresh.derive()
    assert spans(memory) == spans(fresh), f"seed {seed}"
    live, replayed = memory.replayed()
    assert live == replayed, f"seed {seed}"
