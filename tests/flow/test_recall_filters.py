"""Filters of a recall over HTTP: what only events have reaches what was derived from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lamina.app import build_server
from lamina.settings import Settings
from lamina.worker_app import build_worker

pytestmark = pytest.mark.model

SCOPE = "org:fern/user:maya"
HEADERS = {"X-Cortex-Actor": "user:maya"}
SAID = [
    ("work", "team", "I work at Tidewater as a designer."),
    ("home", "family", "I live in Hamburg."),
    ("home", "family", "My sister Elin works at a bakery."),
    (None, None, "I drink green tea at work."),
]


class Memory:
    """A server that holds what was said in two sessions and in none, with labels and without."""

    def __init__(self, folder: Path) -> None:
        self.server = build_server(Settings(data=folder, workers=0))
        self.http = TestClient(self.server.application, base_url="http://127.0.0.1")
        self.ids = [self._told(number, *said) for number, said in enumerate(SAID)]
        self.derive()

    def _told(self, number: int, session: str | None, label: str | None, text: str) -> str:
        actor = {"id": "user:maya", "name": "Maya"} | ({"session": session} if session else {})
        body = {
            "scope": SCOPE,
            "modality": "conversation",
            "observed_actor": actor,
            "content": {"kind": "message", "role": "user", "text": text},
            "context": {
                "observed_at": f"2026-04-0{number + 1}T09:00:00Z",
                "labels": [label] if label else [],
            },
            "idempotency_key": str(number),
        }
        response = self.http.post("/v1/experience", json=body, headers=HEADERS)
        event_id: str = response.json()["event_id"]
        return event_id

    def derive(self) -> None:
        build_worker(self.server.settings, self.server.store).drain()

    def ask(self, filters: dict[str, Any], **more: Any) -> dict[str, Any]:
        body = {"scope": SCOPE, "query": "Where does Maya live and work?", "filters": filters, **more}
        response = self.http.post("/v1/recall", json=body, headers=HEADERS)
        assert response.status_code == 200, response.text
        layers: dict[str, Any] = response.json()["layers"]
        return layers

    def behind(self, layers: dict[str, Any]) -> set[int]:
        """Which of what was said the facts rest on."""
        return {self.ids.index(source) for fact in layers["facts"] for source in fact["supports"]}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    memory = Memory(tmp_path_factory.mktemp("filters"))
    yield memory
    memory.server.close()


def said(memory: Memory, layers: dict[str, Any]) -> set[int]:
    return {memory.ids.index(event["id"]) for event in layers["events"]}


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"session": "home"}, {1, 2}),
        ({"NOT": {"session": "home"}}, {0, 3}),
        ({"labels": "team"}, {0}),
        ({"NOT": {"labels": "team"}}, {1, 2, 3}),
        ({"labels": {"in": ["team", "family"]}}, {0, 1, 2}),
        ({"OR": [{"session": "work"}, {"labels": "family"}]}, {0, 1, 2}),
        ({"labels": "nobody's"}, set()),
    ],
)
def test_a_session_or_a_label_parts_every_layer(
    memory: Memory, filters: dict[str, Any], wanted: set[int]
) -> None:
    layers = memory.ask(filters)
    assert said(memory, layers) == wanted
    assert memory.behind(layers) <= wanted
    texts = " ".join(str(item) for name in ("facts", "beliefs", "understanding") for item in layers[name])
    for word, number in (("Tidewater", 0), ("Hamburg", 1), ("bakery", 2)):
        assert number in wanted or word not in texts
    if wanted:
        assert layers["facts"]
        assert layers["beliefs"]
    else:
        assert not any(layers.values())


def test_not_of_a_field_of_facts_leaves_the_other_layers_alone(memory: Memory) -> None:
    everything, without = memory.ask({}), memory.ask({"NOT": {"predicate": "lives_in"}})
    for name in ("events", "episodes", "understanding"):
        assert [item["id"] for item in without[name]] == [item["id"] for item in everything[name]]
    assert "lives_in" in {fact["predicate"] for fact in everything["facts"]}
    assert "lives_in" not in {fact["predicate"] for fact in without["facts"]}


def test_the_example_of_the_contract_finds_its_layers(memory: Memory) -> None:
    filters = {
        "AND": [
            {"observed_actor": {"in": ["user:maya", "agent:planner_v3"]}},
            {"confidence": {"gte": 0.6}},
        ]
    }
    layers = memory.ask(filters, include=["beliefs", "facts", "episodes"])
    assert layers["beliefs"]
    assert layers["facts"]
    assert layers["episodes"]
    other = {"AND": [{"observed_actor": "agent:planner_v3"}, {"confidence": {"gte": 0.6}}]}
    assert not any(memory.ask(other).values())


@pytest.mark.parametrize("filters", [{"session": ["home", "work"]}, {"confidence": {"gte": "0.6"}}])
def test_a_value_of_another_type_is_refused_with_a_hint(memory: Memory, filters: dict[str, Any]) -> None:
    body = {"scope": SCOPE, "query": "Where does Maya live?", "filters": filters}
    response = memory.http.post("/v1/recall", json=body, headers=HEADERS)
    assert response.status_code == 422
    assert response.json()["error_code"] == "INVALID_FILTER"
    assert next(iter(filters)) in response.json()["details"]["hint"]


def test_a_cancelled_event_lets_no_record_pass(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory._told(4, "club", "third", "I live in Hamburg.")
    memory.derive()
    assert memory.ask({"labels": "third"})["facts"]
    (event,) = memory.ask({"labels": "third"})["events"]
    memory.http.post(f"/v1/lifecycle/memory-event/{event['id']}/cancel", json={}, headers=HEADERS)
    layers = memory.ask({"labels": "third"})
    assert not any(layers.values())
    memory.server.close()
