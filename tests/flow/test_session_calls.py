"""The two calls of a turn over HTTP, as seed 003 has them."""

from __future__ import annotations

from typing import Any

import pytest

from given import outbox_states
from lamina import limits
from lamina.kernel.capabilities import Capability
from told import Memory

WHO = {"tenantId": "tenant_a", "userId": "user_1", "personaId": "persona_1"}


def turn(text: str = "Let's plan tomorrow.", at: str = "2026-02-03T18:34:12Z", **more: Any) -> dict[str, Any]:
    return {**WHO, "role": "user", "text": text, "timestamp": at, "sessionId": "session-abc", **more}


def ask(at: str = "2026-02-03T18:36:10Z", **more: Any) -> dict[str, Any]:
    return {**WHO, "sessionId": "session-abc", "now": at, "mode": "in_session", **more}


def brief(world: Any, **more: Any) -> dict[str, Any]:
    return world.post("/brief", ask(**more)).json()


def ingest(world: Any, *args: Any, **more: Any) -> dict[str, Any]:
    return world.post("/ingest", turn(*args, **more)).json()


def test_the_example_of_the_contract(world):
    said = [
        ("user", "Let's plan tomorrow", "2026-02-03T18:34:12Z"),
        ("assistant", "Sure—what should we prioritize?", "2026-02-03T18:34:18Z"),
    ]
    for role, text, at in said:
        body = {**WHO, "role": role, "text": text, "timestamp": at, "metadata": {"sessionId": "session-abc"}}
        assert world.post("/ingest", body).json() == {"ok": True, "sessionId": "session-abc"}
    assert brief(world) == {
        "identity": {"name": None, "timezone": None, "facts": {}},
        "temporalAuthority": {
            "now": "2026-02-03T18:36:10Z",
            "lastInteractionTime": "2026-02-03T18:34:18Z",
            "timeSinceLastInteraction": "PT1M52S",
        },
        "workingMemory": [{"role": role, "text": text, "timestamp": at} for role, text, at in said],
        "rollingSummary": "",
        "activeLoops": [],
        "semanticContext": [],
        "entities": [],
        "episodeBridge": "",
    }


def test_a_turn_is_an_event_that_the_layers_show(world):
    ingest(world, "I moved to Lisbon.")
    (event,) = world.get("/v1/events", scope="org:tenant_a/user:user_1")["items"]
    assert event["content"] == {
        "kind": "message",
        "role": "user",
        "text": "I moved to Lisbon.",
        "persona": "persona_1",
    }
    assert (event["modality"], event["observed_actor"]["id"]) == ("conversation", "user:user_1")


def test_a_brief_shows_nothing_unseen_and_the_event_keeps_what_was_sent(world):
    sent = "I moved to Lisbon.\u202e\u200b\U000e0041\x9b\nAnd 👩\u200d🚀 stays."
    ingest(world, sent)
    (seen,) = brief(world)["workingMemory"]
    assert seen["text"] == "I moved to Lisbon.\nAnd 👩\u200d🚀 stays."
    (event,) = world.get("/v1/events", scope="org:tenant_a/user:user_1")["items"]
    assert event["content"]["text"] == sent


def test_a_handover_shows_nothing_unseen_and_no_secret(world):
    """It goes into a prompt, as a brief does."""
    token = "ghp_" + "9fK2mQx7LrT4vWz8YbNc3DhJ6sPa1EuG0iRo"
    for said in ("call the bank", f"rotate {token}", "call the \u202edentist\u200b"):
        ingest(world, f"I need to {said} tomorrow.")
    Memory(world.store, world.clock).derive()
    found = world.get("/session/startbrief", tenantId="tenant_a", userId="user_1", now="2026-02-03T23:34:12Z")
    assert "Open: Call the bank." in found["handover_text"]
    assert "call the dentist" in found["narrative"]
    shown = str(found)
    assert not [each for each in (token, "\u202e", "\u200b") if each in shown]


def test_a_brief_of_nobody_has_every_field(world):
    found = brief(world)
    assert found["temporalAuthority"]["lastInteractionTime"] is None
    assert found["temporalAuthority"]["timeSinceLastInteraction"] is None
    assert (found["workingMemory"], found["rollingSummary"], found["episodeBridge"]) == ([], "", "")
    assert set(brief(world, sessionId=None)) == set(found)


