"""What every answer carries, whatever it is an answer to (seed 002, section 6)."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any
from urllib.parse import quote

import pytest
from starlette.types import Message

from given import TENANT
from lamina.access.principals import Credentials
from lamina.errors import Conflict, Unavailable
from lamina.gateway import Inbound
from lamina.kernel.canonical import digest
from lamina.kernel.events import Stage
from lamina.kernel.operations import Answer
from lamina.kernel.time import SECOND_US
from lamina.observe.logs import JsonLines
from lamina.store.ports.idempotency import IdempotencyKey
from lamina.store.ports.upkeep import Compaction
from lamina.store.ports.writes import Inquiry, Writes
from streaming import request_of

ALICE = "org:acme/user:alice"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
ALWAYS = ("x-cortex-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")


def envelope(key: str | None = "k-1", text: str = "tea at five") -> dict[str, Any]:
    body: dict[str, Any] = {
        "scope": ALICE,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
    }
    return body if key is None else body | {"idempotency_key": key}


@pytest.mark.parametrize(
    ("verb", "path", "status", "headers"),
    [
        ("GET", f"/v1/events?scope={ALICE}", 200, {}),
        ("GET", f"/v1/beliefs?scope={ALICE}", 200, {}),
        ("GET", "/v1/events?scope=nonsense", 422, {}),
        ("GET", "/v1/events/evt_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b", 404, {}),
        ("POST", "/v1/experience", 400, {}),
        ("GET", "/v1/events", 401, {"Authorization": "Bearer x"}),
        ("GET", "/v1/admin/version", 200, {}),
        ("POST", "/v1/admin/flush-views", 200, {}),
        ("GET", "/openapi.json", 200, {}),
        ("GET", "/docs", 200, {}),
        ("GET", "/", 200, {}),
    ],
)
def test_every_answer_has_the_headers(
    world: Any, verb: str, path: str, status: int, headers: dict[str, str]
) -> None:
    answer = world.call(verb, path, headers=headers)
    assert answer.status_code == status, answer.text
    for name in (*ALWAYS, "x-cortex-stability"):
        assert name in answer.headers, f"{name} is missing"


@pytest.mark.parametrize(("verb", "path", "status"), [("GET", "/v2/x", 404), ("DELETE", "/v1/events", 405)])
def test_where_there_is_no_operation_there_is_no_tier(world: Any, verb: str, path: str, status: int) -> None:
    answer = world.call(verb, path)
    assert answer.status_code == status
    assert all(name in answer.headers for name in ALWAYS)
    assert "x-cortex-stability" not in answer.headers


@pytest.mark.parametrize(
    ("verb", "path", "status", "detail"),
    [
        ("POST", "/v1/continuity/no-such", 404, "Not Found"),
        ("GET", "/v1/continuity/read", 405, "Method Not Allowed"),
        ("GET", "/v1/write/more", 404, "Not Found"),
        ("GET", "/v1/help/", 404, "Not Found"),
        ("GET", "/v1/schedule", 404, "Not Found"),
        ("PUT", "/v1/peers", 405, "Method Not Allowed"),
        ("GET", "/brief", 405, "Method Not Allowed"),
    ],
)
def test_a_path_that_begins_as_relays_do_is_refused_as_relay_refuses(
    world: Any, verb: str, path: str, status: int, detail: str
) -> None:
    answer = world.call(verb, path)
    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
    assert answer.json()["error_code"] == ("NOT_FOUND" if status == 404 else "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize(
    "path", ["/v1/events/a/b/c", "/v1", "/v1/nothing", "/v2/continuity/read", "/v1/scopes/x"]
)
def test_any_other_path_is_refused_in_the_envelope(world: Any, path: str) -> None:
    body = world.call("DELETE", path).json()
    assert body["error_code"] == "NOT_FOUND"
    assert "detail" not in body


def test_gated_answers_cite_policy_also_when_the_answer_is_an_error(world: Any) -> None:
    missing = world.call("GET", "/v1/events/evt_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b")
    assert missing.headers["x-cortex-policy"].endswith("decision=allow; capability=scope.read.local")
    world.policy.deny("scope.read.local")
    denied = world.call("GET", "/v1/events", scope=ALICE)
    assert denied.headers["x-cortex-policy"] == "tier=scope; decision=deny; capability=scope.read.local"
    assert "x-cortex-policy" not in world.call("GET", "/v1/admin/version").headers


def test_streams_carry_them_too(world: Any) -> None:
    started: dict[str, str] = {}

    async def run() -> None:
        async def receive() -> Any:
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                started.update({name.decode(): value.decode() for name, value in message["headers"]})

        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
            "method": "GET", "scheme": "http", "path": "/v1/lifecycle/stream", "query_string": b"",
            "raw_path": b"/v1/lifecycle/stream", "root_path": "", "headers": [(b"host", b"localhost")],
            "server": ("localhost", 80),
        }  # fmt: skip
        await world.application(scope, receive, send)

    asyncio.run(run())
    assert set(ALWAYS) | {"x-cortex-stability", "x-cortex-policy"} <= started.keys()


def test_a_request_id_is_echoed_and_its_older_header_understood(world: Any) -> None:
    sent = {"X-Cortex-Request-ID": "mine-1", "X-Request-ID": "older"}
    assert world.call("GET", "/v1/admin/version", headers=sent).headers["x-cortex-request-id"] == "mine-1"
    older = world.call("GET", "/v1/admin/version", headers={"X-Request-ID": "older"}).headers
    assert older["x-cortex-request-id"] == "older"
    assert "x-request-id" not in older
    made = world.call("GET", "/v1/admin/version", headers={"X-Cortex-Request-ID": "bad id\t"}).headers
    assert made["x-cortex-request-id"].startswith("req_")


def test_what_happened_takes_a_time_of_day(world: Any) -> None:
    body = envelope()
    body["context"]["observed_at"] = "2026-05-13"
    refused = world.call("POST", "/v1/experience", body=body)
    assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_TIMESTAMP")
    assert world.call("GET", "/v1/events", scope=ALICE, since="2026-05-13").status_code == 200


# ---- rate limits


def test_a_caller_that_is_too_fast_is_told_when_to_come_back(make_world: Any) -> None:
    world = make_world(rate_limit_read="2/m", rate_limit_write="1/m")
    answers = [world.call("GET", "/v1/events", scope=ALICE) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["1", "0", "0"]
    last = answers[-1]
    assert (last.json()["error_code"], last.json()["retriable"]) == ("RATE_LIMITED", True)
    assert (last.headers["retry-after"], last.headers["x-ratelimit-limit"]) == ("30", "2")
    assert int(last.headers["x-ratelimit-reset"]) == world.clock.at // SECOND_US + 60
    assert world.call("POST", "/v1/experience", body=envelope()).status_code == 202
    assert (
        world.call("GET", "/v1/events", scope=ALICE, headers={"X-Cortex-Actor": "user:b"}).status_code == 200
    )
    world.clock.at += 30 * SECOND_US
    assert world.call("GET", "/v1/events", scope=ALICE).status_code == 200


def test_callers_who_stay_unknown_are_limited_by_their_address(make_world: Any) -> None:
    world = make_world(rate_limit_read="2/m")
    bad = {"Authorization": "Bearer x"}
    assert [world.call("GET", "/v1/events", headers=bad).status_code for _ in range(3)] == [401, 401, 429]
    assert world.call("GET", "/v1/nowhere").status_code == 429
    assert world.call("GET", "/v1/events", scope=ALICE).status_code == 200


# ---- experimental operations


def test_experimental_operations_say_so(world: Any) -> None:
    headers = world.call("POST", "/v1/admin/compact").headers
    assert headers["x-cortex-stability"] == "experimental"
    assert headers["x-cortex-experimental-notice"].startswith("experimental: ")


def test_experimental_operations_can_be_off(world: Any) -> None:
    world.server.gateway._experimental = False
    refused = world.call("POST", "/v1/admin/compact")
    assert (refused.status_code, refused.json()["error_code"]) == (501, "EXPERIMENTAL_DISABLED")
    assert refused.headers["x-cortex-stability"] == "experimental"
    assert world.call("GET", "/v1/admin/health").status_code == 200


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/v1/recall", {"query": "x", "view": "narrative"}),
        ("/v1/answer", {"question": "x", "view": "narrative"}),
        ("/v1/answer", {"question": "x", "stream": True}),
    ],
)
def test_the_experimental_part_of_an_operation_says_so_however_it_ends(
    world: Any, path: str, asked: dict[str, Any]
) -> None:
    """Seed 002, 2.4.3 and 2.4.4."""
    body = {"scope": ALICE, **asked}
    answers = [world.call("POST", path, body=body)]
    world.policy.deny("scope.read.local", ALICE)
    answers.append(world.call("POST", path, body=body))
    world.server.gateway._experimental = False
    answers.append(world.call("POST", path, body=body))
    assert [each.status_code for each in answers] == [200, 403, 501]
    for answer in answers:
        assert answer.headers["x-cortex-stability"] == "experimental"
        assert answer.headers["x-cortex-experimental-notice"].startswith("experimental: ")
    whole = world.call("POST", path, body=body | {"view": "local", "stream": False})
    assert (whole.status_code, whole.headers["x-cortex-stability"]) == (403, "stable")


# ---- idempotency


def test_the_key_may_stand_in_a_header(world: Any) -> None:
    key = {"X-Cortex-Idempotency-Key": "h-1"}
    first = world.call("POST", "/v1/experience", body=envelope(None), headers=key)
    again = world.call("POST", "/v1/experience", body=envelope(None), headers=key)
    assert (first.status_code, again.headers.get("x-cortex-replay")) == (202, "true")
    assert again.json() == first.json()
    differing = world.call("POST", "/v1/experience", body=envelope("other"), headers=key)
    assert (differing.status_code, differing.json()["error_code"]) == (400, "INVALID_REQUEST")


def test_a_batch_that_was_stored_before_is_answered_as_it_was(world: Any) -> None:
    """Its items alone have keys. A stream of another batch would wait for ever."""
    items = [{name: value for name, value in envelope(key).items() if name != "scope"} for key in "abc"]
    path = "/v1/experience/bulk"

    def send(*chosen: dict[str, Any]) -> Any:
        return world.call("POST", path, body={"scope": ALICE, "items": chosen})

    first, again = send(*items[:2]), send(*reversed(items[:2]))
    assert (again.status_code, again.json()) == (202, first.json())
    assert (first.headers.get("x-cortex-replay"), again.headers["x-cortex-replay"]) == (None, "true")
    more = send(*items)
    assert more.json()["batch_id"] != first.json()["batch_id"]
    assert "x-cortex-replay" not in more.headers
    assert len(world.ids("/v1/events")) == 3
    mixed = send(*items)
    assert mixed.json()["batch_id"] not in (first.json()["batch_id"], more.json()["batch_id"]), "of two"


def test_every_write_can_be_repeated_under_a_key(world: Any) -> None:
    event = world.event()
    path, key = f"/v1/lifecycle/memory-event/{event.id}/cancel", {"X-Cortex-Idempotency-Key": "c-1"}
    first = world.call("POST", path, headers=key)
    again = world.call("POST", path, headers=key)
    assert again.json() == first.json()  # even the audit id: it is the answer of the first
    assert (first.headers.get("x-cortex-replay"), again.headers["x-cortex-replay"]) == (None, "true")
    assert world.call("POST", path, body={"idempotency_key": "c-1"}).status_code == 409
    world.clock.at += 24 * 3600 * SECOND_US
    assert "x-cortex-replay" not in world.call("POST", path, headers=key).headers


def test_what_answers_nothing_is_done_once_under_a_key(world: Any) -> None:
    """Once a client that had no answer and sent it again took back what somebody else had put there meanwhile."""
    path, key = "/v1/temporal/phrases", {"X-Cortex-Idempotency-Key": "d-1"}
    phrase = {"name": "q3", "pattern": "Q3", "resolves_to": {"valid_during": ["2026-07-01", "2026-10-01"]}}
    assert world.call("POST", path, body=phrase).status_code == 201
    first = world.call("DELETE", f"{path}/q3", headers=key)
    assert world.call("POST", path, body=phrase).status_code == 201
    again = world.call("DELETE", f"{path}/q3", headers=key)
    assert [(each.status_code, each.content) for each in (first, again)] == [(204, b"")] * 2
    assert (first.headers.get("x-cortex-replay"), again.headers["x-cortex-replay"]) == (None, "true")
    assert len(world.get(path)["items"]) == 1


def test_a_key_belongs_to_its_caller_and_to_what_it_was_used_for(world: Any) -> None:
    first, second = world.event("one"), world.event("two")
    key = {"X-Cortex-Idempotency-Key": "c-1"}
    cancel = "/v1/lifecycle/memory-event/{}/cancel"
    assert world.call("POST", cancel.format(first.id), headers=key).status_code == 200
    conflict = world.call("POST", cancel.format(second.id), headers=key)
    assert (conflict.status_code, conflict.json()["error_code"]) == (409, "IDEMPOTENCY_CONFLICT")
    theirs = world.call("POST", cancel.format(second.id), headers=key | {"X-Cortex-Actor": "user:b"})
    assert "x-cortex-replay" not in theirs.headers
    assert world.call("POST", "/v1/admin/compact", headers=key).status_code == 200


@pytest.mark.parametrize("modality", ["Voice Note", "音声", "Ünï/2", "telemetry.v2"])
def test_an_unknown_modality_is_taken_and_stays_as_it_was_said(world: Any, modality: str) -> None:
    stored = world.post("/v1/experience", envelope() | {"modality": modality})
    assert stored.status_code == 202, stored.text
    assert world.get(f"/v1/events/{stored.json()['event_id']}")["modality"] == modality
    (found,) = world.get("/v1/events", scope=ALICE, modality=modality)["items"]
    assert found["id"] == stored.json()["event_id"]


@pytest.mark.parametrize("modality", ["", " ", "a\nb", " a", "a  b", "x" * 65, 5])
def test_a_modality_is_a_line_of_text(world: Any, modality: object) -> None:
    refused = world.call("POST", "/v1/experience", body=envelope() | {"modality": modality})
    assert (refused.status_code, refused.json()["details"]["field"]) == (422, "modality")


def test_a_query_does_not_win_over_a_body(world: Any) -> None:
    sent = world.call("POST", "/v1/experience", body=envelope()).json()
    body = {"scope": ALICE, "selector": {"event_ids": [sent["event_id"]]}}
    for path in ("/v1/forget?confirm_all=true", "/v1/forget?scope=org:other", "/v1/experience?nothing=1"):
        answer = world.call("POST", path, body=body)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "INVALID_QUERY"), path
    put = world.call("PUT", f"/v1/policy/scope?path={ALICE}", body={"deny": []})
    assert put.status_code == 200, "what a body has no place for"
    made = world.call("POST", "/v1/tasks?status=done", body={"title": "t", "task_id": "t-1"})
    assert "done" not in made.text, "Relay's contract takes no notice of it"


def test_a_replay_needs_the_grant_still(world: Any) -> None:
    key = {"X-Cortex-Idempotency-Key": "x"}
    assert world.call("POST", "/v1/admin/compact", headers=key).status_code == 200
    world.policy.deny("admin.compact")
    assert world.call("POST", "/v1/admin/compact", headers=key).status_code == 403


def without_http(world: Any, name: str, key: str, body: bytes = b"{}") -> Answer:
    """A call by a door that has neither paths nor verbs."""
    (operation,) = [each for each in world.server.operations if each.name == name]
    inbound = Inbound(Credentials("mcp", actor="user:a"), "req-1", body=body, key=key)
    principal = world.server.gateway.identify(inbound, operation)
    request = operation.request.model_validate_json(body)
    answer: Answer = world.server.gateway.execute(operation, request, inbound, principal).answer
    return answer


@pytest.mark.parametrize(
    "key", ["mem0/12", "https://example.org/a?b#c", "/", "a/", "a//b", "50 %2F", "~!@$^&*()"]
)
def test_any_key_leads_back_to_its_event(world: Any, key: str) -> None:
    answer = world.call("POST", "/v1/experience", body=envelope(key))
    found = world.call("GET", f"/v1/experience/by-idempotency-key/{quote(key, safe='')}")
    assert found.json()["event_id"] == answer.json()["event_id"]
    assert found.json()["idempotency_key"] == key


def test_a_door_without_paths_has_a_family_of_keys_for_each_operation(world: Any) -> None:
    first, other = (without_http(world, name, "k") for name in ("compact", "flush_views"))
    assert (first.replayed, other.replayed) == (False, False)
    assert type(first.result) is not type(other.result)
    assert without_http(world, "flush_views", "k").replayed
    with pytest.raises(Conflict):
        without_http(world, "flush_views", "k", b'{"timeout_s": 1}')


def test_what_a_key_is_kept_under_stays_so_that_an_upgrade_finds_it(world: Any) -> None:
    event = world.event()
    path = f"/v1/lifecycle/memory-event/{event.id}/cancel"
    kept = world.call("POST", path, headers={"X-Cortex-Idempotency-Key": "c-1"})
    key = IdempotencyKey(TENANT, "user:local", "/v1/lifecycle/memory-event", "c-1")
    known = world.store.idempotency.find(key, world.clock.now())
    assert known.body_hash == digest(["POST", path, "", digest(None)])
    assert known.response["body"] == kept.json()


@pytest.mark.parametrize("key", ["x" * 65, ""])
def test_a_key_that_is_none_is_refused(world: Any, key: str) -> None:
    refused = world.call("POST", "/v1/admin/compact", body={"idempotency_key": key})
    assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_REQUEST")


# ---- the operator


def test_health_says_what_is_wrong(world: Any) -> None:
    world.event()
    world.clock.at += 5 * SECOND_US
    report = world.get("/v1/admin/health")
    assert (report["status"], report["store"]["writable"], report["worker"]["alive"]) == (
        "degraded",
        True,
        False,
    )
    assert (report["worker"]["pending"], report["worker"]["oldest_pending_age_s"]) == (1, 5.0)
    assert report["models"] == {"embedder": True, "parser": True}
    assert {"lamina", "api", "python", "sqlite"} == report["versions"].keys()
    assert report["store"]["disk_free_bytes"] > 0
    world.policy.deny("admin.health")
    assert world.refused("/v1/admin/health") == (403, "POLICY_DENIED")


def test_health_names_what_failed_for_good_and_retry_makes_it_due(world: Any) -> None:
    world.event()
    (job,) = world._claim(Stage.EXTRACTED)
    world.store.jobs.fail(job, "boom", retry_at=None)
    report = world.get("/v1/admin/health")
    assert (report["worker"]["failed"], report["worker"]["pending"]) == (1, 0)
    assert any("lamina retry" in problem for problem in report["problems"])
    assert world.store.jobs.retry_failed() == 1
    report = world.get("/v1/admin/health")
    assert (report["worker"]["failed"], report["worker"]["pending"]) == (0, 1)
    assert not any("lamina retry" in problem for problem in report["problems"])


def test_health_names_what_fails_behind_the_calls(world: Any) -> None:
    world.store.upkeep.note_failing({"the outbox": "builtins.KeyError"})
    report = world.get("/v1/admin/health")
    assert report["status"] == "degraded"
    assert "the outbox fails and is tried again: builtins.KeyError" in report["problems"]


def test_health_says_what_an_operator_can_do_about_a_model_that_turns_everything_away(world: Any) -> None:
    world.store.upkeep.note_failing({"the language model": "MODEL_MISCONFIGURED"})
    (told,) = [each for each in world.get("/v1/admin/health")["problems"] if "language model" in each]
    assert "MODEL_MISCONFIGURED (check LAMINA_LLM_URL" in told


def test_health_counts_what_failed_for_good_behind_the_calls_of_sessions(world: Any) -> None:
    event = world.event()
    (job,) = world._claim(Stage.EXTRACTED)
    asked = Inquiry(
        tenant_id=event.tenant_id,
        event_id=event.id,
        task="loops/1",
        scope=event.scope,
        position=event.position,
        created_at=event.recorded_at,
    )
    world.store.jobs.finish([(job, Writes(inquiries=[asked]))])
    (held,) = world.store.inquiries.claim(limit=1, lease_until=0, now=0, owner="one")
    world.store.inquiries.put_off(held, "no", retry_at=None)
    report = world.get("/v1/admin/health")
    assert (report["worker"]["inquiries_failed"], report["worker"]["outbox_failed"]) == (1, 0)
    (told,) = [each for each in report["problems"] if "failed for good" in each]
    assert told.startswith("questions to the language model failed for good (1)")
    assert "/internal/outbox/revive" in told


def test_health_is_unavailable_when_the_log_cannot_be_written(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise Unavailable("WAL_UNAVAILABLE", "the log cannot be reached: FullError")

    monkeypatch.setattr(world.store.upkeep, "probe", refuse)
    answer = world.call("GET", "/v1/admin/health")
    assert (answer.status_code, answer.json()["error_code"]) == (503, "WAL_UNAVAILABLE")
    assert answer.json()["details"]["health"]["status"] == "unavailable"


def test_flushing_waits_for_the_backlog_and_says_what_is_left(world: Any) -> None:
    assert world.call("POST", "/v1/admin/flush-views").json()["complete"]
    world.event()
    left = world.call("POST", "/v1/admin/flush-views", body={"timeout_s": 0})
    assert (left.status_code, left.json()["pending_after"]) == (202, 1)


def test_compacting_changes_nothing_that_is_read(world: Any) -> None:
    event = world.event()
    done = world.call("POST", "/v1/admin/compact").json()
    assert done.keys() == {"pages_moved", "complete", "index_merges"}
    assert world.ids("/v1/events") == [event.id]
    assert isinstance(world.store.upkeep.compact(), Compaction)


# ---- the log


def test_a_request_is_one_line_and_quotes_nothing(world: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="lamina")
    secret = "otter-at-noon"
    headers = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    world.call("POST", "/v1/experience", body=envelope(text=secret), headers=headers)
    world.call("POST", "/v1/recall", body={"scope": ALICE, "query": secret})
    world.call("GET", f"/v1/events?scope={ALICE}&labels={secret}")
    world.call("GET", f"/v1/{secret}")
    world.call("POST", "/v1/experience", body={"text": secret})
    world.call("GET", "/v1/events", headers={"Authorization": f"Bearer {secret}"})
    lines = [JsonLines().format(r) for r in caplog.records if r.name == "lamina.request"]
    assert len(lines) == 6
    first = json.loads(lines[0])
    said = {name: first[name] for name in ("message", "operation", "actor", "status", "trace_id", "level")}
    assert said == {
        "message": "request",
        "operation": "experience",
        "actor": "user:local",
        "status": 202,
        "trace_id": TRACE,
        "level": "info",
    }
    assert first["request_id"].startswith("req_")
    assert first["elapsed_ms"] > 0
    assert secret not in "\n".join(JsonLines().format(record) for record in caplog.records)


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_failure_of_ours(
    world: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="lamina")
    sent: list[Message] = []
    asked = {**request_of("/v1/experience", "", {"host": "localhost"}), "method": "POST"}
    asked["headers"] += [(b"content-type", b"application/json"), (b"content-length", b"900")]
    parts = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Message:
        return next(parts)

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(world.application(asked, receive, send))
    (line,) = [record.said for record in caplog.records if record.name.startswith("lamina")]
    assert (line["status"], line["operation"]) == (499, "experience")
    assert "error_code" not in line
    assert all(record.levelno <= logging.INFO for record in caplog.records)


def test_a_crash_is_logged_without_what_it_said(
    world: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: Any, **kwargs: Any) -> None:
        raise ValueError(" ".join(["sleeping", "otter"]))

    monkeypatch.setattr(type(world.store.log), "post", crash)
    answer = world.call("POST", "/v1/experience", body=envelope())
    assert (answer.status_code, answer.json()["error_code"]) == (500, "INTERNAL")
    text = "\n".join(JsonLines().format(record) for record in caplog.records)
    assert "builtins.ValueError" in text
    assert "sleeping otter" not in text + answer.text
    assert answer.headers["x-cortex-policy"]
    assert world.store.audit.walk("acme", 0, 10)[0].draft.response_status == 500


def test_every_error_says_what_helps(world: Any) -> None:
    assert world.call("DELETE", "/v1/events").json()["details"]["hint"].startswith("/openapi.json")
    assert "hint" in world.call("GET", "/v1/events").json()["details"]
    world.policy.deny("scope.read.local")
    denied = world.call("GET", "/v1/events", scope=ALICE).json()["details"]
    assert "GET /v1/policy/effective" in denied["hint"]
