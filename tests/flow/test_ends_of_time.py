"""Turns and questions at the ends of the calendar: no instant that can be written, in no zone, is a fault."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lamina.kernel.time import SECOND_US, instant, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker

FIRST, LAST = instant("0001-01-01T00:00:00Z"), instant("9999-12-31T23:59:59.999999Z")
DAY = 86_400 * SECOND_US
USER = {"tenantId": "t", "userId": "u"}
WHO = {**USER, "personaId": "p"}
PLACES = [
    "9999-12-31",
    "December 31, 9999",
    "0001-01-01",
    "January 1, 0001",
    "yesterday",
    "tomorrow",
    "next century",
]
TEXTS = [
    f"{said} {when}."
    for said in (
        "I need to call the bank by",
        "Remind me to pay rent until",
        "I moved to Lisbon on",
        "I have worked at Acme since",
        "I will be in Rome from today to",
        "I am on holiday before",
    )
    for when in PLACES
]
NATURAL = [
    *PLACES,
    "last 30 days",
    "since yesterday",
    "this week",
    "next month",
    "two years ago",
    "the 1st century",
]

instants = st.one_of(
    st.sampled_from([FIRST, LAST, FIRST + DAY - 1, LAST - DAY + 1]),
    st.integers(FIRST, FIRST + 40 * DAY),
    st.integers(LAST - 40 * DAY, LAST),
    st.integers(FIRST, LAST),
)
zones = st.sampled_from(sorted(available_timezones()))
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def derive(world: Any) -> None:
    world.clock.at += SECOND_US
    deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
    Worker(world.store, deriver, None, world.clock, "test").drain()
    assert world.store.jobs.backlog()["failed"] == 0
    assert world.store.jobs.backlog()["pending"] == 0


@pytest.fixture
def hurried(make_world):
    return make_world(brief_deadline_ms=10_000)


@few
@given(now=instants, zone=zones, said=st.sampled_from(TEXTS), at=instants)
def test_no_instant_in_any_zone_is_a_fault(hurried, now, zone, said, at):
    turn = {"role": "user", "text": said, "timestamp": rfc3339(at)}
    hurried.post("/ingest", {**WHO, "sessionId": "s", **turn})
    whole = {**WHO, "sessionId": "w", "messages": [turn, {**turn, "timestamp": rfc3339(now)}]}
    hurried.post("/session/ingest", whole)
    derive(hurried)
    hurried.post("/brief", {**WHO, "sessionId": "s", "now": rfc3339(now), "query": said})
    asked = {**USER, "query": f"what happened {said}", "referenceTime": rfc3339(now), "includeContext": True}
    hurried.post("/memory/query", asked)
    found = hurried.get("/session/startbrief", **USER, now=rfc3339(now), timezone=zone)
    assert found["time_context"]["time_of_day"] in ("morning", "afternoon", "evening", "night")
    hurried.get("/memory/loops", **USER, includeStale=True)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
@pytest.mark.parametrize("at", [FIRST, LAST])
def test_a_handover_at_the_ends_of_time_is_told_in_any_zone(world, zone, at):
    world.post(
        "/ingest", {**WHO, "sessionId": "s", "role": "user", "text": "hello", "timestamp": rfc3339(at)}
    )
    for now in (FIRST, world.clock.at, LAST):
        world.get("/session/startbrief", **USER, now=rfc3339(now), timezone=zone)


@pytest.mark.parametrize("at", [FIRST, LAST])
@pytest.mark.parametrize("said", TEXTS)
def test_what_is_said_at_the_ends_of_time_is_derived(world, said, at):
    world.post("/ingest", {**WHO, "sessionId": "s", "role": "user", "text": said, "timestamp": rfc3339(at)})
    derive(world)


@settings(few, max_examples=8)
@given(reference=instants, as_of=instants, said=st.sampled_from(TEXTS), natural=st.sampled_from(NATURAL))
def test_recall_takes_any_instant_to_reckon_from(world, reference, as_of, said, natural):
    scope = {"scope": "org:t/user:u", "query": f"what happened {said}"}
    for at in (FIRST, LAST):
        turn = {"role": "user", "text": said, "timestamp": rfc3339(at)}
        world.post("/ingest", {**WHO, "sessionId": "s", **turn})
    derive(world)
    temporal = {"reference_date": rfc3339(reference)}
    world.post("/v1/recall", scope | {"temporal": temporal})
    world.post("/v1/recall", scope | {"temporal": {"as_of": rfc3339(as_of)}})
    told = world.call("POST", "/v1/recall", body=scope | {"temporal": temporal | {"natural": natural}})
    assert told.status_code in (200, 400, 422), told.text
    lower, upper = sorted([reference, as_of])
    during = {"valid_during": [rfc3339(lower), rfc3339(upper + (lower == upper < LAST))]}
    told = world.call("POST", "/v1/recall", body=scope | {"temporal": during})
    assert told.status_code in (200, 400, 422), told.text


@pytest.mark.parametrize(
    "bounds",
    [{"valid_to": "0001-01-01"}, {"valid_from": "0001-01-01"}, {"valid_from": "9999-12-31T23:59:59.999999Z"}],
)
@pytest.mark.parametrize("predicate", ["lives_in", "likes"])
def test_what_is_stated_of_the_ends_of_time_is_read(world, predicate, bounds):
    """Once what had ended with the calendar's first instant was a fault in every list that had it, and in each later word of it."""
    stated = {"kind": "triple", "subject": "Ana", "predicate": predicate}
    for value, at in (("Rome", LAST), ("Rome", FIRST), ("Oslo", world.clock.at)):
        for more in ({}, bounds, {"negated": True}):
            world.event(content={**stated, "object": value, **more}, context={"observed_at": at})
            derive(world)
    scope = {"scope": "org:acme/user:alice"}
    world.get("/v1/facts/timeline", **scope, subject="Ana", predicate=predicate)
    for layer in ("facts", "beliefs"):
        items = world.get(f"/v1/{layer}", **scope, valid_during="0001-01-01..", include_superseded="true")[
            "items"
        ]
        for each in items:
            world.get(f"/v1/why/{each['id']}")
    world.post(
        "/v1/recall", {**scope, "query": "Where does Ana live?", "temporal": {"include_superseded": True}}
    )
