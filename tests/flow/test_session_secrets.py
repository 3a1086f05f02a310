"""Secrets in what sessions derive: kept, and neither in what stands before an answer nor in what a language model is asked."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from modelled import ModelServer, found
from readers import ReadChat

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
USER = {"tenantId": "tenant_a", "userId": "user_1"}
ASKED = {**USER, "personaId": "p", "sessionId": "s", "now": "2026-05-13T10:10:00Z"}


@pytest.fixture
def told(world: Any) -> Any:
    """A world in which a user's home, employer and duty hold a secret."""
    for minute, text in enumerate(
        (f"I live in {KEY}.", f"I work at {KEY}.", f"I need to rotate {KEY}.", "My name is Kaiser.")
    ):
        at = f"2026-05-13T10:0{minute}:00Z"
        turn = {**USER, "personaId": "p", "sessionId": "s", "role": "user", "text": text, "timestamp": at}
        world.post("/ingest", turn)
    deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
    Worker(world.store, deriver, None, world.clock, "test").drain()
    return world


def test_neither_a_brief_nor_a_handover_tells_a_secret_of_who_the_user_is(told: Any) -> None:
    """Once both told them beside turns that were withheld."""
    brief = told.post("/brief", ASKED)
    assert KEY not in brief.text
    assert brief.json()["identity"] == {"name": "Kaiser", "timezone": None, "facts": {}}
    handover = told.call("GET", "/session/startbrief", **USER, now="2026-05-13T10:10:00Z")
    assert KEY not in handover.text
    assert handover.json()["ops_context"]["user_model_hints"]["name"] == "Kaiser"
    everything = told.post("/brief", {**ASKED, "includeQuarantined": True}).json()
    assert everything["identity"]["facts"] == {"home": KEY, "employer": KEY}


def test_a_model_is_not_shown_an_open_loop_with_a_secret(tmp_path: Path) -> None:
    """Once the key went out with the question about every later turn."""
    model = ModelServer(lambda _: found())
    with contextlib.closing(ReadChat(tmp_path, model)) as chat:
        chat.hear(f"I need to rotate {KEY}. I have to call mum.")
        assert len(chat.open()) == 2
        chat.hear("What a long day it was at the office.")
        assert model.asked
        assert KEY not in json.dumps(model.requests)
        assert [each["text"] for each in model.asked[-1]["open"]] == ["Call mum"]
    model.stop()
