"""What every engine promises two workers of one store: a lease has an owner and a fence, and who lost it changes nothing."""

from __future__ import annotations

from given import ALICE, BOB, NOON, TENANT, append, claim, draft
from lamina.kernel.events import Event, Stage
from lamina.kernel.time import DAY_US, SECOND_US
from lamina.store.ports.erasures import ErasedPlace, ErasureJob
from lamina.store.ports.jobs import Job
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery
from lamina.store.ports.log import Capture
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.sessions import Fold, OutboxRow
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Inquiry, Writes

LATER = NOON + 60 * SECOND_US


def job_of(store: Store, owner: str, now: int = NOON) -> Job:
    (job,) = claim(store, now=now, lease_until=now + 60 * SECOND_US, owner=owner, limit=1)
    return job


def row_of(store: Store, owner: str, now: int = NOON) -> OutboxRow:
    (row,) = store.sessions.claim(limit=1, lease_until=now + 60 * SECOND_US, now=now, owner=owner)
    return row


def asked_of(store: Store, owner: str, now: int = NOON) -> Inquiry:
    (asked,) = store.inquiries.claim(limit=1, lease_until=now + 60 * SECOND_US, now=now, owner=owner)
    return asked


def leave_a_window(store: Store) -> None:
    store.sessions.take([Capture(draft(f"turn {n}", ALICE, session="s")) for n in range(13)])


def ask_about_a_turn(store: Store) -> None:
    (event,) = append(store, "tea")
    job = next(job for job in claim(store) if job.event.id == event.id)
    store.jobs.finish([(job, Writes(inquiries=[inquiry(event)]))])


def inquiry(event: Event) -> Inquiry:
    return Inquiry(
        tenant_id=event.tenant_id,
        event_id=event.id,
        task="loops/1",
        scope=event.scope,
        position=event.position,
        created_at=event.recorded_at,
    )


def fold(row: OutboxRow, summary: str) -> Fold:
    return Fold(
        place=row.place,
        number=row.sitting,
        ids=(row.id,),
        fence=row.fence,
        summary=summary,
        bridge=None,
        at=NOON,
        sent=True,
        revision=0,
    )


def answer(to: Inquiry, input_hash: str) -> ModelOutput:
    return ModelOutput(
        tenant_id=to.tenant_id,
        input_hash=input_hash,
        task=to.task,
        model="m",
        text="yes",
        tokens_in=1,
        tokens_out=1,
        recorded_at=NOON,
    )


def test_each_lease_names_its_owner_and_a_higher_fence_than_any_before(store: Store) -> None:
    append(store, "tea")
    append(store, "milk", scope=BOB)
    first, second = job_of(store, "one"), job_of(store, "two")
    store.jobs.reset()
    third = job_of(store, "one")
    assert [job.owner for job in (first, second, third)] == ["one", "two", "one"]
    assert 0 < first.fence < second.fence < third.fence


def test_a_worker_whose_jobs_were_taken_ends_and_fails_none_of_them(store: Store) -> None:
    append(store, "tea")
    late, held = job_of(store, "one"), job_of(store, "two", LATER)
    note = LifecycleDraft(tenant_id=TENANT, name="late", scope=ALICE, payload={})
    assert store.jobs.finish([(late, Writes(lifecycle=[note]))]) == 1
    store.jobs.fail(late, "late", retry_at=None)
    (state,) = store.jobs.of_event(TENANT, held.event.id)
    assert (state.stage, state.state, state.last_error) == (Stage.EXTRACTED, "running", "lease lost")
    assert store.jobs.release("one") == 0
    assert store.jobs.finish([(held, Writes())]) == 1
    names = [row.name for row in store.lifecycle.query(LifecycleQuery(tenant_id=TENANT))]
    assert "late" not in names
    assert [job.event.id for job in claim(store, Stage.INDEXED)] == [held.event.id]


