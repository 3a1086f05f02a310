"""A user whose id is nobody's name: readers see the name that they gave, and may ask by it."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.kernel.time import SECOND_US, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker

pytestmark = pytest.mark.model

WHO = {"tenantId": "home", "userId": "u-4471", "personaId": "p1", "sessionId": "s-1"}
SCOPE = "org:home/user:u-4471"


@pytest.fixture
def spoken(make_world: Any) -> Any:
    return make_world(brief_deadline_ms=10_000)


def say(world: Any, text: str, role: str = "user", at: str = "2026-05-12T10:00:00Z", **more: Any) -> None:
    world.post("/ingest", {**WHO, "role": role, "text": text, "timestamp": at, **more})


def work(world: Any) -> None:
    world.clock.at += SECOND_US
    deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
    Worker(world.store, deriver, None, world.clock, "test").drain()


def brief(world: Any, query: str, **more: Any) -> list[str]:
    asked = {**WHO, "sessionId": "s-2", "now": "2026-05-13T10:00:00Z", "query": query, **more}
    return [item["text"] for item in world.post("/brief", asked).json()["semanticContext"]]


LAYERS = ["facts", "events", "beliefs", "episodes", "understanding"]


def block(world: Any, query: str, **more: Any) -> str:
    found = world.post(
        "/v1/recall", {"scope": SCOPE, "query": query, "view": "local", "include": LAYERS, **more}
    ).json()
    return str(found["context_block"])


def test_a_name_that_was_given_stands_for_an_id(spoken: Any) -> None:
    say(spoken, "My name is Sam. I live in Porto.")
    work(spoken)
    lines = brief(spoken, "where do I live?")
    assert any("Sam lives in Porto" in line for line in lines)
    told = block(spoken, "Where does Sam live?")
    assert "Sam lives in Porto" in told
    assert 'Sam: "My name is Sam. I live in Porto."' in told
    assert "U 4471" not in told + "".join(lines)


def test_who_gave_no_name_is_the_user(spoken: Any) -> None:
    say(spoken, "I live in Porto.")
    work(spoken)
    assert any("User lives in Porto" in line for line in brief(spoken, "where do I live?"))
    assert "U 4471" not in block(spoken, "Where does the user live?")


def test_who_did_not_say_who_they_are_is_the_user(spoken: Any) -> None:
    item = {
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "I live in Porto."},
    }
    at = {"context": {"observed_at": "2026-05-12T10:00:00Z"}, "idempotency_key": "once"}
    spoken.post(
        "/v1/experience", {"scope": "user:local", "observed_actor": {"id": "user:local"}, **item, **at}
    )
    work(spoken)
    found = spoken.post(
        "/v1/recall", {"scope": "user:local", "query": "Where do I live?", "include": LAYERS}
    ).json()
    assert "User lives in Porto" in found["context_block"]


def test_the_assistant_names_nobody(spoken: Any) -> None:
    say(spoken, "I live in Porto.")
    say(spoken, "Your name is Max.", role="assistant", at="2026-05-12T10:01:00Z")
    work(spoken)
    assert "Max lives in Porto" not in block(spoken, "Where does the user live?")


def test_what_was_said_stays_as_it_was_said(spoken: Any) -> None:
    say(spoken, "My name is Sam. The label on my locker says U 4471.")
    work(spoken)
    assert "says U 4471" in block(spoken, "What does the label on my locker say?")


def test_an_earlier_reader_knows_the_name_of_that_time(spoken: Any) -> None:
    say(spoken, "My name is Sam. I live in Porto.")
    work(spoken)
    before = spoken.clock.at
    spoken.clock.at += 60 * SECOND_US
    say(spoken, "My name is Alex.", at="2026-05-13T09:00:00Z")
    work(spoken)
    assert "Alex lives in Porto" in block(spoken, "Where do I live?")
    earlier = {"temporal": {"as_of": rfc3339(before)}}
    assert "Alex" not in block(spoken, "Where do I live?", **earlier)
    assert "Sam lives in Porto" in block(spoken, "Where do I live?", **earlier)


def test_an_id_that_may_be_a_name_stays(spoken: Any) -> None:
    say(spoken, "My friends call me Kit. I live in Porto.", userId="christopher")
    work(spoken)
    assert any(
        "Christopher lives in Porto" in line
        for line in brief(spoken, "where do I live?", userId="christopher")
    )


def test_a_name_brings_a_few_facts_and_what_is_asked_of_somebody_brings_all(spoken: Any) -> None:
    for thing in ("piano", "cello", "flute", "oboe", "harp", "viola", "tuba", "lute"):
        stated = {"kind": "triple", "subject": "Ana", "predicate": "plays", "object": thing}
        told_at = {"observed_at": "2026-05-12T10:00:00Z"}
        body = {"scope": SCOPE, "modality": "observation", "content": stated, "context": told_at}
        spoken.post("/v1/experience", {**body, "idempotency_key": thing})
    work(spoken)

    def told(query: str) -> int:
        found = spoken.post("/v1/recall", {"scope": SCOPE, "query": query, "include": ["facts"]}).json()
        return len(found["layers"]["facts"])

    assert told("Tell me about Ana") > told("Which shoes does Ana wear?") > 0


@pytest.mark.parametrize(("user", "name"), [("7", "User"), ("12", "Ana"), ("2026", "Ana")])
def test_an_id_that_is_a_number_changes_no_number(spoken: Any, user: str, name: str) -> None:
    given = "" if name == "User" else f"My name is {name}. "
    say(spoken, f"{given}I live in Porto. My PIN is {user} {user} 1.", userId=user)
    work(spoken)
    told = block(spoken, "Where do I live?", scope=f"org:home/user:{user}")
    assert f"{name} lives in Porto (said 2026-05-12)" in told
    assert f"2026-05-12 10:00 {name}: " in told
    assert f'My PIN is {user} {user} 1."' in told
    assert f"{name} lives in Porto" in brief(spoken, "Where do I live?", userId=user)


def test_the_name_of_nobody_changes_no_other_name(spoken: Any) -> None:
    item = {
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "I work at Local Motors."},
    }
    at = {"context": {"observed_at": "2026-05-12T10:00:00Z"}, "idempotency_key": "once"}
    spoken.post(
        "/v1/experience", {"scope": "user:local", "observed_actor": {"id": "user:local"}, **item, **at}
    )
    work(spoken)
    found = spoken.post(
        "/v1/recall", {"scope": "user:local", "query": "Where do I work?", "include": LAYERS}
    ).json()
    assert "User works at Local Motors" in found["context_block"]
