"""Every read takes the same words for where the reader stands in time, and each narrows what the others leave."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.kernel.time import instant

SCOPE = "org:acme/user:alice"
FEBRUARY, MARCH, APRIL, MAY = (instant(f"2026-0{month}-01T00:00:00Z") for month in (2, 3, 4, 5))
LISTS = ("/v1/facts", "/v1/beliefs", "/v1/episodes", "/v1/understanding", "/v1/events", "/v1/facts/timeline")
OF = {"/v1/facts/timeline": {"subject": "ent_acme", "predicate": "deal_stage"}}


def _asked(path: str, filters: dict[str, str]) -> dict[str, str]:
    return {"scope": SCOPE, **OF.get(path, {}), **filters}


@pytest.fixture
def held(world: Any) -> Any:
    """Learned in April: what held in February, what holds from March on, each as a fact and as a belief."""
    over = {"valid_from": FEBRUARY, "valid_to": MARCH, "recorded_from": APRIL}
    open_ended = {"valid_from": MARCH, "recorded_from": APRIL + 1}
    records = [
        kind(name, **when)
        for kind in (world.fact, world.belief)
        for name, when in (("over", over), ("open", open_ended))
    ]
    world.land(*records, entities=[world.entity()])
    return dict(zip([record.id for record in records], ["over", "open"] * 2, strict=True))


@pytest.mark.parametrize("path", LISTS)
def test_words_and_a_range_do_not_go_together(world: Any, path: str) -> None:
    asked = _asked(path, {"natural": "last week", "valid_during": "2026-04-01..2026-05-01"})
    assert world.refused(path, **asked) == (422, "INVALID_TIME_RANGE")


@pytest.mark.parametrize("path", LISTS)
def test_words_that_name_no_time_are_refused(world: Any, path: str) -> None:
    assert world.refused(path, **_asked(path, {"natural": "when the cows come home"})) == (
        422,
        "UNPARSEABLE_TEMPORAL",
    )


@pytest.mark.parametrize("path", ["/v1/facts", "/v1/beliefs"])
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {"open"}),
        ({"natural": "February 2026"}, {"over"}),
        ({"natural": "last month", "reference_date": "2026-03-10"}, {"over"}),
        ({"natural": "last month", "reference_date": "2026-04-10"}, {"open"}),
        ({"natural": "since February 2026"}, {"over", "open"}),
        ({"natural": "February 2026", "as_of": "2026-03-20"}, set()),
        ({"natural": "February 2026", "recorded_during": "2026-04-01..2026-04-02"}, {"over"}),
        ({"natural": "February 2026", "recorded_during": "2026-04-02.."}, set()),
        # March 1 begins in Honolulu ten hours after it does in Greenwich.
        ({"valid_during": "2026-02-01..2026-03-01"}, {"over"}),
        ({"valid_during": "2026-02-01..2026-03-01", "reference_date": "2026-03-10T00:00:00-10:00"}, {"over", "open"}),
    ],
)  # fmt: skip
def test_time_in_words(world: Any, held: Any, path: str, filters: dict[str, str], found: set[str]) -> None:
    items = world.get(path, **_asked(path, filters))["items"]
    assert {held[item["id"]] for item in items} == found


def test_every_page_means_by_words_what_the_first_did(world: Any) -> None:
    facts = [
        world.fact(str(n), valid_from=MAY + n, valid_to=MAY + 100, recorded_from=MAY + n) for n in range(4)
    ]
    world.land(*facts)
    world.clock.at = MAY + 50 + 86_400_000_000
    first = world.get("/v1/facts", scope=SCOPE, limit=2, natural="last 1 day")
    world.clock.at += 86_400_000_000
    rest = world.get("/v1/facts", scope=SCOPE, limit=2, natural="last 1 day", cursor=first["next_cursor"])
    assert [item["id"] for page in (first, rest) for item in page["items"]] == [
        fact.id for fact in reversed(facts)
    ]


def test_events_have_no_validity_and_say_so(world: Any) -> None:
    world.event()
    for asked in ({"natural": "last year"}, {"valid_during": "2020-01-01..2020-02-01"}):
        answer = world.call("GET", "/v1/events", scope=SCOPE, **asked)
        assert (answer.status_code, len(answer.json()["items"])) == (200, 1)
        assert answer.headers["X-Cortex-Warning"] == "valid_during_ignored_for_events"
    assert len(world.get("/v1/events", scope=SCOPE, include_superseded="true")["items"]) == 1


@pytest.mark.parametrize(
    ("filters", "values"),
    [
        ({}, ["poc", "close"]),
        ({"valid_during": "2026-03-01..2026-03-15"}, ["poc"]),
        ({"natural": "April 2026"}, ["close"]),
        ({"recorded_during": "..2026-04-15"}, ["poc"]),
        ({"recorded_during": "2026-05-01.."}, ["poc", "close"]),
        ({"recorded_during": "2026-05-01..", "valid_during": "2026-04-01.."}, ["close"]),
        ({"include_superseded": "true"}, ["poc", "poc", "close"]),
        ({"include_superseded": "true", "recorded_during": "..2026-04-15"}, ["poc"]),
        ({"as_of": "2026-04-15"}, ["poc"]),
    ],
)
def test_a_timeline_of_a_stretch(world: Any, filters: dict[str, str], values: list[str]) -> None:
    stages = [
        ("poc", MARCH, None, MARCH, MAY),
        ("poc", MARCH, APRIL, MAY, None),
        ("close", APRIL, None, MAY, None),
    ]
    for number, (value, start, end, learned, known_until) in enumerate(stages):
        record = world.fact(
            value, valid_from=start, valid_to=end, recorded_from=learned, recorded_to=known_until
        )
        version = 2 if number == 1 else 1
        world.land(_stage(record, value, version), entities=[world.entity()])
    entries = world.get("/v1/facts/timeline", **_asked("/v1/facts/timeline", filters))["timeline"]
    assert [entry["value"] for entry in entries] == values


def _stage(record: Any, value: str, version: int) -> Any:
    from dataclasses import replace

    from lamina.kernel.records import ObjectValue

    return replace(record, version=version, object=ObjectValue("literal", value, "string"))


def test_recall_shows_what_was_known_otherwise_when_asked(world: Any) -> None:
    from dataclasses import replace

    first = world.fact("poc", valid_from=MARCH, recorded_from=MARCH, recorded_to=MAY)
    ended = replace(first, version=2, valid_to=APRIL, recorded_from=MAY, recorded_to=None)
    world.land(first, ended, entities=[world.entity()])
    body = {"scope": SCOPE, "query": "What stage is Acme Corp at?", "include": ["facts"]}
    assert world.post("/v1/recall", body).json()["layers"]["facts"] == []
    pack = world.post("/v1/recall", {**body, "temporal": {"include_superseded": True}}).json()
    assert [(fact["id"], fact["version"]) for fact in pack["layers"]["facts"]] == [(first.id, 1)]
    assert "held so until 2026-05-01" in pack["context_block"]
