"""Shared artifacts: the owner writes, the participants read, and an update knows what it replaces."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from lamina import limits
from lamina.errors import LaminaError
from lamina.kernel.relay import RelayGrant, rests_on
from lamina.store.ports.documents import Change, ChangeKind, Write
from shelves import TENANT
from together import Agents

NOBODYS = "shared_" + 32 * "0"


@pytest.fixture(name="agents")
def _agents() -> Agents:
    return Agents()


def code(agents: Agents, by: str, name: str, **sent: Any) -> str:
    with pytest.raises(LaminaError) as refused:
        agents.call(by, f"coordination_shared_{name}", **sent)
    return refused.value.code


def update(agents: Agents, by: str, shared_id: str, **sent: Any) -> Any:
    given = {"shared_id": shared_id, "title": "New plan", "drift_signals": ["late"]}
    return agents.call(by, "coordination_shared_update", **given | sent)


def test_an_artifact_is_its_owners_and_names_who_takes_part(agents: Agents) -> None:
    made = agents.shared("bo", "cy", "dee", task_id="t", summary="What holds")
    shared = made.pop("shared")
    shared_id = shared["shared_id"]
    assert made == {
        "ok": True,
        "path": f"memory/coordination/shared/{shared_id}.json",
        "event_id": agents.store.documents.told_by(TENANT, made["path"]),
        "created": True,
        "latest_commit": agents.store.documents.head(TENANT).sha,
    }
    assert list(shared.items()) == [
        ("schema_type", "coordination_shared_state"),
        ("schema_version", "1.0"),
        ("shared_id", shared_id),
        ("created_at", "2026-05-13T12:00:00Z"),
        ("updated_at", "2026-05-13T12:00:00Z"),
        ("created_by", "bo"),
        ("owner_peer", "bo"),
        ("participant_peers", ["cy", "dee"]),
        ("task_id", "t"),
        ("thread_id", None),
        ("title", "Plan"),
        ("summary", "What holds"),
        (
            "shared_state",
            {"constraints": ["no schema change"], "drift_signals": [], "coordination_alerts": []},
        ),
        ("version", 1),
        ("last_updated_by", "bo"),
    ]
    assert agents.store.documents.head(TENANT).message == f"coordination: create {shared_id}"


@pytest.mark.parametrize(
    ("sent", "refusal"),
    [
        ({"participant_peers": ["cy", "bo"]}, "INVALID_COORDINATION"),
        ({"participant_peers": ["cy", "cy"]}, "INVALID_COORDINATION"),
        ({"participant_peers": ["cy", "nobody"]}, "PEER_NOT_FOUND"),
        ({"participant_peers": ["cy", "eve"]}, "UNTRUSTED_PEER"),
        ({"constraints": []}, "INVALID_COORDINATION"),
        ({"constraints": ["x" * 161]}, "INVALID_COORDINATION"),
        ({"coordination_alerts": [" "]}, "INVALID_COORDINATION"),
        ({"title": ""}, "INVALID_COORDINATION"),
        ({"title": "x" * 121}, "INVALID_COORDINATION"),
        ({"summary": "x" * 241}, "INVALID_COORDINATION"),
        ({"commit_message": "x" * 121}, "INVALID_COORDINATION"),
    ],
)
def test_what_is_no_artifact_is_refused_and_stores_nothing(
    agents: Agents, sent: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(LaminaError) as refused:
        agents.shared("bo", **sent)
    assert refused.value.code == refusal
    assert agents.store.documents.head(TENANT) is None


@pytest.mark.parametrize(
    "sent",
    [
        {"participant_peers": []},
        {"participant_peers": ["cy"] * 9},
        {"participant_peers": ["x" * 201]},
        {"constraints": ["x"] * 9},
        {"task_id": "x" * 201},
        {"title": None},
    ],
)
def test_bounds_of_the_types_refuse_before_the_service(agents: Agents, sent: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        agents.shared("bo", **sent)


def test_participants_and_administrators_read_it_and_nobody_else(agents: Agents) -> None:
    shared = agents.shared("bo", "cy")["shared"]
    agents.grants["cy"] = RelayGrant()  # whatever its token holds
    for by in ("bo", "cy", "kim"):
        assert agents.call(by, "coordination_shared_read", shared_id=shared["shared_id"])["shared"] == shared
    assert code(agents, "dee", "read", shared_id=shared["shared_id"]) == "ARTIFACT_NOT_YOURS"
    assert code(agents, "cy", "read", shared_id=NOBODYS) == "ARTIFACT_NOT_FOUND"
    assert code(agents, "cy", "read", shared_id="../shared") == "INVALID_COORDINATION"


@pytest.mark.parametrize("field", ["expected_version", "observed_version"])
def test_an_update_replaces_what_its_owner_has_seen(agents: Agents, field: str) -> None:
    made = agents.shared("bo", "cy", summary="old")
    shared = made["shared"]
    done = update(agents, "bo", shared["shared_id"], **{field: 1})
    assert done["shared"] == shared | {
        "title": "New plan",
        "summary": None,
        "shared_state": {"constraints": [], "drift_signals": ["late"], "coordination_alerts": []},
        "version": 2,
        "updated_at": "2026-05-13T12:00:01Z",
    }
    assert (done["updated"], done["warnings"]) == (True, [])
    assert agents.store.documents.head(TENANT).message == f"coordination: update {shared['shared_id']} v2"
    event = agents.store.log.get(TENANT, [done["event_id"]])[done["event_id"]]
    assert rests_on(event.content, event.origin.channel) == (made["event_id"],)
    with pytest.raises(LaminaError, match="ARTIFACT_CHANGED"):
        update(agents, "bo", shared["shared_id"], **{field: 1})
    assert update(agents, "bo", shared["shared_id"], **{field: 2})["shared"]["version"] == 3


def test_an_update_is_the_owners_alone(agents: Agents) -> None:
    shared_id = agents.shared("bo", "cy")["shared"]["shared_id"]
    for by in ("cy", "kim", "dee"):
        with pytest.raises(LaminaError, match="ARTIFACT_NOT_YOURS"):
            update(agents, by, shared_id, expected_version=7)
    with pytest.raises(LaminaError, match="ARTIFACT_NOT_FOUND"):
        update(agents, "bo", NOBODYS, expected_version=1)
    for sent in ({"drift_signals": []}, {"title": "x" * 121}):
        with pytest.raises(LaminaError, match="INVALID_COORDINATION"):
            update(agents, "bo", shared_id, expected_version=1, **sent)
    for wrong in ({"expected_version": 0}, {"expected_version": 1, "observed_version": 2}, {"colour": 1}):
        with pytest.raises(ValidationError):
            update(agents, "bo", shared_id, **{"expected_version": 1} | wrong)


def test_of_two_updates_of_one_version_one_lands(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    shared_id = agents.shared("bo", "cy")["shared"]["shared_id"]
    write, others = agents.store.documents.write, ["theirs"]

    def somebody_first(writes: Any) -> Any:
        while others:
            update(agents, "bo", shared_id, expected_version=1, title=others.pop())
        return write(writes)

    monkeypatch.setattr(agents.store.documents, "write", somebody_first, raising=False)
    with pytest.raises(LaminaError, match="ARTIFACT_CHANGED"):
        update(agents, "bo", shared_id, expected_version=1)
    shared = agents.call("cy", "coordination_shared_read", shared_id=shared_id)["shared"]
    assert (shared["version"], shared["title"]) == (2, "theirs")


def test_queries_name_the_caller_and_find_by_owner_participant_task_and_thread(agents: Agents) -> None:
    ids = [
        agents.shared("bo", "cy", task_id="t")["shared"]["shared_id"],
        agents.shared("bo", "cy", "dee", thread_id="th")["shared"]["shared_id"],
        agents.shared("cy", "bo", task_id="t")["shared"]["shared_id"],
    ]
    update(agents, "bo", ids[0], expected_version=1)

    def found(by: str, **sent: Any) -> list[int]:
        page = agents.call(by, "coordination_shared_query", **sent)
        return [ids.index(each["shared_id"]) for each in page["shared_artifacts"]]

    assert found("bo", owner_peer="bo") == [0, 1]
    assert found("cy", participant_peer="cy", task_id="t") == [0]
    assert found("dee", participant_peer="dee") == [1]
    assert found("kim", task_id="t") == [0, 2]
    assert found("kim", thread_id="th", owner_peer="cy") == []
    assert code(agents, "bo", "query") == code(agents, "kim", "query") == "INVALID_COORDINATION"
    for sent in ({"task_id": "t"}, {"owner_peer": "cy"}, {"owner_peer": "bo", "participant_peer": "cy"}):
        assert code(agents, "bo", "query", **sent) == "PEER_FILTER_DENIED"


def test_a_query_follows_what_was_removed_and_what_many_commits_brought(agents: Agents) -> None:
    first, second = (agents.shared("bo", "cy") for _ in range(2))

    def found() -> list[str]:
        page = agents.call("cy", "coordination_shared_query", participant_peer="cy")
        return [each["shared_id"] for each in page["shared_artifacts"]]

    newest = [second["shared"]["shared_id"], first["shared"]["shared_id"]]
    assert found() == newest
    _write(agents, Change(second["path"], ChangeKind.REMOVE))
    assert found() == newest[1:]
    third = agents.shared("dee", "cy")["shared"]["shared_id"]
    for number in range(limits.DIRECTORY_COMMITS_MAX):
        _write(agents, Change(f"memory/{number}.md", ChangeKind.PUT, b"x"))
    _write(agents, Change(first["path"], ChangeKind.REMOVE))
    assert found() == [third]


def test_what_was_erased_is_found_no_more(agents: Agents) -> None:
    first, second = (agents.shared("bo", "cy") for _ in range(2))
    query = {"participant_peer": "cy"}
    assert agents.call("cy", "coordination_shared_query", **query)["total_matches"] == 2
    agents.store.traces.erase_documents(TENANT, [first["path"]])
    found = agents.call("cy", "coordination_shared_query", **query)
    assert (found["total_matches"], found["shared_artifacts"]) == (1, [second["shared"]])


def _write(agents: Agents, change: Change) -> None:
    agents.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[change])])