def test_the_session_id_at_the_top_counts_before_the_one_in_metadata(world):
    assert ingest(world, metadata={"sessionId": "other"})["sessionId"] == "session-abc"
    assert ingest(world, sessionId=None, metadata={"sessionId": "other", "x": 1})["sessionId"] == "other"
    assert ingest(world, sessionId=None, metadata={"sessionId": None})["sessionId"].startswith("session-")


def test_a_repeated_delivery_is_stored_once(world):
    assert ingest(world) == ingest(world)
    made = ingest(world, "no session", sessionId=None)
    assert ingest(world, "no session", sessionId=None) == made
    ingest(world, at="2026-02-03T18:34:13Z")
    assert len(brief(world)["workingMemory"]) == 2


def test_a_key_of_the_callers_own_tells_repetitions(world):
    ingest(world, "first", idempotencyKey="k1")
    ingest(world, "first", idempotencyKey="k1")
    refused = world.call("POST", "/ingest", body=turn("other", idempotencyKey="k1"))
    assert (refused.status_code, refused.json()["error_code"]) == (409, "IDEMPOTENCY_CONFLICT")
    ingest(world, "first", idempotencyKey="k1", userId="user_2")
    assert len(brief(world)["workingMemory"]) == 1
    assert len(brief(world, userId="user_2")["workingMemory"]) == 1


def test_one_key_of_two_personas_is_a_conflict(world):
    ingest(world, "first", idempotencyKey="k1")
    refused = world.call("POST", "/ingest", body=turn("first", idempotencyKey="k1", personaId="other"))
    assert (refused.status_code, refused.json()["error_code"]) == (409, "IDEMPOTENCY_CONFLICT")


def test_two_assistants_may_say_the_same_at_once(world):
    for persona in ("one", "two", "one"):
        ingest(world, "Yes.", role="assistant", personaId=persona)
    events = world.get("/v1/events", scope="org:tenant_a/user:user_1")["items"]
    assert sorted(event["content"]["persona"] for event in events) == ["one", "two"]


def test_what_a_user_says_to_two_personas_at_once_is_one_turn(world):
    for persona in ("one", "two"):
        ingest(world, "Hello you.", personaId=persona)
    assert len(brief(world)["workingMemory"]) == 1


def test_a_key_may_come_in_the_header(world):
    headers = {"X-Cortex-Idempotency-Key": "k1"}
    assert world.call("POST", "/ingest", body=turn("first"), headers=headers).status_code == 200
    again = world.call("POST", "/ingest", body=turn("first"), headers=headers)
    assert again.headers["X-Cortex-Replay"] == "true"
    assert world.call("POST", "/ingest", body=turn("other"), headers=headers).status_code == 409


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("2026-02-03T18:34:12Z", "2026-02-03T18:34:12Z"),
        ("2026-02-03T10:34:12-08:00", "2026-02-03T18:34:12Z"),
        ("2026-02-03T18:34:12.250+00:00", "2026-02-03T18:34:12.250Z"),
    ],
)
def test_timestamps_carry_a_zone(world, at, shown):
    ingest(world, at=at)
    assert brief(world)["temporalAuthority"]["lastInteractionTime"] == shown


