"""What every engine promises of the ends of jobs, which land whole, of cancelled events and of a reset."""

from __future__ import annotations

from dataclasses import replace

import pytest

from given import (
    ALICE,
    NOON,
    TENANT,
    ManualClock,
    append,
    belief,
    claim,
    fact,
    finish_all,
    found_by,
    support,
    text_row,
    vector_row,
)
from lamina.kernel.events import Context, Event, Stage
from lamina.kernel.records import Entity, Mention
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.store.ports.jobs import Job
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import EventOffset, Writes


def events_of(jobs: list[Job]) -> list[Event]:
    return [job.event for job in jobs]


def drop(job: Job) -> tuple[Job, Writes]:
    return job, Writes()


# ---- finishing


def test_an_end_lands_all_that_was_derived(store: Store) -> None:
    [event] = append(store, "a")
    made = fact()
    edge = support(made.id, event.id)
    entity = Entity(tenant_id=TENANT, id="ent_1", normalised_name="alice", type="person")
    mention = Mention(
        tenant_id=TENANT, entity_id="ent_1", scope=ALICE, event_id=event.id, position=1, surface="Al"
    )
    writes = Writes(
        records=[made],
        supports=[edge],
        entities=[entity],
        mentions=[mention],
        texts=[text_row(made.id, "lisbon")],
        vectors=[vector_row(made.id)],
        lifecycle=[
            LifecycleDraft(
                tenant_id=TENANT, name="extracted", scope=ALICE, payload={"facts": 1}, event_id=event.id
            )
        ],
    )
    store.jobs.finish([(claim(store)[0], writes)])
    assert store.records.get(TENANT, [made.id]) == {made.id: made}
    assert store.records.supports_of(TENANT, [made.id]) == {made.id: [edge]}
    assert store.records.entities(TENANT, ["alice"]) == {"alice": entity}
    assert store.records.mentions(TENANT, ["ent_1"], [ALICE], 5) == [mention]
    assert found_by(store, "lisbon") == [made.id]
    [(row, name, _)] = store.index.vectors_after(TENANT, ALICE, "m", 0, 5)
    assert (name, store.index.tokens(TENANT, [row])) == (made.id, {row: vector_row(made.id).tokens})
    rows = store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=event.id))
    assert [(row.number, row.name) for row in rows] == [(1, "captured"), (2, "extracted")]


