"""The audit log over HTTP: a row for every gated call, for those who may see it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from lamina import limits
from lamina.access.audit import canonical_headers
from lamina.access.chain import check_chain
from lamina.errors import Unavailable
from lamina.kernel.ids import Prefix
from lamina.kernel.time import SECOND_US
from neighbours import ROOT, Neighbours

ALICE, BOB, TENANT = "org:acme/user:alice", "org:acme/user:bob", "acme"
QUARTER = 90 * 86_400 * SECOND_US
SECRET = "the otter sleeps at noon"


def envelope(text: str = SECRET, key: str = "k-1", **more: Any) -> dict[str, Any]:
    return {
        "scope": ALICE,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": key,
        **more,
    }


def rows(world: Any, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = world.get("/v1/audit", **query)["items"]
    return items


def test_a_write_leaves_a_row_of_the_documented_shape(world: Any) -> None:
    sent = world.call("POST", "/v1/experience", body=envelope(), headers={"User-Agent": "cortex-py/1.0.0"})
    (row,) = rows(world)
    raw = sent.request.content
    assert row["id"].startswith("audit_")
    assert {name: row[name] for name in ("ts", "actor", "token_jti", "tenant_id", "scope", "endpoint")} == {
        "ts": "2026-05-13T12:00:00Z",
        "actor": "user:local",
        "token_jti": None,
        "tenant_id": TENANT,
        "scope": ALICE,
        "endpoint": "POST /v1/experience",
    }
    assert (row["capability"], row["decision"], row["decided_by_tier"]) == ("scope.write", "allow", "scope")
    assert (row["response_status"], row["event_id"]) == (202, sent.json()["event_id"])
    assert (row["user_agent"], row["client_ip"], row["gdpr"]) == ("cortex-py/1.0.0", "127.0.0.1", False)
    assert row["request_id"] == sent.headers["x-cortex-request-id"]
    request = row["request"]
    assert (request["method"], request["path"], request["body_bytes"]) == ("POST", "/v1/experience", len(raw))
    pepper = world.store.peppers.get(TENANT, row["tenant_pepper_version"])
    assert request["body_hash"] == "sha256:" + hashlib.sha256(raw + pepper.secret).hexdigest()


def test_a_row_holds_nothing_of_a_memory(world: Any) -> None:
    world.call("POST", "/v1/experience", body=envelope())
    world.call("POST", "/v1/recall", body={"scope": ALICE, "query": SECRET})
    world.call("GET", "/v1/facts", scope=ALICE, subject=SECRET)
    world.store.audit.flush()
    kept = repr(world.store.audit.walk(TENANT, 0, 100))
    assert "otter" not in kept


def test_a_denial_leaves_a_row_at_once_and_says_so_in_a_header(world: Any) -> None:
    world.policy.deny("scope.write", ALICE)
    denied = world.call("POST", "/v1/experience", body=envelope())
    assert denied.status_code == 403
    assert denied.headers["x-cortex-policy"] == "tier=scope; decision=deny; capability=scope.write"
    (row,) = world.store.audit.walk(TENANT, 0, 10)  # nobody flushed
    said = row.draft
    assert (said.decision, said.capability, said.scope) == ("deny", "scope.write", ALICE)
    assert (said.response_status, said.event_id) == (403, None)


def test_a_denial_on_the_way_is_one_too(world: Any) -> None:
    event = world.event(caller="user:alice")
    world.policy.deny("policy.administer.scope")
    world.call("POST", f"/v1/lifecycle/memory-event/{event.id}/cancel")
    (row,) = world.store.audit.walk(TENANT, 0, 10)
    said = (row.draft.decision, row.draft.capability, row.draft.scope)
    assert said == ("deny", "policy.administer.scope", ALICE)


def test_a_write_that_changed_nothing_leaves_its_row(world: Any) -> None:
    world.call("POST", "/v1/experience", body=envelope())
    again = world.call("POST", "/v1/experience", body=envelope())
    conflict = world.call("POST", "/v1/experience", body=envelope("something else"))
    assert (again.headers["x-cortex-replay"], conflict.status_code) == ("true", 409)
    said = [row.draft for row in world.store.audit.walk(TENANT, 0, 10)]
    assert [(row.decision, row.response_status) for row in said] == [
        ("allow", 202),
        ("allow", 202),
        ("allow", 409),
    ]
    assert said[1].event_id == said[0].event_id


def test_a_row_that_finds_no_room_takes_the_place_of_an_answer_but_of_no_error(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> None:
        raise Unavailable("WAL_UNAVAILABLE", "the disk refuses")

    event = world.event()
    monkeypatch.setattr(limits, "AUDIT_QUEUE_MAX", 0)
    monkeypatch.setattr(world.store.audit, "flush", refuse)
    assert world.refused(f"/v1/events/{event.id}") == (503, "WAL_UNAVAILABLE")
    assert world.refused("/v1/events/evt_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b") == (404, "NOT_FOUND")
    world.policy.deny("scope.read.local")
    assert world.refused(f"/v1/events?scope={ALICE}")[0] == 403
    assert caplog.text.count("an audit row could not be queued") == 2


def test_calls_that_policy_never_saw_leave_none(world: Any) -> None:
    world.call("GET", "/v1/admin/version")
    world.call("GET", "/v1/nowhere")
    world.call("GET", "/v1/facts", scope="not a scope")
    assert rows(world) == []


def test_cancelling_names_its_row(world: Any) -> None:
    event = world.event()
    cancelled = world.call("POST", f"/v1/lifecycle/memory-event/{event.id}/cancel").json()
    row = world.get(f"/v1/audit/{cancelled['audit_id']}")
    assert (row["event_id"], row["scope"], row["capability"]) == (event.id, ALICE, "scope.write")


def test_the_filters_and_pages(world: Any) -> None:
    for number in range(3):
        world.clock.at += SECOND_US
        world.call("POST", "/v1/experience", body=envelope(key=f"k-{number}"))
    world.policy.deny("scope.write", BOB)
    world.call("POST", "/v1/experience", body=envelope(scope=BOB), headers={"X-Cortex-Actor": "user:bob"})
    assert len(rows(world, decision="allow", endpoint="POST /v1/experience")) == 3
    assert [row["scope"] for row in rows(world, decision="deny")] == [BOB]
    assert [row["actor"] for row in rows(world, actor="user:bob")] == ["user:bob"]
    assert len(rows(world, scope="org:acme", capability="scope.write")) == 4
    assert len(rows(world, capability="scope.write", since="2026-05-13T12:00:02Z")) == 3
    assert len(rows(world, capability="scope.write", until="2026-05-13T12:00:02Z")) == 1
    first = world.get("/v1/audit", limit=3, capability="scope.write")
    assert first["has_more"]
    second = world.get("/v1/audit", limit=3, capability="scope.write", cursor=first["next_cursor"])
    assert (len(second["items"]), second["has_more"], second["next_cursor"]) == (1, False, None)
    assert world.refused("/v1/audit", cursor=first["next_cursor"]) == (422, "INVALID_CURSOR")


def test_others_rows_take_a_capability_of_their_own(world: Any) -> None:
    mine = {"X-Cortex-Actor": "user:alice"}
    world.call("POST", "/v1/experience", body=envelope())
    world.call("POST", "/v1/experience", body=envelope(key="a"), headers=mine)
    other, own = (row.draft.id for row in world.store.audit.walk(TENANT, 0, 10))
    world.policy.deny("audit.read.cross_actor")
    shown = world.call("GET", "/v1/audit", headers=mine, capability="scope.write").json()["items"]
    assert [row["id"] for row in shown] == [own]
    assert world.call("GET", "/v1/audit", headers=mine, actor="user:local").status_code == 403
    assert world.call("GET", f"/v1/audit/{own}", headers=mine).status_code == 200
    for hidden in (other, world.id(Prefix.AUDIT, "none")):
        assert world.call("GET", f"/v1/audit/{hidden}", headers=mine).status_code == 403
        body = {"audit_id": hidden, "body": "{}"}
        assert world.call("POST", "/v1/audit/verify", headers=mine, body=body).status_code == 403


@pytest.mark.parametrize("asked", [{}, {"scope": "org:acme"}, {"scope": "org:acme/team:z"}])
def test_a_list_leaves_out_rows_of_scopes_that_the_caller_is_no_member_of(asked: dict[str, str]) -> None:
    house = Neighbours(preset="dev_local")
    house.register("org:acme/team:z/user:alice", alice="owner")
    for number in range(5):
        assert house.write("org:acme/team:z/user:alice", f"otter {number}").status_code == 202
        assert house.write("org:acme/team:z/user:bob", f"tea {number}", by="user:bob").status_code == 202
    assert house.write("org:acme/team:z/user:alice", by="user:bob").status_code == 403

    def pages(by: str) -> list[list[tuple[str, str, str]]]:
        query, found, more = {"endpoint": "POST /v1/experience", "limit": 3, **asked}, [], True
        while more:
            page = house.said("GET", "/v1/audit", by=by, **query)
            found.append([(row["actor"], row["scope"][-5:], row["decision"]) for row in page["items"]])
            query["cursor"], more = page["next_cursor"], page["has_more"]
        return found

    mine, others = ("user:bob", "r:bob", "allow"), ("user:alice", "alice", "allow")
    refused = ("user:bob", "alice", "deny")
    bob = pages("user:bob")
    assert [row for page in bob for row in page] == [refused, *[mine] * 5]
    assert [len(page) for page in bob] == [3, 3]
    alice = [row for page in pages("user:alice") for row in page]
    assert sorted(alice) == sorted([refused, *[mine, others] * 5])
    house.close()


def test_a_long_look_for_what_may_be_seen_ends_and_can_go_on(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.limits.LIST_SCAN_MAX", 6)
    mine = {"X-Cortex-Actor": "user:alice"}
    world.call("POST", "/v1/experience", body=envelope(key="mine"), headers=mine)
    for number in range(9):
        world.call("POST", "/v1/experience", body=envelope(key=f"k-{number}", scope=BOB))
    world.policy.deny("audit.read.cross_actor", BOB)
    query, found = {"limit": 2, "capability": "scope.write"}, []
    for _ in range(5):
        page = world.call("GET", "/v1/audit", headers=mine, **query).json()
        found += [row["actor"] for row in page["items"]]
        if not page["has_more"]:
            break
        query["cursor"] = page["next_cursor"]
    assert (found, page["has_more"], page["next_cursor"]) == (["user:alice"], False, None)


def test_members_see_of_others_rows_neither_address_nor_closed_paths() -> None:
    house = Neighbours()
    closed, opened = "org:acme/app:payroll", "org:acme/app:wiki"
    for scope in (closed, opened):
        assert house.write(scope, SECRET, by="user:ana").status_code == 202
    place = f"/v1/policy/scope/{closed}"
    house.said("PUT", place, {"deny": ["scope.read.*"]}, by="user:ana")

    def seen(by: str, **query: Any) -> list[tuple[Any, ...]]:
        items = house.said("GET", "/v1/audit", by=by, actor="user:ana", **query)["items"]
        for row in items:
            assert house.said("GET", f"/v1/audit/{row['id']}", by=by) == row
        return [(row["scope"], row["client_ip"], row["request"]["path"]) for row in items]

    ip, path = "127.0.0.1", "/v1/experience"
    whole = [(closed, ip, place), (opened, ip, path), (closed, ip, path)]
    hidden = "/v1/policy/scope/{scope_path:path}"
    assert seen("user:eve") == [(None, None, hidden), (opened, None, path), (None, None, path)]
    assert seen(ROOT) == whole
    assert seen("user:eve", scope=closed) == []  # nor does a filter say what the rows do not
    assert seen("user:eve", scope="org:acme") == [(opened, None, path)]
    assert check_chain(house.store.audit, TENANT).broken is None
    house.close()


def test_what_a_member_may_not_see_of_a_row_is_verified_all_the_same() -> None:
    house = Neighbours()
    raw = house.write("org:acme/app:wiki", by="user:ana").request.content.decode()
    (row,) = house.said("GET", "/v1/audit", by="user:eve", actor="user:ana")["items"]
    assert row["client_ip"] is None
    body = {"audit_id": row["id"], "body": raw}
    assert house.said("POST", "/v1/audit/verify", body, by="user:eve")["match"]
    house.close()


def test_a_row_that_is_not_there(world: Any) -> None:
    assert world.refused(f"/v1/audit/{world.id(Prefix.AUDIT, 'none')}") == (404, "NOT_FOUND")
    assert world.refused(f"/v1/audit/{world.id(Prefix.EVENT, 'none')}") == (422, "INVALID_ID")


@pytest.mark.parametrize(("change", "match"), [("", True), (" ", False)])
def test_a_body_is_verified_against_its_row(world: Any, change: str, match: bool) -> None:
    raw = world.call("POST", "/v1/experience", body=envelope()).request.content.decode()
    (row,) = rows(world)
    body = {"audit_id": row["id"], "body": raw + change}
    assert world.call("POST", "/v1/audit/verify", body=body).json() == {
        "match": match,
        "hashed_at": "2026-05-13T12:00:00Z",
        "algorithm": "sha256",
        "tenant_pepper_version": 1,
    }


def test_peppers_change_by_the_quarter_and_old_rows_stay_verifiable(world: Any) -> None:
    raw = world.call("POST", "/v1/experience", body=envelope()).request.content.decode()
    world.clock.at += QUARTER - 1
    world.call("POST", "/v1/experience", body=envelope(key="k-2"))
    world.clock.at += 1
    world.call("POST", "/v1/experience", body=envelope(key="k-3"))
    versions = [row["tenant_pepper_version"] for row in rows(world, capability="scope.write")]
    assert versions == [2, 1, 1]
    first = world.store.audit.walk(TENANT, 0, 1)[0].draft.id
    checked = world.call("POST", "/v1/audit/verify", body={"audit_id": first, "body": raw}).json()
    assert (checked["match"], checked["tenant_pepper_version"]) == (True, 1)


def test_tenants_hash_the_same_body_differently(world: Any) -> None:
    from lamina.access.audit import PepperBook
    from lamina.access.rules import AuditRules

    book, rules = PepperBook(world.store), AuditRules()
    assert book.current("acme", 1, rules).hash(b"x") != book.current("zeta", 1, rules).hash(b"x")
    assert book.current("acme", 1, rules) == PepperBook(world.store).current("acme", 2, rules)


def test_the_size_is_left_out_where_the_tenant_wants_it_so(make_world: Any) -> None:
    world = make_world(audit_store_body_bytes=False)
    world.call("POST", "/v1/experience", body=envelope())
    (row,) = rows(world)
    assert "body_bytes" not in row["request"]
    assert row["request"]["body_hash"].startswith("sha256:")


def test_headers_are_hashed_without_tokens_and_cookies() -> None:
    headers = [(b"X-B", b" 2 "), (b"Authorization", b"Bearer s"), (b"cookie", b"c"), (b"accept", b"*/*")]
    assert canonical_headers(headers) == b"accept:*/*\nx-b:2"


def test_the_chain_holds_over_everything_that_was_asked(world: Any) -> None:
    for number in range(5):
        world.call("POST", "/v1/experience", body=envelope(key=f"k-{number}"))
        world.call("GET", "/v1/events", scope=ALICE)
    world.store.audit.flush()
    checked = check_chain(world.store.audit, TENANT)
    assert (checked.rows, checked.broken) == (10, None)


def test_rows_of_reads_land_when_the_store_is_closed(make_world: Any, tmp_path: Any) -> None:
    from lamina.store.sqlite import SqliteStore

    world = make_world()
    for _ in range(20):
        world.get("/v1/events", scope=ALICE)
    world.store.close()
    again = SqliteStore(tmp_path)
    assert len(again.audit.walk(TENANT, 0, 100)) == 20
    again.close()


def test_json_of_a_row_is_what_the_seed_shows(world: Any) -> None:
    world.call("POST", "/v1/experience", body=envelope())
    (row,) = rows(world)
    assert json.loads(json.dumps(row)) == row
    wanted = "id ts actor token_jti tenant_id scope endpoint capability decision decided_by_tier request"
    wanted += " response_status event_id client_ip user_agent request_id elapsed_ms gdpr"
    assert set(wanted.split()) <= row.keys()
    assert set(row["request"]) == {"method", "path", "body_hash", "headers_hash", "body_bytes"}


def test_a_registration_has_the_status_that_was_answered(world: Any) -> None:
    assert world.call("POST", "/v1/scopes", body={"path": "ws:launch"}).status_code == 201
    assert rows(world, endpoint="POST /v1/scopes")[0]["response_status"] == 201
