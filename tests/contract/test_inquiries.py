"""What every engine promises about inquiries: asked once, one after the other in a scope, and applied once."""

from __future__ import annotations

from typing import Any

import pytest

from given import ALICE, BOB, NOON, TENANT, append, claim, fact, finish_all
from lamina import limits
from lamina.kernel.events import Event, ReadAnew, Stage
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, WAIT_US_MAX
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.inquiries import Ready
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.store import Store
from lamina.store.ports.traces import ErasedBeside
from lamina.store.ports.writes import Inquiry, Writes
from lamina.store.rules.log import reading_of

LEASE = NOON + 60 * SECOND_US


def inquiry(event: Event) -> Inquiry:
    return Inquiry(
        tenant_id=event.tenant_id,
        event_id=event.id,
        task="loops/1",
        scope=event.scope,
        position=event.position,
        created_at=event.recorded_at,
    )


def asked(store: Store, text: str = "tea", **more: Any) -> Event:
    """An event that was extracted, and is asked about."""
    (event,) = append(store, text, **more)
    jobs = [job for job in claim(store) if job.event.id == event.id]
    store.jobs.finish([(job, Writes(inquiries=[inquiry(event)])) for job in jobs])
    store.jobs.release("worker")
    return event


def take(store: Store, now: int = NOON, limit: int = 9, owner: str = "one") -> list[Inquiry]:
    return store.inquiries.claim(limit=limit, lease_until=now + 60 * SECOND_US, now=now, owner=owner)


def answer(of: Inquiry, text: str = "yes", **more: Any) -> ModelOutput:
    given = {"tenant_id": of.tenant_id, "input_hash": f"sha256:{of.event_id}", "task": of.task, "model": "m"}
    return ModelOutput(
        **{**given, "text": text, "tokens_in": 1, "tokens_out": 2, "recorded_at": NOON, **more}
    )


def answered(store: Store, **more: Any) -> Inquiry:
    asked(store, **more)
    (held,) = take(store)
    assert store.inquiries.answer(held, answer(held), [held.event_id])
    return held


def states(store: Store) -> dict[str, int]:
    return {state: count for state, count in store.inquiries.counts().items() if count}


def test_what_a_stage_wants_asked_lands_with_its_job_and_is_asked_once(store: Store) -> None:
    event = asked(store)
    (job,) = claim(store, Stage.INDEXED)
    store.jobs.finish([(job, Writes(inquiries=[inquiry(event)]))])
    (held,) = store.inquiries.unsettled(TENANT, None, 9)
    assert (held.event_id, held.scope, held.position, held.state) == (event.id, ALICE, 1, "pending")
    assert store.jobs.finish([(job, Writes(inquiries=[inquiry(append(store, "late")[0])]))]) == 1
    assert states(store) == {"pending": 1}


def test_in_a_scope_one_is_asked_after_the_other_and_scopes_do_not_wait(store: Store) -> None:
    first, _, third = (asked(store, scope=scope) for scope in (ALICE, ALICE, BOB))
    other = asked(store, tenant_id="other")
    assert [held.event_id for held in take(store)] == [first.id, other.id, third.id]
    assert take(store) == []
    assert [held.event_id for held in take(store, LEASE, limit=1)] == [first.id]


def test_tenants_take_turns_however_much_one_of_them_asks(store: Store) -> None:
    for scope in (ALICE, BOB, Scope("org:acme/user:carol")):
        asked(store, scope=scope)
    asked(store, tenant_id="beta")
    served: list[str] = []
    for _ in range(4):
        (held,) = store.inquiries.claim(
            limit=1, lease_until=LEASE, now=NOON, owner="one", behind=served[-1] if served else ""
        )
        served.append(held.tenant_id)
    assert served == [TENANT, "beta", TENANT, TENANT]


def test_who_could_not_be_asked_waits_without_an_attempt(store: Store) -> None:
    asked(store)
    (late,) = take(store)
    (held,) = take(store, LEASE, owner="two")
    store.inquiries.defer(late, "late", retry_at=LEASE + 9)
    assert store.inquiries.unsettled(TENANT, None, 9) == [held]
    store.inquiries.defer(held, "MODEL_UNAVAILABLE", retry_at=LEASE + 9)
    assert take(store, LEASE + 8) == []
    (again,) = take(store, LEASE + 9)
    assert (again.attempts, again.last_error) == (0, "MODEL_UNAVAILABLE")


def test_an_answer_that_waits_to_take_effect_holds_the_next_question_back(store: Store) -> None:
    answered(store)
    second = asked(store)
    assert take(store) == []
    (ready,) = store.inquiries.ready(9)
    assert ready.after == second
    assert store.inquiries.apply(ready, NOON, Writes())
    assert [held.event_id for held in take(store)] == [second.id]


