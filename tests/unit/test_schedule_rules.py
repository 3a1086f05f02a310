"""The rules of reminders: every bound at the bound and one past it, and what a change makes of an item."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from given import NOON, TENANT
from lamina.coordination.refusals import refusal
from lamina.coordination.requests import (
    Acknowledgement,
    CreateItem,
    ItemChanges,
    ListItems,
    ReadItem,
    Retirement,
)
from lamina.coordination.schedule import changed, check_due, derived_state, new_item, query_of, view_of
from lamina.errors import Conflict, Forbidden, Invalid, LaminaError, NotFound, Unavailable
from lamina.kernel.time import SECOND_US, instant
from lamina.kernel.wire import Request
from lamina.store.ports.schedule import ItemSubject, ScheduleItem
from tables import every_row

WHOLE = {"kind": "reminder", "title": "call", "due_at": "2026-05-14T12:00:00Z"}


def created(**more: Any) -> ScheduleItem:
    request = CreateItem.model_validate(WHOLE | more)
    return new_item(request, tenant_id=TENANT, actor="user:alice", now=NOON)


def refused(model: type[Request], given: Any) -> tuple[str, str]:
    with pytest.raises(Invalid) as caught:
        model.model_validate(given)
    return caught.value.code, caught.value.details["field"]


# ---- bounds

FITS: list[tuple[type[Request], dict[str, Any]]] = [
    (CreateItem, {"title": "x" * 160}),
    (CreateItem, {"title": " " + "x" * 160 + "\n"}),
    (CreateItem, {"title": "ü"}),
    (CreateItem, {"note": "x" * 1000}),
    (CreateItem, {"note": ""}),
    (CreateItem, {"note": None}),
    (CreateItem, {"task_id": "x" * 200}),
    (CreateItem, {"thread_id": "x" * 200}),
    (CreateItem, {"subject_kind": "peer", "subject_id": "x" * 200}),
    (CreateItem, {"idempotency_key": "x" * 200}),
    (CreateItem, {"schedule_id": "sched_" + "a" * 58}),
    (CreateItem, {"schedule_id": "sched_0"}),
    (CreateItem, {"due_at": "9999-12-31T23:59:59Z"}),
    (CreateItem, {"due_at": "2028-02-29T00:00:00Z"}),
    (CreateItem, {"metadata": {"a": "x" * (2048 - len('{"a":""}'))}}),
    (CreateItem, {"metadata": {"a": "ü" * 1020}}),
    (CreateItem, {"metadata": {"s": "", "i": 1, "f": 1.5, "b": False, "n": None}}),
    (CreateItem, {"metadata": None}),
    (ItemChanges, {"expected_version": 1, "note": "x"}),
    (ItemChanges, {"expected_version": 1 << 70, "note": None}),
    (Acknowledgement, {"reason": "x" * 500}),
    (Acknowledgement, {"reason": None, "expected_version": None}),
    (Acknowledgement, {"status": "done"}),
    (Retirement, {"reason": ""}),
    (ListItems, {"limit": 1}),
    (ListItems, {"limit": "200"}),
    (ListItems, {"offset": "0"}),
    (ListItems, {"offset": 10_000}),
    (ListItems, {"subject_kind": "user", "subject_id": "x" * 200}),
    (ListItems, {"task_id": "x" * 200}),
]


@every_row(("model", "given"), FITS)
def test_what_is_at_a_bound_fits(model: type[Request], given: dict[str, Any]) -> None:
    model.model_validate((WHOLE if model is CreateItem else {}) | given)


PAST: list[tuple[type[Request], dict[str, Any], str, str]] = [
    (CreateItem, {"title": "x" * 161}, "TITLE", "title"),
    (CreateItem, {"title": "  "}, "TITLE", "title"),
    (CreateItem, {"title": None}, "TITLE", "title"),
    (CreateItem, {"title": 7}, "TITLE", "title"),
    (CreateItem, {"title": "a\x00b"}, "TITLE", "title"),
    (CreateItem, {"note": "x" * 1001}, "NOTE", "note"),
    (CreateItem, {"note": []}, "NOTE", "note"),
    (CreateItem, {"kind": "alarm"}, "KIND", "kind"),
    (CreateItem, {"kind": ["reminder"]}, "KIND", "kind"),
    (CreateItem, {"task_id": "x" * 201}, "LINK", "task_id"),
    (CreateItem, {"task_id": " "}, "LINK", "task_id"),
    (CreateItem, {"thread_id": "x" * 201}, "LINK", "thread_id"),
    (CreateItem, {"subject_kind": "peer", "subject_id": "x" * 201}, "SUBJECT", "subject_id"),
    (CreateItem, {"subject_kind": "place", "subject_id": "x"}, "SUBJECT", "subject_kind"),
    (CreateItem, {"subject_kind": "peer"}, "SUBJECT", "subject_id"),
    (CreateItem, {"subject_id": "x"}, "SUBJECT", "subject_kind"),
    (CreateItem, {"idempotency_key": "x" * 201}, "PAYLOAD", "idempotency_key"),
    (CreateItem, {"idempotency_key": ""}, "PAYLOAD", "idempotency_key"),
    (CreateItem, {"schedule_id": "sched_" + "a" * 59}, "ID", "schedule_id"),
    (CreateItem, {"schedule_id": "sched_"}, "ID", "schedule_id"),
    (CreateItem, {"schedule_id": "sched_-a"}, "ID", "schedule_id"),
    (CreateItem, {"schedule_id": "sched_A"}, "ID", "schedule_id"),
    (CreateItem, {"schedule_id": "../etc"}, "ID", "schedule_id"),
    (CreateItem, {"metadata": {"a": "x" * (2049 - len('{"a":""}'))}}, "METADATA", "metadata"),
    (CreateItem, {"metadata": {"a": "ü" * 1021}}, "METADATA", "metadata"),
    (CreateItem, {"metadata": {"a": {}}}, "METADATA", "metadata"),
    (CreateItem, {"metadata": {"a": []}}, "METADATA", "metadata"),
    (CreateItem, {"metadata": {"a": float("nan")}}, "METADATA", "metadata"),
    (CreateItem, {"metadata": {"a": float("inf")}}, "METADATA", "metadata"),
    (CreateItem, {"metadata": {"a": 10**5000}}, "METADATA", "metadata"),
    (CreateItem, {"metadata": [1]}, "METADATA", "metadata"),
    (CreateItem, {"colour": "red"}, "PAYLOAD", "colour"),
    (ItemChanges, {"note": "x"}, "VERSION", "expected_version"),
    (ItemChanges, {"expected_version": 0, "note": "x"}, "VERSION", "expected_version"),
    (ItemChanges, {"expected_version": True, "note": "x"}, "VERSION", "expected_version"),
    (ItemChanges, {"expected_version": 1.0, "note": "x"}, "VERSION", "expected_version"),
    (ItemChanges, {"expected_version": "1", "note": "x"}, "VERSION", "expected_version"),
    (ItemChanges, {"expected_version": 1}, "PAYLOAD", "body"),
    (ItemChanges, {"expected_version": 1, "title": None}, "TITLE", "title"),
    (ItemChanges, {"expected_version": 1, "kind": None}, "KIND", "kind"),
    (ItemChanges, {"expected_version": 1, "due_at": None}, "DUE_AT", "due_at"),
    (ItemChanges, {"expected_version": 1, "subject_id": None}, "SUBJECT", "subject_kind"),
    (ItemChanges, {"expected_version": 1, "subject_kind": "user", "subject_id": None}, "SUBJECT", "subject_id"),
    (ItemChanges, {"expected_version": 1, "idempotency_key": "k"}, "PAYLOAD", "idempotency_key"),
    (Acknowledgement, {"reason": "x" * 501}, "REASON", "reason"),
    (Acknowledgement, {"status": "retired"}, "STATUS", "status"),
    (Acknowledgement, {"status": None}, "STATUS", "status"),
    (Acknowledgement, {"expected_version": 0}, "VERSION", "expected_version"),
    (Retirement, {"reason": "x" * 501}, "REASON", "reason"),
    (Retirement, {"status": "done"}, "PAYLOAD", "status"),
    (ListItems, {"limit": 0}, "QUERY", "query.limit"),
    (ListItems, {"limit": "201"}, "QUERY", "query.limit"),
    (ListItems, {"limit": "ten"}, "QUERY", "query.limit"),
    (ListItems, {"limit": "9" * 5000}, "QUERY", "query.limit"),
    (ListItems, {"offset": -1}, "QUERY", "query.offset"),
    (ListItems, {"offset": 10_001}, "QUERY", "query.offset"),
    (ListItems, {"status": "late"}, "QUERY", "query.status"),
    (ListItems, {"due": "maybe"}, "QUERY", "query.due"),
    (ListItems, {"include_retired": ""}, "QUERY", "query.include_retired"),
    (ListItems, {"task_id": ""}, "QUERY", "query.task_id"),
    (ListItems, {"subject_kind": "user"}, "QUERY", "query.subject_id"),
    (ReadItem, {"schedule_id": "x"}, "ID", "schedule_id"),
]  # fmt: skip


@every_row(("model", "given", "code", "field"), PAST)
def test_what_is_past_a_bound_is_refused_under_the_code_of_its_field(
    model: type[Request], given: dict[str, Any], code: str, field: str
) -> None:
    whole = (WHOLE if model is CreateItem else {}) | given
    assert refused(model, whole) == (f"INVALID_SCHEDULE_{code}", field)


NULL = [
    (CreateItem, WHOLE, tuple(CreateItem.model_fields)),
    (ItemChanges, {"expected_version": 1, "note": "x"}, ("kind", "title", "note", "due_at", "task_id", "thread_id", "metadata")),
    (Acknowledgement, {}, tuple(Acknowledgement.model_fields)),
    (Retirement, {}, tuple(Retirement.model_fields)),
    (ListItems, {}, tuple(ListItems.model_fields)),
]  # fmt: skip


@every_row(("model", "whole", "fields"), NULL)
def test_a_schema_takes_null_where_the_request_does(
    model: type[Request], whole: dict[str, Any], fields: tuple[str, ...]
) -> None:
    schema = Draft202012Validator(model.model_json_schema())
    for field in fields:
        given = whole | {field: None}
        assert schema.is_valid(given) == _is_taken(model, given), field


def _is_taken(model: type[Request], given: dict[str, Any]) -> bool:
    try:
        model.model_validate(given)
    except Invalid:
        return False
    return True


@pytest.mark.parametrize("name", ["kind", "title", "due_at"])
def test_what_is_left_out_is_refused_as_what_is_wrong(name: str) -> None:
    given = {key: value for key, value in WHOLE.items() if key != name}
    assert refused(CreateItem, given) == (f"INVALID_SCHEDULE_{name.upper()}", name)


@every_row(
    "text",
    [
        "2026-05-14T12:00:00", "2026-05-14T12:00:00z", "2026-05-14T12:00:00+00:00", "2026-05-14T12:00:00.0Z",
        "2026-05-14 12:00:00Z", "2026-05-14T12:00Z", "2026-05-14", " 2026-05-14T12:00:00Z", "2026-05-14T12:00:00Z\n",
        "2026-02-30T12:00:00Z", "2026-05-14T24:00:00Z", "2026-05-14T12:00:60Z", "0000-01-01T00:00:00Z",
        "２０２６-05-14T12:00:00Z", "", 1_778_760_000, None,
    ],
)  # fmt: skip
def test_only_an_exact_utc_second_is_a_due_time(text: object) -> None:
    assert refused(CreateItem, WHOLE | {"due_at": text}) == ("INVALID_SCHEDULE_DUE_AT", "due_at")


@pytest.mark.parametrize("body", [[], "x", 1, None])
def test_a_body_that_is_no_object_is_refused(body: object) -> None:
    assert refused(CreateItem, body) == ("INVALID_SCHEDULE_PAYLOAD", "body")


@pytest.mark.parametrize(("word", "means"), [("TRUE", True), ("1", True), ("Yes", True), ("on", True), (True, True),
                                             ("false", False), ("0", False), ("NO", False), ("off", False)])  # fmt: skip
def test_a_query_says_yes_and_no_in_several_words(word: object, means: bool) -> None:
    assert ListItems.model_validate({"include_retired": word}).include_retired is means


# ---- identity


def test_an_item_is_named_by_what_it_was_created_with() -> None:
    item = created(title=" ünï ", metadata={"b": 1, "a": None}, idempotency_key="k")
    assert item.identity == (
        '{"created_by":"user:alice","due_at":"2026-05-14T12:00:00Z","idempotency_key":"k","kind":"reminder",'
        '"metadata":{"a":null,"b":1},"note":null,"subject_id":null,"subject_kind":null,"task_id":null,'
        '"thread_id":null,"title":"ünï"}'
    )
    assert item.identity_hash == hashlib.sha256(item.identity.encode()).hexdigest()
    assert item.schedule_id == f"sched_{item.identity_hash[:32]}"


def test_an_id_of_ones_own_is_no_part_of_the_identity() -> None:
    assert created(schedule_id="sched_mine").identity_hash == created().identity_hash
    assert created(schedule_id="sched_mine").schedule_id == "sched_mine"


def test_one_and_true_are_different_metadata() -> None:
    texts = {created(metadata={"a": value}).schedule_id for value in (1, 1.0, True, "1")}
    assert len(texts) == 4


def test_what_identifies_an_item_fits_2048_bytes() -> None:
    left = 2048 - len(created(metadata={"a": ""}).identity.encode())
    assert len(created(metadata={"a": "x" * left}).identity) == 2048
    with pytest.raises(Invalid) as caught:
        created(metadata={"a": "x" * (left + 1)})
    assert caught.value.code == "INVALID_SCHEDULE_PAYLOAD"


@pytest.mark.parametrize(
    "link", [{"task_id": "t"}, {"thread_id": "t"}, {"subject_kind": "user", "subject_id": "u"}]
)
def test_a_nudge_names_what_it_is_about(link: dict[str, str]) -> None:
    assert created(kind="task_nudge", **link).kind == "task_nudge"
    with pytest.raises(Invalid) as caught:
        created(kind="task_nudge")
    assert caught.value.code == "INVALID_SCHEDULE_LINK"


# ---- changes


def after(item: ScheduleItem, **changes: Any) -> ScheduleItem | None:
    request = ItemChanges.model_validate({"expected_version": item.version} | changes)
    return changed(item, request, actor="user:bob", now=NOON + SECOND_US)


@pytest.mark.parametrize(
    "same",
    [{"title": "call "}, {"note": None}, {"metadata": {"a": 1}}, {"due_at": WHOLE["due_at"]},
     {"subject_kind": "user", "subject_id": "u"}, {"kind": "reminder", "task_id": None}],
)  # fmt: skip
def test_a_change_that_says_what_stands_is_none(same: dict[str, Any]) -> None:
    assert after(created(metadata={"a": 1}, subject_kind="user", subject_id="u"), **same) is None


def test_a_change_counts_a_version_and_keeps_what_it_does_not_name() -> None:
    item = created(note="n", task_id="t", metadata={"a": 1})
    new = after(item, metadata={"a": True}, due_at="2026-06-01T00:00:00Z")
    assert new is not None
    assert (new.version, new.updated_by, new.updated_at) == (2, "user:bob", NOON + SECOND_US)
    assert (new.metadata, new.due_at) == ('{"a":true}', instant("2026-06-01T00:00:00Z"))
    assert (new.note, new.task_id, new.created_by, new.identity) == ("n", "t", "user:alice", item.identity)


def test_null_clears_and_a_nudge_keeps_a_link() -> None:
    nudge = created(kind="task_nudge", task_id="t", subject_kind="user", subject_id="u", note="n")
    new = after(nudge, task_id=None, note=None)
    assert new is not None
    assert (new.task_id, new.note) == (None, None)
    with pytest.raises(Invalid) as caught:
        after(nudge, task_id=None, subject_kind=None, subject_id=None)
    assert caught.value.code == "INVALID_SCHEDULE_LINK"


# ---- times


def test_a_due_time_is_in_the_future_by_a_second() -> None:
    check_due(NOON + SECOND_US, NOON)
    with pytest.raises(Invalid) as caught:
        check_due(NOON, NOON)
    assert caught.value.code == "DUE_AT_NOT_FUTURE"


def test_an_item_is_due_from_its_second_on() -> None:
    item = created()
    assert derived_state(item, item.due_at - 1) == "scheduled"
    assert derived_state(item, item.due_at) == "due"


@pytest.mark.parametrize(
    ("asked", "statuses", "bounds"),
    [
        ({}, ["acknowledged", "done", "pending"], (None, None)),
        ({"include_retired": True}, ["acknowledged", "done", "pending", "retired"], (None, None)),
        ({"status": "retired"}, ["retired"], (None, None)),
        ({"due": True}, ["pending"], (None, NOON)),
        ({"due": False}, ["pending"], (NOON, None)),
        ({"due": True, "status": "done"}, [], (None, NOON)),
    ],
)
def test_a_list_asks_for_statuses_and_due_times(asked: Any, statuses: Any, bounds: Any) -> None:
    query = query_of(ListItems.model_validate(asked), tenant_id=TENANT, now=NOON)
    assert (query.statuses, (query.due_after, query.due_until)) == (statuses, bounds)


def test_an_item_is_shown_with_every_key_in_the_contracts_order() -> None:
    shown = json.loads(view_of(created(), NOON).model_dump_json())
    assert list(shown) == [
        "schedule_id",
        "kind",
        "status",
        "derived_state",
        "title",
        "note",
        "due_at",
        "created_at",
        "updated_at",
        "created_by",
        "updated_by",
        "terminal_at",
        "terminal_by",
        "terminal_reason",
        "task_id",
        "thread_id",
        "subject_kind",
        "subject_id",
        "idempotency_key",
        "metadata",
        "version",
    ]
    assert (shown["due_at"], shown["created_at"]) == ("2026-05-14T12:00:00Z", "2026-05-13T12:00:00Z")
    subject = view_of(created(subject_kind="user", subject_id="u"), NOON)
    assert ItemSubject(subject.subject_kind or "", subject.subject_id or "") == ItemSubject("user", "u")


# ---- the wire's words


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        (Invalid("INVALID_SCHEDULE_TITLE", "no", details={"field": "title"}), 422,
         {"code": "invalid_schedule_title", "field": "title", "message": "no"}),
        (Invalid("INVALID_BODY", "no json"), 422,
         {"code": "invalid_schedule_payload", "field": "body", "message": "no json"}),
        (Conflict("SCHEDULE_ID_CONFLICT", "taken", details={"field": "schedule_id"}), 409,
         {"code": "schedule_id_conflict", "field": "schedule_id", "message": "taken"}),
        (NotFound("SCHEDULE_NOT_FOUND", "none", details={"schedule_id": "sched_a"}), 404,
         {"code": "schedule_not_found", "schedule_id": "sched_a", "message": "none", "warnings": []}),
        (Unavailable("WAL_UNAVAILABLE", "disk"), 503,
         {"code": "schedule_db_unavailable", "message": "disk", "warnings": ["schedule_db_unavailable"]}),
    ],
)  # fmt: skip
def test_a_refusal_is_one_object(error: LaminaError, status: int, detail: dict[str, Any]) -> None:
    found = refusal(error)
    assert found is not None
    assert (found.status, found.detail) == (status, detail)


def test_what_is_not_the_schedules_has_no_object() -> None:
    assert refusal(Forbidden("POLICY_DENIED", "no")) is None
