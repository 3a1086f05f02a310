"""Entities that are merged and split at random places among what is told: nothing is lost, ids stay, and a replay comes to the same.

``ENTITY_SEEDS`` is how many histories of each kind are tried. Of the first kind seed 0 takes 20 s, and stays out of the gate.
"""

from __future__ import annotations

import os
import random
from functools import partial
from typing import Any

import pytest

from given import ALICE, TENANT, ManualClock, draft
from lamina.kernel.events import IDENTITY, Directives, Origin, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Concept, Fact, Layer
from lamina.kernel.ties import Tie
from lamina.kernel.time import SECOND_US
from lamina.language.entities import entity_id, normalise_name
from lamina.store.entities import standing_entity
from lamina.store.memory import MemoryStore
from told import DAY, START, Memory

SEEDS = int(os.environ.get("ENTITY_SEEDS", "6"))
NAMES = ("Bob", "Robert", "Rob", "Ben", "Carl")
SINGLE, MANY = ("lives_in", "works_at"), ("likes", "knows", "owns")
VALUES = ("Oslo", "Rome", "Acme", "Tea", *NAMES[:2])
Told = tuple[str, str, str, int]


def of(name: str) -> str:
    return entity_id(TENANT, normalise_name(name))


def remembering(seed: int) -> Memory:
    clock = ManualClock()
    ids = RandomIds(partial(random.Random(seed).getrandbits, 64))
    return Memory(MemoryStore(clock=clock, ids=ids), clock)


def tell(memory: Memory, told: Told) -> str:
    subject, predicate, value, day = told
    said = {
        "kind": "triple",
        "subject": {"type": "entity", "name": subject},
        "predicate": predicate,
        "object": {"type": "entity", "name": value},
    }
    event_id: str = memory.tell(said, START + day * DAY).id
    return event_id


def decide(memory: Memory, said: dict[str, Any]) -> None:
    memory.clock.at += SECOND_US
    content = {"kind": IDENTITY, **said}
    origin = Origin("user:ana", IDENTITY, Trust.PRINCIPAL)
    memory.store.log.append_entry(
        draft(
            content=content,
            scope=ALICE,
            modality=IDENTITY,
            origin=origin,
            directives=Directives(embed="none"),
        )
    )


def merge(memory: Memory, entity: str, into: str) -> None:
    decide(memory, {"action": "merge", "entity_id": entity, "into": into})


def some_telling(chance: random.Random) -> Told:
    predicate = chance.choice([*SINGLE, *MANY])
    return chance.choice(NAMES), predicate, chance.choice(VALUES), chance.randrange(30)


def facts(memory: Memory) -> list[Fact]:
    return [each for each in memory.held(Layer.FACTS) if isinstance(each, Fact)]


def said_by_events(memory: Memory) -> set[tuple[str, str]]:
    """Every event with the entity of which it is held to speak; the values of a slot keep those that were placed elsewhere since."""
    held = {each.id: each.subject.id for each in facts(memory) if each.predicate in MANY}
    supports = memory.store.records.supports_of(TENANT, held)
    return {
        (each.source_id, held[fact_id])
        for fact_id, found in supports.items()
        for each in found
        if each.relation == Tie.EXTRACTED_FROM
    }


def shown(memory: Memory) -> tuple[Any, ...]:
    """What is held, in words that do not depend on ids of events."""
    held = sorted(
        (f.subject.id, f.predicate, f.object.key, f.negated, f.valid_from, f.valid_to or 0)
        for f in facts(memory)
    )
    beliefs = sorted(
        (b.subject.id, b.predicate, b.object.key, b.valid_from, b.valid_to or 0, b.alpha, b.beta)
        for b in memory.held(Layer.BELIEFS)
        if b.stance.value != "deprecated"
    )
    return held, beliefs


