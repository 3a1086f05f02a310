"""What happened to events, read over HTTP; and cancelling them."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from lamina.kernel.events import Stage
from lamina.kernel.ids import Prefix
from lamina.kernel.time import SECOND_US
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery

ALICE, BOB = "org:acme/user:alice", "org:acme/user:bob"


def stages(page: Any) -> list[str]:
    return [item["stage"] for item in page["items"]]


def test_rows_come_in_order_of_arrival_page_by_page(world: Any) -> None:
    event = world.event()
    world.event(scope=BOB)
    world.advance(event, Stage.EXTRACTED, Stage.INDEXED)
    first = world.get("/v1/lifecycle", limit=3)
    assert (stages(first), first["has_more"]) == (["captured", "captured", "extracted"], True)
    world.advance(event, Stage.CONSOLIDATED)
    second = world.get("/v1/lifecycle", limit=3, cursor=first["next_cursor"])
    assert (stages(second), second["has_more"]) == (["indexed", "consolidated"], False)
    seen = second["items"][-1]["lifecycle_id"]
    world.advance(event, Stage.COMPRESSED)
    assert stages(world.get("/v1/lifecycle", since_lifecycle_id=seen)) == ["compressed"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"scope": ALICE}, ["captured", "extracted"]),
        ({"scope": "org:acme"}, ["captured", "captured", "extracted"]),
        ({"scope": "org:ac"}, []),
        ({"events": "extracted,indexed"}, ["extracted"]),
        ({"events": "captured", "scope": BOB}, ["captured"]),
    ],
)
def test_rows_are_filtered(world: Any, filters: dict[str, str], found: list[str]) -> None:
    event = world.event()
    world.event(scope=BOB)
    world.advance(event, Stage.EXTRACTED)
    assert stages(world.get("/v1/lifecycle", **filters)) == found


def test_rows_of_one_event_and_of_one_batch(world: Any) -> None:
    batch = world.id(Prefix.BATCH, "batch")
    event = world.event(batch_id=batch)
    world.event()
    for filters in ({"event_id": event.id}, {"batch_id": batch}, {"job_id": batch}):
        (row,) = world.get("/v1/lifecycle", **filters)["items"]
        assert (row["event_id"], row["job_id"], row["sequence"]) == (event.id, batch, 1)


def test_a_job_that_is_an_entry_of_the_log_is_followed_by_the_id_it_was_given(world: Any) -> None:
    world.event()
    asked = world.post("/v1/understanding/synthesize", {"scope": ALICE}).json()
    (row,) = world.get("/v1/lifecycle", job_id=asked["job_id"])["items"]
    assert row["event_id"] == asked["job_id"]
    assert world.get("/v1/lifecycle", job_id=asked["job_id"], event_id=row["event_id"])["items"] == [row]
    other = {"job_id": asked["job_id"], "event_id": world.event().id}
    assert world.get("/v1/lifecycle", **other)["items"] == []


def test_rows_of_scopes_that_may_not_be_read_are_left_out(world: Any) -> None:
    world.event()
    hidden = world.event(scope=BOB)
    world.event()
    world.policy.deny("scope.read.local", BOB)
    page = world.get("/v1/lifecycle")
    assert {item["scope"] for item in page["items"]} == {ALICE}
    world.policy.deny("lifecycle.subscribe", BOB)
    query = LifecycleQuery(tenant_id=hidden.tenant_id, event_id=hidden.id)
    (row,) = world.store.lifecycle.query(query)
    assert world.refused(f"/v1/lifecycle/event/{row.id}") == (404, "NOT_FOUND")
    assert world.refused("/v1/lifecycle", scope=BOB) == (403, "POLICY_DENIED")


def test_one_row(world: Any) -> None:
    event = world.event()
    (row,) = world.get("/v1/lifecycle")["items"]
    assert world.get(f"/v1/lifecycle/event/{row['lifecycle_id']}") == {
        "lifecycle_id": row["lifecycle_id"],
        "event_id": event.id,
        "job_id": None,
        "stage": "captured",
        "ts": "2026-05-13T12:00:00Z",
        "scope": ALICE,
        "sequence": 1,
        "payload": {"actor": "user:alice", "modality": "conversation", "wal_offset": 1},
    }


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v1/lifecycle?events=exploded", 422, "INVALID_REQUEST"),
        ("/v1/lifecycle?events=", 422, "INVALID_REQUEST"),
        ("/v1/lifecycle?cursor=abc", 422, "INVALID_CURSOR"),
        ("/v1/lifecycle?since_lifecycle_id=evt_1", 422, "INVALID_ID"),
        ("/v1/lifecycle?event_id=lce_1", 422, "INVALID_ID"),
        ("/v1/lifecycle?job_id={imp}&import_id={imp}", 422, "INVALID_REQUEST"),
        ("/v1/lifecycle?job_id=a", 422, "INVALID_ID"),
        ("/v1/lifecycle?job_id={lce}", 422, "INVALID_ID"),
        ("/v1/lifecycle?since_lifecycle_id={lce}", 404, "NOT_FOUND"),
        ("/v1/lifecycle/event/{lce}", 404, "NOT_FOUND"),
        ("/v1/lifecycle/memory-event/{evt}", 404, "NOT_FOUND"),
        ("/v1/lifecycle/stream?since_lifecycle_id={lce}", 404, "NOT_FOUND"),
        ("/v1/lifecycle/stream?scope=alice", 422, "INVALID_SCOPE_GRAMMAR"),
    ],
)
def test_bad_parameters_are_refused(world: Any, path: str, status: int, code: str) -> None:
    ids = {
        "lce": world.id(Prefix.LIFECYCLE, "none"),
        "evt": world.id(Prefix.EVENT, "none"),
        "imp": world.id(Prefix.IMPORT, "none"),
    }
    assert world.refused(path.format(**ids)) == (status, code)


def test_a_page_behind_rows_that_are_hidden_names_none_of_them(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.limits.LIST_SCAN_MAX", 4)
    for _ in range(9):
        world.event(scope=BOB)
    world.event()
    hidden = [row["lifecycle_id"] for row in world.get("/v1/lifecycle", limit=9)["items"]]
    world.policy.deny("lifecycle.subscribe", BOB)
    page, found = world.get("/v1/lifecycle", limit=2), []
    while page["has_more"]:
        cursor = page["next_cursor"]
        told = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        assert not any(id_[4:] in told for id_ in hidden), told
        page = world.get("/v1/lifecycle", limit=2, cursor=cursor)
        found += [row["scope"] for row in page["items"]]
    assert found == [ALICE]


def test_a_cursor_belongs_to_its_filters(world: Any) -> None:
    world.event()
    world.event()
    cursor = world.get("/v1/lifecycle", limit=1)["next_cursor"]
    assert world.refused("/v1/lifecycle", scope=ALICE, cursor=cursor) == (422, "INVALID_CURSOR")


def test_how_far_an_event_has_come(world: Any) -> None:
    event = world.event()
    fact, belief = world.fact(), world.belief()
    supports = [world.support(fact.id, event.id), world.support(belief.id, fact.id)]
    world.advance(event, Stage.EXTRACTED, Stage.INDEXED, records=[fact, belief], supports=supports)
    shown = world.get(f"/v1/lifecycle/memory-event/{event.id}")
    assert shown["stages_completed"] == ["captured", "extracted", "indexed"]
    assert shown["stages_pending"] == ["consolidated", "compressed"]
    assert shown["derives"] == [fact.id, belief.id]
    assert len(shown["lifecycle_event_ids"]) == 3
    assert (shown["errors"], shown["excluded_from_recall"]) == ([], False)


def test_a_replayed_log_counts_each_stage_once(world: Any) -> None:
    body = {
        "scope": ALICE,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "hello"},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": "mine",
    }
    event_id = world.post("/v1/experience", body).json()["event_id"]
    event = world.store.log.get(world.server.settings.tenant, [event_id])[event_id]
    derived = [Stage.EXTRACTED, Stage.INDEXED, Stage.CONSOLIDATED]
    world.advance(event, *derived)
    whole = ["captured", "extracted", "indexed", "consolidated"]
    first = world.post("/v1/experience?wait=consolidated", body).json()
    assert first["stages_completed"] == whole

    world.store.jobs.reset()
    world.clock.at += 3600 * SECOND_US
    world.advance(event, *derived)
    state = world.get(f"/v1/lifecycle/memory-event/{event_id}")
    assert len(state["lifecycle_event_ids"]) == 7
    assert state["stages_completed"] == whole
    by_key = world.get("/v1/experience/by-idempotency-key/mine")
    assert (by_key["stages_completed"], by_key["status"]) == (whole, "consolidated")
    again = world.post("/v1/experience?wait=consolidated", body).json()
    assert (again["stages_completed"], again["elapsed_ms"]) == (whole, first["elapsed_ms"])


def test_a_stage_that_failed_for_good_is_an_error_and_pending_no_more(world: Any) -> None:
    event = world.event()
    (job,) = world.store.jobs.claim(
        Stage.EXTRACTED, limit=1, lease_until=world.clock.at + 1, now=world.clock.at, owner="test"
    )
    world.store.jobs.fail(job, "the parser gave up", retry_at=None)
    shown = world.get(f"/v1/lifecycle/memory-event/{event.id}")
    assert (shown["stages_completed"], shown["stages_pending"]) == (["captured"], [])
    assert shown["errors"] == [{"stage": "extracted", "error": "the parser gave up", "attempts": 1}]


def test_cancelling_drops_what_is_queued_and_hides_what_rests_on_it(world: Any) -> None:
    event = world.event()
    fact = world.fact()
    world.advance(event, Stage.EXTRACTED, records=[fact], supports=[world.support(fact.id, event.id)])
    path = f"/v1/lifecycle/memory-event/{event.id}/cancel"
    first = world.call("POST", path).json()
    assert first.pop("audit_id").startswith("audit_")
    assert first == {
        "event_id": event.id,
        "stages_cancelled": ["indexed", "consolidated", "compressed"],
        "stages_already_completed": ["captured", "extracted"],
        "excluded_from_recall": True,
    }
    again = world.call("POST", path).json()
    assert again == first | {"audit_id": again["audit_id"]}
    assert (world.ids("/v1/events"), world.ids("/v1/facts")) == ([], [])
    assert world.get(f"/v1/facts/{fact.id}")["excluded_from_recall"] is True
    state = world.get(f"/v1/lifecycle/memory-event/{event.id}")
    assert (state["stages_pending"], state["excluded_from_recall"]) == ([], True)


def test_only_its_writer_or_an_owner_cancels_an_event(world: Any) -> None:
    event = world.event(caller="user:alice")
    world.policy.deny("policy.administer.scope")
    path = f"/v1/lifecycle/memory-event/{event.id}/cancel"
    assert world.call("POST", path).status_code == 403
    assert world.call("POST", path, headers={"X-Cortex-Actor": "user:alice"}).status_code == 200
    world.policy.deny("scope.write", ALICE)
    assert world.call("POST", path, headers={"X-Cortex-Actor": "user:alice"}).status_code == 403
    nobody = f"/v1/lifecycle/memory-event/{world.id(Prefix.EVENT, 'none')}/cancel"
    assert world.call("POST", nobody).status_code == 404


def test_rows_without_an_event_are_listed_too(world: Any) -> None:
    event = world.event()
    job = world.id(Prefix.ERASURE, "erasure")
    row = LifecycleDraft(
        tenant_id=event.tenant_id,
        name="erasure_progress",
        scope=event.scope,
        payload={"phase": "x"},
        job_id=job,
    )
    world.land(lifecycle=[row])
    (shown,) = world.get("/v1/lifecycle", erasure_id=job)["items"]
    assert (shown["stage"], shown["event_id"], shown["payload"]) == ("erasure_progress", None, {"phase": "x"})


def test_the_version_is_open(world: Any) -> None:
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"X-Cortex-Actor": "nobody"}):
        response = world.call("GET", "/v1/admin/version", headers=headers)
        assert response.status_code == 200
        assert response.json()["name"] == "lamina"
        assert "x-cortex-policy" not in response.headers