def test_an_answer_is_recorded_with_its_inquiry_or_not_at_all(store: Store) -> None:
    held = answered(store)
    output = answer(held, "no", input_hash="sha256:again")
    assert not store.inquiries.answer(held, output, [held.event_id])
    assert store.model_outputs.find(TENANT, "sha256:again") is None
    assert store.model_outputs.find(TENANT, f"sha256:{held.event_id}") == answer(held)
    assert store.model_outputs.forget(TENANT, [held.event_id]) == 1


def redact(store: Store, event: Event) -> None:
    store.erasing.erase(
        Erasure(
            tenant_id=TENANT,
            erasure_id="erasure_1",
            by_actor="user:root",
            cascade="redact_events",
            redact=[event.id],
        )
    )


def test_an_answer_to_words_that_went_while_it_was_made_is_not_kept(store: Store) -> None:
    (before,) = append(store, "earlier")
    asked(store)
    (held,) = take(store)
    sources = [before.id, held.event_id]
    assert store.model_outputs.record(answer(held), sources, held, sources) == answer(held)
    redact(store, before)
    late = answer(held, "earlier", input_hash="sha256:late")
    assert store.model_outputs.record(late, sources, held, sources) == late
    assert not store.inquiries.answer(held, late, sources, worded=sources)
    assert store.model_outputs.find(TENANT, "sha256:late") is None
    assert store.inquiries.answer(held, late, sources, worded=[held.event_id])


def test_an_answer_that_nobody_asks_for_any_more_is_not_kept(store: Store) -> None:
    asked(store)
    (held,) = take(store)
    store.inquiries.drop(held)
    assert store.model_outputs.record(answer(held), [held.event_id], held) == answer(held)
    assert store.model_outputs.find(TENANT, answer(held).input_hash) is None


def test_a_failure_is_tried_again_later_and_in_the_end_stays_visible(store: Store) -> None:
    asked(store)
    (held,) = take(store)
    store.inquiries.put_off(held, "x" * 9999, retry_at=NOON + 5)
    assert take(store, NOON + 4) == []
    (held,) = take(store, NOON + 5)
    assert (held.attempts, held.last_error) == (1, "x" * limits.JOB_ERROR_LENGTH_MAX)
    store.inquiries.put_off(held, "down", retry_at=None)
    (held,) = store.inquiries.unsettled(TENANT, Scope("org:acme"), 9)
    assert (held.state, held.attempts, held.last_error, held.lease_until) == ("failed", 2, "down", None)
    assert store.inquiries.unsettled(TENANT, Scope("org:acm"), 9) == []
    assert take(store, LEASE) == []


def test_what_a_clock_ahead_put_off_is_asked(store: Store) -> None:
    asked(store)
    (held,) = take(store)
    store.inquiries.put_off(held, "down", retry_at=NOON + 2 * WAIT_US_MAX)
    assert [each.id for each in take(store)] == [held.id]


def test_what_failed_holds_nobody_back_and_can_be_revived(store: Store) -> None:
    first, second = asked(store), asked(store)
    (held,) = take(store)
    store.inquiries.put_off(held, "400", retry_at=None)
    assert [each.event_id for each in take(store)] == [second.id]
    assert store.inquiries.revive("other", ALICE) == 0
    assert store.inquiries.revive(TENANT, Scope("org:acme")) == 1
    store.inquiries.take_over()
    assert [(each.event_id, each.attempts) for each in take(store)] == [(first.id, 0)]


def test_who_lost_its_lease_puts_nothing_off(store: Store) -> None:
    asked(store)
    (late,) = take(store)
    (held,) = take(store, LEASE)
    store.inquiries.put_off(late, "late", retry_at=None)
    assert states(store) == {"pending": 1}
    assert take(store, LEASE) == []
    store.inquiries.put_off(held, "down", retry_at=None)
    store.inquiries.revive(TENANT, ALICE)
    (again,) = take(store, LEASE + 1)
    store.inquiries.take_over()
    store.inquiries.put_off(again, "another is alone by now", retry_at=None)
    assert states(store) == {"pending": 1}


def test_what_failed_after_it_was_answered_keeps_its_answer(store: Store) -> None:
    held = answered(store)
    (ready,) = store.inquiries.ready(9)
    store.inquiries.put_off(ready.inquiry, "a bug", retry_at=None)
    assert store.inquiries.ready(9) == []
    store.inquiries.revive(TENANT, ALICE)
    assert [ready.inquiry.event_id for ready in store.inquiries.ready(9)] == [held.event_id]


