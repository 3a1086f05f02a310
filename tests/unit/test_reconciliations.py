"""Reconciliations: a dispute is named with its claims, and ended once, without touching what is disputed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from lamina.errors import LaminaError
from lamina.kernel.relay import rests_on
from shelves import TENANT
from together import Agents

NOBODYS = "recon_" + 32 * "0"


class Dispute(Agents):
    """``bo`` shares with ``cy`` what ``cy`` was handed otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.capsule()
        self.handed, self.showed = self.handoff("bo", "cy"), self.shared("bo", "cy")
        self.handoff_id = self.handed["handoff"]["handoff_id"]
        self.shared_id = self.showed["shared"]["shared_id"]

    def of_handoff(self, by: str = "cy", **more: Any) -> dict[str, Any]:
        return _claim("handoff", self.handoff_id, by) | more

    def of_shared(self, by: str = "bo", **more: Any) -> dict[str, Any]:
        return _claim("shared", self.shared_id, by) | {"observed_version": 1} | more

    def open(self, by: str = "bo", /, **more: Any) -> Any:
        sent = {
            "task_id": "t",
            "title": "Which holds?",
            "classification": "contradictory",
            "trigger": "handoff_vs_shared",
            "claims": [self.of_handoff(), self.of_shared()],
        }
        return self.call(by, "coordination_reconciliation_open", **sent | more)

    def resolve(self, by: str, reconciliation_id: str, **more: Any) -> Any:
        sent = {
            "reconciliation_id": reconciliation_id,
            "expected_version": 1,
            "outcome": "conflicted",
            "resolution_summary": "Both stay",
        }
        return self.call(by, "coordination_reconciliation_resolve", **sent | more)

    def refusal(self, by: str = "bo", /, **more: Any) -> str:
        with pytest.raises(LaminaError) as refused:
            self.open(by, **more)
        return refused.value.code


def _claim(kind: str, source_id: str, by: str) -> dict[str, Any]:
    return {
        "source_kind": kind,
        "source_id": source_id,
        "claimant_peer": by,
        "claim_summary": "It is so",
        "epistemic_status": "frame_present",
        "evidence_refs": ["commit abc"],
    }


@pytest.fixture(name="dispute")
def _dispute() -> Dispute:
    return Dispute()


def test_a_dispute_names_its_claims_and_rests_on_their_sources(dispute: Dispute) -> None:
    made = dispute.open()
    record = made.pop("reconciliation")
    reconciliation_id = record["reconciliation_id"]
    assert made == {
        "ok": True,
        "path": f"memory/coordination/reconciliations/{reconciliation_id}.json",
        "event_id": dispute.store.documents.told_by(TENANT, made["path"]),
        "created": True,
        "latest_commit": dispute.store.documents.head(TENANT).sha,
    }
    assert list(record.items()) == [
        ("schema_type", "coordination_reconciliation_record"),
        ("schema_version", "1.0"),
        ("reconciliation_id", reconciliation_id),
        ("created_at", "2026-05-13T12:00:03Z"),
        ("updated_at", "2026-05-13T12:00:03Z"),
        ("opened_by", "bo"),
        ("owner_peer", "bo"),
        ("participant_peers", ["cy"]),
        ("task_id", "t"),
        ("thread_id", None),
        ("title", "Which holds?"),
        ("summary", None),
        ("classification", "contradictory"),
        ("trigger", "handoff_vs_shared"),
        ("claims", [dispute.of_handoff(observed_version=None), dispute.of_shared()]),
        ("status", "open"),
        ("resolution_outcome", None),
        ("resolution_summary", None),
        ("resolved_at", None),
        ("resolved_by", None),
        ("version", 1),
        ("last_updated_by", "bo"),
    ]
    event = dispute.store.log.get(TENANT, [made["event_id"]])[made["event_id"]]
    sources = (dispute.handed["event_id"], dispute.showed["event_id"])
    assert rests_on(event.content, event.origin.channel) == sources
    assert dispute.store.documents.head(TENANT).message == f"coordination: open {reconciliation_id}"


