"""Histories told in any order: what is held and believed in the end is the same, to the last figure.

The gate tries a few hundred; ``BELIEF_CASES=5000`` tries so many, ``SIMULATION_SEED`` begins at another seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import Any

from given import ManualClock
from lamina.kernel.events import Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Belief, Fact, Layer
from lamina.store.memory import MemoryStore
from statements import DAYS, Reader, Said, history, of_ana, passing, with_ends
from told import DAY, START, Memory

CASES = int(os.environ.get("BELIEF_CASES", "120"))
FIRST_SEED = int(os.environ.get("SIMULATION_SEED", "1")) * 1_000_000
REPLAYED_OF = 6
"""One history of so many is replayed, too."""


def told(said: Sequence[Said], order: Sequence[int]) -> Memory:
    clock = ManualClock(START + 2 * DAYS * DAY)
    memory = Memory(MemoryStore(clock=clock, ids=RandomIds()), clock, Reader(said))
    for number in order:
        each = said[number]
        trust = Trust.EXTERNAL if each.is_read else Trust.PRINCIPAL
        memory.tell(str(number), START + each.at * DAY, who=each.speaker, trust=trust)
    memory.derive()
    return memory


def figures(memory: Memory) -> dict[str, list[Any]]:
    """What is held and believed, but for ids, recorded times and how often it was revised."""
    facts: dict[str, Fact] = {each.id: each for each in memory.held(Layer.FACTS)}
    beliefs: dict[str, Belief] = {each.id: each for each in memory.held(Layer.BELIEFS)}

    def named(claim: Fact | Belief | None) -> tuple[Any, ...] | None:
        return None if claim is None else (claim.claim_key, claim.valid_from, claim.valid_to)

    return {
        "facts": sorted(
            repr((named(f), f.confidence, f.external, f.by_assistant, f.handed_over, f.said_by, f.slot,
                  named(facts.get(f.supersedes or "")), named(facts.get(f.superseded_by or ""))))
            for f in facts.values()
        ),
        "beliefs": sorted(
            repr((named(b), b.confidence, b.alpha, b.beta, b.lower, b.upper, b.stance.value, b.external, b.said_by,
                  sorted(repr(named(beliefs.get(other))) for other in b.contradicts),
                  sorted((repr(named(facts.get(e.source_id))), e.weight, e.polarity) for e in b.evidence)))
            for b in beliefs.values()
        ),
    }  # fmt: skip


def test_what_is_believed_does_not_depend_on_the_order_of_arrival() -> None:
    print(f"{CASES} histories from seed {FIRST_SEED}")
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        assert_same_in_another_order(seed)


def test_what_is_told_as_over_is_believed_the_same_in_any_order() -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        assert_same_in_another_order(seed, ends=True)


def test_what_others_say_of_somebody_is_believed_the_same_in_any_order() -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        assert_same_in_another_order(seed, others=True)
        assert_same_in_another_order(seed, others=True, ends=True)


def test_what_happened_and_was_planned_is_the_same_in_any_order() -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        chance = random.Random(seed)
        said = passing(chance)
        order = chance.sample(range(len(said)), len(said))
        by_day = sorted(order, key=lambda number: said[number].at)
        assert figures(told(said, by_day)) == figures(told(said, order)), f"seed {seed}, told {order}"


def test_a_value_that_begins_twice_at_one_instant_is_believed_the_same_in_any_order() -> None:
    assert_same_in_another_order(89_000_000_518)


def test_a_word_that_gives_way_to_what_came_before_it_is_believed_the_same_in_any_order() -> None:
    assert_same_in_another_order(204_000_000_307)


def test_what_stands_apart_bears_nothing_out_that_goes_on() -> None:
    assert_same_in_another_order(804_000_000_187, others=True, ends=True)


def assert_same_in_another_order(seed: int, *, others: bool = False, ends: bool = False) -> None:
    chance = random.Random(seed)
    said = history(chance)
    if others:
        said = of_ana(said, chance)
    if ends:
        said = with_ends(said, chance)
    by_day = sorted(range(len(said)), key=lambda number: said[number].at)
    order = chance.sample(by_day, len(by_day))
    assert figures(told(said, by_day)) == figures(told(said, order)), f"seed {seed}, told {order}"


def test_a_replay_believes_the_same_in_any_order() -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + max(1, CASES // REPLAYED_OF)):
        chance = random.Random(seed)
        said = with_ends(of_ana(history(chance), chance), chance)
        live, again = told(said, range(len(said))).replayed()
        assert live == again, f"seed {seed}"
