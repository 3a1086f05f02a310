"""Handoffs: what crosses, who may see it, and what the recipient makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from lamina.errors import LaminaError
from lamina.kernel.events import Event
from lamina.kernel.relay import RelayGrant, RelayRight, rests_on
from lamina.store.ports.documents import Change, ChangeKind, Write
from shelves import EVERYWHERE, TENANT
from together import Agents

CONSTRAINTS = [f"constraint {number}" for number in range(8)]


@pytest.fixture(name="agents")
def _agents() -> Agents:
    agents = Agents()
    agents.capsule()
    return agents


def code(agents: Agents, by: str, name: str, **sent: Any) -> str:
    with pytest.raises(LaminaError) as refused:
        agents.call(by, name, **sent)
    return refused.value.code


def made_from(event: Event) -> tuple[str, ...]:
    return rests_on(event.content, event.origin.channel)


def consume(agents: Agents, by: str, handoff_id: str, status: str = "accepted_advisory", **more: Any) -> Any:
    return agents.call(by, "handoff_consume", handoff_id=handoff_id, status=status, **more)


def test_two_fields_of_the_capsule_cross_and_no_other(agents: Agents) -> None:
    made = agents.handoff(task_id="t", thread_id="th", note="mind the cores")
    handoff = made.pop("handoff")
    handoff_id = handoff["handoff_id"]
    assert made == {
        "ok": True,
        "path": f"memory/coordination/handoffs/{handoff_id}.json",
        "event_id": agents.store.documents.told_by(TENANT, made["path"]),
        "created": True,
        "latest_commit": agents.store.documents.head(TENANT).sha,
    }
    assert list(handoff.items()) == [
        ("schema_type", "continuity_handoff"),
        ("schema_version", "1.0"),
        ("handoff_id", handoff_id),
        ("created_at", "2026-05-13T12:00:01Z"),
        ("created_by", "bo"),
        ("sender_peer", "bo"),
        ("recipient_peer", "cy"),
        ("source_selector", {"subject_kind": "thread", "subject_id": "launch"}),
        (
            "source_summary",
            {
                "path": "memory/continuity/thread-launch.json",
                "updated_at": "2026-05-13T12:00:00Z",
                "verified_at": "2026-05-13T12:00:00Z",
                "verification_status": None,
                "health_status": None,
            },
        ),
        ("task_id", "t"),
        ("thread_id", "th"),
        ("note", "mind the cores"),
        ("shared_continuity", {"active_constraints": ["two cores"], "drift_signals": ["scope grows"]}),
        ("recipient_status", "pending"),
        ("recipient_reason", None),
        ("consumed_at", None),
        ("consumed_by", None),
    ]
    document = agents.store.documents.read(TENANT, made["path"])
    assert document.content == json.dumps(handoff, sort_keys=True, separators=(",", ":")).encode()
    assert agents.store.documents.head(TENANT).message == f"handoff: create {handoff_id}"


def test_eight_constraints_cross(agents: Agents) -> None:
    agents.capsule(active_constraints=CONSTRAINTS, drift_signals=[])
    assert agents.handoff()["handoff"]["shared_continuity"] == {
        "active_constraints": CONSTRAINTS,
        "drift_signals": [],
    }


def test_the_peer_is_looked_at_before_the_message_and_that_before_the_capsule(agents: Agents) -> None:
    nothing: dict[str, Any] = {"subject_kind": "task", "subject_id": "none"}
    long = {"commit_message": "x" * 121}

    def refusal(**more: Any) -> str:
        return code(agents, "bo", "handoff_create", **nothing | more)

    assert refusal(recipient_peer="nobody", **long) == "PEER_NOT_FOUND"
    assert refusal(recipient_peer="eve", **long) == "UNTRUSTED_PEER"
    assert refusal(recipient_peer="cy", **long) == "INVALID_COORDINATION"
    assert refusal(recipient_peer="cy") == "CAPSULE_NOT_FOUND"
    assert len(agents.store.documents.below(TENANT, "memory/coordination")) == 0


def test_writing_takes_the_right_in_the_folder(agents: Agents) -> None:
    sent = {"recipient_peer": "cy", "subject_kind": "thread", "subject_id": "launch"}
    folders = frozenset({"memory/continuity", "memory/coordination/shared"})
    agents.grants["bo"] = RelayGrant(frozenset({RelayRight.WRITE_PROJECTS}), EVERYWHERE, folders)
    assert code(agents, "bo", "handoff_create", **sent) == "NAMESPACE_DENIED"


def test_who_is_named_may_read_it_and_who_administers_peers(agents: Agents) -> None:
    handoff_id = agents.handoff()["handoff"]["handoff_id"]
    agents.grants["cy"] = RelayGrant()  # whatever its token holds
    for by in ("bo", "cy", "kim"):
        assert agents.call(by, "handoff_read", handoff_id=handoff_id)["handoff"]["handoff_id"] == handoff_id
    assert code(agents, "dee", "handoff_read", handoff_id=handoff_id) == "ARTIFACT_NOT_YOURS"
    for other in ("handoff_" + 32 * "0", "nonsense", "../../config/peer_tokens", ""):
        assert code(agents, "cy", "handoff_read", handoff_id=other) == "ARTIFACT_NOT_FOUND"


@pytest.mark.parametrize("field", ["reason", "note"])
def test_the_recipient_says_once_what_it_makes_of_it(agents: Agents, field: str) -> None:
    handoff_id = agents.handoff()["handoff"]["handoff_id"]
    said = consume(agents, "cy", handoff_id, "deferred", **{field: "after the release"})
    assert said["updated"] is True
    assert [said["handoff"][name] for name in ("recipient_status", "recipient_reason", "consumed_by")] == [
        "deferred",
        "after the release",
        "cy",
    ]
    assert agents.store.documents.head(TENANT).message == f"handoff: consume {handoff_id} deferred"
    again = consume(agents, "cy", handoff_id, "deferred", reason="after the release")
    assert again == said | {"updated": False}
    for status, reason in (("deferred", None), ("accepted_advisory", "after the release")):
        with pytest.raises(LaminaError, match="HANDOFF_CONSUMED"):
            consume(agents, "cy", handoff_id, status, reason=reason)


def test_nobody_else_consumes_not_even_an_administrator(agents: Agents) -> None:
    handoff_id = agents.handoff()["handoff"]["handoff_id"]
    sent = {"status": "rejected"}
    for by in ("bo", "kim", "dee"):
        assert code(agents, by, "handoff_consume", handoff_id=handoff_id, **sent) == "ARTIFACT_NOT_YOURS"
    missing = "handoff_" + 32 * "0"
    assert code(agents, "cy", "handoff_consume", handoff_id=missing, **sent) == "ARTIFACT_NOT_FOUND"
    assert code(agents, "cy", "handoff_consume", handoff_id="../x", **sent) == "INVALID_COORDINATION"


def test_two_names_of_one_field_do_not_differ(agents: Agents) -> None:
    with pytest.raises(ValidationError, match="same field"):
        consume(agents, "cy", "handoff_" + 32 * "0", reason="a", note="b")


def test_a_handoff_changes_nothing_of_the_recipients_own(agents: Agents) -> None:
    before = {each.path: each.version for each in agents.store.documents.below(TENANT, "memory/continuity")}
    consume(agents, "cy", agents.handoff()["handoff"]["handoff_id"])
    assert before == {
        each.path: each.version for each in agents.store.documents.below(TENANT, "memory/continuity")
    }


def test_its_events_rest_on_what_was_handed_over(agents: Agents) -> None:
    capsule = agents.store.documents.told_by(TENANT, "memory/continuity/thread-launch.json")
    made = agents.handoff()
    said = consume(agents, "cy", made["handoff"]["handoff_id"], reason="seen")
    events = agents.store.log.get(TENANT, [made["event_id"], said["event_id"]])
    assert made_from(events[made["event_id"]]) == (capsule,)
    assert made_from(events[said["event_id"]]) == (made["event_id"],)
    assert "cy answered accepted_advisory: seen" in events[said["event_id"]].content["text"]
    assert not events[made["event_id"]].directives.wants("facts")


def query(agents: Agents, by: str, **sent: Any) -> Any:
    return agents.call(by, "handoff_query", **sent)


def test_queries_are_found_by_name_newest_first_and_in_pages(agents: Agents) -> None:
    made = [
        agents.handoff(by, to)["handoff"]["handoff_id"]
        for by, to in (("bo", "cy"), ("bo", "dee"), ("cy", "bo"))
    ]
    consume(agents, "cy", made[0])

    def ids(by: str, **sent: Any) -> list[str]:
        return [each["handoff_id"] for each in query(agents, by, **sent)["handoffs"]]

    assert ids("bo", sender_peer="bo") == [made[1], made[0]]
    assert ids("cy", recipient_peer="cy", status="pending") == []
    assert ids("cy", recipient_peer="cy", status="accepted_advisory") == [made[0]]
    assert ids("kim", sender_peer="bo", recipient_peer="dee") == [made[1]]
    page = query(agents, "bo", sender_peer="bo", offset=1, limit=1)
    assert (page["count"], page["total_matches"], page["warnings"]) == (1, 2, [])
    assert page["handoffs"][0]["handoff_id"] == made[0]


def test_who_asks_for_others_needs_to_be_an_administrator(agents: Agents) -> None:
    assert code(agents, "kim", "handoff_query") == "INVALID_COORDINATION"
    assert code(agents, "bo", "handoff_query", status="pending") == "INVALID_COORDINATION"
    for sent in ({"sender_peer": "cy"}, {"sender_peer": "bo", "recipient_peer": "cy"}):
        assert code(agents, "bo", "handoff_query", **sent) == "PEER_FILTER_DENIED"


def test_a_document_that_is_no_handoff_is_left_out_and_said(agents: Agents) -> None:
    made = agents.handoff()
    for name, content in (("handoff_" + 32 * "a", b"{}"), ("notes", b"{}")):
        change = Change(f"memory/coordination/handoffs/{name}.json", ChangeKind.PUT, content)
        agents.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[change])])
    found = query(agents, "bo", sender_peer="bo")
    assert (found["warnings"], found["total_matches"]) == (["handoff_artifact_skipped_invalid"], 1)
    assert found["handoffs"] == [made["handoff"]]
    assert code(agents, "bo", "handoff_read", handoff_id="handoff_" + 32 * "a") == "STORED_ARTIFACT_INVALID"


def test_of_two_who_consume_at_once_the_first_stands(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    handoff_id = agents.handoff()["handoff"]["handoff_id"]
    write, others = agents.store.documents.write, [{"status": "rejected"}]

    def somebody_first(writes: Any) -> Any:
        while others:
            consume(agents, "cy", handoff_id, **others.pop())
        return write(writes)

    monkeypatch.setattr(agents.store.documents, "write", somebody_first, raising=False)
    with pytest.raises(LaminaError, match="HANDOFF_CONSUMED"):
        consume(agents, "cy", handoff_id)
    assert query(agents, "cy", recipient_peer="cy", status="rejected")["count"] == 1


def test_a_query_finds_none_that_was_erased(agents: Agents) -> None:
    """No commit tells of an erasure, and queries follow commits."""
    erased, kept = agents.handoff()["handoff"]["handoff_id"], agents.handoff()["handoff"]["handoff_id"]
    assert {each["handoff_id"] for each in query(agents, "bo", sender_peer="bo")["handoffs"]} == {
        erased,
        kept,
    }
    path = next(
        each.path
        for each in agents.store.documents.below(TENANT, "memory/coordination")
        if erased in each.path
    )
    agents.store.traces.erase_documents(TENANT, [path])
    found = query(agents, "bo", sender_peer="bo")
    assert ([each["handoff_id"] for each in found["handoffs"]], found["total_matches"]) == ([kept], 1)


def test_what_is_erased_meanwhile_is_not_handed_over(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    about = {"subject_kind": "thread", "subject_id": "launch"}
    traces, path = agents.store.traces, "memory/continuity/thread-launch.json"
    agents.before_next_write(monkeypatch, lambda: traces.erase_documents(TENANT, [path]))
    assert code(agents, "bo", "handoff_create", **about, recipient_peer="cy") == "CAPSULE_NOT_FOUND"
    assert agents.store.documents.below(TENANT, "memory/coordination") == []


def test_a_capsule_that_changes_meanwhile_is_handed_over_as_it_was_read(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.before_next_write(monkeypatch, lambda: agents.capsule(active_constraints=["one core"]))
    made = agents.handoff()
    assert made["handoff"]["shared_continuity"]["active_constraints"] == ["two cores"]
