"""What both engines answer of what is past its time to live."""

from __future__ import annotations

from typing import Any

import pytest

from given import ALICE, BOB, NOON, STAGES, TENANT, ManualClock, append, fact, finish_all, land
from lamina.errors import Conflict
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Directives
from lamina.kernel.expiry import Expiry, expiry_of
from lamina.kernel.records import Layer
from lamina.kernel.time import SECOND_US
from lamina.store.ports.erasures import ErasedPlace, ErasureJob
from lamina.store.ports.log import EventQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes

LATER = NOON + 1_000 * SECOND_US


def told(store: Store, *texts: str, **more: Any) -> list[str]:
    """Events of which every stage is done."""
    ids = [event.id for event in append(store, *texts, **more)]
    for stage in STAGES:
        finish_all(store, stage)
    return ids


def over(*ids: str, **more: Any) -> Expiry:
    return Expiry(Layer.EVENTS, ids, LATER, **{"follows": frozenset({Layer.FACTS}), **more})


def test_an_event_is_over_once_its_own_time_is(store: Store) -> None:
    short, long = (
        told(store, name, directives=Directives(event_ttl_us=seconds * SECOND_US, consolidate_into=BOB))[0]
        for name, seconds in (("short", 5), ("long", 9))
    )
    told(store, "for ever")
    assert store.expiries.due(TENANT, NOON + 5 * SECOND_US - 1, limit=9) == []
    (found,) = store.expiries.due(TENANT, NOON + 5 * SECOND_US, limit=9)
    assert (found.id, found.into, found.expires_at, found.excluded) == (
        short,
        BOB,
        NOON + 5 * SECOND_US,
        False,
    )
    assert [each.id for each in store.expiries.due(TENANT, LATER, limit=1)] == [short]
    after = (found.expires_at, found.id)
    assert [each.id for each in store.expiries.due(TENANT, LATER, after=after, limit=9)] == [long]
    assert store.expiries.due("other", LATER, limit=9) == []


def test_a_page_of_old_events_ends_at_the_first_that_is_young_or_waits(
    store: Store, clock: ManualClock
) -> None:
    first, second = told(store, "a", "b")
    told(store, "elsewhere", scope=BOB)
    store.log.cancel(TENANT, first)
    finish_all(store)
    clock.at += 10 * SECOND_US
    waits, _ = (append(store, name)[0].id for name in ("waits", "behind"))
    old = store.expiries.older(TENANT, ALICE, LATER, after=0, limit=9)
    assert [(each.id, each.excluded) for each in old[:2]] == [(first, True), (second, False)]
    assert waits not in {each.id for each in old}
    young = store.expiries.older(TENANT, ALICE, clock.at, after=0, limit=1)
    assert [each.id for each in young] == [first]
    assert store.expiries.older(TENANT, ALICE, NOON, after=0, limit=9) == []


def test_what_is_over_leaves_lists_and_stays_under_its_id(store: Store, clock: ManualClock) -> None:
    gone, stays = told(store, "a", "b")
    other = told(store, "c", scope=BOB)[0]
    (waits,) = (event.id for event in append(store, "waits"))
    clock.at += SECOND_US
    entry = store.expiries.expire(TENANT, ALICE, BOB, over(gone, other, waits, through=1))
    assert entry is not None
    said = expiry_of(entry)
    assert said == over(gone, through=1)
    assert (entry.scope, entry.directives.consolidate_into, entry.excluded) == (ALICE, BOB, True)
    listed = store.log.query(EventQuery(tenant_id=TENANT, scopes=[ALICE], ascending=True))
    assert [event.id for event in listed] == [stays, waits]
    held = store.log.get(TENANT, [gone, stays, waits])
    assert [held[key].is_expired for key in (gone, stays, waits)] == [True, False, False]
    assert held[gone].counts
    assert held[gone].content == {"kind": "text", "text": "a"}
    assert (store.expiries.through(TENANT, ALICE), store.expiries.through(TENANT, BOB)) == (1, 0)
    assert store.expiries.entries(TENANT, ALICE, after=0, limit=9) == [entry]
    assert store.expiries.entries(TENANT, ALICE, after=entry.position, limit=9) == []
    assert store.expiries.entries(TENANT, BOB, after=0, limit=9) == []
    assert store.expiries.is_waiting(TENANT, ALICE)
    assert not store.expiries.is_waiting(TENANT, BOB)
    assert store.expiries.expire(TENANT, ALICE, None, over(gone)) is None
    theirs = store.expiries.expire(TENANT, BOB, None, over(other))
    assert theirs is not None
    entered = {ALICE: entry.position, BOB: theirs.position}
    assert store.expiries.entered(TENANT, after=0) == entered
    assert store.expiries.entered(TENANT, after=entry.position) == {BOB: theirs.position}
    assert store.expiries.entered(TENANT, after=theirs.position) == store.expiries.entered("b", after=0) == {}


def test_a_record_is_renewed_by_whatever_bears_it_out(store: Store, clock: ManualClock) -> None:
    clock.at = NOON
    old = fact("old", recorded_from=NOON)
    young = fact("young", recorded_from=NOON + 5)
    land(store, Writes(records=[old, young]))
    found = store.expiries.unrenewed(TENANT, ALICE, Layer.FACTS, NOON + 4, limit=9)
    assert [each.id for each in found] == [old.id]
    found = store.expiries.unrenewed(TENANT, ALICE, Layer.FACTS, NOON + 5, limit=9)
    assert [each.id for each in found] == [old.id, young.id]
    past = store.expiries.unrenewed(TENANT, ALICE, Layer.FACTS, NOON + 5, after=found[0], limit=9)
    assert past == found[1:]
    assert store.expiries.unrenewed(TENANT, ALICE, Layer.BELIEFS, NOON + 5, limit=9) == []


def test_nothing_expires_where_an_erasure_runs(store: Store) -> None:
    (event_id,) = told(store, "a")
    place = ErasedPlace("erasure_1", (ALICE,))
    store.erasures.begin(
        ErasureJob(
            tenant_id=TENANT, id="erasure_1", scope=ALICE, place=place, requested_by="user:alice", audit_note="", started_at=NOON,
            factor=ErasureRules().factor,
        )
    )  # fmt: skip
    with pytest.raises(Conflict):
        store.expiries.expire(TENANT, ALICE, None, over(event_id))


def test_scopes_come_by_path(store: Store) -> None:
    told(store, "a", scope=BOB)
    told(store, "a")
    assert store.expiries.scopes(TENANT, limit=9) == [ALICE, BOB]
    assert store.expiries.scopes(TENANT, after=ALICE, limit=9) == [BOB]
    assert store.expiries.scopes("other", limit=9) == []
