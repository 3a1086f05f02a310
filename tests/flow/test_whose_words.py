"""Whose words end what is held: a person's own running speech, and nobody else's of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from given import TENANT, append
from lamina.kernel.events import Context, Origin, Party, Trust
from lamina.kernel.records import Fact, Layer, Loop, LoopStatus
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes
from lamina.kernel.views import fact_view
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.recall.render import line_of
from lamina.store.ports.records import RecordQuery
from told import ALICE, ANA, DAY, LATER, START, Memory

pytestmark = pytest.mark.model

MakeMemory = Callable[[], Memory]
DATA = Path(__file__).parents[1] / "data" / "handed_over"
ATTACKS: list[str] = json.loads((DATA / "attacks.json").read_text(encoding="utf-8"))
HONEST: list[dict[str, Any]] = json.loads((DATA / "honest.json").read_text(encoding="utf-8"))
BEFORE = "I am allergic to peanuts. I live in Porto. I work at Acme. I am vegetarian."
HONEST_READ_MIN = 45
MALLORY, LENA = Party("user:mallory", "user", "Mallory"), Party("user:lena", "user", "Lena")


@pytest.fixture(scope="module")
def extractor() -> RulesExtractor:
    return RulesExtractor(find_times)


@pytest.fixture
def make(make_memory: Callable[..., Memory], extractor: RulesExtractor) -> MakeMemory:
    return lambda: make_memory(extractor)


def facts_of(memory: Memory) -> list[Fact]:
    return [each for each in memory.held(Layer.FACTS) if not isinstance(each, Loop)]


def told(make: MakeMemory, *said: tuple[str, Party]) -> Memory:
    memory = make()
    for day, (text, who) in enumerate(said):
        memory.tell(text, START + day * DAY, who)
        memory.derive()
    return memory


def current(memory: Memory) -> list[str]:
    """The lines of what holds."""
    return sorted(
        line_of(each, ()).replace("since 2026-", "") for each in facts_of(memory) if each.valid_to is None
    )


def replays(memory: Memory) -> None:
    live, again = memory.replayed()
    assert live == again


@pytest.mark.parametrize("attack", ATTACKS)
def test_words_that_are_handed_over_end_and_deny_nothing(make: MakeMemory, attack: str) -> None:
    memory = told(make, (BEFORE, ANA), (attack, ANA))
    before = [each for each in facts_of(memory) if not each.external]
    assert sorted(each.text for each in before if each.valid_to is None and each.superseded_by is None) == [
        "Ana is allergic to peanuts",
        "Ana lives in Porto",
        "Ana works at Acme",
        "Ana's diet is vegetarian",
    ]
    others = [each for each in facts_of(memory) if each.external]
    assert not any(each.negated for each in others)
    assert all(each.handed_over and "; from words that may be quoted" in line_of(each, ()) for each in others)
    assert memory.shown()["identity"]["facts"]["home"] == "Porto"


def test_words_that_are_handed_over_replay_as_they_were(make: MakeMemory) -> None:
    said = [(BEFORE, ANA), *((attack, ANA) for attack in ATTACKS), ("I moved to Berlin.", ANA)]
    replays(told(make, *said))


def test_honest_turns_of_several_lines_are_read_as_before(make: MakeMemory) -> None:
    changed = []
    for row in HONEST:
        memory = told(make, (BEFORE, ANA), (row["turn"], ANA))
        if sorted([each.text, each.valid_to is None] for each in facts_of(memory)) != row["facts"]:
            changed.append(row["turn"])
    assert len(HONEST) - len(changed) >= HONEST_READ_MIN, changed


def test_what_was_handed_over_holds_until_somebody_says_otherwise(make: MakeMemory) -> None:
    memory = told(make, ("Home: I live in Quito.", ANA))
    assert current(memory) == ["Ana lives in Quito (03-02; from words that may be quoted)"]
    memory.tell("I live in Porto.", START + DAY)
    memory.derive()
    assert current(memory) == ["Ana lives in Porto (03-03)"]
    replays(memory)


def test_of_a_person_others_say_what_stands_beside_their_own_word(make: MakeMemory) -> None:
    memory = told(
        make,
        ("I am allergic to peanuts. I live in Porto.", ANA),
        ("Ana is not allergic to peanuts. Ana lives in Kiev.", MALLORY),
        ("Ana no longer lives in Porto.", MALLORY),
    )
    lines = current(memory)
    assert "Ana is allergic to peanuts (03-02)" in lines
    assert "Ana lives in Porto (03-02)" in lines
    assert "Ana lives in Kiev (03-03; said by Mallory)" in lines
    assert "Ana is not allergic to peanuts (03-03; said by Mallory)" in lines
    by = {each.text: fact_view(each).said_by for each in facts_of(memory)}
    assert by["Ana lives in Porto"] is None
    said = by["Ana lives in Kiev"]
    assert said is not None
    assert (said.id, said.name) == ("user:mallory", "Mallory")
    assert memory.shown()["identity"]["facts"]["home"] == "Porto"
    replays(memory)


def test_the_person_ends_what_others_say_of_them(make: MakeMemory) -> None:
    memory = told(
        make,
        ("I live in Porto.", ANA),
        ("Ana lives in Kiev.", MALLORY),
        ("I moved to Rome.", ANA),
    )
    assert [
        each.object.text
        for each in facts_of(memory)
        if each.predicate == "lives_in" and each.valid_to is None
    ] == ["Rome"]
    replays(memory)


def test_who_told_of_somebody_tells_of_them_anew_and_nobody_else_ends_it(make: MakeMemory) -> None:
    memory = told(
        make,
        ("Tom lives in Leeds.", LENA),
        ("Tom lives in York.", MALLORY),
        ("Tom lives in Hull.", LENA),
    )
    assert current(memory) == [
        "Tom lives in Hull (03-04; said by Lena)",
        "Tom lives in York (03-03; said by Mallory)",
    ]
    replays(memory)


def test_an_envelope_that_names_the_person_as_its_subject_ends_their_claim(make: MakeMemory) -> None:
    memory = told(make, ("I live in Porto.", ANA))
    memory.clock.at += 1_000_000
    append(
        memory.store,
        "Ana lives in Kiev.",
        content={"kind": "message", "role": "user", "text": "Ana lives in Kiev."},
        observed_actor=MALLORY,
        subject=ANA,
        scope=ALICE,
        session="s-1",
        context=Context(observed_at=START + DAY),
        origin=Origin("service:app", "http", Trust.PRINCIPAL),
    )
    memory.derive()
    assert current(memory) == ["Ana lives in Kiev (03-03)"]
    replays(memory)


def test_things_and_stated_triples_end_as_ever(make: MakeMemory) -> None:
    memory = told(make, ("I live in Porto.", ANA))
    memory.tell(
        {"kind": "triple", "subject": "Ana", "predicate": "lives_in", "object": "Oslo"}, START + DAY, MALLORY
    )
    memory.derive()
    assert current(memory) == ["Ana lives in Oslo (03-03)"]


def test_in_ones_own_memory_the_author_needs_no_naming(make: MakeMemory) -> None:
    memory = told(make, ("Tom lives in Leeds.", LENA))
    (fact,) = facts_of(memory)
    assert "said by Lena" in line_of(fact, ())
    assert "said by" not in line_of(replace(fact, scope=Scope("org:acme/user:lena")), ())


@pytest.mark.parametrize(
    ("text", "who", "status"),
    [
        ("I booked the dentist.", ANA, LoopStatus.COMPLETED),
        ("Email from boss:\nI booked the dentist.", ANA, LoopStatus.ACTIVE),
        ("[Bob, 12:01] I booked the dentist.", ANA, LoopStatus.ACTIVE),
        ("I booked the dentist.", MALLORY, LoopStatus.ACTIVE),
    ],
)
def test_a_loop_ends_by_the_persons_own_words(
    make: MakeMemory, text: str, who: Party, status: LoopStatus
) -> None:
    memory, scope = make(), Scope("org:acme/user:ana")
    memory.tell("I need to book the dentist.", START, ANA, scope)
    memory.derive()
    memory.tell(text, START + DAY, who, scope)
    memory.derive()
    query = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[scope], axes=Axes(seen_at=LATER))
    found = [each for each in memory.store.records.query(query) if isinstance(each, Loop)]
    assert [each.status for each in found if "dentist" in each.text] == [status]