def test_a_job_that_was_given_back_and_taken_again_by_the_same_worker_has_another_fence(store: Store) -> None:
    append(store, "tea")
    late = job_of(store, "one")
    assert store.jobs.release("one") == 1
    held = job_of(store, "one")
    store.jobs.fail(late, "late", retry_at=None)
    assert store.jobs.backlog()["running"] == 1
    store.jobs.fail(held, "mine", retry_at=None)
    assert store.jobs.backlog()["failed"] == 1


def test_a_drain_whose_rows_were_taken_folds_sends_and_frees_none_of_them(store: Store) -> None:
    leave_a_window(store)
    late, held = row_of(store, "one"), row_of(store, "two", LATER)
    assert (late.id, late.lease_owner, held.lease_owner) == (held.id, "one", "two")
    assert not store.sessions.fold(fold(late, "late"))
    store.sessions.sent([late], NOON)
    store.sessions.put_off(late, "late", retry_at=None, failed=True)
    store.sessions.release([late])
    assert store.sessions.outbox(TENANT, None, 9) == [held]
    assert store.sessions.fold(fold(held, "mine"))
    assert store.sessions.outbox(TENANT, None, 9) == []


def test_an_inquirer_whose_question_was_taken_answers_drops_and_frees_none(store: Store) -> None:
    ask_about_a_turn(store)
    late, held = asked_of(store, "one"), asked_of(store, "two", LATER)
    assert (late.id, late.lease_owner, held.lease_owner) == (held.id, "one", "two")
    assert not store.inquiries.answer(late, answer(late, "sha256:late"), [late.event_id])
    assert store.model_outputs.find(TENANT, "sha256:late") is None
    store.inquiries.drop(late)
    store.inquiries.put_off(late, "late", retry_at=None)
    store.inquiries.release([late])
    assert store.inquiries.unsettled(TENANT, None, 9) == [held]
    assert store.inquiries.answer(held, answer(held, "sha256:mine"), [held.event_id])


def test_who_is_alone_takes_over_what_the_dead_had_and_they_change_nothing_any_more(store: Store) -> None:
    leave_a_window(store)
    ask_about_a_turn(store)
    dead = row_of(store, "dead"), asked_of(store, "dead")
    assert (store.sessions.take_over(), store.inquiries.take_over()) == (1, 1)
    store.sessions.sent([dead[0]], NOON)
    store.inquiries.drop(dead[1])
    assert row_of(store, "one").fence > dead[0].fence
    assert asked_of(store, "one").fence > dead[1].fence


def test_what_was_leased_by_a_clock_years_ahead_is_free_once_the_clock_is_right(store: Store) -> None:
    """Who held it died. A running erasure would have kept its memory from everybody for as long."""
    ahead = NOON + 4000 * DAY_US
    append(store, "tea", scope=BOB)
    job_of(store, "one", ahead)
    assert job_of(store, "two").attempts == 1, "a lost lease is an attempt"
    leave_a_window(store)
    row_of(store, "one", ahead)
    assert row_of(store, "two").lease_owner == "two"
    place = ErasedPlace("erasure_1", (BOB,), (), ())
    store.erasures.begin(
        ErasureJob(
            tenant_id=TENANT, id="erasure_1", scope=BOB, place=place, requested_by="user:bob", audit_note="",
            started_at=NOON,
        )
    )  # fmt: skip
    assert erasure_of(store, "one", ahead).lease_owner == "one"
    assert erasure_of(store, "two", NOON).lease_owner == "two"


def test_an_inquiry_that_was_leased_by_a_clock_years_ahead_is_free_once_the_clock_is_right(
    store: Store,
) -> None:
    ask_about_a_turn(store)
    asked_of(store, "one", NOON + 4000 * DAY_US)
    assert asked_of(store, "two").lease_owner == "two"


def erasure_of(store: Store, owner: str, now: int) -> ErasureJob:
    held = store.erasures.claim(now=now, lease_until=now + 60 * SECOND_US, owner=owner)
    assert held is not None
    return held
