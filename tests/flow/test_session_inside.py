"""The looks inside a session for operators, and what they and briefs leave out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lamina.kernel.capabilities import Capability
from lamina.kernel.scopes import Scope
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.store.ports.log import EventQuery
from session_calls import SCOPE, TOKEN, USER, WHO, brief, say, work


@pytest.fixture
def inside(make_world):
    return make_world(internal_token="sesame", brief_deadline_ms=10_000)


# ---- looks inside


INTERNAL = [
    ("GET", "/internal/debug/session", {**USER, "sessionId": "s-1"}, None),
    ("GET", "/internal/debug/user", USER, None),
    ("GET", "/internal/debug/outbox", {}, None),
    ("POST", "/internal/outbox/revive", {}, {"tenantId": "tenant_a"}),
]


@pytest.mark.parametrize(("verb", "path", "query", "body"), INTERNAL, ids=[path for _, path, *_ in INTERNAL])
def test_the_inside_takes_its_token(inside, make_world, verb, path, query, body):
    closed = make_world()
    for world, headers, status in (
        (inside, TOKEN, 200),
        (inside, {}, 401),
        (inside, {"X-Internal-Token": "sesamE"}, 401),
        (inside, {"X-Internal-Token": "s\xe9same".encode("latin-1")}, 401),
        (closed, {}, 401),
        (closed, {"X-Internal-Token": ""}, 401),
    ):
        answer = world.call(verb, path, headers=headers, body=body, **query)
        assert answer.status_code == status, answer.text
        if status == 401:
            assert answer.json()["detail"] == "Unauthorized"


def look(world: Any, path: str, **query: Any) -> dict[str, Any]:
    answer = world.call("GET", f"/internal/debug/{path}", headers=TOKEN, **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_nobody_has_nulls_and_empty_lists(inside):
    assert look(inside, "session", **USER, sessionId="never") == {
        "session": None,
        "transcript": None,
        "activeLoops": [],
        "sessionEpisode": {"name": None, "text": None},
    }
    assert look(inside, "user", **USER)["latestSessionId"] is None
    assert look(inside, "outbox", tenantId="tenant_a") == {"rows": [], "inquiries": []}


def test_a_session_is_shown_with_its_transcript(inside):
    for n in range(14):
        say(inside, f"I need to buy {n} eggs.", f"2026-05-13T10:00:{n:02}Z")
    say(inside, "yours", userId="user_2")
    rows = look(inside, "outbox")["rows"]
    assert [(row["user_id"], row["status"], row["attempts"]) for row in rows] == [
        ("user_1", "pending", 0)
    ] * 2
    work(inside)
    found = look(inside, "session", **USER, sessionId="s-1")
    assert len(found["session"]["messages"]) == 12
    assert "0 eggs" in found["session"]["rolling_summary"]
    assert len(found["transcript"]["messages"]) == 14
    assert found["session"]["session_state"]["folded"] == 2
    assert look(inside, "outbox")["rows"] == []
    assert look(inside, "user", **USER)["latestSessionId"] == "s-1"


def test_tenants_are_kept_apart_inside(inside):
    for n in range(13):
        say(inside, f"a {n}", f"2026-05-13T10:00:{n:02}Z")
        say(inside, f"b {n}", f"2026-05-13T10:00:{n:02}Z", tenantId="tenant_b")
    rows = look(inside, "outbox", tenantId="tenant_b")["rows"]
    assert [row["tenant_id"] for row in rows] == ["tenant_b"]
    (first,) = inside.store.sessions.claim(limit=1, lease_until=0, now=0, owner="one")
    inside.store.sessions.put_off(first, "boom", retry_at=None, failed=True)
    for tenant, count in (("tenant_b", 0), ("tenant_a", 1)):
        answer = inside.call("POST", "/internal/outbox/revive", headers=TOKEN, body={"tenantId": tenant})
        assert answer.json() == {"revived": count}


def test_what_a_model_failed_to_answer_is_shown_and_tried_again(inside):
    say(inside, "The dentist thing is hanging over me.")
    say(inside, "The boiler is hanging over me too.", tenantId="tenant_b")
    deriver = Deriver(inside.store, RulesExtractor(find_times, use_parser=False), None, asks="extract/1")
    Worker(inside.store, deriver, None, inside.clock, "test").drain()
    (first, _) = inside.store.inquiries.claim(limit=9, lease_until=0, now=0, owner="one")
    inside.store.inquiries.put_off(first, "MODEL_REFUSED: no", retry_at=None)
    (shown,) = look(inside, "outbox", tenantId="tenant_a")["inquiries"]
    assert shown == {
        "id": first.id,
        "scope": SCOPE,
        "event_id": first.event_id,
        "task": "extract/1",
        "status": "failed",
        "attempts": 1,
        "next_attempt_at": None,
        "last_error": "MODEL_REFUSED: no",
        "created_at": "2026-05-13T12:00:00Z",
    }
    assert len(look(inside, "outbox")["inquiries"]) == 2
    inside.policy.deny(Capability.SCOPE_READ_LOCAL, SCOPE)
    assert [row["status"] for row in look(inside, "outbox")["inquiries"]] == ["pending"]
    inside.policy.denied.clear()
    for tenant, count in (("tenant_b", 0), ("tenant_a", 1)):
        answer = inside.call("POST", "/internal/outbox/revive", headers=TOKEN, body={"tenantId": tenant})
        assert answer.json() == {"revived": count}


# ---- policy


def test_what_is_understood_of_a_user_takes_its_own_capability(inside):
    inside.land(inside.concept("user", scope=Scope(SCOPE), topic="entity", summary="Likes tea."))
    assert [each["summary"] for each in look(inside, "user", **USER)["topEntities"]] == ["Likes tea."]
    inside.policy.deny(Capability.UNDERSTANDING_READ, SCOPE)
    assert look(inside, "user", **USER)["topEntities"] == []


def test_every_row_keeps_to_policy(make_world):
    world = make_world(internal_token="sesame")
    asked = {
        "now": "2026-05-13T10:00:00Z",
        "sessionId": "s-1",
        "query": "x",
        "role": "user",
        "text": "x",
        "timestamp": "2026-05-13T10:00:00Z",
        "messages": [{"role": "user", "text": "x", "timestamp": "2026-05-13T10:00:00Z"}],
        **WHO,
    }
    for capability in (Capability.SCOPE_READ_LOCAL, Capability.SCOPE_WRITE):
        world.policy.deny(capability)
    rows = [
        row for row in world.server.routes if row.operation.name.startswith(("session_", "debug_", "outbox_"))
    ]
    assert len(rows) == 13
    for row in rows:
        known = {info.alias or name for name, info in row.operation.request.model_fields.items()}
        given = {name: value for name, value in asked.items() if name in known}
        body, query = (given, {}) if row.has_body else (None, given)
        answer = world.call(row.verb, row.path, headers=TOKEN, body=body, **query)
        assert (answer.status_code, answer.json()["error_code"]) == (403, "POLICY_DENIED"), row.path
    assert world.store.log.query(EventQuery(tenant_id="acme", scopes=[SCOPE])) == []


# ---- turns that were cancelled

SECRET = "My wife Anna is leaving me in June."


def told(world: Any) -> str:
    """Everything that the two starts of a session and the look inside say."""
    at = "2026-05-13T10:30:00Z"
    start = world.get("/session/startbrief", tenantId="tenant_a", userId="user_1", now=at)
    asked = {"tenantId": "tenant_a", "userId": "user_1", "sessionId": "s-1"}
    inner = world.get("/internal/debug/session", **asked, headers=TOKEN)
    shown = [brief(world), brief(world, sessionId="s-2", mode="session_start", now=at), start, inner]
    return json.dumps([{**each, "transcript": None} for each in shown])


def cancel(world: Any, words: str) -> None:
    (event,) = [
        e for e in world.get("/v1/events", scope=SCOPE, limit=100)["items"] if e["content"]["text"] == words
    ]
    world.post(f"/v1/lifecycle/memory-event/{event['id']}/cancel", {})


@pytest.mark.parametrize("folded", ["before", "after", "never"])
@pytest.mark.parametrize("is_closed", [True, False], ids=["closed", "open"])
def test_no_brief_tells_the_words_of_a_cancelled_turn(inside, folded, is_closed):
    say(inside, SECRET)
    say(inside, "I need to book the dentist before Friday.", "2026-05-13T10:00:01Z")
    for number in range(12 if not is_closed else 2):
        say(inside, f"We talk about item {number} of the list.", f"2026-05-13T10:01:{number:02}Z")
    if is_closed:
        inside.post("/session/close", {**USER, "sessionId": "s-1"})
    if folded == "before":
        work(inside)
    assert "Anna" in told(inside), "what left the window is told, folded or not"
    cancel(inside, SECRET)
    if folded == "after":
        work(inside)
    assert "Anna" not in told(inside)
    assert "book the dentist before Friday" in told(inside)
    before = told(inside)
    work(inside)
    assert "Anna" not in told(inside)
    if folded == "after":
        assert told(inside) == before


def test_the_inside_tells_no_words_of_a_cancelled_turn(inside):
    for number, words in enumerate(
        ["I need to call Bob.", "I live in Quetzalberg.", "I need to buy a lamp."]
    ):
        say(inside, words, f"2026-05-13T10:00:{number:02}Z")
    work(inside)
    (concept,) = look(inside, "user", **USER)["topEntities"]
    assert "Quetzalberg" in concept["summary"]
    cancel(inside, "I live in Quetzalberg.")
    for _ in range(2):
        shown = look(inside, "user", **USER)
        assert "Quetzalberg" not in json.dumps(shown)
        work(inside)
