"""Search, context and snapshots over HTTP, on the embedded engine, with the reminders of the schedule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from capsules import body
from lamina.app import build_server
from lamina.settings import Settings
from lamina.worker_app import build_worker

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
HEADERS = {"X-Cortex-Actor": "agent:kim"}


def test_the_first_retrieval_of_an_empty_server_says_so(world: Any) -> None:
    response = world.call("POST", "/v1/context/retrieve", body={"task": "begin", **ABOUT})
    assert response.status_code == 200
    answer = response.json()
    assert answer["ok"] is True
    bundle = answer["bundle"]
    assert bundle["continuity_state"]["recovery_warnings"] == [
        "continuity_active_missing",
        "continuity_fallback_missing",
    ]
    assert [each["code"] for each in bundle["graph_context"]["warnings"]] == ["graph_anchor_not_found"]
    assert bundle["schedule_context"] == {
        "due": {"items": [], "count": 0, "truncated": False},
        "upcoming": {"window_hours": 72, "items": [], "count": 0, "truncated": False},
        "warnings": [],
    }


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("/v1/search", {}, 422),
        ("/v1/search", {"query": "x", "limit": 101}, 422),
        ("/v1/search", {"query": "x", "sort_by": "size"}, 422),
        ("/v1/recent", {"time_window_days": 3651}, 422),
        ("/v1/context/retrieve", {"task": "x", "subject_kind": "thread"}, 400),
        ("/v1/context/retrieve", {"task": "x", "continuity_mode": "required"}, 404),
        ("/v1/context/snapshot", {"task": "x", "as_of": {"mode": "commit"}}, 400),
    ],
)
def test_what_is_wrong_is_refused(world: Any, path: str, sent: dict[str, Any], status: int) -> None:
    response = world.call("POST", path, body=sent)
    assert response.status_code == status
    assert response.json()["detail"]


def test_the_grants_of_the_scope_are_asked(world: Any) -> None:
    world.policy.deny("scope.write", "app:relay")
    assert world.call("POST", "/v1/context/snapshot", body={"task": "x"}).status_code == 403
    world.policy.deny("scope.read.local", "app:relay")
    asked = (
        ("search", {"query": "x"}),
        ("recent", {}),
        ("context/retrieve", {"task": "x"}),
        ("index/rebuild", {}),
    )
    for path, sent in asked:
        assert world.call("POST", f"/v1/{path}", body=sent).status_code == 403, path
    for path in ("index/status", "context/snapshot/snap_20260513T120000Z_00000000"):
        assert world.call("GET", f"/v1/{path}").status_code == 403, path


class Agent:
    """A server with models and a worker, and an agent who calls it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.server = build_server(settings)
        self._http = TestClient(self.server.application, base_url="http://127.0.0.1")

    def post(self, path: str, /, **sent: Any) -> dict[str, Any]:
        response = self._http.post(path, json=sent, headers=HEADERS)
        assert response.status_code in (200, 201), response.text
        answer: dict[str, Any] = response.json()
        return answer

    def get(self, path: str) -> dict[str, Any]:
        response = self._http.get(path, headers=HEADERS)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def derive(self) -> None:
        build_worker(self._settings, self.server.store).drain()


@pytest.fixture(name="agent")
def _agent(tmp_path: Any) -> Iterator[Agent]:
    agent = Agent(Settings(data=tmp_path, workers=0, embed="lazy"))
    yield agent
    agent.server.close()


@pytest.mark.model
def test_an_agent_that_lost_its_context_finds_its_way_back(agent: Agent) -> None:
    at = "2026-11-20T08:00:00Z"
    plan = {"path": "projects/launch/plan.md", "kind": "note", "label": "Plan"}
    capsule = body(
        updated_at=at,
        verified_at=at,
        freshness={"freshness_class": "persistent"},
        continuity={"related_documents": [plan]},
    )
    agent.post("/v1/continuity/upsert", **ABOUT, capsule=capsule)
    agent.post("/v1/write", path=plan["path"], content="First the tests, then the paint.")
    agent.post("/v1/write", path="memory/notes/boat.md", content="Who paints the hull of the vessel?")
    agent.post("/v1/append", path="memory/episodic/day.jsonl", record={"text": "bought red paint"})
    agent.post("/v1/write", path="tasks/open/t-1.json", content='{"task_id": "t-1", "thread_id": "launch"}')
    reminder = {"kind": "reminder", "title": "Paint", "due_at": "2100-01-01T00:00:00Z", "thread_id": "launch"}
    agent.post("/v1/schedule/items", **reminder)
    assert agent.get("/v1/index/status")["state_file"] is False
    agent.derive()
    assert agent.get("/v1/index/status")["state_file"] is True

    # Words find, and so does meaning: no word of the question is in the note.
    assert agent.post("/v1/search", query="red paint")["results"][0]["path"] == "memory/episodic/day.jsonl"
    found = agent.post("/v1/search", query="colouring a ship", limit=3)["results"]
    assert "memory/notes/boat.md" in [row["path"] for row in found]

    bundle = agent.post("/v1/context/retrieve", task="go on", **ABOUT)["bundle"]
    assert bundle["continuity_state"]["present"]
    assert bundle["recent_relevant"][0]["path"] == plan["path"]
    assert [edge["relationship"] for edge in bundle["graph_context"]["edges"]] == [
        "linked_to_thread",
        "references_document",
    ]
    startup = agent.post("/v1/continuity/read", **ABOUT, view="startup")
    assert startup["graph_summary"]["nodes"] == bundle["graph_context"]["nodes"]
    assert startup["schedule_context"]["upcoming"]["window_hours"] == 72

    made = agent.post("/v1/context/snapshot", task="paint")
    kept = agent.get(f"/v1/context/snapshot/{made['snapshot_id']}")
    assert kept["snapshot"]["snapshot_id"] == made["snapshot_id"]
