"""What every engine promises about scheduled items."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from given import ALICE, NOON, TENANT
from lamina.errors import Conflict
from lamina.kernel.time import SECOND_US
from lamina.store.ports.erasures import ErasedPlace, ErasureJob
from lamina.store.ports.schedule import Created, ItemEnding, ItemPage, ItemQuery, ItemSubject, ScheduleItem
from lamina.store.ports.store import Store

HOUR = 3600 * SECOND_US
ALL = ("pending", "acknowledged", "done", "retired")


def item(name: str = "a", **more: Any) -> ScheduleItem:
    identity = more.pop("identity", f'{{"title":"{name}"}}')
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "schedule_id": f"sched_{name}",
        "kind": "reminder",
        "status": "pending",
        "title": name,
        "note": None,
        "due_at": NOON + HOUR,
        "task_id": None,
        "thread_id": None,
        "subject": None,
        "idempotency_key": None,
        "metadata": "{}",
        "identity": identity,
        "identity_hash": hashlib.sha256(identity.encode()).hexdigest(),
        "version": 1,
        "created_at": NOON,
        "created_by": "user:alice",
        "updated_at": NOON,
        "updated_by": "user:alice",
        **more,
    }
    return ScheduleItem(**values)


def names(page: ItemPage) -> list[str]:
    return [each.title for each in page.items]


def listed(store: Store, **more: Any) -> list[str]:
    values: dict[str, Any] = {"tenant_id": TENANT, "statuses": ALL, **more}
    return names(store.schedule.query(ItemQuery(**values)))


def test_an_item_is_given_back_as_it_was_created(store: Store) -> None:
    whole = item(
        note="",
        subject=ItemSubject("user", "alice"),
        task_id="t-1",
        thread_id="th-1",
        idempotency_key="k",
        metadata='{"ü":1.5}',
    )
    assert store.schedule.create(whole) == Created(whole, created=True)
    assert store.schedule.get(TENANT, "sched_a") == whole
    assert store.schedule.get("other", "sched_a") is None
    assert store.schedule.get(TENANT, "sched_b") is None


def test_a_creation_repeated_gives_the_item_as_it_stands_now(store: Store) -> None:
    store.schedule.create(item())
    changed = item(version=2, note="later", updated_at=NOON + 1, updated_by="user:bob")
    store.schedule.replace(changed, expected_version=1)
    assert store.schedule.matching(item()) == changed
    assert store.schedule.create(item()) == Created(changed, created=False)


def test_an_idempotency_key_gives_its_item_under_any_id(store: Store) -> None:
    store.schedule.create(item(idempotency_key="k"))
    again = replace(item(idempotency_key="k"), schedule_id="sched_z")
    assert store.schedule.create(again).item.schedule_id == "sched_a"
    assert store.schedule.get(TENANT, "sched_z") is None


@pytest.mark.parametrize(
    ("other", "code"),
    [
        (item("b", schedule_id="sched_a"), "SCHEDULE_ID_CONFLICT"),
        (item("b", idempotency_key="k"), "IDEMPOTENCY_KEY_CONFLICT"),
        (item("b", schedule_id="sched_a", idempotency_key="k"), "IDEMPOTENCY_KEY_CONFLICT"),
    ],
)
def test_another_item_in_the_same_place_is_refused(store: Store, other: ScheduleItem, code: str) -> None:
    store.schedule.create(item(idempotency_key="k"))
    for ask in (store.schedule.matching, store.schedule.create):
        with pytest.raises(Conflict) as caught:
            ask(other)
        assert caught.value.code == code
    assert listed(store) == ["a"]


def test_tenants_do_not_share_ids_or_keys(store: Store) -> None:
    store.schedule.create(item(idempotency_key="k"))
    other = item("b", schedule_id="sched_a", idempotency_key="k", tenant_id="other")
    assert store.schedule.create(other).created
    assert listed(store) == ["a"]
    assert listed(store, tenant_id="other") == ["b"]


def test_items_without_a_key_do_not_meet(store: Store) -> None:
    assert store.schedule.create(item("a")).created
    assert store.schedule.matching(item("b")) is None
    assert store.schedule.create(item("b")).created


def test_a_replacement_changes_all_but_what_the_item_was_created_with(store: Store) -> None:
    first = item(idempotency_key="k")
    store.schedule.create(first)
    changed = replace(
        first,
        kind="task_nudge",
        status="done",
        title="new",
        note="n",
        due_at=NOON + 2 * HOUR,
        task_id="t",
        thread_id="th",
        subject=ItemSubject("task", "t"),
        metadata='{"a":1}',
        version=2,
        updated_at=NOON + 5,
        updated_by="user:bob",
        ending=ItemEnding(NOON + 5, "user:bob", "because"),
    )
    foreign = replace(changed, identity="{}", identity_hash="0", created_at=1, created_by="x")
    store.schedule.replace(replace(foreign, idempotency_key="x"), expected_version=1)
    assert store.schedule.get(TENANT, "sched_a") == changed


@pytest.mark.parametrize("expected", [0, 2, 1 << 62])
def test_a_replacement_over_another_version_is_refused(store: Store, expected: int) -> None:
    store.schedule.create(item())
    with pytest.raises(Conflict) as caught:
        store.schedule.replace(item(version=expected + 1), expected_version=expected)
    assert caught.value.code == "SCHEDULE_VERSION_CONFLICT"
    assert store.schedule.get(TENANT, "sched_a") == item()


def test_a_replacement_keeps_to_its_tenant(store: Store) -> None:
    store.schedule.create(item())
    with pytest.raises(Conflict):
        store.schedule.replace(item(version=2, tenant_id="other"), expected_version=1)


def test_a_page_is_by_due_time_then_id_with_the_total_beside(store: Store) -> None:
    for name, due_at in (("c", NOON), ("b", NOON + 1), ("a", NOON + 1), ("d", NOON - 1)):
        store.schedule.create(item(name, due_at=due_at))
    assert listed(store) == ["d", "c", "a", "b"]
    page = store.schedule.query(ItemQuery(tenant_id=TENANT, statuses=ALL, limit=2, offset=1))
    assert (names(page), page.total) == (["c", "a"], 4)
    past = store.schedule.query(ItemQuery(tenant_id=TENANT, statuses=ALL, offset=4))
    assert (names(past), past.total) == ([], 4)


def test_each_filter_narrows_and_no_status_means_nothing(store: Store) -> None:
    subject = ItemSubject("user", "x")
    store.schedule.create(item("a", task_id="x", due_at=NOON))
    store.schedule.create(item("b", thread_id="x", due_at=NOON + 1))
    store.schedule.create(item("c", subject=subject, due_at=NOON + 2))
    store.schedule.create(item("d", status="retired", due_at=NOON + 3, ending=ItemEnding(NOON, "u", None)))
    assert listed(store, statuses=()) == []
    assert listed(store, statuses=("retired",)) == ["d"]
    assert listed(store, task_id="x") == ["a"]
    assert listed(store, thread_id="x") == ["b"]
    assert listed(store, subject=subject) == ["c"]
    assert listed(store, subject=ItemSubject("peer", "x")) == []
    assert listed(store, due_after=NOON, due_until=NOON + 2) == ["b", "c"]
    assert listed(store, task_id="x", thread_id="x") == []


def test_what_is_about_a_subject_counts_threads_and_tasks_as_links_too(store: Store) -> None:
    store.schedule.create(item("a", task_id="x"))
    store.schedule.create(item("b", thread_id="x"))
    for kind in ("task", "thread", "user"):
        store.schedule.create(item(kind, subject=ItemSubject(kind, "x")))
    store.schedule.create(item("e", task_id="x", subject=ItemSubject("task", "x")))
    store.schedule.create(item("f", task_id="y"))
    assert about(store, "task") == ["a", "e", "task"]
    assert about(store, "thread") == ["b", "thread"]
    assert about(store, "user") == ["user"]
    assert about(store, "peer") == []


def test_what_is_about_a_subject_is_pending_and_due_in_the_window(store: Store) -> None:
    for number in range(5):
        store.schedule.create(item(str(number), task_id="x", due_at=NOON + number))
    store.schedule.create(item("gone", task_id="x", status="done", ending=ItemEnding(NOON, "u", None)))
    assert about(store, "task") == ["0", "1", "2", "3", "4"]
    assert about(store, "task", after=NOON, until=NOON + 3) == ["1", "2", "3"]
    assert about(store, "task", limit=2) == ["0", "1"]
    assert about(store, "task", tenant_id="other") == []


def about(store: Store, kind: str, **more: Any) -> list[str]:
    values: dict[str, Any] = {"tenant_id": TENANT, "after": None, "until": NOON + 9 * HOUR, "limit": 9}
    values |= more
    tenant_id = values.pop("tenant_id")
    found = store.schedule.pending_about(tenant_id, ItemSubject(kind, "x"), **values)
    return [each.title for each in found]


def test_nothing_is_taken_of_one_whose_memory_is_being_erased(store: Store) -> None:
    theirs, of_another = item("theirs"), item("other", created_by="user:bob", updated_by="user:bob")
    for each in (theirs, of_another):
        store.schedule.create(each)
    place = ErasedPlace("erasure_1", (ALICE,), (), ("user:alice",))
    begun: dict[str, Any] = {"requested_by": "user:alice", "audit_note": "case 7", "started_at": NOON}
    store.erasures.begin(ErasureJob(tenant_id=TENANT, id="erasure_1", scope=ALICE, place=place, **begun))
    for change in (
        lambda: store.schedule.create(item("new")),
        lambda: store.schedule.replace(replace(theirs, version=2), expected_version=1),
        lambda: store.schedule.replace(
            replace(of_another, version=2, updated_by="user:alice"), expected_version=1
        ),
    ):
        with pytest.raises(Conflict, match="ERASURE_RUNNING"):
            change()
    store.schedule.create(item("elsewhere", tenant_id="other"))
    store.schedule.replace(replace(of_another, version=2), expected_version=1)
    assert listed(store) == ["other", "theirs"]
