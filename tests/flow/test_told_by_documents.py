"""What a tool or document says beside what people said of themselves: it ends no word of theirs, whatever arrived first."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from lamina.kernel.events import Event, Party, Trust
from lamina.kernel.records import Belief, Fact, Layer, Stance
from told import DAY, START, Memory

MakeMemory = Callable[[], Memory]
WEB = Party("agent:web", "agent", "web")
Told = tuple[Any, int, bool]


def lives_in(place: str) -> dict[str, Any]:
    return {"kind": "triple", "subject": "Ana", "predicate": "lives_in", "object": place}


def tell(memory: Memory, *told: Told) -> list[Event]:
    """Each what, when and whether it was read; derived one by one, as it arrives."""
    events = []
    for what, at, is_read in told:
        if is_read:
            events.append(memory.tell(what, at, WEB, trust=Trust.EXTERNAL))
        else:
            events.append(memory.tell(what, at))
        memory.derive()
    return events


def both_ways(make_memory: MakeMemory, *told: Told) -> Memory:
    """The memory after what was told in this order, which is that of the other."""
    there, back = make_memory(), make_memory()
    tell(there, *told)
    tell(back, *reversed(told))
    assert claims(there) == claims(back)
    assert there.shown()["identity"] == back.shown()["identity"]
    return there


def claims(memory: Memory) -> list[tuple[Any, ...]]:
    facts: list[Fact] = memory.held(Layer.FACTS)
    return sorted(
        (f.predicate, f.object.text, f.negated, f.valid_from, f.valid_to or 0, f.external, f.confidence)
        for f in facts
    )


def home(memory: Memory) -> Any:
    return memory.shown()["identity"]["facts"].get("home")


def belief(memory: Memory, place: str) -> Belief:
    (found,) = [each for each in memory.held(Layer.BELIEFS) if each.object.text == place]
    assert isinstance(found, Belief)
    return found


def test_what_was_read_later_ends_nothing_that_a_person_said(make_memory: MakeMemory) -> None:
    memory = both_ways(
        make_memory, ("I live in Lisbon.", START, False), (lives_in("Porto"), START + DAY, True)
    )
    assert memory.homes() == [("Porto", START - 1, START), ("Lisbon", START, None)]
    assert home(memory) == "Lisbon"
    lisbon, porto = belief(memory, "Lisbon"), belief(memory, "Porto")
    assert (lisbon.stance, lisbon.contradicts, porto.contradicts) == (
        Stance.SUPPORTED,
        (porto.id,),
        (lisbon.id,),
    )
    assert [each.polarity for each in lisbon.evidence] == ["supports"], (
        "what was read weighs nothing against it"
    )
    assert porto.stance is not Stance.SUPPORTED


def test_what_was_read_holds_until_a_person_says_otherwise(make_memory: MakeMemory) -> None:
    memory = both_ways(
        make_memory, (lives_in("Porto"), START, True), ("I live in Lisbon.", START + DAY, False)
    )
    assert memory.homes() == [("Porto", START, START + DAY), ("Lisbon", START + DAY, None)]
    assert home(memory) == "Lisbon"


def test_what_was_read_holds_again_when_the_word_of_the_person_is_cancelled(make_memory: MakeMemory) -> None:
    memory = make_memory()
    said, _ = tell(memory, ("I live in Lisbon.", START, False), (lives_in("Porto"), START + DAY, True))
    memory.cancel(said)
    memory.derive()
    assert memory.homes() == [("Porto", START + DAY, None)]
    assert home(memory) is None


def test_a_document_that_says_the_same_is_support_and_the_fact_is_the_persons(
    make_memory: MakeMemory,
) -> None:
    memory = both_ways(
        make_memory, ("I live in Lisbon.", START, False), (lives_in("Lisbon"), START + DAY, True)
    )
    (fact,) = memory.held(Layer.FACTS)
    assert (fact.external, fact.valid_from, home(memory)) == (False, START, "Lisbon")


def test_a_fact_that_a_person_stated_too_was_not_read_alone(make_memory: MakeMemory) -> None:
    bankrupt = {"kind": "triple", "subject": "Acme", "predicate": "is", "object": "bankrupt"}
    memory = both_ways(make_memory, (bankrupt, START, True), (bankrupt, START + DAY, False))
    (fact,) = memory.held(Layer.FACTS)
    assert (fact.external, fact.confidence, belief(memory, "bankrupt").external) == (False, 0.95, False)
    alone = both_ways(make_memory, (bankrupt, START, True), (bankrupt, START + DAY, True))
    (fact,) = alone.held(Layer.FACTS)
    assert (fact.external, fact.confidence) == (True, 0.665)


@pytest.mark.parametrize("words", ["Ana no longer lives in Lisbon.", "Ana used to live in Lisbon."])
def test_a_document_that_denies_it_ends_nothing_that_a_person_said(
    make_memory: MakeMemory, words: str
) -> None:
    memory = make_memory()
    tell(memory, ("I live in Lisbon.", START, False), (words, START + DAY, True))
    facts: list[Fact] = memory.held(Layer.FACTS)
    assert [(f.object.text, f.valid_to) for f in facts if not (f.external or f.negated)] == [("Lisbon", None)]
    (stated,) = [fact for fact in facts if not fact.external]
    supports = memory.store.records.supports_of(stated.tenant_id, [stated.id])[stated.id]
    assert len(supports) == 1, "a denial is no confirmation"
    assert home(memory) == "Lisbon"


TOLD: tuple[tuple[Any, bool], ...] = (
    ("I live in Porto.", False), ("I live in Lisbon.", False), ("I live in Berlin.", False),
    (lives_in("Porto"), True), (lives_in("Lisbon"), True), (lives_in("Rome"), True),
)  # fmt: skip


def random_story(chance: random.Random) -> list[Told]:
    times = chance.sample(range(60), chance.randrange(3, 12))
    return [(*chance.choice(TOLD), START + at * DAY) for at in times]  # type: ignore[misc]


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_arrival_does_not_matter_and_a_replay_finds_the_same(
    make_memory: MakeMemory, seed: int
) -> None:
    chance = random.Random(seed)
    story = [(what, at, is_read) for what, is_read, at in random_story(chance)]
    outcomes = []
    for order in (story, story[::-1], chance.sample(story, len(story))):
        memory = make_memory()
        tell(memory, *order)
        outcomes.append([claim[:-1] for claim in claims(memory)])
        live, replayed = memory.replayed()
        assert live == replayed, f"seed {seed}"
    assert outcomes[0] == outcomes[1] == outcomes[2], f"seed {seed}"
    newest = max((each for each in story if not each[2]), key=lambda each: each[1], default=None)
    assert home(memory) == (None if newest is None else newest[0].removesuffix(".").split()[-1])


@pytest.mark.parametrize("seed", range(4))
def test_memory_is_what_it_would_be_without_what_was_cancelled(make_memory: MakeMemory, seed: int) -> None:
    chance = random.Random(seed)
    story = [(what, at, is_read) for what, is_read, at in random_story(chance)]
    memory, fresh = make_memory(), make_memory()
    events = tell(memory, *story)
    gone = set(chance.sample(range(len(story)), len(story) // 3))
    for number in gone:
        memory.cancel(events[number])
        memory.derive()
    tell(fresh, *(each for number, each in enumerate(story) if number not in gone))
    assert memory.shown() == fresh.shown(), f"seed {seed}"
    assert claims(memory) == claims(fresh), f"seed {seed}"


def uses(*, negated: bool = False, since: str | None = None) -> dict[str, Any]:
    claim = {"kind": "triple", "subject": "Ana", "predicate": "uses", "object": "Jenkins", "negated": negated}
    return claim if since is None else {**claim, "valid_from": since}


def test_a_documents_denial_that_joined_a_persons_stands_with_the_next_one(make_memory: MakeMemory) -> None:
    memory = make_memory()
    told = (
        (uses(negated=True), START, False),
        (uses(), START + 2 * DAY, False),
        (uses(negated=True), START + 20 * DAY, True),
    )
    tell(memory, *told, (uses(negated=True), START + 9 * DAY, False))
    beginnings = sorted((fact.negated, fact.valid_from) for fact in memory.held(Layer.FACTS))
    assert beginnings == [(False, START + 2 * DAY), (True, START), (True, START + 9 * DAY)]


def test_of_one_instant_what_was_said_last_counts_in_any_order(make_memory: MakeMemory) -> None:
    """A denial, the claim and a denial again, all as of one day: what arrives late joins no later word of its kind."""
    day = "2026-03-23T09:00:00Z"
    claimed = (
        (uses(since=day), START + 28 * DAY, False),
        (uses(since="2026-03-08T09:00:00Z"), START + 12 * DAY, False),
    )
    again, denied = (
        (uses(negated=True, since=day), START + 29 * DAY, False),
        (uses(negated=True), START + 21 * DAY, False),
    )
    both_ways(make_memory, *claimed, again, denied)
