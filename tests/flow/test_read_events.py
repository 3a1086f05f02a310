"""Reading events over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.kernel.ids import Prefix
from lamina.kernel.time import SECOND_US, instant

SCOPE = "org:acme/user:alice"


def test_an_event_is_shown_as_it_was_submitted(world: Any) -> None:
    context = {"intent": "deal_close", "labels": ("sales",), "preceded_by": ("evt_x",), "location": {"at": 1}}
    event = world.event("Acme signed", context=context, session="s-1", actor="user:priya")
    shown = world.get(f"/v1/events/{event.id}")
    assert shown["content"] == {"kind": "message", "role": "user", "text": "Acme signed"}
    assert shown["context"] == {
        "observed_at": "2026-05-13T12:00:00Z",
        "observed_offset": None,
        "recorded_at": "2026-05-13T12:00:00Z",
        "source_recorded_at": None,
        "preceded_by": ["evt_x"],
        "intent": "deal_close",
        "labels": ["sales"],
        "location": {"at": 1},
    }
    assert (shown["actor"], shown["caller"], shown["wal_offset"]) == ("user:priya", "user:local", 1)
    assert shown["observed_actor"] == {"id": "user:priya", "type": "user", "name": None, "session": "s-1"}
    assert shown["_partial"] is False


def test_an_event_names_what_rests_on_it_through_other_records(world: Any) -> None:
    event = world.event()
    fact, belief = world.fact(), world.belief()
    supports = [world.support(fact.id, event.id), world.support(belief.id, fact.id)]
    world.land(fact, belief, supports=supports)
    assert world.get(f"/v1/events/{event.id}")["derives"] == [fact.id, belief.id]
    assert world.get("/v1/events", scope=SCOPE)["items"][0]["derives"] == [fact.id, belief.id]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["c", "b", "a"]),
        ({"since": "2026-05-13T12:00:10Z"}, ["c", "b"]),
        ({"until": "2026-05-13T12:00:10Z"}, ["a"]),
        ({"observed_actor": "user:bob"}, ["b"]),
        ({"actor": "user:bob"}, ["b"]),
        ({"modality": "document"}, ["c"]),
        ({"session": "s-2"}, ["b"]),
        ({"labels": "x,y"}, ["c"]),
        ({"labels": "x"}, ["c", "b"]),
        ({"as_of": "2026-05-13T12:00:10Z"}, ["b", "a"]),
        ({"recorded_during": "2026-05-13T12:00:10Z..2026-05-13T12:00:20Z"}, ["b"]),
        ({"recorded_during": "..2026-05-13T12:00:10Z"}, ["a"]),
        ({"limit": "1"}, ["c"]),
    ],
)
def test_events_are_filtered(world: Any, filters: dict[str, str], found: list[str]) -> None:
    noon = world.clock.at
    world.event("a")
    world.clock.at = noon + 10 * SECOND_US
    world.event("b", actor="user:bob", session="s-2", context={"labels": ("x",)})
    world.clock.at = noon + 20 * SECOND_US
    world.event("c", modality="document", context={"labels": ("y", "x")})
    items = world.get("/v1/events", scope=SCOPE, **filters)["items"]
    assert [item["content"]["text"] for item in items] == found


def test_validity_means_nothing_to_events_and_is_answered_with_a_warning(world: Any) -> None:
    world.event()
    response = world.call("GET", "/v1/events", scope=SCOPE, valid_during="2020-01-01..2020-02-01")
    assert len(response.json()["items"]) == 1
    assert response.headers["x-cortex-warning"] == "valid_during_ignored_for_events"


def test_pages_are_steady_while_others_write(world: Any) -> None:
    for number in range(5):
        world.event(str(number))
    texts: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = world.get("/v1/events", scope=SCOPE, limit=2, **cursor)
        texts += [item["content"]["text"] for item in page["items"]]
        world.clock.at += SECOND_US
        world.event("late")
        if not page["has_more"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert texts == ["4", "3", "2", "1", "0"]
    assert page["next_cursor"] is None


def test_a_rare_label_gives_short_pages_that_go_on(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.limits.LIST_SCAN_MAX", 200)
    world.event("wanted", context={"labels": ("rare",)})
    for number in range(250):
        world.event(str(number))
    first = world.get("/v1/events", scope=SCOPE, labels="rare")
    assert (first["items"], first["has_more"]) == ([], True)
    second = world.get("/v1/events", scope=SCOPE, labels="rare", cursor=first["next_cursor"])
    assert [item["content"]["text"] for item in second["items"]] == ["wanted"]
    assert second["has_more"] is False


def test_a_cancelled_event_is_read_by_id_only(world: Any) -> None:
    event = world.event()
    world.store.log.cancel(event.tenant_id, event.id)
    assert world.ids("/v1/events") == []
    assert world.get(f"/v1/events/{event.id}")["excluded_from_recall"] is True


@pytest.mark.parametrize(
    ("params", "status", "code"),
    [
        ({"scope": "alice"}, 422, "INVALID_SCOPE_GRAMMAR"),
        ({}, 400, "MISSING_REQUIRED_FIELD"),
        ({"scope": SCOPE, "since": "yesterday"}, 422, "INVALID_TIMESTAMP"),
        ({"scope": SCOPE, "since": "2026-02-01", "until": "2026-01-01"}, 422, "INVALID_RANGE"),
        ({"scope": SCOPE, "recorded_during": "2026-02-01"}, 422, "INVALID_RANGE"),
        ({"scope": SCOPE, "recorded_during": "2026-02-01..2026-01-01"}, 422, "INVALID_RANGE"),
        ({"scope": SCOPE, "limit": "0"}, 422, "INVALID_REQUEST"),
        ({"scope": SCOPE, "limit": "1001"}, 422, "INVALID_REQUEST"),
        ({"scope": SCOPE, "view": "sideways"}, 422, "INVALID_REQUEST"),
        ({"scope": SCOPE, "colour": "red"}, 422, "INVALID_REQUEST"),
        ({"scope": SCOPE, "actor": "user:a", "observed_actor": "user:b"}, 422, "INVALID_REQUEST"),
        ({"scope": SCOPE, "cursor": "nonsense"}, 422, "INVALID_CURSOR"),
        ({"scope": SCOPE, "cursor": "x" * 3000}, 422, "INVALID_CURSOR"),
    ],
)
def test_bad_parameters_are_refused(world: Any, params: dict[str, str], status: int, code: str) -> None:
    assert world.refused("/v1/events", **params) == (status, code)


def test_a_cursor_belongs_to_its_filters(world: Any) -> None:
    world.event()
    world.event()
    cursor = world.get("/v1/events", scope=SCOPE, limit=1)["next_cursor"]
    assert world.refused("/v1/events", scope=SCOPE, modality="document", cursor=cursor) == (
        422,
        "INVALID_CURSOR",
    )
    assert world.refused("/v1/facts", scope=SCOPE, cursor=cursor) == (422, "INVALID_CURSOR")


def test_ids_that_name_nothing_and_ids_of_other_things(world: Any) -> None:
    assert world.refused(f"/v1/events/{world.id(Prefix.EVENT, 'none')}") == (404, "NOT_FOUND")
    assert world.refused(f"/v1/events/{world.id(Prefix.FACT, 'none')}") == (422, "INVALID_ID")
    assert world.refused("/v1/events/evt_1") == (422, "INVALID_ID")


def test_another_tenants_event_is_not_there(world: Any) -> None:
    event = world.event(tenant_id="other")
    assert world.refused(f"/v1/events/{event.id}") == (404, "NOT_FOUND")
    assert world.ids("/v1/events") == []


def test_instants_keep_their_digits(world: Any) -> None:
    world.clock.at = instant("2026-05-13T12:00:00.000250Z")
    event = world.event()
    assert world.get(f"/v1/events/{event.id}")["context"]["recorded_at"] == "2026-05-13T12:00:00.000250Z"
