"""The words of a turn that a language model read are erased: what rests on them is kept, and later readings build on that."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from given import TENANT
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.events import Party
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.readings.standing import Readings
from lamina.pipeline.upgrading import Upgrader
from lamina.session.cited_asking import CitedAsker
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.traces import ErasedBeside
from modelled import ModelServer, Told
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


@pytest.mark.parametrize("turns", [1, 4])
def test_an_answer_that_was_given_while_words_that_it_shows_were_erased_is_not_kept(
    tmp_path: Path, model: ModelServer, turns: int
) -> None:
    """An answer about a turn may repeat what was said before it. Once it was recorded, and told of what was erased meanwhile."""

    def erased_meanwhile(told: Told) -> str:
        said = " ".join(each["text"] for each in told["before"])
        if "Zorblax" in said and not erased:
            erased.append(secret)
            erase_words(chat, secret)
        opens = {"text": "Ring doctor Zorblax", "quote": "I have to ring the doctor"}
        return reading(new=[opens] if "Zorblax" in said and "ring" in told["turn"] else [])

    erased: list[str] = []
    model.answers = erased_meanwhile
    with contextlib.closing(ReadChat(tmp_path, model)) as chat:
        secret = chat.say("Doctor Zorblax says that it is my liver.", role="assistant")
        for number in range(turns):
            chat.say(f"That is why I have to ring the doctor on day {number} of the month.")
        chat.ask()
        assert erased
        database = sqlite3.connect(tmp_path / "lamina.db")
        assert not database.execute("SELECT * FROM model_output WHERE text LIKE '%Zorblax%'").fetchall()
        database.close()
        assert not any("Zorblax" in each for each in chat.open())
        assert chat.states().get("pending", 0) == 0
        assert list(chat.store.snapshot()) == chat.replayed()


@pytest.mark.parametrize("turns", [1, 4])
def test_words_that_go_once_a_question_shows_them_are_not_asked_about(
    tmp_path: Path, model: ModelServer, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which words stand is looked up once a question is made. What went right before that was taken for words that were gone all along."""
    asks = CitedAsker.worded

    def erased_before(asker: CitedAsker, *asked: Any) -> list[str]:
        if secrets:
            erase_words(chat, secrets.pop())
        return asks(asker, *asked)

    monkeypatch.setattr(CitedAsker, "worded", erased_before)
    secrets: list[str] = []
    with contextlib.closing(ReadChat(tmp_path, model)) as chat:
        secrets.append(chat.say("Doctor Zorblax says that it is my liver.", role="assistant"))
        for number in range(turns):
            chat.say(f"That is why I have to ring the doctor on day {number} of the month.")
        chat.ask()
        assert secrets == []
        assert model.requests
        assert "Zorblax" not in str(model.requests)
        assert chat.states().get("pending", 0) == 0


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


def test_a_turn_is_no_longer_played_once_what_began_the_play_was_erased(memory: Memory) -> None:
    began = memory.tell("Pretend you are my interviewer.", START, BOB)
    answer = {"kind": "message", "role": "assistant", "text": "Welcome!"}
    memory.tell(answer, START + SECOND_US, Party("agent:helper", "agent", "Helper"))
    played = memory.tell("I live in Porto.", START + 2 * SECOND_US, BOB)
    readings = Readings(memory.store, RulesExtractor(find_times, use_parser=False))
    (before,) = readings.extractions([played])
    assert before.triples == ()
    erasure = Erasure(
        tenant_id=TENANT, erasure_id="audit_1", by_actor="user:root", cascade="redact_events", redact=[began.id],
        factor=0.5, floor=0.3,
    )  # fmt: skip
    assert list(erased_in_steps(memory.store, erasure))
    (after,) = readings.extractions([played])
    assert [each.predicate for each in after.triples] == ["lives_in"]
