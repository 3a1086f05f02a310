"""The words of a turn that a language model read are erased: what rests on them is kept, and later readings build on that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from given import TENANT
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.readings.standing import Readings
from lamina.pipeline.upgrading import Upgrader
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.traces import ErasedBeside
from modelled import ModelServer
from readers import ReadChat, reading, says
from told import BOB, START, Memory
from upgrades import derive_anew

HOME = {"predicate": "lives_in", "object": "Porto", "quote": "Porto has been home for a year"}
LISBON = {**HOME, "object": "Lisbon", "quote": "Lisbon it is"}
BERGEN = {**HOME, "object": "Bergen", "quote": "Bergen has me"}
TEA = {"predicate": "likes", "object": "tea", "quote": "tea is what I like"}
TURNS = (
    "I like stroopwafels. Porto has been home for a year.",
    "Mostly tea is what I like, and I live in Rome.",
    "Ah well, Lisbon it is now. I like stroopwafels.",
)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.stop()


def erase_words(chat: ReadChat, turn: str) -> None:
    """Redact a turn, and derive its scope anew to the end."""
    erasure = Erasure(
        tenant_id=TENANT, erasure_id="audit_1", by_actor="user:root", cascade="redact_events", redact=[turn],
        factor=0.5, floor=0.3,
    )  # fmt: skip
    assert list(erased_in_steps(chat.store, erasure))
    chat.store.traces.erase_beside(ErasedBeside(tenant_id=TENANT, event_ids=[turn]))
    chat.worker.drain()
    chat.clock.at += 60 * SECOND_US
    upgrader = Upgrader(chat.store, DERIVED_BY, lambda aside: chat.working(store=aside), chat.clock)
    upgrader.begin()
    derive_anew(upgrader)


@pytest.mark.parametrize("erased", range(len(TURNS)))
def test_what_a_model_read_in_erased_words_is_kept_and_built_on(
    tmp_path: Path, model: ModelServer, erased: int
) -> None:
    model.answers = says(Porto=reading(HOME), tea=reading(TEA), Lisbon=reading(LISBON))
    with contextlib.closing(ReadChat(tmp_path, model)) as chat:
        chat.store.rederivation.note_all(DERIVED_BY)
        turns = [chat.hear(text) for text in TURNS]
        held = {"Alice lives in Lisbon", "Alice likes tea"}
        assert chat.texts() == held
        erase_words(chat, turns[erased])
        assert chat.texts() == held
        assert list(chat.store.snapshot()) == chat.replayed()
        model.answers = says(Bergen=reading(BERGEN))
        chat.hear("I live in Oslo, I said to her.")
        assert chat.texts() == held
        chat.hear("Well, Bergen has me by now.")
        assert chat.texts() == {"Alice lives in Bergen", "Alice likes tea"}
        assert list(chat.store.snapshot()) == chat.replayed()


def test_a_turn_is_not_read_by_words_that_were_erased(memory: Memory) -> None:
    """Once what was read before was known for good: a worker that went on read it otherwise than a replay."""
    asked = memory.tell("My sister Maria is a nurse.", START, BOB)
    answered = memory.tell("She moved to Porto.", START + SECOND_US)
    readings = Readings(memory.store, RulesExtractor(find_times))
    (before,) = readings.extractions([answered])
    erasure = Erasure(
        tenant_id=TENANT, erasure_id="audit_1", by_actor="user:root", cascade="redact_events", redact=[asked.id],
        factor=0.5, floor=0.3,
    )  # fmt: skip
    assert list(erased_in_steps(memory.store, erasure))
    fresh = Readings(memory.store, RulesExtractor(find_times))
    assert fresh.extractions([answered]) != [before], "it depends on the words that are gone"
    assert readings.extractions([answered]) == fresh.extractions([answered])
