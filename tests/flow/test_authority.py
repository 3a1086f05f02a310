"""Whose word a derived record is: never more than the sources it is made of give (decision 0024)."""

from __future__ import annotations

import pytest

from lamina.kernel.events import Trust
from lamina.kernel.records import Layer
from lamina.kernel.views import belief_view, concept_view, episode_view, fact_view
from told import BOB, START, Memory

DOCUMENT = {
    "kind": "triple",
    "subject": {"type": "entity", "name": "Ana"},
    "predicate": "works_at",
    "object": {"type": "entity", "name": "Fernhill"},
}
LAYERS = (Layer.FACTS, Layer.BELIEFS, Layer.EPISODES, Layer.UNDERSTANDING)


def told(memory: Memory, *trusts: Trust) -> dict[Layer, set[str]]:
    """What each layer shows after turns of a kind each, of one matter."""
    for number, trust in enumerate(trusts):
        for text in ("I work at Fernhill.", "I like ramen.", "I am allergic to peanuts."):
            memory.tell(text, START + number, trust=trust)
    memory.derive()
    views = {
        Layer.FACTS: fact_view, Layer.BELIEFS: belief_view, Layer.EPISODES: episode_view, Layer.UNDERSTANDING: concept_view,
    }  # fmt: skip
    return {layer: {views[layer](each).trust for each in memory.held(layer)} for layer in LAYERS}  # type: ignore[operator]


@pytest.mark.parametrize("trust", [Trust.PRINCIPAL, Trust.DELEGATED])
def test_what_is_derived_of_one_kind_of_word_is_of_that_kind(memory: Memory, trust: Trust) -> None:
    assert told(memory, trust) == {layer: {trust.value} for layer in LAYERS}


def test_a_claim_has_the_best_of_those_that_say_it_and_a_talk_the_least(memory: Memory) -> None:
    of = told(memory, Trust.DELEGATED, Trust.PRINCIPAL)
    assert of == {
        Layer.FACTS: {"principal"}, Layer.BELIEFS: {"principal"}, Layer.EPISODES: {"delegated"}, Layer.UNDERSTANDING: {"principal"},
    }  # fmt: skip


def test_what_nobody_says_stays_nobodys_word_however_often(memory: Memory) -> None:
    for number in range(3):
        memory.tell(DOCUMENT, START + number, BOB, trust=Trust.EXTERNAL)
    memory.derive()
    (fact,) = memory.held(Layer.FACTS)
    (belief,) = memory.held(Layer.BELIEFS)
    assert (fact.trust, belief.trust) == (Trust.EXTERNAL, Trust.EXTERNAL)