@pytest.mark.parametrize("seed", range(0 if SEEDS > 6 else 1, SEEDS + 1))
def test_nothing_is_lost_and_a_replay_comes_to_the_same(seed: int) -> None:
    chance, memory = random.Random(seed), remembering(seed)
    told: list[str] = []
    single: set[str] = set()
    ids: set[str] = set()
    for _ in range(chance.randrange(12, 40)):
        telling = some_telling(chance)
        told.append(tell(memory, telling))
        if telling[1] in SINGLE:
            single.add(told[-1])
        if chance.random() < 0.12:
            memory.derive()
            one, other = chance.sample(NAMES, 2)
            known = [standing_entity(memory.store, TENANT, ALICE, of(each)) for each in (one, other)]
            if known[0] != known[1]:
                merge(memory, *known)
        if chance.random() < 0.08:
            memory.derive()
            name = chance.choice(NAMES)
            entity = standing_entity(memory.store, TENANT, ALICE, of(name))
            new = name if entity != of(name) else f"{name} the other {len(told)}"
            events = chance.sample(told, min(3, len(told)))
            decide(
                memory,
                {"action": "split", "entity_id": entity, "new_id": of(new), "name": new, "events": events},
            )
        if chance.random() < 0.05:
            memory.store.log.cancel(TENANT, told.pop(chance.randrange(len(told))))
        if chance.random() < 0.2:
            memory.derive()
            ids |= {each.id for each in facts(memory)}
    memory.derive()
    held = {(event, entity) for event, entity in said_by_events(memory) if event in told}
    assert {event for event, _ in held} == set(told) - single, f"seed {seed}: an event is of no fact any more"
    assert len(held) == len(set(told) - single), f"seed {seed}: an event is of two entities"
    assert ids <= set(memory.store.records.scopes_of(TENANT, ids)), f"seed {seed}: the id of a fact is gone"
    for concept in memory.held(Layer.UNDERSTANDING):
        assert isinstance(concept, Concept)
        if concept.canonical_id is not None:
            there = memory.store.records.get(TENANT, [concept.canonical_id])
            assert concept.canonical_id in there, f"seed {seed}: an alias leads nowhere"
    live, replayed = memory.replayed()
    assert live == replayed, f"seed {seed}"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_it_makes_no_difference_when_two_are_found_to_be_one(seed: int) -> None:
    chance = random.Random(seed)
    told = [some_telling(chance) for _ in range(chance.randrange(4, 16))]
    outcomes = []
    for place in (0, len(told) // 2, len(told)):
        memory = remembering(seed)
        for each in told[:place]:
            tell(memory, each)
        merge(memory, of("Bob"), of("Robert"))
        merge(memory, of("Rob"), of("Robert"))
        for each in told[place:]:
            tell(memory, each)
        memory.derive()
        outcomes.append(shown(memory))
    assert outcomes[0] == outcomes[1] == outcomes[2], f"seed {seed}"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_order_of_merges_makes_no_difference(seed: int) -> None:
    chance = random.Random(seed)
    told = [some_telling(chance) for _ in range(chance.randrange(4, 16))]
    outcomes = []
    for pairs in ((("Bob", "Robert"), ("Rob", "Robert")), (("Rob", "Robert"), ("Bob", "Robert"))):
        memory = remembering(seed)
        for each in told:
            tell(memory, each)
        for entity, into in pairs:
            merge(memory, of(entity), of(into))
        memory.derive()
        outcomes.append(shown(memory))
    assert outcomes[0] == outcomes[1], f"seed {seed}"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_merge_that_is_taken_back_leaves_what_there_was(seed: int) -> None:
    chance, memory = random.Random(seed), remembering(seed)
    for _ in range(chance.randrange(4, 16)):
        tell(memory, some_telling(chance))
    memory.derive()
    before = shown(memory)
    merge(memory, of("Bob"), of("Robert"))
    memory.derive()
    decide(
        memory,
        {"action": "split", "entity_id": of("Robert"), "new_id": of("Bob"), "name": "Bob", "events": []},
    )
    memory.derive()
    assert shown(memory) == before, f"seed {seed}"
