"""What every engine promises about erasures as they are planned and carried out, and about what is counted for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from given import (
    ALICE,
    BOB,
    NOON,
    TENANT,
    ManualClock,
    append,
    audit_draft,
    belief,
    fact,
    finish_all,
    land,
    support,
)
from lamina import limits
from lamina.errors import Conflict
from lamina.kernel.events import Origin, Party, Trust
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.store.ports.citations import Citation
from lamina.store.ports.erasures import (
    ErasedPlace,
    ErasureFigures,
    ErasureJob,
    ErasureLine,
    ErasureOutcome,
    ErasurePhase,
    LineKind,
    Preview,
    TouchedScope,
)
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes

LAUNCH = Scope("ws:launch")
BELOW = Scope(f"{ALICE}/agent:kim")
BESIDE = Scope("org:acme/user:alice2")
PERSON = ("user:alice",)


def preview(id_: str = "ervw_1", **more: Any) -> Preview:
    values = {"tenant_id": TENANT, "scope": ALICE, "made_by": "user:alice", "made_at": NOON}
    figures = ErasureFigures(
        events=3, delete=2, redact=1, touched=(TouchedScope(LAUNCH, 1, ("user:bob",), False),)
    )
    return Preview(**{**values, "expires_at": NOON + SECOND_US, "figures": figures, **more}, id=id_)


def job(id_: str = "erasure_1", scope: Scope = ALICE, **more: Any) -> ErasureJob:
    place = ErasedPlace(id_, (scope,), (), PERSON if scope == ALICE else ())
    values = {"tenant_id": TENANT, "scope": scope, "place": place, "requested_by": "user:alice"}
    return ErasureJob(**{**values, "audit_note": "case 7", "started_at": NOON, **more}, id=id_)


def line(kind: LineKind, id_: str, scope: Scope = ALICE, record_id: str = "") -> ErasureLine:
    return ErasureLine(kind, id_, scope, record_id)


def taken(store: Store, **more: Any) -> ErasureJob | None:
    return store.erasures.claim(**{"now": NOON, "lease_until": NOON + 60 * SECOND_US, "owner": "w", **more})


# ---- counting


def test_the_events_of_a_scope_are_those_below_it_too(store: Store) -> None:
    ids = [append(store, "x", scope=scope)[0].id for scope in (ALICE, BESIDE, BELOW, BOB, ALICE)]
    assert [each.id for each in store.citations.within(TENANT, ALICE)] == [ids[0], ids[2], ids[4]]
    assert [each.position for each in store.citations.within(TENANT, ALICE)] == [1, 3, 5]
    assert store.citations.within("other", ALICE) == []


def test_authors_are_those_who_sent_and_those_who_speak_but_not_in_entries_and_documents(
    store: Store,
) -> None:
    sent, spoken, other = (
        append(store, "x", scope=LAUNCH, caller="user:alice", observed_actor=Party.of("user:bob"))[0],
        append(store, "x", scope=LAUNCH)[0],
        append(store, "x", scope=LAUNCH, observed_actor=Party.of("user:bob"))[0],
    )
    append(store, "x", scope=LAUNCH, origin=Origin("user:alice", "documents", Trust.EXTERNAL))
    finish_all(store)
    store.log.cancel(TENANT, spoken.id)
    assert [each.id for each in store.citations.authored(TENANT, PERSON)] == [sent.id, spoken.id]
    assert [each.id for each in store.citations.authored(TENANT, ["user:bob"])] == [sent.id, other.id]


def test_what_rests_on_events_is_followed_through_any_number_of_records(store: Store) -> None:
    one, two = append(store, "x", "y", scope=ALICE)
    stated, held = fact(event_id=one.id), belief(scope=LAUNCH)
    far = belief("far", scope=BOB)
    supports = [
        support(stated.id, one.id),
        support(held.id, stated.id),
        support(far.id, held.id, polarity="against"),
        support(far.id, two.id),
    ]
    land(store, Writes(records=[stated, held, far], supports=supports), scope=BOB)
    assert store.citations.above(TENANT, [one.id]) == sorted(
        [
            Citation(stated.id, ALICE, one.id, "supports"),
            Citation(held.id, LAUNCH, stated.id, "supports"),
            Citation(far.id, BOB, held.id, "against"),
            Citation(far.id, BOB, two.id, "supports"),
        ]
    )
    assert store.citations.above(TENANT, []) == []
    assert store.citations.records_within(TENANT, ALICE) == {Layer.FACTS: [(stated.id, ALICE)]}


# ---- plans


def test_a_plan_is_found_by_its_id_and_its_lines_in_pages(store: Store) -> None:
    lines = [
        line(LineKind.DEMOTE, "belief_1", LAUNCH),
        line(LineKind.DELETE, "evt_2"),
        line(LineKind.DELETE, "evt_1"),
        line(LineKind.REFERENCE, "evt_3", LAUNCH, "belief_1"),
        line(LineKind.REDACT, "evt_3"),
    ]
    store.erasures.put_preview(preview(), lines)
    assert store.erasures.preview(TENANT, "ervw_1") == preview()
    assert store.erasures.preview("other", "ervw_1") is None
    first = store.erasures.lines(TENANT, "ervw_1", limit=2)
    rest = store.erasures.lines(TENANT, "ervw_1", after=first[-1], limit=10)
    assert first + rest == sorted(lines)
    assert store.erasures.ids(TENANT, "ervw_1", LineKind.DELETE) == ["evt_1", "evt_2"]
    store.erasures.put_lines(TENANT, "ervw_1", lines[:1])
    assert store.erasures.lines(TENANT, "ervw_1", limit=10) == lines[:1]


def test_what_expired_loses_its_lines_and_later_itself(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ERASURE_LINES_AT_ONCE", 2)
    expires_at, lines = preview().expires_at, [line(LineKind.DELETE, f"evt_{n}") for n in range(5)]
    store.erasures.put_preview(preview(), lines)
    store.erasures.put_lines(TENANT, "erasure_1", lines)
    store.erasures.prune(expires_at - 1)
    assert store.erasures.lines(TENANT, "ervw_1", limit=10) == lines
    store.erasures.prune(expires_at)
    assert store.erasures.lines(TENANT, "ervw_1", limit=10) == []
    assert store.erasures.lines(TENANT, "erasure_1", limit=10) == lines
    assert store.erasures.preview(TENANT, "ervw_1") == preview()
    store.erasures.prune(expires_at + int(limits.PREVIEW_REMEMBERED_S * SECOND_US) + 1)
    assert store.erasures.preview(TENANT, "ervw_1") is None


# ---- jobs


def test_an_erasure_hides_its_place_until_it_ends(store: Store) -> None:
    version = store.registry.version()
    store.erasures.begin(job())
    assert store.erasures.get(TENANT, "erasure_1") == job()
    assert store.erasures.places(TENANT) == [job().place]
    assert store.registry.version() > version
    held = taken(store)
    assert held is not None
    done = replace(
        held, status="completed", ended_at=NOON + 5, outcome=ErasureOutcome(deleted_events=4, took_us=8)
    )
    told = LifecycleDraft(
        tenant_id=TENANT, name="erasure_complete", scope=ALICE, payload={}, job_id="erasure_1"
    )
    version = store.registry.version()
    assert store.erasures.end(done, told=[told], audit=audit_draft())
    assert store.erasures.places(TENANT) == []
    assert store.registry.version() > version
    assert [
        row.name for row in store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, job_id="erasure_1"))
    ] == ["erasure_complete"]
    store.audit.flush()
    assert len(store.audit.walk(TENANT, 0, 10)) == 1
    assert store.erasures.pace() == (4, 8)
    assert not store.erasures.end(done)


def test_the_names_of_a_manifest_leave_the_files_too(store: Store, tmp_path: Path) -> None:
    store.erasures.begin(job())
    held = taken(store)
    assert held is not None
    store.erasures.put_lines(TENANT, held.id, [line(LineKind.DOCUMENT, "memory/canary.md")])
    store.traces.scrub()  # as an erasure does before it ends
    store.erasures.end(replace(held, status="completed", ended_at=NOON + 5))
    while store.traces.scrub_due():
        store.traces.scrub()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if b"canary.md" in path.read_bytes()] == []


@pytest.mark.parametrize("other", [ALICE, BELOW, Scope("org:acme")])
def test_two_erasures_have_nothing_in_common(store: Store, other: Scope) -> None:
    store.erasures.begin(job())
    with pytest.raises(Conflict, match="ERASURE_RUNNING"):
        store.erasures.begin(job("erasure_2", other))
    store.erasures.begin(job("erasure_3", BOB))
    store.erasures.begin(job("erasure_4", ALICE, tenant_id="other"))
    assert [each.id for each in store.erasures.listed(TENANT, limit=10)] == ["erasure_3", "erasure_1"]
    assert [each.id for each in store.erasures.listed(TENANT, before="erasure_3", limit=10)] == ["erasure_1"]


def test_nothing_new_is_taken_of_what_is_being_erased(store: Store) -> None:
    event = append(store, "x")[0]
    store.erasures.begin(job(place=ErasedPlace("erasure_1", (ALICE,), (BELOW,), PERSON)))
    for more in (
        {},
        {"scope": LAUNCH},
        {"scope": LAUNCH, "caller": "user:alice", "observed_actor": Party.of("user:bob")},
    ):
        with pytest.raises(Conflict, match="ERASURE_RUNNING"):
            append(store, "new", **more)
    with pytest.raises(Conflict, match="ERASURE_RUNNING"):
        store.log.cancel(TENANT, event.id)
    append(store, "held", scope=BELOW)
    append(store, "of another", scope=BESIDE, observed_actor=Party.of("user:bob"))
    append(store, "elsewhere", tenant_id="other")


def test_one_worker_at_a_time_has_it(store: Store) -> None:
    assert taken(store) is None
    store.erasures.begin(job())
    first = taken(store)
    assert first is not None
    assert taken(store) is None
    second = taken(store, now=NOON + 61 * SECOND_US, owner="w2", lease_until=NOON + 121 * SECOND_US)
    assert second is not None
    assert second.fence > first.fence
    assert store.erasures.advance(first, lease_until=NOON) is None
    assert not store.erasures.end(replace(first, status="completed"))
    told = LifecycleDraft(
        tenant_id=TENANT, name="erasure_progress", scope=ALICE, payload={}, job_id="erasure_1"
    )
    further = replace(
        second, phase=ErasurePhase.DELETE, fraction=0.5, outcome=ErasureOutcome(deleted_events=2)
    )
    kept = store.erasures.advance(further, lease_until=NOON + 200 * SECOND_US, told=[told])
    assert kept == replace(further, lease_until=NOON + 200 * SECOND_US)
    assert store.erasures.take_over() == 1
    third = taken(store)
    assert third is not None
    assert (third.phase, third.outcome.deleted_events) == (ErasurePhase.DELETE, 2)


def test_a_failure_of_a_clock_ahead_does_not_wait_for_that_time(store: Store) -> None:
    store.erasures.begin(job())
    held = taken(store)
    assert held is not None
    store.erasures.put_off(held, "no disk", retry_at=NOON + 366 * 86_400 * SECOND_US)
    assert taken(store) is not None


def test_a_failure_waits_and_a_wish_to_stop_is_seen(store: Store, clock: ManualClock) -> None:
    store.erasures.begin(job())
    held = taken(store)
    assert held is not None
    store.erasures.put_off(held, "no disk", retry_at=NOON + SECOND_US)
    assert taken(store) is None
    later = taken(store, now=NOON + SECOND_US)
    assert later is not None
    assert (later.attempts, later.last_error) == (1, "no disk")
    asked = store.erasures.cancel(TENANT, "erasure_1")
    assert asked is not None
    assert asked.cancelling
    kept = store.erasures.advance(later, lease_until=NOON + 90 * SECOND_US)
    assert kept is not None
    assert kept.cancelling
    assert (kept.attempts, kept.last_error) == (0, None)
    assert store.erasures.cancel(TENANT, "erasure_9") is None
