"""Continuity over HTTP, on the embedded engine with its repository: statuses, bodies, commits."""

from __future__ import annotations

from typing import Any

import pytest

from capsules import body, later, signal
from lamina.access.relay_tokens import issue, owner_grant
from lamina.app import build_server
from lamina.errors import Invalid
from lamina.kernel.ids import RandomIds
from lamina.kernel.relay import TEMPLATES
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.settings import Settings
from lamina.store.memory import MemoryStore

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}


def _post(world: Any, path: str, **sent: Any) -> tuple[int, dict[str, Any]]:
    response = world.call("POST", f"/v1/continuity/{path}", body=ABOUT | sent)
    return response.status_code, response.json()


def test_a_capsule_lives_through_every_route(world: Any) -> None:
    descriptor = {"label": "Launch"}
    status, written = _post(world, "upsert", capsule=body(thread_descriptor=descriptor))
    assert (status, written["created"], written["lifecycle"]) == (200, True, "active")
    operation = {"target": "continuity.open_loops", "action": "append", "value": "more"}
    assert _post(world, "patch", updated_at=later(1), operations=[operation])[0] == 200
    assert _post(world, "lifecycle", updated_at=later(2), transition="suspend")[1]["lifecycle"] == "suspended"
    status, found = _post(world, "read", view="startup")
    assert (status, found["startup_summary"]["orientation"]["open_loops"]) == (200, ["tests", "more"])
    assert _post(world, "compare", candidate_capsule=body(), signals=[signal()])[0] == 200
    assert _post(world, "revalidate", outcome="confirm", signals=[signal("system_check")])[0] == 200
    assert (
        _post(world, "list", sort="salience")[1]["capsules"][0]["salience"]["sort_key"]["verification_rank"]
        == 4
    )
    assert _post(world, "refresh/plan", include_healthy=True)[1]["count"] == 1
    assert _post(world, "archive", reason="done")[0] == 200
    assert _post(world, "retention/plan")[1]["count"] == 0
    everything = {"delete_active": True, "delete_archive": True, "delete_fallback": True}
    status, gone = _post(world, "delete", reason="done", **everything)
    assert (status, len(gone["deleted_paths"]), len(gone["missing_paths"])) == (200, 2, 1)


def test_a_capsule_can_be_looked_back_at(world: Any) -> None:
    first = _post(world, "upsert", capsule=body())[1]["latest_commit"]
    changed = body(updated_at=later(1), metadata={"build": 2})
    second = _post(world, "upsert", capsule=changed, commit_message="second")[1]["latest_commit"]
    status, found = _post(world, "history")
    assert (status, [each["commit"] for each in found["versions"]]) == (200, [second, first])
    status, found = _post(world, "diff")
    assert (status, found["changed_fields"]) == (200, ["updated_at", "metadata.build"])
    assert (found["to_version"]["message"], found["changes"][1]["new"]) == ("second", 2)
    assert _post(world, "diff", to_version=9)[0] == 404
    assert _post(world, "history", limit=101)[0] == 422


def test_a_write_is_a_commit_and_an_event(world: Any) -> None:
    _, written = _post(world, "upsert", capsule=body(), commit_message="continuity: first words")
    head = world.store.documents.head("acme")
    assert head is not None
    assert (head.sha, head.message) == (written["latest_commit"], "continuity: first words")
    (event,) = world.get("/v1/events", scope="app:relay")["items"]
    assert event["content"]["text"].startswith("Capsule of thread launch.")


@pytest.mark.parametrize(
    ("path", "sent", "status", "code"),
    [
        ("read", {}, 404, "CAPSULE_NOT_FOUND"),
        ("upsert", {"capsule": body(subject_id="other")}, 400, "SUBJECT_MISMATCH"),
        ("upsert", {"capsule": body(updated_at="soon")}, 400, "INVALID_CAPSULE"),
        ("upsert", {"capsule": body(metadata={"pad": "x" * 21_000})}, 400, "CAPSULE_TOO_LARGE"),
        ("revalidate", {"outcome": "correct", "signals": [signal()]}, 400, "INVALID_REVALIDATION"),
        ("lifecycle", {"transition": "supersede", "updated_at": later()}, 400, "INVALID_TRANSITION"),
    ],
)
def test_a_refusal_says_why_in_one_string(world: Any, path: str, sent: Any, status: int, code: str) -> None:
    found, refusal = _post(world, path, **sent)
    assert (found, refusal["error_code"]) == (status, code)
    assert isinstance(refusal["detail"], str)


def test_an_older_capsule_is_a_conflict(world: Any) -> None:
    _post(world, "upsert", capsule=body(updated_at=later(5)))
    assert _post(world, "upsert", capsule=body())[0] == 409


