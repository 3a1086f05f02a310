"""A block tells of a turn by the sentence that answers first, and of all of it where there is room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lamina.app import build_server
from lamina.settings import Settings
from lamina.worker_app import build_worker

pytestmark = pytest.mark.model

SCOPE = "org:acme/user:mia"
ANSWERS = [
    "We planted three apple trees behind the shed",
    "The pear tree by the gate has to be cut down",
    "Joris gave us a plum tree for the wedding",
    "The cherry tree is full of starlings every June",
]
ASIDE = "It was a long and rather grey day at the office and nobody had anything much to say about anything."


@pytest.fixture
def http(tmp_path: Path) -> Any:
    settings = Settings(data=tmp_path, workers=0)
    server = build_server(settings)
    client = TestClient(
        server.application, base_url="http://127.0.0.1", headers={"X-Cortex-Actor": "user:mia"}
    )
    items = [
        {
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": f"{ASIDE} {told}."},
            "observed_actor": {"id": "user:mia", "name": "Mia"},
            "context": {"observed_at": f"2026-03-0{day}T10:00:00Z"},
            "idempotency_key": f"{day}",
        }
        for day, told in enumerate(ANSWERS, start=1)
    ]
    assert client.post("/v1/experience/bulk", json={"scope": SCOPE, "items": items}).status_code == 202
    build_worker(settings, server.store).drain()
    yield client
    server.close()


def block(http: Any, tokens: int, **limits: Any) -> str:
    body = {
        "scope": SCOPE,
        "query": "Which trees are in the garden?",
        "budgets": {"max_tokens": tokens, **limits},
    }
    said: str = http.post("/v1/recall", json=body).json()["context_block"]
    return said


@pytest.mark.parametrize("limits", [{}, {"per_layer_limits": {"events": 60}}])
def test_of_little_room_each_turn_has_the_sentence_that_answers(http: Any, limits: dict[str, Any]) -> None:
    said = block(http, 130, **limits)
    assert len([each for each in ANSWERS if each in said]) >= 3
    assert '"… The pear tree' in said


def test_a_turn_stands_whole_where_there_is_room(http: Any) -> None:
    assert block(http, 1000).count(ASIDE) == len(ANSWERS)
