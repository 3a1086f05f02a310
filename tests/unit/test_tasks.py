"""Tasks: files in two folders, whose ids lead nowhere else."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from lamina.errors import LaminaError, Malformed
from lamina.kernel.relay import RelayGrant, RelayRight, rests_on
from lamina.store.ports.documents import Change, ChangeKind, Write
from shelves import EVERYWHERE, TENANT
from together import Agents


@pytest.fixture(name="agents")
def _agents() -> Agents:
    return Agents()


def create(agents: Agents, task_id: str = "t-1", by: str = "bo", **more: Any) -> Any:
    return agents.call(by, "tasks_create", task_id=task_id, title="Cut the branch", owner_peer="bo", **more)


def code(agents: Agents, by: str, name: str, **sent: Any) -> str:
    with pytest.raises(LaminaError) as refused:
        agents.call(by, f"tasks_{name}", **sent)
    return refused.value.code


def test_a_task_is_a_file_that_anybody_can_read(agents: Agents) -> None:
    made = create(agents, collaborators=["cy"], thread_id="th", metadata={"size": 2})
    assert (made["path"], made["committed"]) == ("tasks/open/t-1.json", True)
    content = agents.store.documents.read(TENANT, made["path"]).content
    assert json.loads(content) == made["task"]
    assert content.startswith(b'{\n  "schema_version": "1.0",\n  "task_id": "t-1"')
    assert agents.store.documents.head(TENANT).message == "tasks: create t-1"
    assert code(agents, "cy", "create", task_id="t-1", title="x", owner_peer="cy") == "TASK_EXISTS"


def test_an_update_changes_what_is_sent_and_done_moves_it(agents: Agents) -> None:
    made = create(agents, description="d")
    moved = agents.call("cy", "tasks_update", task_id="t-1", status="done", collaborators=["cy"])
    assert moved["task"] == made["task"] | {
        "status": "done", "collaborators": ["cy"], "updated_by": "cy", "updated_at": "2026-05-13T12:00:01Z",
    }  # fmt: skip
    assert (moved["path"], moved["committed_files"]) == (
        "tasks/done/t-1.json",
        ["tasks/done/t-1.json", "tasks/open/t-1.json"],
    )
    assert agents.store.documents.read(TENANT, "tasks/open/t-1.json") is None
    assert agents.store.documents.head(TENANT).message == "tasks: update and move t-1"
    event = agents.store.log.get(TENANT, [moved["event_id"]])[moved["event_id"]]
    assert rests_on(event.content, event.origin.channel) == (made["event_id"],)
    again = agents.call("bo", "tasks_update", task_id="t-1", status="done")
    assert again["committed_files"] == ["tasks/done/t-1.json"]
    assert code(agents, "bo", "update", task_id="t-1", status="open") == "TASK_DONE"
    assert code(agents, "bo", "create", task_id="t-1", title="x", owner_peer="bo") == "TASK_EXISTS"
    assert code(agents, "bo", "update", task_id="t-2", title="x") == "TASK_NOT_FOUND"


@pytest.mark.parametrize(("first", "second"), [("open", "done"), ("done", "open")])
def test_an_id_that_is_made_open_and_done_at_once_is_one_task(
    agents: Agents, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    agents.before_next_write(monkeypatch, lambda: create(agents, status=second))
    with pytest.raises(LaminaError) as refused:
        create(agents, status=first)
    assert refused.value.code == "TASK_EXISTS"
    stands = [each.path for each in agents.store.documents.below(TENANT, "tasks")]
    assert stands == [f"tasks/{second}/t-1.json"]


@pytest.mark.parametrize("task_id", ["../../zz", "a/b", "..\\x", "con", "x.", "a:b", "x\u0000", ".."])
def test_an_id_never_leads_out_of_its_folder(agents: Agents, task_id: str) -> None:
    with contextlib.suppress(LaminaError, ValueError):
        create(agents, task_id)
    stands = [each.path for each in agents.store.documents.below(TENANT, "")]
    assert all(path.startswith("tasks/open/") and path.count("/") == 2 for path in stands)


@pytest.mark.parametrize("task_id", [".", ".."])
def test_an_id_that_no_url_can_name_is_refused(agents: Agents, task_id: str) -> None:
    with pytest.raises(Malformed) as refused:
        create(agents, task_id)
    assert refused.value.code == "INVALID_COORDINATION"
    assert create(agents, "...")["task"]["task_id"] == "..."


def test_queries_filter_order_and_pass_over_what_is_no_task(agents: Agents) -> None:
    for task_id, more in (
        ("a", {"collaborators": ["cy"]}),
        ("b", {"thread_id": "th", "status": "blocked"}),
        ("c", {"status": "done"}),
    ):
        create(agents, task_id, **more)
    agents.call("bo", "tasks_update", task_id="a", title="New")
    change = Change("tasks/open/odd.json", ChangeKind.PUT, b"[]")
    agents.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[change])])

    def found(**sent: Any) -> list[str]:
        return [each["task_id"] for each in agents.call("cy", "tasks_query", **sent)["tasks"]]

    assert found() == ["a", "c", "b"]
    assert found(limit=1) == ["a"]
    assert found(status="done") == ["c"]
    assert found(owner_peer="bo", thread_id="th") == ["b"]
    assert found(collaborator="cy") == ["a"]
    assert found(collaborator="dee") == []


def test_a_task_takes_its_file_and_a_query_both_folders(agents: Agents) -> None:
    create(agents)
    agents.grants["cy"] = RelayGrant(
        frozenset({RelayRight.READ_FILES, RelayRight.WRITE_PROJECTS}),
        frozenset({"tasks/open"}),
        frozenset({"tasks/open"}),
    )
    agents.call("cy", "tasks_update", task_id="t-1", title="x")
    assert code(agents, "cy", "update", task_id="t-1", status="done") == "NAMESPACE_DENIED"
    assert code(agents, "cy", "query") == "NAMESPACE_DENIED"
    agents.grants["dee"] = RelayGrant(frozenset({RelayRight.READ_FILES}), EVERYWHERE, EVERYWHERE)
    assert code(agents, "dee", "create", task_id="x", title="x", owner_peer="x") == "NAMESPACE_DENIED"


def test_what_another_server_wrote_beside_stays(agents: Agents) -> None:
    old = {"task_id": "old", "title": "t", "status": "open", "owner_peer": "bo", "priority": 3}
    change = Change("tasks/open/old.json", ChangeKind.PUT, json.dumps(old).encode())
    agents.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[change])])
    assert agents.call("bo", "tasks_update", task_id="old", title="New")["task"]["priority"] == 3
