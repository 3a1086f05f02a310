"""While a memory is being erased none of its words leave: no model is asked about them. (That no graph is sent them is told beside the outages.)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from given import NOON, TENANT, ManualClock
from lamina.forget.planning import place_of_erasure
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.store.ports.erasures import ErasureJob
from lamina.store.ports.store import Store
from modelled import ModelServer
from readers import ReadChat, reading, says


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer(says())
    yield server
    server.stop()


@pytest.fixture
def chat(tmp_path: Path, model: ModelServer) -> Iterator[ReadChat]:
    chat = ReadChat(tmp_path, model)
    yield chat
    chat.generator.close()
    chat.store.close()


def begin(store: Store, scope: Scope) -> ErasureJob:
    place = place_of_erasure("erasure_1", scope, ErasureRules())
    return store.erasures.begin(
        ErasureJob(
            tenant_id=TENANT, id="erasure_1", scope=scope, place=place, requested_by="user:alice",
            audit_note="", started_at=NOON,
        )
    )  # fmt: skip


def cancel(store: Store, clock: ManualClock) -> None:
    """The erasure stops before anything went."""
    held = store.erasures.claim(now=clock.at, lease_until=clock.at + SECOND_US, owner="test")
    assert held is not None
    assert store.erasures.end(replace(held, status="cancelled"))


def states(store: Store) -> dict[str, int]:
    return {state: count for state, count in store.inquiries.counts().items() if count}


def test_no_model_is_asked_about_what_is_being_erased(chat: ReadChat, model: ModelServer) -> None:
    chat.say("I live in Porto.")
    begin(chat.store, chat.scope)
    chat.inquirer.step()
    assert model.requests == []
    assert chat.inquirer.step() == 0, "nothing is due"
    cancel(chat.store, chat.clock)
    chat.clock.at += 60 * SECOND_US
    chat.ask()
    assert len(model.requests) == 1
    assert states(chat.store) == {"applied": 1}


def test_an_answer_waits_while_its_memory_is_being_erased(chat: ReadChat, model: ModelServer) -> None:
    model.answers = lambda told: reading({"predicate": "lives_in", "object": "Porto", "quote": told["turn"]})
    chat.say("I live in Porto.")
    chat.inquirer.step()
    begin(chat.store, chat.scope)
    chat.worker.drain()
    assert states(chat.store) == {"answered": 1}, "it did not fail"
    cancel(chat.store, chat.clock)
    chat.worker.drain()
    assert states(chat.store) == {"applied": 1}