def test_an_end_lands_whole_or_not_at_all(store: Store) -> None:
    events = append(store, "a", "b")
    jobs = claim(store)
    unstorable = LifecycleDraft(tenant_id=TENANT, name="x", scope=ALICE, payload={"x": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        store.jobs.finish([(jobs[0], Writes(records=[fact()])), (jobs[1], Writes(lifecycle=[unstorable]))])
    assert list(store.snapshot()) == []
    assert [store.jobs.of_event(TENANT, event.id)[0].state for event in events] == ["running", "running"]


def test_a_job_cancelled_meanwhile_lands_nothing_of_its_own_and_nothing_built_on_it(store: Store) -> None:
    _before, gone, _behind = append(store, "a", "b", "c")
    jobs = claim(store)
    store.log.cancel(TENANT, gone.id)
    results = [(job, Writes(records=[fact(job.event.id)])) for job in jobs]
    assert store.jobs.finish(results) == 2
    assert [values[1] for _, values in store.snapshot()] == [fact(jobs[0].event.id).id]
    assert store.jobs.finish(results[2:]) == 1
    assert len(list(store.snapshot())) == 2


def test_finishing_twice_lands_once(store: Store) -> None:
    [event] = append(store, "a")
    [job] = claim(store)
    row = LifecycleDraft(tenant_id=TENANT, name="extracted", scope=ALICE, payload={}, event_id=event.id)
    for _ in range(2):
        store.jobs.finish([(job, Writes(lifecycle=[row]))])
    assert store.lifecycle.last_sequence(TENANT) == 2
    assert [state.stage for state in store.jobs.of_event(TENANT, event.id)] == [Stage.INDEXED]


def test_a_job_that_failed_for_good_can_no_longer_end(store: Store) -> None:
    [event] = append(store, "a")
    [job] = claim(store)
    store.jobs.fail(job, "boom", retry_at=None)
    store.jobs.finish([(job, Writes(records=[fact()]))])
    assert list(store.snapshot()) == []
    assert store.jobs.of_event(TENANT, event.id)[0].state == "failed"


# ---- cancelling what was derived


def test_what_rests_on_a_cancelled_event_alone_leaves_recall_however_far_away(store: Store) -> None:
    gone, kept = append(store, "a", "b")
    jobs = claim(store)
    near, far, shared = fact("near"), belief("far"), fact("shared")
    rows = [text_row(record.id, "word") for record in (near, far, shared)]
    edges = [
        support(near.id, gone.id),
        support(far.id, near.id),
        support(shared.id, near.id),
        support(shared.id, kept.id),
    ]
    writes = Writes(records=[near, far, shared], supports=edges, texts=[*rows, text_row(gone.id, "word")])
    store.jobs.finish([(jobs[0], writes), drop(jobs[1])])
    changes = store.index.changes(TENANT, ALICE)
    store.log.cancel(TENANT, gone.id)
    found = store.records.get(TENANT, [near.id, far.id, shared.id])
    assert [found[record.id].excluded for record in (near, far, shared)] == [True, True, False]
    assert [row.record_id for row in store.index.texts_after(TENANT, ALICE, 0, 10)] == [shared.id]
    assert found_by(store, "word") == [shared.id]
    assert store.index.changes(TENANT, ALICE) > changes


def test_what_two_events_support_leaves_with_the_second(store: Store) -> None:
    one, two = append(store, "a", "b")
    made = fact()
    jobs = claim(store)
    edges = [support(made.id, one.id), support(made.id, two.id)]
    store.jobs.finish([(jobs[0], Writes(records=[made], supports=edges)), drop(jobs[1])])
    store.log.cancel(TENANT, one.id)
    assert not store.records.get(TENANT, [made.id])[made.id].excluded
    store.log.cancel(TENANT, two.id)
    assert store.records.get(TENANT, [made.id])[made.id].excluded


def test_what_gains_a_living_support_comes_back_with_what_rests_on_it(store: Store) -> None:
    gone, late = append(store, "a", "b")
    near, far = fact("near"), belief("far")
    jobs = claim(store)
    edges = [support(near.id, gone.id), support(far.id, near.id)]
    rows = [text_row(near.id, "word"), text_row(far.id, "word")]
    store.jobs.finish([(jobs[0], Writes(records=[near, far], supports=edges, texts=rows))])
    store.log.cancel(TENANT, gone.id)
    changes = store.index.changes(TENANT, ALICE)
    store.jobs.finish([(jobs[1], Writes(supports=[support(near.id, late.id)]))])
    assert not any(record.excluded for record in store.records.get(TENANT, [near.id, far.id]).values())
    assert len(found_by(store, "word")) == 2
    assert store.index.changes(TENANT, ALICE) > changes


def test_what_gains_only_a_cancelled_support_stays_out(store: Store) -> None:
    gone, _late = append(store, "a", "b")
    one, two = fact("one"), fact("two")
    jobs = claim(store)
    edges = [support(one.id, gone.id), support(two.id, gone.id)]
    store.jobs.finish([(jobs[0], Writes(records=[one, two], supports=edges))])
    store.log.cancel(TENANT, gone.id)
    store.jobs.finish([(jobs[1], Writes(supports=[support(one.id, two.id), edges[1]]))])
    assert all(record.excluded for record in store.records.get(TENANT, [one.id, two.id]).values())


def test_a_ring_of_supports_is_walked_once(store: Store) -> None:
    [event] = append(store, "a")
    one, two = fact("one"), fact("two")
    edges = [support(one.id, event.id), support(two.id, one.id), support(one.id, two.id)]
    store.jobs.finish([(claim(store)[0], Writes(records=[one, two], supports=edges))])
    store.log.cancel(TENANT, event.id)
    assert all(record.excluded for record in store.records.get(TENANT, [one.id, two.id]).values())


def test_cancelling_reaches_no_other_tenant(store: Store) -> None:
    [ours] = append(store, "a")
    append(store, "a", tenant_id="other")
    made = fact(tenant_id="other")
    jobs = claim(store)
    writes = Writes(records=[made], supports=[support(made.id, ours.id, tenant_id="other")])
    store.jobs.finish([drop(jobs[0]), (jobs[1], writes)])
    store.log.cancel(TENANT, ours.id)
    assert not store.records.get("other", [made.id])[made.id].excluded


# ---- starting over


def test_a_reset_drops_what_was_derived_and_queues_every_event_anew(store: Store) -> None:
    events = append(store, "a", "b", "c")
    writes = Writes(records=[fact()], texts=[text_row(fact().id, "word")], vectors=[vector_row(fact().id)])
    jobs = claim(store)
    store.jobs.finish([(jobs[0], writes)])
    store.jobs.fail(jobs[1], "boom", retry_at=None)
    changes = store.index.changes(TENANT, ALICE)
    assert store.jobs.reset() == 3
    assert list(store.snapshot()) == []
    assert found_by(store, "word") == []
    assert store.index.changes(TENANT, ALICE) != changes
    assert events_of(claim(store)) == events
    assert store.lifecycle.last_sequence(TENANT) == 3


def test_a_reset_leaves_out_what_was_cancelled_before_its_first_stage(store: Store) -> None:
    gone, kept = append(store, "a", "b")
    store.log.cancel(TENANT, gone.id)
    assert store.jobs.reset() == 1
    assert events_of(claim(store)) == [kept]


def test_after_a_reset_a_cancelled_event_goes_no_further_than_it_had_come(store: Store) -> None:
    [event] = append(store, "a")
    finish_all(store)
    store.log.cancel(TENANT, event.id)
    store.jobs.reset()
    finish_all(store)
    assert store.jobs.of_event(TENANT, event.id) == []


def test_after_a_replay_what_rests_on_cancelled_events_goes_again(store: Store) -> None:
    [event] = append(store, "a")
    writes = Writes(
        records=[fact()], supports=[support(fact().id, event.id)], texts=[text_row(fact().id, "w")]
    )
    store.jobs.finish([(claim(store)[0], writes)])
    store.log.cancel(TENANT, event.id)
    before = list(store.snapshot())
    store.jobs.reset()
    store.jobs.finish([(claim(store)[0], writes)])
    assert list(store.snapshot()) == before, "a replay may end here, and others read while it goes on"
    assert found_by(store, "w") == []


def test_what_speaks_against_a_claim_of_a_cancelled_event_does_not_bring_it_back(store: Store) -> None:
    said, denied = append(store, "a", "b")
    first, second = claim(store)
    told, denial = fact(), fact("denial")
    held = [support(told.id, said.id), support(belief().id, told.id)]
    store.jobs.finish([(first, Writes(records=[told, belief()], supports=held))])
    store.log.cancel(TENANT, said.id)
    against = [support(denial.id, denied.id), support(belief().id, denial.id, polarity="against")]
    store.jobs.finish([(second, Writes(records=[denial], supports=against))])
    assert store.records.get(TENANT, [belief().id])[belief().id].excluded
    assert not store.records.get(TENANT, [denial.id])[denial.id].excluded


def test_index_rows_after_a_reset_have_numbers_never_used_before(store: Store) -> None:
    append(store, "a")
    writes = Writes(texts=[text_row("fact_1", "w")])
    store.jobs.finish([(claim(store)[0], writes)])
    [before] = store.index.texts_after(TENANT, ALICE, 0, 5)
    store.jobs.reset()
    store.jobs.finish([(claim(store)[0], writes)])
    assert [
        row._replace(row=before.row) for row in store.index.texts_after(TENANT, ALICE, before.row, 5)
    ] == [before]


def test_lifecycle_rows_of_ends_keep_counting_per_event(store: Store, clock: ManualClock) -> None:
    one, two = append(store, "a", "b", scope=Scope("org:x"))

    def row(event: Event, name: str) -> LifecycleDraft:
        return LifecycleDraft(tenant_id=TENANT, name=name, scope=event.scope, payload={}, event_id=event.id)

    jobs = claim(store)
    clock.at -= SECOND_US
    store.jobs.finish(
        [
            (jobs[0], Writes(lifecycle=[row(one, "x"), row(two, "x"), row(one, "y")])),
            (jobs[1], Writes(lifecycle=[row(two, "y")])),
        ]
    )
    for event in (one, two):
        rows = store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=event.id))
        assert [(row.number, row.name) for row in rows] == [(1, "captured"), (2, "x"), (3, "y")]
    arrived = [row.arrived_at for row in store.lifecycle.query(LifecycleQuery(tenant_id=TENANT))]
    assert arrived == sorted(set(arrived))


def test_the_clock_that_an_event_was_read_by_lands_with_it_once_and_outlives_a_replay(store: Store) -> None:
    unsent, sent = (
        append(store, "one"),
        append(store, "two", context=Context(observed_at=NOON, observed_offset=0)),
    )
    for offset in (330, -480):
        jobs = claim(store)
        store.jobs.finish(
            [(job, Writes(offsets=[EventOffset(TENANT, job.event.id, offset)])) for job in jobs]
        )
        assert [job.event.offset for job in claim(store, Stage.INDEXED)] == [330, 0]
        assert store.log.get(TENANT, [unsent[0].id, sent[0].id]) == {
            unsent[0].id: replace(unsent[0], zone_offset=330),
            sent[0].id: sent[0],
        }
        store.jobs.reset()
    assert [job.event.offset for job in claim(store)] == [330, 0]


def test_the_clock_of_a_job_that_is_gone_does_not_land(store: Store) -> None:
    (event,) = append(store, "one")
    (job,) = claim(store)
    store.jobs.finish([drop(job)])
    store.jobs.finish([(job, Writes(offsets=[EventOffset(TENANT, event.id, 330)]))])
    assert store.log.get(TENANT, [event.id]) == {event.id: event}