def test_what_nobody_needs_is_dropped_for_good(store: Store) -> None:
    asked(store)
    second = asked(store)
    (held,) = take(store)
    store.inquiries.drop(held)
    assert states(store) == {"pending": 1, "dropped": 1}
    assert store.inquiries.revive(TENANT, ALICE) == 0
    assert [each.event_id for each in take(store)] == [second.id]


def test_an_answer_waits_until_its_scope_is_extracted(store: Store) -> None:
    held = answered(store)
    append(store, "more", scope=BOB)
    assert len(store.inquiries.ready(9)) == 1
    (late,) = append(store, "more")
    assert store.inquiries.ready(9) == []
    claim(store)
    assert store.inquiries.ready(9) == []
    store.jobs.release("worker")
    finish_all(store)
    assert store.inquiries.ready(9) == [Ready(store.inquiries.unsettled(TENANT, None, 9)[0], late)]
    assert held.position < late.position


@pytest.mark.parametrize("ended", ["failed", "cancelled"])
def test_an_event_that_was_never_extracted_is_no_place(store: Store, ended: str) -> None:
    held = answered(store)
    (late,) = append(store, "late")
    if ended == "cancelled":
        store.log.cancel(TENANT, late.id)
    else:
        (job,) = claim(store)
        store.jobs.fail(job, "bug", retry_at=None)
    (ready,) = store.inquiries.ready(9)
    assert ready.after.id == held.event_id


def test_an_answer_takes_effect_once_with_all_that_it_changes(store: Store) -> None:
    answered(store)
    (ready,) = store.inquiries.ready(9)
    assert store.inquiries.apply(ready, NOON + 1, Writes(records=[fact()]))
    assert store.records.versions(TENANT, fact().id) == [fact()]
    assert not store.inquiries.apply(ready, NOON + 1, Writes(records=[fact("else")]))
    assert store.records.versions(TENANT, fact("else").id) == []
    assert states(store) == {"applied": 1}


def test_an_answer_does_not_take_effect_where_more_was_said_meanwhile(store: Store) -> None:
    answered(store)
    (ready,) = store.inquiries.ready(9)
    append(store, "late")
    assert not store.inquiries.apply(ready, NOON + 1, Writes(records=[fact()]))
    finish_all(store)
    assert not store.inquiries.apply(ready, NOON + 1, Writes(records=[fact()]))
    assert store.records.versions(TENANT, fact().id) == []
    (ready,) = store.inquiries.ready(9)
    assert store.inquiries.apply(ready, NOON + 1, Writes(records=[fact()]))


def test_where_answers_took_effect_is_known_in_order_and_survives_a_replay(store: Store) -> None:
    first = answered(store)
    (after,) = append(store, "more")
    finish_all(store)
    store.inquiries.apply(store.inquiries.ready(9)[0], NOON + 7, Writes())
    second = asked(store)
    (held,) = take(store)
    store.inquiries.answer(held, answer(held), [held.event_id])
    store.inquiries.apply(store.inquiries.ready(9)[0], NOON + 8, Writes())
    store.jobs.reset()

    def applied(position: int) -> list[tuple[str, int | None]]:
        (event,) = (each for each in store.log.walk(TENANT, 0, 9) if each.position == position)
        return [(each.event_id, each.applied_at) for each in store.inquiries.applied_after(event)]

    assert applied(first.position) == []
    assert applied(after.position) == [(first.event_id, NOON + 7)]
    assert applied(second.position) == [(second.id, NOON + 8)]


def test_two_that_took_effect_at_one_place_keep_their_order(store: Store) -> None:
    older = asked(store)
    newer = asked(store)
    (failed,) = take(store)
    store.inquiries.put_off(failed, "down", retry_at=None)
    for _ in range(2):
        (held,) = take(store)
        store.inquiries.answer(held, answer(held), [held.event_id])
        store.inquiries.apply(store.inquiries.ready(9)[0], NOON, Writes())
        store.inquiries.revive(TENANT, ALICE)
    assert [each.event_id for each in store.inquiries.applied_after(newer)] == [newer.id, older.id]


def test_leases_of_the_dead_are_given_back(store: Store) -> None:
    asked(store)
    take(store)
    assert take(store) == []
    store.inquiries.take_over()
    assert len(take(store)) == 1


def test_tenants_see_their_own(store: Store) -> None:
    held = answered(store)
    other = asked(store, tenant_id="other")
    assert [each.event_id for each in store.inquiries.unsettled("other", ALICE, 9)] == [other.id]
    assert store.inquiries.counts("other")["pending"] == 1
    assert store.inquiries.counts("other")["answered"] == 0
    (ready,) = store.inquiries.ready(9)
    assert (ready.inquiry.event_id, ready.after.tenant_id) == (held.event_id, TENANT)


