"""What is believed: a value that another one follows held for its time; what speaks against a claim says so of the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lamina.kernel.events import Trust
from lamina.kernel.records import Belief, Layer, Stance
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from told import BOB, DAY, START, Memory

MakeMemory = Callable[..., Memory]


def beliefs(memory: Memory) -> dict[tuple[str, bool], Belief]:
    found: list[Belief] = memory.held(Layer.BELIEFS)
    return {(each.object.text, each.negated): each for each in found}


def stated(value: Any, subject: str = "Shop", predicate: str = "seats") -> dict[str, Any]:
    return {"kind": "triple", "subject": subject, "predicate": predicate, "object": value}


def test_a_value_that_another_follows_is_believed_for_its_time(memory: Memory) -> None:
    for city, at in (("Oslo", 0), ("Drammen", 30), ("Bergen", 60)):
        memory.tell(f"I live in {city}.", START + at * DAY)
    memory.derive()
    found = beliefs(memory)
    assert {city: (b.stance, b.valid_from, b.valid_to, b.contradicts) for (city, _), b in found.items()} == {
        "Oslo": (Stance.SUPPORTED, START, START + 30 * DAY, ()),
        "Drammen": (Stance.SUPPORTED, START + 30 * DAY, START + 60 * DAY, ()),
        "Bergen": (Stance.SUPPORTED, START + 60 * DAY, None, ()),
    }
    assert len({b.confidence for b in found.values()}) == 1
    live, again = memory.replayed()
    assert live == again


def test_a_doubtful_value_is_not_deleted_by_the_next(memory: Memory) -> None:
    memory.tell(stated(100), START, trust=Trust.EXTERNAL)
    memory.derive()
    before = beliefs(memory)["100", False]
    memory.tell(stated(200), START + 30 * DAY)
    memory.derive()
    after = beliefs(memory)["100", False]
    assert (after.id, after.confidence, after.valid_to) == (before.id, before.confidence, START + 30 * DAY)


def test_an_ending_that_is_told_speaks_against_nothing(memory: Memory) -> None:
    memory.tell(stated(100), START)
    memory.tell(stated(None), START + 30 * DAY)
    memory.derive()
    hundred = beliefs(memory)["100", False]
    assert (hundred.stance, hundred.valid_to, hundred.contradicts) == (Stance.SUPPORTED, START + 30 * DAY, ())


@pytest.mark.model
def test_what_two_people_say_of_one_of_them_are_two_sides(make_memory: MakeMemory) -> None:
    memory = make_memory(RulesExtractor(find_times))
    memory.tell("I live in Lisbon.", START)
    memory.tell("Ana lives in Oslo.", START + DAY, who=BOB)
    memory.derive()
    found = beliefs(memory)
    lisbon, oslo = found["Lisbon", False], found["Oslo", False]
    assert (lisbon.contradicts, oslo.contradicts) == ((oslo.id,), (lisbon.id,))
    assert lisbon.stance is Stance.SUPPORTED, (
        "what others say of a person weighs nothing against their own word"
    )
    assert oslo.confidence < lisbon.confidence


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_word_of_two_counts_in_any_order(memory: Memory, order: tuple[int, ...]) -> None:
    said = [(100, START, None), (100, START + DAY, BOB), (200, START + 2 * DAY, None)]
    for value, at, who in (said[number] for number in order):
        memory.tell(stated(value), at, **({} if who is None else {"who": who}))
    memory.derive()
    hundred, next_value = beliefs(memory)["100", False], beliefs(memory)["200", False]
    assert (hundred.alpha, hundred.beta) == (6.7, 1.3), "two certain words and the uniform prior"
    assert (next_value.alpha, next_value.beta) == (3.85, 1.15)
