"""Histories told in any order: what is held and believed in the end is the same, to the last figure.

The gate tries a few hundred; ``BELIEF_CASES=5000`` tries so many, ``SIMULATION_SEED`` begins at another seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from given import ManualClock
from lamina.kernel.events import Party, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Belief, Fact, Layer
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import EntityRef, Extraction, Kind, LiteralValue, Span, Triple, Utterance
from lamina.store.memory import MemoryStore
from told import DAY, START, Memory

CASES = int(os.environ.get("BELIEF_CASES", "120"))
FIRST_SEED = int(os.environ.get("SIMULATION_SEED", "1")) * 1_000_000
STATEMENTS_MAX = 6
REPLAYED_OF = 6
"""One history of so many is replayed, too."""
DAYS = 40
_PASSING: tuple[Kind, ...] = ("event", "plan")

ANA = EntityRef("Ana", "ana", "person")
SHOP = EntityRef("Shop", "shop", "thing")
ANAS, BOBS = Party("user:ana", "user", "Ana"), Party("user:bob", "user", "Bob")


@dataclass(frozen=True)
class Said:
    """A statement: what it claims, who says it on which day, and for when."""

    subject: EntityRef
    predicate: str
    value: str | int
    single: bool
    negated: bool
    confidence: float
    speaker: Party
    is_read: bool
    at: int
    since: int | None
    until: int | None = None
    kind: Kind = "attribute"


class Reader(RulesExtractor):
    """Reads statements by their number: words are not what is tried here."""

    def __init__(self, said: Sequence[Said]) -> None:
        super().__init__(find_times, use_parser=False)
        self._said = said

    def extract(self, utterances: Sequence[Utterance]) -> Iterator[Extraction]:
        for utterance in utterances:
            yield Extraction(triples=(_triple(self._said[int(utterance.text)]),))


def _triple(said: Said) -> Triple:
    value = said.value
    return Triple(
        subject=said.subject,
        predicate=said.predicate,
        object=EntityRef(value, value.casefold(), "place")
        if isinstance(value, str)
        else LiteralValue("integer", value),
        kind=said.kind,
        confidence=said.confidence,
        evidence=Span(0, 0),
        valid_from=None if said.since is None else _day(said.since),
        valid_to=None if said.until is None else _day(said.until),
        negated=said.negated,
        single_valued=said.single,
    )


def _day(number: int) -> datetime:
    return datetime.fromtimestamp((START + number * DAY) // SECOND_US, UTC)


def history(chance: random.Random) -> list[Said]:
    matter = chance.choice(["lives_in", "seats", "uses"])
    single = matter != "uses"
    is_of_ana = matter != "seats" and chance.random() < 0.5
    found = []
    for at in chance.sample(range(DAYS), chance.randint(2, STATEMENTS_MAX)):
        value: str | int = (
            chance.choice([100, 200, 300]) if matter == "seats" else chance.choice(["Oslo", "Turku", "Graz"])
        )
        since = chance.choice([None, None, None, at - chance.randint(1, 12)])
        is_read = chance.random() < 0.15
        found.append(
            Said(
                ANA if is_of_ana else SHOP,
                matter,
                value if single else "Jenkins",
                single,
                chance.random() < (0.15 if single else 0.5),
                chance.choice([0.95, 0.95, 0.6, 0.4]),
                ANAS if is_of_ana else chance.choice([ANAS, BOBS]),
                is_read,
                at,
                since,
            )
        )
    return found


def with_ends(said: Sequence[Said], chance: random.Random) -> list[Said]:
    """The statements, some of which tell an end: most of these, without a beginning, say that a value was over."""
    return [
        replace(each, until=(each.at if each.since is None else each.since) + chance.randint(-3, 8))
        if not each.negated and chance.random() < 0.2
        else each
        for each in said
    ]


def of_ana(said: Sequence[Said], chance: random.Random) -> list[Said]:
    """The statements, all of them about Ana, who says most of them herself."""
    return [
        replace(
            each,
            subject=ANA,
            predicate="lives_in" if each.predicate == "seats" else each.predicate,
            value=each.value if isinstance(each.value, str) else "Oslo",
            speaker=chance.choice([ANAS, ANAS, BOBS]),
        )
        for each in said
    ]


def called_off(chance: random.Random) -> list[Said]:
    """Something that happened or was planned, and that it did not or is not, each with or without a day."""
    kind = chance.choice(_PASSING)
    found = []
    for negated, at in zip((False, True), chance.sample(range(DAYS), 2), strict=True):
        since = chance.choice(
            [None, at - chance.randint(1, 9), *([at + chance.randint(1, 9)] if kind == "plan" else [])]
        )
        until = None if since is None else chance.choice([None, since + 1])
        found.append(
            Said(
                SHOP,
                "bought",
                "Jenkins",
                False,
                negated,
                0.95,
                chance.choice([ANAS, BOBS]),
                False,
                at,
                since,
                until,
                kind,
            )
        )
    return found


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


def test_what_was_called_off_is_over_in_any_order() -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        said = called_off(random.Random(seed))
        assert figures(told(said, [0, 1])) == figures(told(said, [1, 0])), f"seed {seed}"


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