def test_what_does_not_agree_with_itself_is_refused(dispute: Dispute) -> None:
    handoff, shared = dispute.of_handoff(), dispute.of_shared()
    other = dispute.of_handoff("bo")
    wrong: list[dict[str, Any]] = [
        {"task_id": None},
        {"title": "x" * 121},
        {"summary": ""},
        {"commit_message": "x" * 121},
        {"claims": [handoff, dispute.of_shared(observed_version=None)]},
        {"claims": [dispute.of_handoff(observed_version=1), shared]},
        {"claims": [handoff, handoff, shared]},
        {"trigger": "handoff_vs_handoff"},
        {"trigger": "concurrent_mutation_race"},
        {"trigger": "shared_vs_shared", "claims": [handoff, other]},
        {"trigger": "handoff_vs_shared", "claims": [handoff, other]},
        {"claims": [handoff, dispute.of_shared(observed_version=2)]},
        {"claims": [handoff, dispute.of_shared("dee")]},
        {"claims": [dispute.of_handoff(source_id="../../x"), shared]},
    ]
    for sent in wrong:
        assert dispute.refusal(**sent) == "INVALID_COORDINATION", sent
    assert dispute.open(trigger="handoff_vs_handoff", claims=[handoff, other])["created"] is True


def test_peers_are_looked_at_before_sources_and_these_in_their_order(dispute: Dispute) -> None:
    missing = dispute.of_handoff(source_id="handoff_" + 32 * "0")
    shared = dispute.of_shared()
    assert dispute.refusal(claims=[missing, dispute.of_shared("nobody")]) == "PEER_NOT_FOUND"
    assert dispute.refusal(claims=[missing, dispute.of_shared("eve")]) == "UNTRUSTED_PEER"
    assert dispute.refusal(claims=[missing, shared]) == "ARTIFACT_NOT_FOUND"
    assert dispute.refusal("dee", claims=[dispute.of_handoff("dee"), shared]) == "ARTIFACT_NOT_YOURS"
    assert dispute.refusal(claims=[dispute.of_handoff("dee"), shared]) == "INVALID_COORDINATION"
    del dispute.levels["bo"]
    assert dispute.refusal() == "PEER_NOT_FOUND"


def test_counts_and_unknown_fields_are_refused_by_the_types(dispute: Dispute) -> None:
    handoff, shared = dispute.of_handoff(), dispute.of_shared()
    for sent in (
        {"claims": [handoff]},
        {"claims": [handoff, shared] * 3},
        {"claims": [handoff | {"colour": 1}, shared]},
        {"claims": [handoff | {"evidence_refs": ["x"] * 5}, shared]},
        {"claims": [handoff | {"claim_summary": ""}, shared]},
        {"colour": 1},
        {"classification": "settled"},
    ):
        with pytest.raises(ValidationError):
            dispute.open(**sent)


def test_the_parties_see_it_and_nobody_else(dispute: Dispute) -> None:
    made = dispute.open("cy")
    sent = {"reconciliation_id": made["reconciliation"]["reconciliation_id"]}
    name = "coordination_reconciliation_read"
    for by in ("bo", "cy", "kim"):
        assert dispute.call(by, name, **sent)["reconciliation"] == made["reconciliation"]
    for by, asked, refusal in (
        ("dee", sent, "ARTIFACT_NOT_YOURS"),
        ("bo", {"reconciliation_id": NOBODYS}, "ARTIFACT_NOT_FOUND"),
        ("bo", {"reconciliation_id": "x"}, "INVALID_COORDINATION"),
    ):
        with pytest.raises(LaminaError, match=refusal):
            dispute.call(by, name, **asked)


