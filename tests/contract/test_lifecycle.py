"""What every engine promises those who watch."""

from __future__ import annotations

from dataclasses import replace

from given import ALICE, BOB, NOON, TENANT, ManualClock, append, claim
from lamina.kernel.scopes import Scope
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes

ALL = LifecycleQuery(tenant_id=TENANT)


def note(store: Store, *drafts: LifecycleDraft) -> None:
    append(store, "carrier", tenant_id="carrier")
    [job] = [job for job in claim(store) if job.event.tenant_id == "carrier"]
    store.jobs.finish([(job, Writes(lifecycle=list(drafts)))])


def test_rows_come_in_order_of_arrival_and_page_by_sequence(store: Store) -> None:
    events = append(store, *"abcd")
    first = store.lifecycle.query(replace(ALL, limit=2))
    rest = store.lifecycle.query(replace(ALL, after=first[-1].sequence))
    assert [row.event_id for row in first + rest] == [event.id for event in events]
    assert store.lifecycle.last_sequence(TENANT) == rest[-1].sequence


def test_nothing_happened_yet(store: Store) -> None:
    assert store.lifecycle.last_sequence(TENANT) == 0
    assert store.lifecycle.query(ALL) == []
    assert store.lifecycle.get(TENANT, "lce_none") is None


def test_a_row_is_found_by_its_id_in_its_tenant(store: Store) -> None:
    append(store, "a")
    [row] = store.lifecycle.query(ALL)
    assert store.lifecycle.get(TENANT, row.id) == row
    assert store.lifecycle.get("other", row.id) is None


def test_arrival_rises_strictly_while_the_clock_goes_back(store: Store, clock: ManualClock) -> None:
    for _ in range(3):
        append(store, "a", "b")
        clock.at -= 1000
    rows = store.lifecycle.query(ALL)
    assert [row.arrived_at for row in rows] == [NOON + n for n in range(6)]
    assert [row.id for row in rows] == sorted(row.id for row in rows)


def test_no_scopes_means_no_rows_and_none_means_all(store: Store) -> None:
    [event] = append(store, "a")
    append(store, "b", scope=BOB)
    for query in (ALL, replace(ALL, event_id=event.id)):
        assert store.lifecycle.query(replace(query, scopes=[])) == []
        assert [row.scope for row in store.lifecycle.query(replace(query, scopes=[ALICE]))] == [ALICE]
    assert len(store.lifecycle.query(ALL)) == 2


def test_within_is_a_scope_and_what_lies_below_it(store: Store) -> None:
    for path in ("org:a", "org:ab", "org:a/user:x", "org:a-b", "org:a0", "org"):
        append(store, "x", scope=Scope(path))
    rows = store.lifecycle.query(replace(ALL, within=Scope("org:a")))
    assert [row.scope for row in rows] == ["org:a", "org:a/user:x"]


def test_each_filter_narrows(store: Store, clock: ManualClock) -> None:
    append(store, "a")
    clock.at += 1000
    [event] = append(store, "b", batch_id="batch_1")
    filters = [{"event_id": event.id}, {"job_id": "batch_1"}, {"arrived_from": NOON + 1000}, {"after": 1}]
    for each in filters:
        assert [row.event_id for row in store.lifecycle.query(replace(ALL, **each))] == [event.id], each
        both = replace(ALL, job_id="batch_1", **{k: v for k, v in each.items() if k != "job_id"})
        assert [row.event_id for row in store.lifecycle.query(both)] == [event.id], each
    assert store.lifecycle.query(replace(ALL, names=["extracted"])) == []
    assert store.lifecycle.query(replace(ALL, names=[])) == []
    assert len(store.lifecycle.query(replace(ALL, names=["captured", "extracted"]))) == 2


def test_rows_of_a_job_without_an_event_are_kept_too(store: Store) -> None:
    rows = [
        LifecycleDraft(tenant_id=TENANT, name=name, scope=ALICE, payload={"n": [1]}, job_id="imp_1")
        for name in ("import_started", "import_done")
    ]
    note(store, *rows)
    found = store.lifecycle.query(replace(ALL, job_id="imp_1"))
    assert [(row.name, row.event_id, row.payload) for row in found] == [
        ("import_started", None, {"n": [1]}),
        ("import_done", None, {"n": [1]}),
    ]


def test_each_tenant_counts_its_own_rows(store: Store) -> None:
    append(store, "a", "b")
    append(store, "c", tenant_id="other")
    append(store, "d")
    theirs = replace(ALL, tenant_id="other")
    assert [row.sequence for row in store.lifecycle.query(ALL)] == [1, 2, 3]
    assert [row.sequence for row in store.lifecycle.query(theirs)] == [1]
    assert [store.lifecycle.last_sequence(tenant) for tenant in (TENANT, "other", "nobody")] == [3, 1, 0]
    assert [row.sequence for row in store.lifecycle.query(replace(ALL, after=1, limit=1))] == [2]


def test_tenants_never_see_each_other(store: Store) -> None:
    [event] = append(store, "a")
    theirs = replace(ALL, tenant_id="other")
    assert store.lifecycle.query(theirs) == []
    assert store.lifecycle.query(replace(theirs, event_id=event.id)) == []
