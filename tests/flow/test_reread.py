"""Turns that a language model reads again, after telling what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.cli.reread import Estimate, Rereader, price_of, since_of
from lamina.errors import Invalid
from modelled import ModelServer
from readers import ReadChat, reading, says

PORTO = {"predicate": "lives_in", "object": "Porto", "quote": "Porto has been home for a year"}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer(lambda told: reading())
    yield server
    server.stop()


@pytest.fixture
def chat(tmp_path: Path, model: ModelServer) -> Iterator[ReadChat]:
    chat = ReadChat(tmp_path, model)
    yield chat
    chat.close()


def test_turns_are_read_again_by_another_model_after_telling_what_it_costs(
    chat: ReadChat, model: ModelServer
) -> None:
    model.answers = says(Porto=reading(PORTO))
    chat.hear("I like stroopwafels. Porto has been home for a year.")
    chat.say("Nice.", role="assistant")
    like = {"predicate": "likes", "object": "stroopwafels", "quote": "I like stroopwafels"}
    model.answers = says(Porto=reading(like))
    chat.generator.close()
    chat.ask_with(model, "large")
    reader = Rereader(chat.store, chat.worker, chat.inquirer)
    assert reader.turns(since_of("2999-01-01")) == []
    with pytest.raises(Invalid, match="'yesterday'"):
        since_of("yesterday")
    turns = reader.turns(since_of("2026-01-01"))
    estimate = reader.estimate(turns)
    assert (estimate.turns, estimate.tokens_in > 500) == (1, True)
    assert price_of(Estimate(10, 1_000_000, 2_000_000), "0.10,0.50") == ": 0.10 to 1.10"
    through: list[int] = []
    assert reader.read(turns, chat.clock.at, through.append, still_s_max=0.0) == 0
    assert (through, chat.texts()) == ([1], {"Alice likes stroopwafels"})
    assert list(chat.store.snapshot()) == chat.replayed()


def test_what_cannot_be_read_again_now_is_left_to_the_worker(chat: ReadChat, model: ModelServer) -> None:
    chat.hear("I like stroopwafels, and so does he.")
    chat.generator.close()
    chat.ask_with(model, "large")
    model.status = 503
    reader = Rereader(chat.store, chat.worker, chat.inquirer)
    assert reader.read(reader.turns(0), chat.clock.at, print, still_s_max=0.0) == 1
    assert chat.states() == {"pending": 1}