def test_inquiries_about_erased_events_are_forgotten_and_what_held_them_changes_nothing(store: Store) -> None:
    held = answered(store)
    (ready,) = store.inquiries.ready(9)
    second = asked(store)
    asked(store, tenant_id="other")
    gone = {"event_ids": [held.event_id, second.id]}
    assert store.traces.erase_beside(ErasedBeside(tenant_id="other", **gone)).get("inquiry") is None
    assert store.traces.erase_beside(ErasedBeside(tenant_id=TENANT, **gone))["inquiry"] == 2
    assert not store.inquiries.apply(ready, NOON, Writes(records=[fact()]))
    assert not store.inquiries.answer(held, answer(held, input_hash="sha256:x"), [])
    store.inquiries.put_off(held, "down", retry_at=None)
    store.inquiries.drop(held)
    assert store.records.versions(TENANT, fact().id) == []
    assert store.model_outputs.find(TENANT, "sha256:x") is None
    assert states(store) == {"pending": 1}


def test_what_failed_for_good_is_counted_for_operators_of_every_tenant(store: Store) -> None:
    asked(store)
    asked(store, "coffee", scope=BOB)
    asked(store, "milk", tenant_id="other")
    assert store.upkeep.state().inquiries_failed == 0
    first, _, second = take(store)
    store.inquiries.put_off(first, "no", retry_at=None)
    store.inquiries.put_off(second, "later", retry_at=NOON)
    assert store.upkeep.state().inquiries_failed == 1
    (third,) = [each for each in take(store, LEASE) if each.tenant_id == "other"]
    store.inquiries.put_off(third, "no", retry_at=None)
    assert store.upkeep.state().inquiries_failed == 2
    store.inquiries.revive(TENANT, ALICE)
    assert store.upkeep.state().inquiries_failed == 1


def test_an_answer_takes_effect_at_an_entry_of_the_log(store: Store) -> None:
    answered(store)
    (ready,) = store.inquiries.ready(9)
    entry = store.inquiries.enter(ready, reading_of(ready.after, "extract/1", "sha256:x"))
    assert entry is not None
    assert (entry.position, entry.excluded) == (2, True)
    assert entry.reads == ReadAnew(ready.after.id, "extract/1", "sha256:x")
    assert states(store) == {"applied": 1}
    (held,) = store.inquiries.applied_after(entry)
    assert (held.applied_after, held.applied_at) == (2, entry.recorded_at)
    assert [job.event.id for job in claim(store)] == [entry.id]
    assert store.inquiries.enter(ready, reading_of(ready.after, "extract/1", "sha256:x")) is None
    assert store.log.count(TENANT, [ALICE]) == 1


def test_what_was_answered_or_never_asked_is_asked_again(store: Store) -> None:
    answered(store)
    (ready,) = store.inquiries.ready(9)
    store.inquiries.enter(ready, reading_of(ready.after, "loops/1", "sha256:x"))
    (other,) = append(store, "coffee")
    finish_all(store)
    store.inquiries.ask_again([inquiry(ready.after), inquiry(other)])
    assert states(store) == {"pending": 2}
    (head,) = take(store)
    assert (head.event_id, head.attempts, head.input_hash, head.applied_after) == (
        ready.after.id,
        0,
        None,
        None,
    )


def test_who_has_the_head_of_a_scope_may_take_what_waits_behind_it(store: Store) -> None:
    events = [asked(store) for _ in range(4)]
    asked(store, scope=BOB)
    (head, other) = take(store)
    assert other.scope == BOB
    behind = store.inquiries.claim_behind(head, limit=2, now=NOON)
    assert [each.event_id for each in behind] == [event.id for event in events[1:3]]
    assert {(each.fence, each.lease_until) for each in behind} == {(head.fence, head.lease_until)}
    for each in (head, *behind):
        assert store.inquiries.answer(each, answer(each), [each.event_id])
    (last,) = store.inquiries.unsettled(TENANT, ALICE, 9)[:1]
    assert (last.event_id, last.state, last.fence) == (events[3].id, "pending", 0)
    assert store.inquiries.claim_behind(head, limit=2, now=NOON) == []


def test_what_waits_for_its_next_attempt_shares_no_question(store: Store) -> None:
    events = [asked(store) for _ in range(3)]
    (first,) = take(store)
    (second,) = store.inquiries.claim_behind(first, limit=1, now=NOON)
    assert second.event_id == events[1].id
    store.inquiries.put_off(second, "no", retry_at=LEASE)
    assert store.inquiries.claim_behind(first, limit=2, now=NOON) == []