@pytest.mark.parametrize(
    ("path", "sent", "place"),
    [
        ("upsert", {}, ["body", "capsule"]),
        (
            "upsert",
            {"capsule": body(continuity={"open_loops": ["x"] * 9})},
            ["body", "capsule", "continuity", "open_loops"],
        ),
        ("delete", {"reason": "nothing"}, ["body"]),
        ("patch", {"updated_at": later(), "operations": []}, ["body", "operations"]),
        ("list", {"limit": 201}, ["body", "limit"]),
    ],
)
def test_what_is_not_of_its_type_is_a_list_of_problems(
    world: Any, path: str, sent: Any, place: list[str]
) -> None:
    status, refusal = _post(world, path, **sent)
    assert status == 422
    assert refusal["detail"][0]["loc"][: len(place)] == place


def test_the_grants_of_the_scope_are_asked(world: Any) -> None:
    _post(world, "upsert", capsule=body())
    world.policy.deny("scope.read.local", "app:relay")
    for path in ("read", "list", "refresh/plan"):
        assert _post(world, path)[0] == 403
    world.policy.denied.clear()
    world.policy.deny("scope.write", "app:relay")
    assert _post(world, "upsert", capsule=body())[0] == 403
    assert _post(world, "read")[0] == 200


@pytest.mark.model
def test_a_capsule_is_recalled_and_no_fact_is_made_of_it(world: Any) -> None:
    sent = body(continuity={"open_loops": ["the zeppelin licence is still missing"]})
    _post(world, "upsert", capsule=sent)
    deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
    Worker(world.store, deriver, None, world.clock, "test").drain()
    found = world.post("/v1/recall", {"query": "zeppelin licence", "scope": "app:relay"}).json()
    assert "zeppelin licence" in str(found)
    assert world.get("/v1/facts", scope="app:relay")["items"] == []


def test_a_collaborators_token_does_not_reach_capsules(make_world: Any) -> None:
    world = make_world()
    world.server.close()
    server = build_server(Settings(tenant="acme"), store=MemoryStore())
    world.application = server.application
    tokens, ids = server.store.relay_tokens, RandomIds()
    given = {"owner": owner_grant(), "kim": TEMPLATES["collaboration_peer"]}
    headers = {
        name: {
            "Authorization": f"Bearer {issue(tokens, ids, 1, tenant_id='acme', peer_id=name, grant=grant)}"
        }
        for name, grant in given.items()
    }
    sent = ABOUT | {"capsule": body()}
    assert world.call("POST", "/v1/continuity/upsert", body=sent, headers=headers["kim"]).status_code == 403
    assert world.call("POST", "/v1/continuity/upsert", body=sent, headers=headers["owner"]).status_code == 200
    refused = world.call("POST", "/v1/continuity/read", body=ABOUT, headers=headers["kim"])
    assert refused.status_code == 403
    assert refused.json()["detail"] == "Read path namespace not allowed: memory/continuity/thread-launch.json"
    assert world.call("POST", "/v1/continuity/list", body={}, headers=headers["kim"]).json()["count"] == 0
    assert world.call("POST", "/v1/continuity/list", body={}, headers=headers["owner"]).json()["count"] == 1
    assert (
        world.call("POST", "/v1/continuity/read", body={}, headers={"Authorization": "Bearer x"}).status_code
        == 401
    )
    server.close()


def test_a_write_over_something_unread_is_refused_with_the_hash_of_what_stands(world: Any) -> None:
    about = {"subject_kind": "thread", "subject_id": "launch"}
    first = world.call("POST", "/v1/continuity/upsert", body=about | {"capsule": body()}).json()
    refused = world.call(
        "POST",
        "/v1/continuity/upsert",
        body=about | {"capsule": body(updated_at=later(9)), "expected_sha256": "0" * 64},
    )
    assert (refused.status_code, refused.json()["error_code"]) == (409, "CAPSULE_CHANGED")
    assert refused.json()["capsule_sha256"] == first["capsule_sha256"]
    short = world.call(
        "POST", "/v1/continuity/patch", body=about | {"operations": [], "expected_sha256": "x"}
    )
    assert short.status_code == 422


def test_a_configured_token_signs_in_and_one_without_scopes_stops_the_start(make_world: Any) -> None:
    world = make_world()
    world.server.close()
    server = build_server(
        Settings(tenant="acme", relay_tokens="tok:search,old:read:files"), store=MemoryStore()
    )
    world.application = server.application
    read = {
        text: world.call("GET", "/v1/read?path=memory/a.md", headers={"Authorization": f"Bearer {text}"})
        for text in ("tok", "old", "tok:search")
    }
    assert [each.status_code for each in read.values()] == [403, 404, 401]
    with pytest.raises(Invalid) as refused:
        build_server(Settings(relay_tokens="tok"), store=MemoryStore())
    assert refused.value.code == "INVALID_SETTING"