@pytest.mark.parametrize(
    "wrong",
    [
        {"timestamp": "2026-02-03T18:34:12"},
        {"timestamp": "yesterday"},
        {"timestamp": 5},
        {"role": "system"},
        {"text": "  "},
        {"text": "x" * (limits.TEXT_LENGTH_MAX + 1)},
        {"text": "nul\x00"},
        {"tenantId": ""},
        {"userId": "u" * (limits.PARTICIPANT_ID_BYTES_MAX + 1)},
        {"personaId": None},
        {"sessionId": "s" * (limits.SESSION_LENGTH_MAX + 1)},
        {"metadata": {"sessionId": ""}},
        {"idempotencyKey": ""},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_what_is_wrong_is_a_422_and_nothing_is_stored(world, wrong):
    refused = world.call("POST", "/ingest", body=turn() | wrong)
    assert refused.status_code == 422, refused.text
    assert set(refused.json()) >= {"detail", "error_code", "request_id"}
    assert world.store.log.tenants() == []


def test_a_missing_field_is_a_422_that_names_it(world):
    body = turn()
    del body["tenantId"]
    refused = world.call("POST", "/ingest", body=body)
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "tenantId"]


@pytest.mark.parametrize("wrong", [{"now": "2026-02-03"[:7]}, {"now": None}, {"mode": "later"}])
def test_a_brief_is_asked_with_care_too(world, wrong):
    assert world.call("POST", "/brief", body=ask() | wrong).status_code == 422


def test_fields_that_are_not_known_are_passed_over(world):
    ingest(world, mood="fine")
    assert len(brief(world, verbose=True)["workingMemory"]) == 1


def test_message_13_leaves_the_window(world):
    for n in range(13):
        ingest(world, f"turn {n}", at=f"2026-02-03T18:34:{n:02}Z")
    assert [t["text"] for t in brief(world)["workingMemory"]] == [f"turn {n}" for n in range(1, 13)]
    assert outbox_states(world.store) == ["pending"]


def test_a_session_starts_with_a_bridge_from_the_last(world):
    ingest(world, "I want to book a dentist visit this week.")
    start = {"sessionId": "session-new", "at": "2026-02-03T20:00:00Z", "mode": "session_start"}
    found = brief(world, **start)
    assert found["episodeBridge"] == "Last session:\nUser: I want to book a dentist visit this week."
    assert found["temporalAuthority"]["timeSinceLastInteraction"] == "PT1H25M48S"
    assert brief(world, **start | {"mode": "in_session"})["episodeBridge"] == ""
    assert brief(world, **start | {"mode": None})["episodeBridge"] == found["episodeBridge"]
    assert brief(world, **start | {"at": "2026-02-03T18:50:00Z"})["episodeBridge"] == ""


def test_a_turn_with_a_wrong_clock_does_not_spoil_its_session(world):
    ingest(world, "We plan Porto.", at="2026-05-13T11:00:00Z")
    ingest(world, "I plan to move.", at="2126-05-13T12:00:00Z")
    told = brief(world, at="2026-05-13T12:20:00Z")["temporalAuthority"]
    assert told["lastInteractionTime"].startswith("2026-05-13T12:00:00")
    assert told["timeSinceLastInteraction"] == "PT19M59S"
    ingest(world, "I need to call the bank.", at="2026-05-14T09:00:00Z")
    ingest(world, "I booked the flight.", at="2026-05-16T09:00:00Z")
    found = brief(world, at="2026-05-17T09:00:00Z", mode=None)
    assert [t["text"] for t in found["workingMemory"]] == ["I booked the flight."]
    assert found["temporalAuthority"]["timeSinceLastInteraction"] == "P1D"
    assert found["episodeBridge"] == "Last session:\nUser: I booked the flight."
    who = {"tenantId": "tenant_a", "userId": "user_1", "now": "2026-05-17T09:00:00Z"}
    assert world.get("/session/startbrief", **who)["handover_depth"] == "yesterday"
    (event,) = world.get("/v1/events", scope="org:tenant_a/user:user_1", limit=4)["items"][2:3]
    assert event["context"]["observed_at"] == "2126-05-13T12:00:00Z"


def test_ids_of_any_form_are_kept_apart(world):
    ingest(world, "mine", userId="ana@example.org")
    ingest(world, "yours", userId="ana/example.org", tenantId="tenant/a")
    found = brief(world, userId="ana@example.org")
    assert [t["text"] for t in found["workingMemory"]] == ["mine"]
    assert brief(world, userId="ana/example.org")["workingMemory"] == []


def test_policy_holds_here_as_everywhere(world):
    ingest(world)
    scope = "org:tenant_a/user:user_1"
    world.policy.deny(Capability.SCOPE_READ_LOCAL, scope)
    refused = world.call("POST", "/brief", body=ask())
    assert (refused.status_code, refused.json()["error_code"]) == (403, "POLICY_DENIED")
    assert isinstance(refused.json()["detail"], str)
    world.policy.deny(Capability.SCOPE_WRITE_ON_BEHALF_OF, scope)
    assert world.call("POST", "/ingest", body=turn("more")).status_code == 403
    as_user = world.call("POST", "/ingest", body=turn("mine"), headers={"X-Cortex-Actor": "user:user_1"})
    assert as_user.status_code == 200
