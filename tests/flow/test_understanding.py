"""What is understood of an entity: from what it is made, and what it says of that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from given import TENANT, ManualClock
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Concept, Layer, Stance
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes
from lamina.store.ports.records import RecordQuery
from lamina.store.sqlite import SqliteStore
from told import BOB, DAY, LATER, START, Memory

KESTREL = Scope("org:acme/project:kestrel")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = ManualClock()
    store = SqliteStore(tmp_path, clock=clock, ids=RandomIds(), durable=False)
    yield Memory(store, clock)
    store.close()


def triple(subject: str, predicate: str, value: str) -> dict[str, Any]:
    return {
        "kind": "triple",
        "subject": {"type": "entity", "name": subject},
        "predicate": predicate,
        "object": {"type": "entity", "name": value},
    }


def understood(memory: Memory, scope: Scope) -> dict[str, Concept]:
    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.UNDERSTANDING, scopes=[scope], axes=Axes(seen_at=LATER), limit=500
    )
    found = memory.store.records.query(query)
    return {each.name: each for each in found if isinstance(each, Concept) and each.topic == "entity"}


def test_a_concept_says_what_it_was_made_from_and_what_was_not_read(memory: Memory) -> None:
    for text in ("I work at Fernhill.", "I like ramen.", "I am allergic to peanuts."):
        memory.tell(text, START)
    memory.derive()
    (concept,) = [each for each in memory.held(Layer.UNDERSTANDING) if each.topic == "entity"]
    facts, beliefs = memory.held(Layer.FACTS), memory.held(Layer.BELIEFS)
    assert set(concept.inputs) == {each.id for each in (*facts, *beliefs)}
    assert (concept.consulted, concept.available, concept.unread) == (6, 7, ("episodes",))
    assert concept.confidence == round(sum(each.confidence for each in beliefs) / 3, 4)


def test_what_was_told_in_several_talks_that_are_over_goes_first(memory: Memory) -> None:
    memory.tell("I live in Leipzig.", START)
    memory.tell("I like ramen.", START + 1)
    memory.tell("I like ramen.", START + 10 * DAY)
    memory.tell("I like tea.", START + 20 * DAY)
    memory.tell("I like plums.", START + 20 * DAY + 1)
    memory.derive()
    (concept,) = [each for each in memory.held(Layer.UNDERSTANDING) if each.topic == "entity"]
    assert concept.summary.index("ramen") < min(
        concept.summary.index(each) for each in ("Leipzig", "tea", "plums")
    )
    episodes = [each.id for each in memory.held(Layer.EPISODES) if each.sealed]
    assert len(episodes) == 2
    assert set(episodes) <= set(concept.inputs)
    assert concept.unread == ("episodes",)
    live, again = memory.replayed()
    assert again == live


def test_a_project_that_a_scope_is_about_has_a_concept(memory: Memory) -> None:
    memory.tell(triple("Ana", "works_on", "Kestrel"), START, scope=KESTREL)
    memory.derive()
    kestrel = understood(memory, KESTREL)["Kestrel"]
    assert kestrel.summary == "Ana works on Kestrel."
    assert understood(memory, KESTREL).keys() == {"Kestrel"}


def test_what_several_facts_say_of_somebody_is_understood_of_them(memory: Memory) -> None:
    for name in ("Ana", "Bob", "Carl"):
        memory.tell(triple(name, "works_on", "Kestrel"), START)
    memory.derive()
    (kestrel,) = [each for each in memory.held(Layer.UNDERSTANDING) if each.topic == "entity"]
    assert kestrel.name == "Kestrel"
    assert {edge.relation for edge in kestrel.edges} == {"related_to"}
    assert len(kestrel.edges) == 3


def test_edges_have_the_relation_that_the_facts_tell(memory: Memory) -> None:
    for predicate, value in (
        ("part_of", "Atlas"),
        ("depend_on", "Postgres"),
        ("is_a", "Server"),
        ("likes", "Tea"),
    ):
        memory.tell(triple("Kestrel", predicate, value), START)
    memory.derive()
    (kestrel,) = [each for each in memory.held(Layer.UNDERSTANDING) if each.topic == "entity"]
    assert sorted(edge.relation for edge in kestrel.edges) == ["depends_on", "is_a", "part_of", "related_to"]


def test_a_concept_whose_facts_were_all_cancelled_stays_as_deprecated_without_their_words(
    memory: Memory,
) -> None:
    told = [memory.tell(text, START) for text in ("I work at Fernhill.", "I like ramen.", "I live in Bonn.")]
    memory.derive()
    (before,) = [each for each in memory.held(Layer.UNDERSTANDING) if each.topic == "entity"]
    for event in told:
        memory.cancel(event)
    memory.derive()
    after = memory.store.records.get(TENANT, [before.id])[before.id]
    assert isinstance(after, Concept)
    assert (after.stance, after.summary, after.inputs) == (Stance.DEPRECATED, "", ())
    assert (after.support_lost, after.excluded) == (1.0, True)
    memory.tell("I live in Porto.", START + DAY)
    memory.derive()
    (again,) = [each for each in memory.held(Layer.UNDERSTANDING) if each.topic == "entity"]
    assert (again.id, again.stance, again.support_lost) == (before.id, Stance.SUPPORTED, 0.0)
    live, replayed = memory.replayed()
    assert live == replayed


def test_what_somebody_else_says_is_not_told_beside_ones_own_word(memory: Memory) -> None:
    for text in ("I work at Fernhill.", "I like ramen.", "I am allergic to peanuts."):
        memory.tell(text, START)
    memory.tell("Ana likes golf.", START, who=BOB)
    memory.derive()
    (concept,) = [each for each in memory.held(Layer.UNDERSTANDING) if each.topic == "entity"]
    assert "golf" not in concept.summary
