"""Agents together over HTTP and over the contract's own MCP: handoffs, shared artifacts, disputes, and why each is what it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from capsules import body
from given import NOON
from lamina.access.relay_tokens import issue, owner_grant
from lamina.coordination.owned import documents_about_people
from lamina.kernel.ids import RandomIds
from lamina.kernel.relay import TEMPLATES, RelayGrant
from lamina.kernel.views import EventView
from lamina.mcp.explaining import explained
from lamina.store.ports.documents import Change, ChangeKind, Write
from neighbours import Neighbours

LAUNCH = {"subject_kind": "thread", "subject_id": "launch"}
LEVELS = {
    "bo": "trusted",
    "cy": "restricted",
    "dee": "trusted",
    "eve": "untrusted",
    "fay": "trusted",
    "kim": "trusted",
}
ROOT = "/v1/coordination"
TO_CY = {"recipient_peer": "cy"}


class House(Neighbours):
    """``kim`` owns the server; ``bo``, ``cy`` and ``dee`` have the tokens that are given to peers who work together."""

    def __init__(self) -> None:
        super().__init__("dev_local")
        self.know(**LEVELS)
        self.tokens = {name: self._token(name, TEMPLATES["collaboration_peer"]) for name in LEVELS}
        self.tokens["fay"] = self._token("fay", RelayGrant())
        self.tokens["kim"] = self._token("kim", owner_grant())
        self.ready: set[str] = set()

    def _token(self, peer_id: str, grant: RelayGrant) -> str:
        tokens, ids = self.store.relay_tokens, RandomIds()
        return issue(tokens, ids, NOON, tenant_id="acme", peer_id=peer_id, grant=grant)

    def ask(self, by: str, verb: str, path: str, sent: Any = None, /, **query: Any) -> httpx.Response:
        self.clock.at += 1_000_000
        return self.call(verb, path, sent, by=f"agent:{by}", tenant=self.tokens[by], **query)

    def get(self, by: str, path: str, **query: Any) -> Any:
        answer = self.ask(by, "GET", path, None, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, by: str, path: str, sent: Any) -> Any:
        answer = self.ask(by, "POST", path, sent)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, by: str, verb: str, path: str, sent: Any = None, /, **query: Any) -> tuple[int, str]:
        answer = self.ask(by, verb, path, sent, **query)
        return answer.status_code, answer.json()["error_code"]

    def rpc(self, by: str, method: str, params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.ask(by, "POST", "/v1/mcp", message).json()

    def tool(self, by: str, name: str, **arguments: Any) -> Any:
        if by not in self.ready:
            self.rpc(by, "initialize", {"protocolVersion": "2025-11-25"})
            self.ready.add(by)
        answer = self.rpc(by, "tools/call", {"name": name, "arguments": arguments})
        return answer["result"]["structuredContent"] if "result" in answer else answer["error"]

    def capsule(self) -> None:
        state = {"active_constraints": [f"constraint {n}" for n in range(7)], "drift_signals": ["late"]}
        self.post("kim", "/v1/continuity/upsert", LAUNCH | {"capsule": body(continuity=state)})

    def handoff(self, by: str = "bo", to: str = "cy") -> Any:
        return self.post(by, f"{ROOT}/handoff/create", LAUNCH | {"recipient_peer": to})


@pytest.fixture(scope="module", name="house")
def _house() -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lamina.http.server.openapi_document", lambda routes: b"{}")
        house = House()
        house.capsule()
        yield house
        house.close()


def test_a_handoff_goes_from_http_to_a_tool_and_why_walks_back_to_the_capsule(house: House) -> None:
    made = house.handoff()
    handoff_id = made["handoff"]["handoff_id"]
    assert len(made["handoff"]["shared_continuity"]["active_constraints"]) == 7
    found = house.tool("cy", "coordination.handoffs_query", recipient_peer="cy", status="pending")
    assert [each["handoff_id"] for each in found["handoffs"]] == [handoff_id]
    said = house.tool(
        "cy", "coordination.handoff_consume", handoff_id=handoff_id, status="deferred", note="later"
    )
    assert (said["updated"], said["handoff"]["recipient_reason"]) == (True, "later")
    assert house.get("bo", f"{ROOT}/handoff/{handoff_id}")["handoff"] == said["handoff"]
    why = house.get("kim", f"/v1/why/{said['event_id']}")
    capsule = house.store.documents.told_by("acme", "memory/continuity/thread-launch.json")
    assert [(each["from"], each["to"], each["relation"]) for each in why["support_graph"]["edges"]] == [
        (said["event_id"], made["event_id"], "rests_on"),
        (made["event_id"], capsule, "rests_on"),
    ]
    assert why["support_graph"]["nodes"][-1]["summary"].startswith("Capsule of thread launch.")
    assert why["narrative"].startswith("It was made from “Handoff from bo to cy")


def test_refusals_have_the_statuses_of_the_contract(house: House) -> None:
    create, missing = f"{ROOT}/handoff/create", f"{ROOT}/handoff/handoff_{32 * '0'}"
    handoff = f"{ROOT}/handoff/{house.handoff('bo', 'cy')['handoff']['handoff_id']}"
    sent = LAUNCH | {"recipient_peer": "cy"}
    rejected = {"status": "rejected"}
    asked: list[tuple[tuple[Any, ...], tuple[int, str]]] = [
        (("bo", "POST", create, sent | {"recipient_peer": "nobody"}), (404, "PEER_NOT_FOUND")),
        (("bo", "POST", create, sent | {"recipient_peer": "eve"}), (409, "UNTRUSTED_PEER")),
        (("bo", "POST", create, sent | {"commit_message": "x" * 121}), (400, "INVALID_COORDINATION")),
        (("bo", "POST", create, sent | {"subject_id": "other"}), (404, "CAPSULE_NOT_FOUND")),
        (("bo", "POST", create, sent | {"note": "x" * 241}), (422, "INVALID_REQUEST")),
        (("bo", "POST", create, LAUNCH), (422, "MISSING_REQUIRED_FIELD")),
        (("fay", "POST", create, sent), (403, "MISSING_SCOPE")),
        (("dee", "GET", handoff), (403, "ARTIFACT_NOT_YOURS")),
        (("cy", "GET", missing), (404, "ARTIFACT_NOT_FOUND")),
        (("kim", "POST", f"{handoff}/consume", rejected), (403, "ARTIFACT_NOT_YOURS")),
        (("cy", "POST", f"{missing}/consume", rejected), (404, "ARTIFACT_NOT_FOUND")),
        (("cy", "POST", f"{ROOT}/handoff/x/consume", rejected), (400, "INVALID_COORDINATION")),
        (("cy", "POST", f"{handoff}/consume", {"status": "done"}), (422, "INVALID_REQUEST")),
        (("cy", "GET", f"{ROOT}/handoffs/query"), (400, "INVALID_COORDINATION")),
        (("cy", "GET", f"{ROOT}/handoffs/query?sender_peer=bo"), (403, "PEER_FILTER_DENIED")),
        (("cy", "GET", f"{ROOT}/handoffs/query?sender_peer=cy&limit=101"), (422, "INVALID_REQUEST")),
    ]
    for call, answer in asked:
        assert house.refused(*call) == answer, call
    assert house.post("cy", f"{handoff}/consume", rejected)["updated"] is True
    assert house.refused("cy", "POST", f"{handoff}/consume", {"status": "deferred"}) == (
        409,
        "HANDOFF_CONSUMED",
    )


def test_a_tool_says_what_a_route_says(house: House) -> None:
    assert house.tool("cy", "coordination.handoffs_query")["data"]["error_code"] == "INVALID_COORDINATION"
    denied = house.tool("dee", "coordination.handoffs_query", sender_peer="bo")
    assert (denied["code"], denied["data"]["error_code"]) == (-32002, "PEER_FILTER_DENIED")
    missing = house.tool("dee", "coordination.handoff_read", handoff_id="handoff_" + 32 * "0")
    assert (missing["code"], missing["data"]["error_code"]) == (-32004, "ARTIFACT_NOT_FOUND")


def test_a_dispute_is_carried_out_by_tools_and_why_walks_through_all_of_it(house: House) -> None:
    handed = house.handoff("bo", "cy")
    plan = {"participant_peers": ["cy"], "title": "Plan", "constraints": ["none"], "task_id": "t"}
    showed = house.tool("bo", "coordination.shared_create", **plan)
    shared_id = showed["shared"]["shared_id"]
    again = house.tool(
        "bo",
        "coordination.shared_update",
        shared_id=shared_id,
        observed_version=1,
        title="Plan 2",
        constraints=["two"],
    )
    assert house.tool("cy", "coordination.shared_read", shared_id=shared_id)["shared"]["version"] == 2
    conflict = house.ask("bo", "POST", f"{ROOT}/shared/{shared_id}/update", plan_of(1))
    assert (conflict.status_code, conflict.json()["error_code"]) == (409, "ARTIFACT_CHANGED")
    claims = [
        claim("handoff", handed["handoff"]["handoff_id"]),
        claim("shared", shared_id, observed_version=2),
    ]
    opened = house.tool(
        "cy",
        "coordination.reconciliation_open",
        task_id="t",
        title="Which?",
        classification="contradictory",
        trigger="handoff_vs_shared",
        claims=claims,
    )
    dispute = f"{ROOT}/reconciliation/{opened['reconciliation']['reconciliation_id']}"
    ended = {
        "expected_version": 1,
        "resolution_outcome": "advisory_only",
        "resolution_summary": "As it may be",
    }
    done = house.post("cy", f"{dispute}/resolve", ended)
    assert house.get("cy", dispute)["reconciliation"] == done["reconciliation"]
    assert house.refused("bo", "GET", dispute) == (403, "ARTIFACT_NOT_YOURS")
    edges = house.get("kim", f"/v1/why/{done['event_id']}")["support_graph"]["edges"]
    capsule = house.store.documents.told_by("acme", "memory/continuity/thread-launch.json")
    assert {(each["from"], each["to"]) for each in edges} == {
        (done["event_id"], opened["event_id"]),
        (opened["event_id"], handed["event_id"]),
        (opened["event_id"], again["event_id"]),
        (handed["event_id"], capsule),
        (again["event_id"], showed["event_id"]),
    }
    page = house.tool("cy", "coordination.reconciliations_query", owner_peer="cy", status="resolved")
    assert (page["count"], page["total_matches"]) == (1, 1)


def test_the_tool_that_says_why_walks_the_same_way(house: House) -> None:
    made = house.handoff("bo", "cy")
    path = f"{ROOT}/handoff/{made['handoff']['handoff_id']}/consume"
    said = house.post("cy", path, {"status": "accepted_advisory"})

    def ask(name: str, given: Any) -> EventView:
        assert name == "event"
        return EventView.model_validate(house.get("kim", f"/v1/events/{given['event_id']}"))

    found = explained(said["event_id"], ask)
    capsule = house.store.documents.told_by("acme", "memory/continuity/thread-launch.json")
    assert [(each.id, each.depth) for each in found.rests_on] == [(made["event_id"], 1), (capsule, 2)]


def claim(kind: str, source_id: str, **more: Any) -> dict[str, Any]:
    said = {"claimant_peer": "cy", "claim_summary": "It holds", "epistemic_status": "frame_present"}
    return {"source_kind": kind, "source_id": source_id} | said | more


def plan_of(version: int) -> dict[str, Any]:
    return {"expected_version": version, "title": "Plan 3", "constraints": ["three"]}


def test_each_operation_counts_in_a_bucket_of_its_own(house: House) -> None:
    rows = [row.operation for row in house.server.routes if row.path.startswith(ROOT)]
    assert sorted(each.bucket or "" for each in rows) == sorted(
        f"coordination_{kind}_{name}"
        for kind, names in (
            ("handoff", ("create", "read", "query", "consume")),
            ("shared", ("create", "read", "query", "update")),
            ("reconciliation", ("open", "read", "query", "resolve")),
        )
        for name in names
    )


def test_a_write_that_is_sent_again_under_its_key_is_one(house: House) -> None:
    sent = LAUNCH | {"recipient_peer": "dee", "idempotency_key": "once"}
    first, second = (house.post("bo", f"{ROOT}/handoff/create", sent) for _ in range(2))
    assert first == second
    assert house.get("dee", f"{ROOT}/handoffs/query?recipient_peer=dee")["count"] == 1


def test_what_was_handed_over_of_a_persons_capsule_goes_with_the_person(house: House) -> None:
    state = {"active_constraints": ["never before nine"], "drift_signals": ["tired"]}
    for name in ("ana", "ana-b"):
        about = {"subject_kind": "user", "subject_id": name}
        capsule = body("user", name, continuity=state)
        house.post("kim", "/v1/continuity/upsert", about | {"capsule": capsule})
    told = [
        house.post("bo", f"{ROOT}/handoff/create", {"subject_kind": "user", "subject_id": name} | TO_CY)
        for name in ("ana", "ana-b")
    ]
    house.post("cy", f"{ROOT}/handoff/{told[0]['handoff']['handoff_id']}/consume", {"status": "deferred"})
    paths = [each["path"] for each in told]
    going = documents_about_people(house.store)("acme", ["user:ana"])
    assert [path in going for path in paths] == [True, False]


def test_what_was_handed_over_goes_with_the_person_from_the_history_too() -> None:
    house = House()
    about = {"subject_kind": "user", "subject_id": "ana"}
    house.post("kim", "/v1/continuity/upsert", about | {"capsule": body("user", "ana")})
    made = house.post("bo", f"{ROOT}/handoff/create", about | TO_CY)
    house.post("cy", f"{ROOT}/handoff/{made['handoff']['handoff_id']}/consume", {"status": "deferred"})
    for job, days in (("artifact_history_maintenance", 31), ("artifact_history_cold_store", 91)):
        house.clock.at += days * 86_400_000_000
        ran = house.post("kim", "/v1/ops/run", {"job_id": job})["job_result"]
    moved = {made["path"], *ran["committed_files"]}
    assert moved <= set(documents_about_people(house.store)("acme", ["user:ana"]))
    assert moved.isdisjoint(documents_about_people(house.store)("acme", ["user:bob"]))


def test_a_plan_that_may_name_a_persons_capsule_goes_with_it(house: House) -> None:
    house.post("kim", "/v1/continuity/refresh/plan", {"include_healthy": True})
    about = documents_about_people(house.store)
    assert about("acme", ["user:eva"]) == []
    capsule = body("user", "eva")
    house.post(
        "kim", "/v1/continuity/upsert", {"subject_kind": "user", "subject_id": "eva", "capsule": capsule}
    )
    house.post("kim", "/v1/continuity/refresh/plan", {"include_healthy": True})
    assert "memory/continuity/refresh_state.json" in about("acme", ["user:eva"])


@pytest.mark.parametrize(
    ("route", "path"),
    [
        ("/v1/continuity/refresh/plan", "memory/continuity/user-eva.json"),
        ("/v1/continuity/retention/plan", "memory/continuity/archive/user-eva-20250101T000000Z.json"),
        ("/v1/compact/run", "memory/notes/eva.md"),
    ],
)
def test_a_plan_names_nothing_that_is_erased_before_it_lands(
    monkeypatch: pytest.MonkeyPatch, route: str, path: str
) -> None:
    house = House()
    documents = house.store.documents
    content = json.dumps(body("user", "eva")) if route.endswith("refresh/plan") else "{"
    change = Change(path, ChangeKind.PUT, content.encode())
    documents.write([Write(tenant_id="acme", author="x", message="m", changes=[change])])
    write = documents.write

    def erasing(writes: Any) -> Any:
        house.store.traces.erase_documents("acme", [path])
        return write(writes)

    monkeypatch.setattr(documents, "write", erasing)
    house.post("kim", route, {"include_healthy": True} if "refresh" in route else {})
    kept = documents.below("acme", "", with_content=True)
    assert [each.path for each in kept if path.encode() in each.content or b"eva" in each.content] == []
    house.close()


def test_a_snapshot_goes_with_what_it_shows_of_a_person(house: House) -> None:
    house.call("POST", "/v1/write", {"path": "essays/tea.md", "content": "Tea at nine."}, by="user:ana")
    as_of = {"mode": "timestamp", "value": "2026-05-13T13:00:00Z"}
    asked = {"task": "tea at nine", "as_of": as_of}
    made = house.post("kim", "/v1/context/snapshot", asked)
    house.post("kim", "/v1/write", {"path": "snapshots/context/odd.json", "content": '{"items": 5}'})
    about = documents_about_people(house.store)
    assert made["path"] in about("acme", ["user:ana"])
    assert made["path"] not in about("acme", ["user:bob"])


@pytest.mark.parametrize("after", ["", '{"items": []}'])
def test_a_snapshot_that_was_taken_away_or_changed_goes_with_what_it_showed(house: House, after: str) -> None:
    house.call("POST", "/v1/write", {"path": "essays/tea.md", "content": "Tea at nine."}, by="user:ana")
    at = "snapshots/context/changed.json"
    shown = json.dumps({"items": [{"path": "essays/tea.md", "snippet": "Tea at nine."}]})
    house.post("kim", "/v1/write", {"path": at, "content": shown})
    house.post("kim", "/v1/write", {"path": at, "content": after})
    if not after:
        remove = Change(at, ChangeKind.REMOVE)
        write = Write(tenant_id="acme", author="agent:kim", message="gone", changes=[remove])
        house.store.documents.write([write])
    about = documents_about_people(house.store)
    assert at in about("acme", ["user:ana"])
    assert at not in about("acme", ["user:bob"])


def test_what_names_or_shows_a_copy_goes_with_it(house: House) -> None:
    """A plan of compaction has the paths of a person's files, and a message to them may stand in a snapshot, of which there is another."""
    house.call("POST", "/v1/write", {"path": "essays/tea.md", "content": "Tea at nine."}, by="user:ana")
    planned = house.post("kim", "/v1/compact/run", {})["paths"]
    sent = {"thread_id": "t", "sender": "kim", "recipient": "user:ana", "subject": "s", "body_md": "nine"}
    house.post("kim", "/v1/messages/send", sent)
    (message,) = house.store.messages.paths_naming("acme", ["user:ana"])
    for name, shown in (("one", message), ("two", "snapshots/context/one.json"), ("three", "x.md")):
        snapshot = {
            "path": f"snapshots/context/{name}.json",
            "content": json.dumps({"items": [{"path": shown}]}),
        }
        house.post("kim", "/v1/write", snapshot)
    going = documents_about_people(house.store)("acme", ["user:ana"])
    assert {*planned, message, "snapshots/context/one.json", "snapshots/context/two.json"} <= set(going)
    assert "snapshots/context/three.json" not in going
    assert set(planned).isdisjoint(documents_about_people(house.store)("acme", ["user:bob"]))


def test_what_is_handed_over_is_found_as_a_document_and_never_told_as_a_fact(house: House) -> None:
    made = house.handoff("bo", "dee")
    event = house.get("kim", f"/v1/events/{made['event_id']}")
    assert (event["origin"]["trust"], event["modality"], event["derives"]) == ("external", "document", [])
    read = house.get("bo", f"/v1/read?path={made['path']}")
    assert json.loads(read["content"]) == made["handoff"]
