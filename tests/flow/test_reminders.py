"""Reminders over HTTP: what is kept, what changes, what is listed, and every refusal in its shape."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from given import NOON
from lamina.coordination.reminding import Reminding, Windows
from lamina.errors import Unavailable
from lamina.kernel.time import SECOND_US
from lamina.store.ports.schedule import ItemSubject

ITEMS = "/v1/schedule/items"
TOMORROW = "2026-05-14T12:00:00Z"
HOUR = 3600 * SECOND_US
BOB = {"X-Cortex-Actor": "user:bob"}


def create(world: Any, **more: Any) -> httpx.Response:
    body = {"kind": "reminder", "title": "call", "due_at": TOMORROW, **more}
    return world.call(
        "POST", ITEMS, body={name: value for name, value in body.items() if value != "left out"}
    )


def made(world: Any, **more: Any) -> Any:
    response = create(world, **more)
    assert response.status_code == 201, response.text
    return response.json()["item"]


def change(world: Any, item: Any, /, version: int | None = None, **changes: Any) -> httpx.Response:
    body = {"expected_version": version or item["version"], **changes}
    return world.call("PATCH", f"{ITEMS}/{item['schedule_id']}", body=body)


def end(world: Any, item: Any, how: str, /, **body: Any) -> httpx.Response:
    return world.call("POST", f"{ITEMS}/{item['schedule_id']}/{how}", body=body)


def said(response: httpx.Response) -> tuple[int, str, str | None]:
    detail = response.json()["detail"]
    return response.status_code, detail["code"], detail.get("field")


def titles(world: Any, **query: Any) -> list[str]:
    return [item["title"] for item in world.get(ITEMS, **query)["items"]]


# ---- create


def test_a_reminder_is_created_once_and_found(world: Any) -> None:
    first = create(world, note="", subject_kind="user", subject_id="alice", metadata={"a": 1.5})
    assert first.status_code == 201
    assert first.json() == {"ok": True, "created": True, "item": first.json()["item"], "warnings": []}
    item = first.json()["item"]
    assert (item["version"], item["status"], item["derived_state"], item["note"]) == (
        1,
        "pending",
        "scheduled",
        "",
    )
    assert (item["created_by"], item["terminal_at"]) == ("user:local", None)
    again = create(world, note="", subject_kind="user", subject_id="alice", metadata={"a": 1.5})
    assert (again.status_code, again.json()["created"], again.json()["item"]) == (200, False, item)
    assert world.get(f"{ITEMS}/{item['schedule_id']}") == {"ok": True, "item": item, "warnings": []}


def test_a_creation_repeated_gives_what_became_of_it_even_past_its_time(world: Any) -> None:
    item = made(world)
    change(world, item, note="new")
    world.clock.at = NOON + 48 * HOUR
    again = create(world)
    assert again.status_code == 200
    assert (again.json()["item"]["note"], again.json()["item"]["derived_state"]) == ("new", "due")
    assert said(create(world, title="other")) == (422, "due_at_not_future", "due_at")


def test_another_creator_makes_another_item(world: Any) -> None:
    item = made(world)
    body = {"kind": "reminder", "title": "call", "due_at": TOMORROW}
    other = world.call("POST", ITEMS, body=body, headers=BOB)
    assert other.status_code == 201
    assert other.json()["item"]["schedule_id"] != item["schedule_id"]


def test_a_key_may_come_in_the_header(world: Any) -> None:
    body = {"kind": "reminder", "title": "call", "due_at": TOMORROW}
    response = world.call("POST", ITEMS, body=body, headers={"X-Cortex-Idempotency-Key": "k"})
    assert response.json()["item"]["idempotency_key"] == "k"
    assert create(world, idempotency_key="k").status_code == 200


def test_the_clock_is_read_to_the_second(world: Any) -> None:
    world.clock.at = NOON + 999_999
    assert said(create(world, due_at="2026-05-13T12:00:00Z"))[1] == "due_at_not_future"
    assert made(world, due_at="2026-05-13T12:00:01Z")["created_at"] == "2026-05-13T12:00:00Z"


# ---- change


def test_a_change_counts_a_version_and_none_leaves_it(world: Any) -> None:
    item = made(world)
    first = change(world, item, title="write", due_at="2026-06-01T00:00:00Z").json()
    assert (first["ok"], first["updated"], first["item"]["version"], first["warnings"]) == (True, True, 2, [])
    again = change(world, first["item"], title=" write ").json()
    assert (again["updated"], again["item"]) == (False, first["item"])


def test_acknowledging_ends_an_item_once(world: Any) -> None:
    item = made(world)
    first = end(world, item, "acknowledge", expected_version=1, status="done", reason=" went well ")
    shown = first.json()["item"]
    assert (shown["status"], shown["derived_state"], shown["version"]) == ("done", "terminal", 2)
    assert (shown["terminal_by"], shown["terminal_reason"]) == ("user:local", "went well")
    again = end(world, item, "acknowledge", expected_version=1, status="done", reason="went well")
    assert again.json() == {"ok": True, "updated": False, "item": shown, "warnings": []}
    for other in ({"status": "acknowledged", "reason": "went well"}, {"status": "done"}):
        refused = end(world, item, "acknowledge", expected_version=2, **other)
        assert said(refused) == (409, "schedule_status_conflict", "status")


def test_retiring_ends_any_item_once(world: Any) -> None:
    item = made(world)
    end(world, item, "acknowledge", expected_version=1)
    first = end(world, item, "retire", expected_version=2, reason="").json()
    assert (first["item"]["status"], first["item"]["terminal_reason"]) == ("retired", None)
    assert end(world, item, "retire").json() == {**first, "updated": False}
    assert said(end(world, item, "retire", reason="else"))[1] == "schedule_status_conflict"
    assert said(end(world, item, "acknowledge", expected_version=3))[1] == "schedule_status_conflict"
    assert said(change(world, first["item"], note="x"))[1] == "schedule_status_conflict"


def test_of_changes_at_once_one_wins(world: Any) -> None:
    item = made(world)

    async def all_at_once() -> list[int]:
        transport = httpx.ASGITransport(world.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            asked = [
                client.patch(f"{ITEMS}/{item['schedule_id']}", json={"expected_version": 1, "note": str(n)})
                for n in range(8)
            ]
            return sorted(response.status_code for response in await asyncio.gather(*asked))

    assert asyncio.run(all_at_once()) == [200] + [409] * 7
    assert world.get(f"{ITEMS}/{item['schedule_id']}")["item"]["version"] == 2


def test_of_equal_creations_at_once_one_creates(world: Any) -> None:
    body = {"kind": "reminder", "title": "call", "due_at": TOMORROW}

    async def all_at_once() -> list[int]:
        transport = httpx.ASGITransport(world.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            asked = [client.post(ITEMS, json=body) for _ in range(8)]
            return sorted(response.status_code for response in await asyncio.gather(*asked))

    assert asyncio.run(all_at_once()) == [200] * 7 + [201]


# ---- list


def test_a_list_is_by_due_time_and_filters(world: Any, at: Callable[[str], int]) -> None:
    made(world, title="c", due_at="2026-05-15T00:00:00Z", thread_id="th")
    made(world, title="a", due_at="2026-05-13T13:00:00Z", task_id="t")
    gone = made(world, title="gone", due_at="2026-05-13T13:00:00Z")
    seen = made(world, title="seen", due_at="2026-05-16T00:00:00Z", subject_kind="user", subject_id="u")
    end(world, gone, "retire", expected_version=1)
    end(world, seen, "acknowledge", expected_version=1)
    at("2026-05-13T13:00:00Z")
    assert titles(world) == ["a", "c", "seen"]
    assert sorted(titles(world, include_retired="YES")) == ["a", "c", "gone", "seen"]
    assert titles(world, status="retired") == ["gone"]
    assert titles(world, due="on") == ["a"]
    assert titles(world, due="0") == ["c"]
    assert titles(world, task_id="t") == ["a"]
    assert titles(world, thread_id="th") == ["c"]
    assert titles(world, subject_kind="user", subject_id="u") == ["seen"]
    page = world.get(ITEMS, limit=1, offset=1, colour="ignored")
    assert {name: page[name] for name in ("ok", "count", "total", "limit", "offset", "warnings")} == {
        "ok": True, "count": 1, "total": 3, "limit": 1, "offset": 1, "warnings": [],
    }  # fmt: skip


def test_query_parameters_never_reach_a_body(world: Any) -> None:
    response = world.call(
        "POST", ITEMS, body={"kind": "reminder", "title": "a", "due_at": TOMORROW}, note="q"
    )
    assert response.json()["item"]["note"] is None


# ---- refusals


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"colour": "red"}, "payload"), ({"schedule_id": "x"}, "id"), ({"kind": "left out"}, "kind"),
        ({"title": ""}, "title"), ({"note": 1}, "note"), ({"due_at": "tomorrow"}, "due_at"),
        ({"subject_kind": "user"}, "subject"), ({"kind": "task_nudge"}, "link"), ({"metadata": {"a": []}}, "metadata"),
    ],
)  # fmt: skip
def test_a_wrong_creation_is_refused_in_one_object(world: Any, wrong: dict[str, Any], code: str) -> None:
    response = create(world, **wrong)
    assert response.status_code == 422
    assert response.json()["detail"].keys() == {"code", "field", "message"}
    assert said(response)[1] == f"invalid_schedule_{code}"


def test_wrong_changes_are_refused_in_one_object(world: Any) -> None:
    item = made(world, idempotency_key="k")
    gone = {"schedule_id": "sched_gone", "version": 1}
    assert said(create(world, due_at="2026-05-13T12:00:00Z")) == (422, "due_at_not_future", "due_at")
    assert said(change(world, item, due_at="2026-05-13T12:00:00Z")) == (422, "due_at_not_future", "due_at")
    assert said(change(world, item)) == (422, "invalid_schedule_payload", "body")
    assert said(change(world, item, schedule_id="sched_b")) == (
        422,
        "invalid_schedule_payload",
        "schedule_id",
    )
    assert said(change(world, item, idempotency_key="x"))[1:] == (
        "invalid_schedule_payload",
        "idempotency_key",
    )
    assert said(change(world, item, 2, note="x")) == (409, "schedule_version_conflict", "expected_version")
    assert said(change(world, gone, note="x"))[:2] == (404, "schedule_not_found")
    assert said(end(world, item, "acknowledge")) == (422, "invalid_schedule_version", "expected_version")
    assert said(end(world, item, "acknowledge", expected_version=9))[1] == "schedule_version_conflict"
    assert (
        said(end(world, item, "acknowledge", expected_version=1, status="late"))[1]
        == "invalid_schedule_status"
    )
    assert said(end(world, item, "retire"))[1] == "invalid_schedule_version"
    assert (
        said(end(world, item, "retire", expected_version=1, reason="x" * 501))[1] == "invalid_schedule_reason"
    )
    assert said(create(world, schedule_id=item["schedule_id"])) == (
        409,
        "schedule_id_conflict",
        "schedule_id",
    )
    assert said(create(world, title="other", idempotency_key="k"))[1:] == (
        "idempotency_key_conflict", "idempotency_key",
    )  # fmt: skip


def test_a_wrong_query_is_refused_by_its_name(world: Any) -> None:
    for name, value in (("limit", "0"), ("due", "maybe"), ("status", "late"), ("subject_id", "u")):
        code, field = said(world.call("GET", ITEMS, **{name: value}))[1:]
        assert code == "invalid_schedule_query"
        assert field in (f"query.{name}", "query.subject_kind")


def test_what_is_not_there_says_which(world: Any) -> None:
    response = world.call("GET", f"{ITEMS}/sched_gone")
    detail = response.json()["detail"]
    assert (response.status_code, response.json()["error_code"]) == (404, "SCHEDULE_NOT_FOUND")
    assert (detail["code"], detail["schedule_id"], detail["warnings"]) == (
        "schedule_not_found",
        "sched_gone",
        [],
    )
    assert said(world.call("GET", f"{ITEMS}/gone")) == (422, "invalid_schedule_id", "schedule_id")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"x"'])
@pytest.mark.parametrize("path", [ITEMS, f"{ITEMS}/sched_a/retire"])
def test_a_body_that_is_no_object_is_refused(world: Any, path: str, content: bytes) -> None:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(world.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post(path, content=content, headers={"Content-Type": "application/json"})

    status, code, field = said(asyncio.run(send()))
    assert (status, code) == (422, "invalid_schedule_payload")
    assert field == "body"


def test_a_denial_is_in_the_style_of_relay(world: Any) -> None:
    item = made(world)
    world.policy.deny("scope.write", "app:relay")
    for response in (create(world, title="b"), change(world, item, note="x"), end(world, item, "retire")):
        assert response.status_code == 403
        assert isinstance(response.json()["detail"], str)
    assert titles(world) == ["call"]
    world.policy.deny("scope.read.local", "app:relay")
    assert world.call("GET", ITEMS).status_code == 403


def test_who_may_change_and_not_read_is_told_no_more_than_that_it_is_done(world: Any) -> None:
    secret = {"note": "SECRET", "metadata": {"a": "SECRET"}, "subject_kind": "user", "subject_id": "SECRET"}
    items = [made(world, title=f"SECRET {n}", idempotency_key=f"SECRET {n}", **secret) for n in range(3)]
    world.policy.deny("scope.read.local", "app:relay")
    for response, status, version in (
        (change(world, items[0], due_at="2026-05-15T12:00:00Z"), "pending", 2),
        (change(world, items[0], version=2, due_at="2026-05-15T12:00:00Z"), "pending", 2),
        (end(world, items[1], "acknowledge", expected_version=1), "acknowledged", 2),
        (end(world, items[1], "acknowledge"), "acknowledged", 2),
        (end(world, items[2], "retire", expected_version=1), "retired", 2),
        (end(world, items[2], "retire"), "retired", 2),
        (change(world, items[0], version=9, note="x"), None, None),
        (end(world, items[1], "retire", expected_version=9), None, None),
        (create(world, title="SECRET 2", idempotency_key="SECRET 2", **secret), "retired", 2),
        (create(world, schedule_id=items[0]["schedule_id"]), None, None),
    ):
        answer = response.json()
        assert "SECRET" not in response.text
        assert "user:" not in response.text
        if status is not None:
            assert response.status_code == 200
            assert {key: answer["item"][key] for key in ("status", "version")} == {
                "status": status,
                "version": version,
            }
            assert set(answer["item"]) == {"schedule_id", "status", "version"}


def test_who_may_read_is_shown_the_item_that_was_changed(world: Any) -> None:
    item = made(world, note="kept")
    assert change(world, item, title="other").json()["item"]["note"] == "kept"
    assert end(world, item, "retire", expected_version=2).json()["item"]["note"] == "kept"


def test_reads_say_when_the_store_cannot_be_asked_and_writes_are_refused(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = made(world)

    def fail(*_: Any, **__: Any) -> Any:
        raise Unavailable("WAL_UNAVAILABLE", "the log cannot be reached: IOError")

    for name in ("get", "query", "matching"):
        monkeypatch.setattr(world.store.schedule, name, fail)
    warned = {"ok": False, "warnings": ["schedule_db_unavailable"]}
    assert world.get(f"{ITEMS}/{item['schedule_id']}") == {**warned, "item": None}
    assert world.get(ITEMS) == {**warned, "count": 0, "total": 0, "limit": 50, "offset": 0, "items": []}
    refused = create(world)
    assert (refused.status_code, refused.json()["detail"]["warnings"]) == (503, ["schedule_db_unavailable"])


def test_every_write_is_in_the_audit_log(world: Any) -> None:
    item = made(world)
    change(world, item, note="x")
    rows = [row.draft for row in world.store.audit.walk("acme", 0, 10)]
    assert [(row.path, row.response_status) for row in rows] == [
        (ITEMS, 201), (f"{ITEMS}/{item['schedule_id']}", 200),
    ]  # fmt: skip


# ---- the block of an orientation


def context(world: Any, *subjects: tuple[str, str], **windows: int) -> Any:
    chosen = {"due_limit": 10, "upcoming_limit": 5, "upcoming_window_hours": 72, **windows}
    reminding = Reminding(world.store.schedule, Windows(**chosen))
    named = [ItemSubject(*subject) for subject in subjects]
    return reminding.context("acme", world.clock.at, named).model_dump(mode="json")


def shown(block: Any, part: str) -> tuple[list[str], int, bool]:
    return [item["title"] for item in block[part]["items"]], block[part]["count"], block[part]["truncated"]


def test_an_orientation_without_subjects_or_items_is_empty(world: Any) -> None:
    made(world)
    empty = {
        "due": {"items": [], "count": 0, "truncated": False},
        "upcoming": {"window_hours": 72, "items": [], "count": 0, "truncated": False},
        "warnings": [],
    }
    assert context(world) == empty
    assert context(world, ("user", "x")) == empty


def test_an_orientation_shows_what_is_due_and_soon_about_its_subjects(
    world: Any, at: Callable[[str], int]
) -> None:
    made(world, title="task", task_id="x", due_at="2026-05-13T12:00:01Z")
    made(world, title="subject", subject_kind="task", subject_id="x", due_at="2026-05-13T12:00:02Z")
    made(world, title="last", thread_id="y", due_at="2026-05-16T12:00:02Z")
    made(world, title="later", thread_id="y", due_at="2026-05-16T12:00:03Z")
    made(world, title="unrelated", due_at="2026-05-13T12:00:01Z")
    ended = made(world, title="ended", task_id="x", due_at="2026-05-13T12:00:01Z")
    end(world, ended, "acknowledge", expected_version=1)
    at("2026-05-13T12:00:02Z")
    block = context(world, ("task", "x"), ("thread", "y"), ("task", "x"))
    assert shown(block, "due") == (["task", "subject"], 2, False)
    assert shown(block, "upcoming") == (["last"], 1, False)
    assert shown(context(world, ("user", "x")), "due") == ([], 0, False)


def test_an_orientation_says_that_it_left_something_out(world: Any, at: Callable[[str], int]) -> None:
    for number in range(3):
        made(world, title=str(number), task_id=f"t{number}", due_at=f"2026-05-13T12:00:0{number + 1}Z")
    subjects = [("task", f"t{number}") for number in range(3)]
    at("2026-05-13T12:00:00Z")
    assert shown(context(world, *subjects, upcoming_limit=2), "upcoming") == (["0", "1"], 2, True)
    assert shown(context(world, *subjects, upcoming_limit=3), "upcoming") == (["0", "1", "2"], 3, False)
    assert shown(context(world, *subjects, upcoming_limit=0), "upcoming") == ([], 0, True)
    at("2026-05-13T12:00:03Z")
    assert shown(context(world, *subjects, due_limit=1), "due") == (["0"], 1, True)


def test_an_orientation_without_a_store_warns(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise Unavailable("WAL_UNAVAILABLE", "the log cannot be reached: IOError")

    monkeypatch.setattr(world.store.schedule, "pending_about", fail)
    block = context(world, ("task", "x"))
    assert (block["due"]["items"], block["warnings"]) == ([], ["schedule_db_unavailable"])
