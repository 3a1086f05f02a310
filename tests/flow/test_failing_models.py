"""Sixteen ways in which a language model fails: nothing open ends by it, no fact comes of it, and all is made up for when it is well."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from failing import WAYS, answers_of, fail
from given import TENANT
from lamina.access.policy import PolicyPermits
from lamina.kernel.operations import Call, Principal
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.session.brief import Briefing
from lamina.types.sessions import BriefAsked
from modelled import ModelServer, Told
from policies import OpenPolicy
from readers import ReadChat, reading

OPEN = ["Call mum", "Pay the rent"]
HOME, COFFEE = "Alice lives in Porto", "Alice does not drink coffee"
CALLS_S_MAX = 1.0
"""For a turn with its derivation and a brief, while the model is being asked."""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.stop()


def sound(told: Told) -> str:
    """A model that is well."""
    turn = told["turn"]
    if "rent" in turn:
        new = [{"text": "Pay the rent", "quote": "pay the rent"}, {"text": "Call mum", "quote": "call mum"}]
        return reading(new=new)
    if "Porto" in turn:
        return reading({"predicate": "lives_in", "object": "Porto", "quote": "I live in Porto"})
    if "coffee" in turn:
        no = {
            "predicate": "drinks",
            "object": "coffee",
            "polarity": "negative",
            "quote": "I don't drink coffee",
        }
        return reading(no)
    return reading()


def open_in_brief(chat: ReadChat) -> list[str]:
    """What the next answer is told to be open."""
    caller = Principal(TENANT, "service:app", "http")
    call = Call(caller, "req_1", chat.clock.at, PolicyPermits(OpenPolicy(), caller))
    asked = BriefAsked(
        tenant_id=TENANT,
        user_id="alice",
        persona_id="p",
        session_id="s",
        now=rfc3339(chat.clock.at),
        mode="in_session",
    )
    brief = Briefing(chat.store).brief(asked, call).result
    return [loop.text for loop in brief.active_loops]


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_model_ends_nothing_and_makes_nothing_up(
    tmp_path: Path, model: ModelServer, way: str
) -> None:
    answers_of(model, sound)
    with contextlib.closing(ReadChat(tmp_path, model, timeout_s=0.4)) as chat:
        fails_and_recovers(chat, model, way)


def fails_and_recovers(chat: ReadChat, model: ModelServer, way: str) -> None:
    chat.hear("I need to pay the rent. I have to call mum.")
    fail(model, way)
    for text in ("I live in Porto.", "I don't drink coffee.", "Well, that was quite a day at the office."):
        began = time.monotonic()
        chat.say(text)
        asking = threading.Thread(target=chat.inquirer.step)
        asking.start()
        assert sorted(open_in_brief(chat)) == OPEN
        assert time.monotonic() - began < CALLS_S_MAX
        asking.join()
        chat.ask()
        chat.clock.at += 400 * SECOND_US
    assert sorted(chat.open()) == OPEN
    assert chat.texts() <= {HOME, COFFEE}
    answers_of(model, sound)
    for _ in range(8):
        chat.clock.at += 400 * SECOND_US
        chat.ask()
    chat.hear("And that is all for today, good night.")
    chat.ask()
    assert chat.states() == {"applied": 5}
    assert sorted(chat.open()) == OPEN
    # An answer that was recorded stands, and of one that is not borne out the rules' reading; others are asked for again.
    recorded = ("inverted claims", "everything ended", "injected", "slow")
    assert chat.texts() == (set() if way == "slow" else {HOME} if way in recorded else {HOME, COFFEE})
    assert list(chat.store.snapshot()) == chat.replayed()