@pytest.mark.parametrize("field", ["outcome", "resolution_outcome"])
def test_the_first_who_ends_it_is_right(dispute: Dispute, field: str) -> None:
    made = dispute.open()
    reconciliation_id = made["reconciliation"]["reconciliation_id"]
    given = {"reconciliation_id": reconciliation_id, "expected_version": 1, "resolution_summary": "Both stay"}
    done = dispute.call("bo", "coordination_reconciliation_resolve", **given, **{field: "advisory_only"})
    ended = done["reconciliation"]
    assert (done["updated"], ended["status"], ended["version"]) == (True, "resolved", 2)
    assert (ended["resolution_outcome"], ended["resolution_summary"]) == ("advisory_only", "Both stay")
    assert (ended["resolved_by"], ended["resolved_at"]) == ("bo", ended["updated_at"])
    message = f"coordination: resolve {reconciliation_id} advisory_only"
    assert dispute.store.documents.head(TENANT).message == message
    again = dispute.resolve("kim", reconciliation_id, outcome="advisory_only", expected_version=7)
    assert again == done | {"updated": False}
    for other in ({"outcome": "rejected"}, {"outcome": "advisory_only", "resolution_summary": "Neither"}):
        with pytest.raises(LaminaError, match="RECONCILIATION_RESOLVED"):
            dispute.resolve("bo", reconciliation_id, **other)


def test_it_is_ended_by_who_opened_it_or_an_administrator_with_words(dispute: Dispute) -> None:
    reconciliation_id = dispute.open()["reconciliation"]["reconciliation_id"]
    for by, sent, refusal in (
        ("cy", {"resolution_summary": None}, "ARTIFACT_NOT_YOURS"),
        ("bo", {"resolution_summary": None, "expected_version": 2}, "INVALID_COORDINATION"),
        ("bo", {"resolution_summary": ""}, "INVALID_COORDINATION"),
        ("bo", {"expected_version": 2}, "ARTIFACT_CHANGED"),
        ("bo", {"reconciliation_id": NOBODYS}, "ARTIFACT_NOT_FOUND"),
        ("bo", {"reconciliation_id": "recon_x"}, "INVALID_COORDINATION"),
    ):
        with pytest.raises(LaminaError, match=refusal):
            dispute.resolve(by, **{"reconciliation_id": reconciliation_id} | sent)
    with pytest.raises(ValidationError, match="same field"):
        dispute.resolve("bo", reconciliation_id, resolution_outcome="rejected")
    assert dispute.resolve("kim", reconciliation_id)["reconciliation"]["resolved_by"] == "kim"


def test_what_is_disputed_stays_as_it_is(dispute: Dispute) -> None:
    paths = [dispute.handed["path"], dispute.showed["path"], "memory/continuity/thread-launch.json"]
    before = dispute.store.documents.read_many(TENANT, paths)
    dispute.resolve("bo", dispute.open()["reconciliation"]["reconciliation_id"])
    assert dispute.store.documents.read_many(TENANT, paths) == before


def test_queries_find_by_party_state_and_link(dispute: Dispute) -> None:
    ids = [dispute.open(by, **more)["reconciliation"]["reconciliation_id"] for by, more in (
        ("bo", {}),
        ("cy", {"thread_id": "th", "classification": "frame_conflict"}),
    )]  # fmt: skip
    dispute.resolve("bo", ids[0])

    def found(by: str, **sent: Any) -> list[int]:
        page = dispute.call(by, "coordination_reconciliation_query", **sent)
        return [ids.index(each["reconciliation_id"]) for each in page["reconciliations"]]

    assert found("bo", claimant_peer="bo") == [0, 1]
    assert found("cy", claimant_peer="cy", status="open") == [1]
    assert found("bo", owner_peer="bo", classification="contradictory", task_id="t") == [0]
    assert found("kim", status="resolved") == [0]
    assert found("kim", thread_id="th") == [1]
    for by, sent, refusal in (
        ("kim", {}, "INVALID_COORDINATION"),
        ("bo", {"status": "open"}, "PEER_FILTER_DENIED"),
        ("bo", {"owner_peer": "bo", "claimant_peer": "cy"}, "PEER_FILTER_DENIED"),
    ):
        with pytest.raises(LaminaError, match=refusal):
            found(by, **sent)
    with pytest.raises(ValidationError):
        found("bo", owner_peer="bo", colour="1")
