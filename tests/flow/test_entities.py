"""Two entities that are one, and one that is two: decisions with a place in the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, BOB, TENANT, ManualClock, draft, land
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.events import IDENTITY, Context, Directives, Origin, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Concept, Fact, Layer, Stance
from lamina.kernel.time import SECOND_US
from lamina.language.entities import entity_id, normalise_name
from lamina.store.entities import deciding_entries
from lamina.store.memory import MemoryStore
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore
from told import DAY, START, Memory


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    clock, ids = ManualClock(), RandomIds()
    store: Store = MemoryStore(clock=clock, ids=ids)
    if request.param == "sqlite":
        store = SqliteStore(tmp_path, clock=clock, ids=ids, durable=False)
    yield Memory(store, clock)
    store.close()


def of(name: str) -> str:
    return entity_id(TENANT, normalise_name(name))


def tell(memory: Memory, subject: str, predicate: str, value: str, at: int = START) -> str:
    said = {
        "kind": "triple",
        "subject": {"type": "entity", "name": subject},
        "predicate": predicate,
        "object": {"type": "entity", "name": value},
    }
    event_id: str = memory.tell(said, at).id
    return event_id


def decide(memory: Memory, action: str, entity: str, **more: Any) -> None:
    memory.clock.at += SECOND_US
    said = {"kind": IDENTITY, "action": action, "entity_id": of(entity), **more}
    origin = Origin("user:ana", IDENTITY, Trust.PRINCIPAL)
    directives = Directives(embed="none")
    memory.store.log.append_entry(
        draft(content=said, scope=ALICE, modality=IDENTITY, origin=origin, directives=directives)
    )


def merge(memory: Memory, entity: str, into: str) -> None:
    decide(memory, "merge", entity, into=of(into))


def split(memory: Memory, entity: str, name: str, *events: str) -> None:
    decide(memory, "split", entity, new_id=of(name), name=name, events=list(events))


def facts(memory: Memory, seen_at: int = 1 << 60) -> list[tuple[str, str, str]]:
    names = {of(each): each for each in ("Bob", "Robert", "Ben", "Ben Carter", "Oslo", "Rome", "Acme", "Ana")}
    held = [each for each in memory.held(Layer.FACTS, seen_at) if isinstance(each, Fact)]
    return sorted(
        (names[each.subject.id], each.predicate, names.get(each.object.id or "", each.object.text))
        for each in held
        if each.valid_to is None
    )


def concepts(memory: Memory) -> list[Concept]:
    return [each for each in memory.held(Layer.UNDERSTANDING) if isinstance(each, Concept)]


def same_after_a_replay(memory: Memory) -> None:
    live, replayed = memory.replayed()
    assert live == replayed


def test_what_was_said_of_both_is_said_of_the_one(memory: Memory) -> None:
    tell(memory, "Bob", "lives_in", "Oslo")
    tell(memory, "Robert", "works_at", "Acme")
    tell(memory, "Ana", "friend_of", "Bob")
    memory.derive()
    ids = {each.id for each in memory.held(Layer.FACTS)}
    before = memory.clock.at
    merge(memory, "Bob", "Robert")
    memory.derive()
    assert facts(memory) == [
        ("Ana", "friend_of", "Robert"),
        ("Robert", "lives_in", "Oslo"),
        ("Robert", "works_at", "Acme"),
    ]
    assert {each.id for each in memory.held(Layer.FACTS)} == ids
    assert ("Bob", "lives_in", "Oslo") in facts(memory, before)
    tell(memory, "Bob", "likes", "Rome", START + DAY)
    memory.derive()
    assert ("Robert", "likes", "Rome") in facts(memory)
    same_after_a_replay(memory)


def test_values_of_one_person_follow_each_other_once_two_are_one(memory: Memory) -> None:
    tell(memory, "Bob", "lives_in", "Oslo")
    tell(memory, "Robert", "lives_in", "Rome", START + DAY)
    memory.derive()
    assert len(facts(memory)) == 2
    merge(memory, "Bob", "Robert")
    memory.derive()
    assert facts(memory) == [("Robert", "lives_in", "Rome")]
    beliefs = [each for each in memory.held(Layer.BELIEFS) if each.stance is not Stance.DEPRECATED]
    assert {each.subject.id for each in beliefs} == {of("Robert")}
    same_after_a_replay(memory)


def test_a_belief_of_who_is_known_otherwise_is_deprecated(memory: Memory) -> None:
    tell(memory, "Bob", "lives_in", "Oslo")
    tell(memory, "Robert", "works_at", "Acme")
    memory.derive()
    (before,) = [each for each in memory.held(Layer.BELIEFS) if each.subject.id == of("Bob")]
    merge(memory, "Bob", "Robert")
    memory.derive()
    after = {each.id: each for each in memory.held(Layer.BELIEFS)}
    assert after[before.id].stance is Stance.DEPRECATED
    of_robert = [each for each in after.values() if each.subject.id == of("Robert")]
    assert sorted((each.predicate, each.confidence) for each in of_robert) == [
        ("lives_in", before.confidence),
        ("works_at", before.confidence),
    ]


def test_of_two_concepts_the_older_is_canonical_and_the_other_its_alias(memory: Memory) -> None:
    for name in ("Bob", "Robert"):
        for predicate in ("likes", "owns", "knows"):
            tell(memory, name, predicate, f"{name}'s thing")
    memory.derive()
    older, newer = (next(c for c in concepts(memory) if c.name == name) for name in ("Bob", "Robert"))
    merge(memory, "Bob", "Robert")
    memory.derive()
    held = {each.id: each for each in concepts(memory)}
    alias, canonical = held[newer.id], held[older.id]
    assert (alias.canonical_id, alias.stance, alias.summary) == (older.id, Stance.DEPRECATED, newer.summary)
    assert (canonical.about, canonical.name, canonical.canonical_id) == (of("Robert"), "Robert", None)
    assert set(canonical.inputs) >= {*older.inputs[:3], *newer.inputs[:3]}
    tell(memory, "Robert", "likes", "Rome", START + DAY)
    memory.derive()
    assert {each.id for each in concepts(memory)} == set(held)
    same_after_a_replay(memory)


def test_an_alias_that_keeps_the_words_of_another_concept_rests_on_what_that_did(memory: Memory) -> None:
    """Once it rested on nothing: it went on telling of turns that were cancelled."""
    turns = [tell(memory, "Bob", "likes", each) for each in ("Oslo", "Rome", "Acme")]
    tell(memory, "Robert", "works_at", "Acme")
    memory.derive()
    (bob,) = [each for each in concepts(memory) if each.about == of("Bob") and each.topic == "entity"]
    merge(memory, "Bob", "Robert")
    memory.derive()
    held = [each for each in concepts(memory) if each.canonical_id == bob.id]
    assert held
    for alias in held:
        assert memory.store.records.supports_of(TENANT, [alias.id]), alias.name
    for turn in turns:
        memory.cancel(memory.store.log.get(TENANT, [turn])[turn])
    memory.derive()
    left = memory.store.records.get(TENANT, [each.id for each in held])
    assert all(each.excluded for each in left.values() if "Oslo" in str(each)), "as a replay has it"
    same_after_a_replay(memory)


def test_what_some_turns_said_is_of_another_after_a_split(memory: Memory) -> None:
    carter = [tell(memory, "Ben", "lives_in", "Oslo"), tell(memory, "Ben", "works_at", "Acme")]
    tell(memory, "Ben", "lives_in", "Rome", START + DAY)
    memory.derive()
    split(memory, "Ben", "Ben Carter", *carter)
    memory.derive()
    assert facts(memory) == [
        ("Ben", "lives_in", "Rome"),
        ("Ben Carter", "lives_in", "Oslo"),
        ("Ben Carter", "works_at", "Acme"),
    ]
    tell(memory, "Ben Carter", "likes", "Rome", START + DAY)
    tell(memory, "Ben", "likes", "Oslo", START + DAY)
    memory.derive()
    assert {("Ben Carter", "likes", "Rome"), ("Ben", "likes", "Oslo")} <= set(facts(memory))
    same_after_a_replay(memory)


def test_a_split_ends_the_concept_and_begins_two_that_name_it(memory: Memory) -> None:
    told = [tell(memory, "Ben", predicate, "Rome") for predicate in ("likes", "owns", "knows", "visits")]
    memory.derive()
    (before,) = [each for each in concepts(memory) if each.name == "Ben"]
    split(memory, "Ben", "Ben Carter", *told[:2])
    memory.derive()
    held = {each.name: each for each in concepts(memory) if each.topic == "entity" and each.valid_to is None}
    ended = next(each for each in concepts(memory) if each.id == before.id)
    assert ended.valid_to is not None
    assert {name: held[name].derived_from for name in ("Ben", "Ben Carter")} == {
        "Ben": (before.id,),
        "Ben Carter": (before.id,),
    }
    assert len({before.id, held["Ben"].id, held["Ben Carter"].id}) == 3
    tell(memory, "Ben", "likes", "Oslo", START + DAY)
    memory.derive()
    assert next(each for each in concepts(memory) if each.id == held["Ben"].id).version == 2
    same_after_a_replay(memory)


def test_a_split_takes_a_merge_back(memory: Memory) -> None:
    tell(memory, "Bob", "lives_in", "Oslo")
    tell(memory, "Robert", "lives_in", "Rome", START + DAY)
    memory.derive()
    before = facts(memory)
    merge(memory, "Bob", "Robert")
    memory.derive()
    split(memory, "Robert", "Bob")
    memory.derive()
    assert facts(memory) == before
    tell(memory, "Bob", "likes", "Rome", START + DAY)
    memory.derive()
    assert ("Bob", "likes", "Rome") in facts(memory)
    same_after_a_replay(memory)


def test_a_decision_holds_in_its_scope_alone(memory: Memory) -> None:
    said = {"kind": "triple", "subject": {"type": "entity", "name": "Bob"}, "predicate": "lives_in"}
    memory.tell({**said, "object": {"type": "entity", "name": "Oslo"}}, START, scope=BOB)
    tell(memory, "Bob", "lives_in", "Rome")
    tell(memory, "Robert", "works_at", "Acme")
    memory.derive()
    merge(memory, "Bob", "Robert")
    memory.derive()
    memory.tell({**said, "object": {"type": "entity", "name": "Acme"}}, START + DAY, scope=BOB)
    memory.derive()
    found = memory.store.records.dependants_of(TENANT, [of("Bob")])
    assert len(found[of("Bob")]) == 1
    held = {each.subject.id for each in memory.held(Layer.FACTS)}
    assert held == {of("Robert")}
    same_after_a_replay(memory)


def test_what_is_told_of_a_name_is_derived_after_the_memory_in_which_it_was_decided_is_erased(
    memory: Memory,
) -> None:
    """Once every later event that named one of the two failed for good: the entry of the decision had lost its content."""
    said = {"kind": "triple", "subject": {"type": "entity", "name": "Bob"}, "predicate": "likes"}
    context, sent = Context(observed_at=START), Directives(consolidate_into=BOB)
    told = {**said, "object": {"type": "entity", "name": "Oslo"}}
    memory.store.log.append([Capture(draft(content=told, scope=ALICE, context=context, directives=sent))])
    tell(memory, "Robert", "works_at", "Acme")
    memory.derive()
    merge(memory, "Bob", "Robert")
    memory.derive()
    gone = [event.id for event in memory.store.log.walk(TENANT, 0, 100) if event.scope == ALICE]
    erasure = Erasure(
        tenant_id=TENANT, erasure_id="e", by_actor="user:root", cascade="gdpr", scopes=frozenset([ALICE]),
        redact=gone, factor=0.5, floor=0.3,
    )  # fmt: skip
    assert list(erased_in_steps(memory.store, erasure))
    late = memory.tell({**said, "object": {"type": "entity", "name": "Rome"}}, START + DAY, scope=BOB)
    memory.derive()
    assert sum(memory.store.jobs.backlog().values()) == 0
    assert memory.store.records.dependants_of(TENANT, [late.id])
    same_after_a_replay(memory)
    assert memory.store.records.dependants_of(TENANT, [of("Robert")]) == {}, (
        "a hash of a name confirms a guess"
    )


def test_a_decision_that_an_older_release_erased_is_none(memory: Memory) -> None:
    """It left the tie to the entities. Who asked for one of them was told of a fault."""
    tell(memory, "Bob", "works_at", "Acme")
    merge(memory, "Bob", "Robert")
    memory.derive()
    (entry,) = deciding_entries(memory.store, TENANT, ALICE, of("Robert"))
    ties = memory.store.records.dependants_of(TENANT, [of("Robert")])[of("Robert")]
    erasure = Erasure(
        tenant_id=TENANT, erasure_id="e", by_actor="user:root", cascade="gdpr", redact=[entry.id]
    )
    memory.store.erasing.erase(erasure)
    land(memory.store, Writes(supports=ties))
    assert memory.store.records.dependants_of(TENANT, [of("Robert")])
    assert deciding_entries(memory.store, TENANT, ALICE, of("Robert")) == []


def test_two_concepts_of_one_batch_are_joined_in_it(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    """Which is the older was asked of what had landed: a concept that began in the same batch made all of it fail, and be tried one by one."""
    for name in ("Bob", "Robert"):
        for predicate in ("likes", "owns", "knows"):
            tell(memory, name, predicate, f"{name}'s thing")
    merge(memory, "Bob", "Robert")
    memory.derive()
    same_after_a_replay(memory)
    assert {each.canonical_id is None for each in concepts(memory)} == {True, False}
    assert [each.getMessage() for each in caplog.records if "failed" in each.getMessage()] == []
