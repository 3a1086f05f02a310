"""What an assistant says beside what people said: it ends no word of theirs, whatever arrived first, and is shown as the assistant's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lamina.kernel.events import Party, Trust
from lamina.kernel.records import Belief, Fact, Layer, Stance
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.recall.render import line_of
from told import DAY, START, Memory

pytestmark = pytest.mark.model

MakeMemory = Callable[[], Memory]
JUNO = Party("agent:juno", "agent", "Juno")
WEB = Party("agent:web", "agent", "web")
ANA_SAYS, JUNO_SAYS, PAGE_SAYS = "ana", "juno", "page"
Told = tuple[str, int, str]


@pytest.fixture(scope="module")
def extractor() -> RulesExtractor:
    return RulesExtractor(find_times)


@pytest.fixture
def make(make_memory: Callable[..., Memory], extractor: RulesExtractor) -> MakeMemory:
    """A memory that reads by the parser: the plain rules know first persons alone."""
    return lambda: make_memory(extractor)


def tell(memory: Memory, *told: Told) -> Memory:
    for text, at, who in told:
        if who == ANA_SAYS:
            memory.tell(text, at)
        elif who == JUNO_SAYS:
            memory.tell({"kind": "message", "role": "assistant", "text": text}, at, JUNO)
        else:
            name, _, place = text.removesuffix(".").partition(" lives in ")
            triple = {"kind": "triple", "subject": name, "predicate": "lives_in", "object": place}
            memory.tell(triple, at, WEB, trust=Trust.EXTERNAL)
        memory.derive()
    return memory


def both_ways(make: MakeMemory, *told: Told) -> Memory:
    """The memory after what was told in this order, which is that of the other."""
    there, back = tell(make(), *told), tell(make(), *reversed(told))
    assert claims(there) == claims(back)
    live, again = there.replayed()
    assert live == again
    return there


def claims(memory: Memory) -> list[tuple[Any, ...]]:
    facts: list[Fact] = memory.held(Layer.FACTS)
    return sorted(
        (f.text, f.valid_from, f.valid_to or 0, f.external, f.by_assistant, f.confidence) for f in facts
    )


def standing(memory: Memory) -> list[tuple[str, bool, bool]]:
    """What holds, whether it is hearsay, and whether an assistant's."""
    facts: list[Fact] = memory.held(Layer.FACTS)
    return sorted((f.text, f.external, f.by_assistant) for f in facts if f.valid_to is None)


def test_what_an_assistant_says_to_somebody_leaves_no_claim_of_theirs(make: MakeMemory) -> None:
    memory = tell(
        make(),
        ("I live in Leeds and I work at Siemens.", START, ANA_SAYS),
        ("Got it, you live in Leicester. You work at Bosch.", START + 1, JUNO_SAYS),
        ("What's for dinner?", START + 2, ANA_SAYS),
    )
    assert standing(memory) == [("Ana lives in Leeds", False, False), ("Ana works at Siemens", False, False)]
    assert memory.shown()["identity"]["facts"] == {"home": "Leeds", "employer": "Siemens"}


def test_of_somebody_else_it_ends_no_word_of_a_person(make: MakeMemory) -> None:
    memory = both_ways(
        make,
        ("Ben lives in Leeds.", START, ANA_SAYS),
        ("Ben lives in Leicester.", START + DAY, JUNO_SAYS),
    )
    assert standing(memory) == [("Ben lives in Leeds", False, False)]
    beliefs: list[Belief] = memory.held(Layer.BELIEFS)
    (leeds,) = [each for each in beliefs if each.object.text == "Leeds"]
    assert (leeds.stance, leeds.external) == (Stance.SUPPORTED, False)
    assert {each.stance for each in beliefs if each.object.text == "Leicester"} <= {Stance.CONTRADICTED}


def test_it_denies_nothing_that_a_person_said(make: MakeMemory) -> None:
    memory = tell(
        make(),
        ("Ben lives in Leeds.", START, ANA_SAYS),
        ("Ben doesn't live in Leeds anymore.", START + DAY, JUNO_SAYS),
        ("Ben used to live in Leeds.", START + 2 * DAY, JUNO_SAYS),
    )
    assert ("Ben lives in Leeds", False, False) in standing(memory)


@pytest.mark.parametrize(
    ("told", "held"),
    [
        ([("Ben lives in Leicester.", 0, JUNO_SAYS)], ("Ben lives in Leicester", True, True)),
        (
            [("Ben lives in Leicester.", 0, JUNO_SAYS), ("Ben lives in York.", DAY, JUNO_SAYS)],
            ("Ben lives in York", True, True),
        ),
        (
            [("Ben lives in Leicester.", 0, JUNO_SAYS), ("Ben lives in Leeds.", DAY, ANA_SAYS)],
            ("Ben lives in Leeds", False, False),
        ),
        (
            [("Ben lives in Leeds.", 0, JUNO_SAYS), ("Ben lives in Leeds.", DAY, ANA_SAYS)],
            ("Ben lives in Leeds", False, False),
        ),
        (
            [("Ben lives in Leeds.", 0, JUNO_SAYS), ("Ben lives in Leeds.", DAY, PAGE_SAYS)],
            ("Ben lives in Leeds", True, False),
        ),
        (
            [("Ben lives in Leeds.", 0, PAGE_SAYS), ("Ben lives in Leeds.", DAY, JUNO_SAYS)],
            ("Ben lives in Leeds", True, False),
        ),
        (
            [("Ben lives in Leeds.", 0, ANA_SAYS), ("Ben lives in Leeds.", DAY, JUNO_SAYS)],
            ("Ben lives in Leeds", False, False),
        ),
    ],
)
def test_it_holds_as_the_assistants_until_somebody_else_says_so(
    make: MakeMemory, told: list[Told], held: tuple[str, bool, bool]
) -> None:
    memory = both_ways(make, *((text, START + at, who) for text, at, who in told))
    assert standing(memory) == [held]
    (belief,) = [each for each in memory.held(Layer.BELIEFS) if each.valid_to is None]
    assert (belief.external, belief.by_assistant) == held[1:]
    (fact,) = [each for each in memory.held(Layer.FACTS) if each.valid_to is None]
    source = {
        (True, True): "; said by the assistant)",
        (True, False): "; read in a tool result or document)",
        (False, False): "; said by Ana)",
    }[held[1:]]
    for line in (line_of(fact, ()), line_of(belief, ())):
        assert line.endswith(source)
        assert line.count(";") == source.count(";")


def test_of_the_world_its_word_is_as_anybodys(make: MakeMemory) -> None:
    memory = tell(
        make(),
        ("Atlas uses MySQL.", START, JUNO_SAYS),
    )
    assert [(each[1], each[2]) for each in standing(memory)] == [(False, False)]
