"""The client's request builder: what is said becomes what is sent."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.client.asks import ask, query_text
from lamina.client.identity import Identity
from lamina.client.layer_asks import event, events, timeline, why
from lamina.client.reads import follow_ask, recall_ask, resumed
from lamina.client.writes import bulk_ask, cancel_ask, experience_ask, last_key
from lamina.errors import Invalid
from lamina.types.envelope import Envelope
from lamina.types.health import Version
from lamina.types.recall import Recall
from lamina.types.writes import BulkExperience

NOW = datetime(2026, 5, 13, 12, tzinfo=UTC)
MAYA = Identity("user:maya")


def experience(text=None, identity=MAYA, wait=None, **options):
    return experience_ask(identity, text, options, wait, now=NOW, new_key=lambda: "k-1")


def test_a_text_alone_is_a_message_of_the_actor_now():
    asked = experience("I moved to Lisbon")
    assert asked.body == {
        "scope": "user:maya",
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "I moved to Lisbon"},
        "context": {"observed_at": "2026-05-13T12:00:00Z"},
        "idempotency_key": "k-1",
    }
    assert Envelope.model_validate(asked.body)
    assert asked.repeatable


def test_everything_of_the_envelope_can_be_said():
    asked = experience(
        scope="org:acme/user:alice",
        content={"kind": "json", "n": 1},
        modality="observation",
        context={"intent": "deal_close"},
        observed_at="2026-05-01T00:00:00Z",
        labels=["sales"],
        observed_actor={"id": "user:alice", "name": "Alice"},
        session="s-1",
        subject="user:bob",
        directives={"confidence_floor": 0.5},
        idempotency_key="mine",
    )
    envelope = Envelope.model_validate(asked.body)
    assert envelope.observed_actor is not None
    assert (envelope.observed_actor.id, envelope.observed_actor.session) == ("user:alice", "s-1")
    assert envelope.context.intent == "deal_close"
    assert envelope.context.labels == ["sales"]
    assert envelope.idempotency_key == "mine"


@pytest.mark.parametrize(
    ("options", "content"),
    [
        ({"observed_actor": "agent:juno"}, {"kind": "message", "role": "assistant"}),
        ({"role": "tool"}, {"kind": "message", "role": "tool"}),
        ({"modality": "document"}, {"kind": "text"}),
    ],
)
def test_the_kind_of_content_follows_from_who_speaks_and_how(options, content):
    sent = experience("hello", **options).body["content"]
    assert {key: value for key, value in sent.items() if key != "text"} == content


def test_a_session_needs_somebody_and_takes_the_actor():
    assert experience("x", session="s").body["observed_actor"] == {"id": "user:maya", "session": "s"}
    assert experience("x", Identity(), session="s").body["observed_actor"]["id"] == "user:local"


def test_an_experience_of_nothing_is_refused_before_it_is_sent():
    with pytest.raises(Invalid, match="needs text or content"):
        experience()


def test_waiting_gives_the_server_its_time():
    assert experience("x", wait="consolidated").held_s == 30
    assert experience("x", wait="consolidated").query == {"wait": "consolidated"}
    assert experience("x").query == {}


@pytest.mark.parametrize(
    ("identity", "given", "scope"),
    [
        (Identity(), None, "user:local"),
        (Identity("agent:juno"), None, "agent:juno"),
        (Identity("user:maya", "org:acme"), None, "org:acme"),
        (Identity("user:maya", "org:acme"), "org:other", "org:other"),
    ],
)
def test_the_scope_is_the_one_given_the_clients_or_the_actors(identity, given, scope):
    assert identity.scope_for(given) == scope


@pytest.mark.parametrize("identity", [Identity(signed=True), Identity("user:maya@example.org")])
def test_a_scope_is_never_guessed(identity):
    with pytest.raises(Invalid):
        identity.scope_for(None)


def test_a_batch_takes_texts_short_items_and_whole_ones():
    whole = experience("three").body | {"idempotency_key": "k-3"}
    del whole["scope"]
    items = ["one", {"text": "two", "labels": ["b"]}, whole]
    asked = bulk_ask(MAYA, items, {"ordering": "strict_temporal"}, now=NOW, new_key=lambda: "k")
    request = BulkExperience.model_validate(asked.body)
    assert [item.content["text"] for item in request.items] == ["one", "two", "three"]
    assert [item.idempotency_key for item in request.items] == ["k", "k", "k-3"]
    assert request.idempotency_key == "k"


@pytest.mark.parametrize(("ordering", "last"), [("batch_throughput", "new"), ("strict_temporal", "late")])
def test_a_batch_waits_for_what_is_derived_last(ordering, last):
    times = {
        "early": "2026-05-01T10:00:00Z",
        "late": "2026-05-01T09:00:00-07:00",
        "new": "2026-05-01T12:00:00Z",
    }
    items = [{"text": name, "observed_at": time, "idempotency_key": name} for name, time in times.items()]
    assert last_key(bulk_ask(MAYA, items, {"ordering": ordering}, now=NOW, new_key=lambda: "k")) == last


def test_a_batch_is_walked_once():
    said = bulk_ask(MAYA, (text for text in ("tea", "milk")), {}, now=NOW, new_key=lambda: "k")
    assert [item["content"]["text"] for item in said.body["items"]] == ["tea", "milk"]


@pytest.mark.parametrize("items", ["tea", {"text": "tea"}, [1], None], ids=str)
def test_what_is_no_batch_is_refused_before_its_letters_are_stored(items):
    with pytest.raises(Invalid, match="INVALID_ENVELOPE: a batch is a list of texts and mappings"):
        bulk_ask(MAYA, items, {}, now=NOW, new_key=lambda: "k")


def test_a_session_in_a_batch_is_not_given_to_the_wrong_speaker():
    with pytest.raises(Invalid, match="no observed_actor of its own"):
        bulk_ask(
            MAYA,
            [{"text": "x", "session": "s"}],
            {"observed_actor": "user:bob"},
            now=NOW,
            new_key=lambda: "k",
        )


def test_recall_keywords_find_their_places():
    asked = recall_ask(
        MAYA,
        "Where do I live?",
        {"max_tokens": 100, "per_layer_limits": {"facts": 2}, "natural": "last week", "include": ["facts"]},
        stream=True,
    )
    request = Recall.model_validate(asked.body)
    assert (request.budgets.max_tokens, request.budgets.per_layer_limits) == (100, {"facts": 2})
    assert request.temporal.natural == "last week"
    assert request.stream
    assert request.scope == "user:maya"
    assert "budgets" not in recall_ask(MAYA, "x", {}).body


def test_reads_become_queries():
    asked = events(MAYA, {"labels": ["a", "b"], "since": NOW, "recorded_during": ("2026-04-01", None)})
    assert asked.query == {
        "labels": "a,b",
        "since": "2026-05-13T12:00:00+00:00",
        "recorded_during": "2026-04-01..",
        "scope": "user:maya",
    }
    assert asked.after("next").query["cursor"] == "next"
    assert timeline(MAYA, "Acme", "stage", {"view": "descend"}).query["view"] == "descend"
    assert why("belief_1", None).query == {"belief_id": "belief_1"}


def test_names_in_a_path_cannot_leave_it():
    assert event("../admin?x=1").path == "/v1/events/..%2Fadmin%3Fx%3D1"
    assert event("..").path == "/v1/events/%2E%2E"
    assert event("evt_1").endpoint == "GET /v1/events/{event_id}"
    assert cancel_ask("evt_1", None).body == {}


def test_a_stream_goes_on_behind_the_last_event():
    asked = follow_ask({"events": ["captured", "indexed"]})
    assert asked.query == {"events": "captured,indexed"}
    assert resumed(asked, None) is asked
    assert resumed(asked, "lce_1").headers == {"Last-Event-ID": "lce_1"}


def test_values_read_the_same_on_both_sides():
    assert [query_text(value) for value in (True, 3, 0.5, "a")] == ["true", "3", "0.5", "a"]
    assert ask("GET", "/v1/admin/version", Version).query == {}


def test_an_item_of_another_scope_than_its_batch_is_refused():
    with pytest.raises(Invalid, match="another scope"):
        bulk_ask(MAYA, [{"text": "tea", "scope": "user:bob"}], {}, now=NOW, new_key=lambda: "k-1")
    same = bulk_ask(MAYA, [{"text": "tea", "scope": "user:maya"}], {}, now=NOW, new_key=lambda: "k-1")
    assert BulkExperience.model_validate(same.body)
