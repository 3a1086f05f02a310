"""A new dose takes the place of the old one, and what somebody came off is taken no longer, nor in any dose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lamina.kernel.records import Fact, Layer
from lamina.kernel.time import SECOND_US, instant
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from told import Memory

NOW = instant("2026-10-02T09:00:00Z")
DAY = 24 * 3600 * SECOND_US

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def reader() -> RulesExtractor:
    return RulesExtractor(find_times)


@pytest.fixture
def memory(make_memory: Callable[..., Memory], reader: RulesExtractor) -> Memory:
    return make_memory(reader)


def holds(memory: Memory, *texts: str) -> list[str]:
    for n, text in enumerate(texts):
        memory.tell(text, NOW + n * DAY)
    memory.derive()
    facts: list[Any] = memory.held(Layer.FACTS)
    return sorted(f.text for f in facts if isinstance(f, Fact) and f.kind != "event" and f.valid_to is None)


@pytest.mark.parametrize(
    ("texts", "held"),
    [
        (["Rolf takes 500 mg of metformin twice a day.", "Rolf now takes 1000 mg of metformin."],
         ["Rolf takes metformin", "Rolf's metformin dose is 1000 mg"]),
        (["I take 500 mg of metformin.", "My metformin was doubled to 1000 mg twice a day."],
         ["Ana takes metformin", "Ana's metformin dose is 1000 mg twice a day"]),
        (["I take 500 mg of metformin.", "I take metformin and aspirin."],
         ["Ana takes aspirin", "Ana takes metformin", "Ana's metformin dose is 500 mg"]),
        (["I take 20 mg of sertraline.", "I stopped taking sertraline."], ["Ana does not take sertraline"]),
        (["I take 20 mg of sertraline.", "I switched from sertraline to escitalopram."], ["Ana does not take sertraline", "Ana takes escitalopram"]),
        (["I take 20 mg of sertraline.", "Rolf stopped taking sertraline."],
         ["Ana takes sertraline", "Ana's sertraline dose is 20 mg", "Rolf does not take sertraline"]),
        (["I take 20 mg of sertraline.", "I stopped the car."], ["Ana takes sertraline", "Ana's sertraline dose is 20 mg"]),
    ],
)  # fmt: skip
def test_what_is_taken_now(memory: Memory, texts: list[str], held: list[str]) -> None:
    assert holds(memory, *texts) == held


def test_a_replay_gives_the_same_doses(memory: Memory) -> None:
    holds(
        memory, "I take 20 mg of sertraline.", "I came off sertraline.", "I take 50 mg of sertraline again."
    )
    live, again = memory.replayed()
    assert live == again
