"""What every engine promises of jobs: order inside a scope, leases and back-off."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from given import (
    ALICE,
    BOB,
    NOON,
    STAGES,
    TENANT,
    CountedIds,
    ManualClock,
    append,
    claim,
    fact,
    finish_all,
    found_by,
    support,
    text_row,
)
from lamina import limits
from lamina.kernel.events import Event, Stage
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.store.memory import MemoryStore
from lamina.store.ports.jobs import LEASE_LOST, Job
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore

LEASE = NOON + 60 * SECOND_US
RETRY = NOON + 5 * SECOND_US


def events_of(jobs: list[Job]) -> list[Event]:
    return [job.event for job in jobs]


def drop(job: Job) -> tuple[Job, Writes]:
    return job, Writes()


# ---- claiming


def test_jobs_are_claimed_in_the_order_of_the_log(store: Store) -> None:
    events = append(store, *"abcd")
    assert events_of(claim(store, limit=3)) == events[:3]


def test_what_is_running_holds_back_the_rest_of_its_scope_only(store: Store) -> None:
    first, _second = append(store, "a", "b")
    other = append(store, "c", scope=BOB) + append(store, "d", tenant_id="other")
    assert events_of(claim(store, limit=1)) == [first]
    assert events_of(claim(store)) == other
    assert claim(store) == []


def test_a_stage_waits_for_earlier_events_of_its_scope_in_earlier_stages(store: Store) -> None:
    first, second = append(store, "a", "b")
    jobs = claim(store)
    store.jobs.finish([drop(jobs[1])])
    assert claim(store, Stage.INDEXED) == []
    store.jobs.finish([drop(jobs[0])])
    assert events_of(claim(store, Stage.INDEXED)) == [first, second]


def test_an_earlier_stage_does_not_wait_for_a_later_one(store: Store) -> None:
    append(store, "a")
    finish_all(store)
    [late] = append(store, "b")
    assert len(claim(store, Stage.INDEXED)) == 1
    assert events_of(claim(store)) == [late]


@pytest.mark.parametrize("stage", STAGES)
def test_an_end_queues_the_next_stage_and_the_last_one_none(store: Store, stage: Stage) -> None:
    [event] = append(store, "a")
    for done in STAGES[: STAGES.index(stage) + 1]:
        finish_all(store, done)
    states = store.jobs.of_event(TENANT, event.id)
    assert [state.stage for state in states] == ([] if stage.next is None else [stage.next])


@pytest.mark.parametrize("retry_at", [RETRY, None])
def test_a_failure_of_who_lost_its_lease_changes_nothing(store: Store, retry_at: int | None) -> None:
    (event,) = append(store, "one")
    (late,) = claim(store, owner="late")
    store.jobs.take_over(LEASE)
    store.jobs.fail(
        late, "nobody has it", retry_at=retry_at, writes=Writes(texts=[text_row(event.id, "tea")])
    )
    (held,) = claim(store, owner="new", now=LEASE, lease_until=LEASE + 1)
    store.jobs.fail(late, "late", retry_at=retry_at, writes=Writes(texts=[text_row(event.id, "tea")]))
    (state,) = store.jobs.of_event(TENANT, event.id)
    assert (state.state, state.attempts, state.last_error) == ("running", 1, LEASE_LOST)
    assert found_by(store, "tea") == []
    store.jobs.fail(held, "mine", retry_at=retry_at)
    (state,) = store.jobs.of_event(TENANT, event.id)
    assert (state.state, state.attempts) == ("failed" if retry_at is None else "pending", 2)


def test_what_a_clock_ahead_put_off_does_not_wait_for_that_time(store: Store) -> None:
    """It stood a year ahead while an attempt failed, and a scope is derived in its order."""
    events = append(store, "one", "two") + append(store, "three", scope=BOB)
    first, _, third = claim(store)
    store.jobs.release("worker")
    for ahead in claim(store):
        store.jobs.fail(ahead, "no disk", retry_at=NOON + 366 * 86_400 * SECOND_US)
    assert (first.event.id, third.event.id) == (events[0].id, events[2].id)
    assert events_of(claim(store)) == events


def test_a_held_back_scope_does_not_hide_the_others(store: Store) -> None:
    append(store, *(f"{number}" for number in range(40)))
    [free] = append(store, "free", scope=BOB)
    [first] = claim(store, limit=1)
    store.jobs.fail(first, "later", retry_at=RETRY)
    assert events_of(claim(store, limit=2)) == [free]


def test_scopes_that_wait_hide_no_other_however_much_is_in_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "JOB_PAGE", 2)
    monkeypatch.setattr(limits, "JOB_PAGES_MAX", 2)
    append(store, *(f"{number}" for number in range(20)))
    append(store, *(f"{number}" for number in range(20)), tenant_id="other")
    for job in claim(store, limit=1) + claim(store, limit=1):
        store.jobs.fail(job, "later", retry_at=RETRY)
    free = [
        *append(store, "a", "b", scope=BOB),
        *append(store, "c", scope=Scope("z")),
        *append(store, "d", scope=BOB),
    ]
    assert events_of(claim(store, limit=3)) == free[:3]
    assert claim(store) == []
    later = 0
    while jobs := claim(store, now=RETRY):
        later += store.jobs.finish([drop(job) for job in jobs])
    assert later == 40


def test_a_long_backlog_of_one_scope_leaves_room_for_the_others(store: Store) -> None:
    bulk = append(store, *(f"{number}" for number in range(100)))
    late = append(store, "a", "b", "c", scope=BOB) + append(store, "d", "e", tenant_id="other")
    assert events_of(claim(store, limit=32)) == [*bulk[:8], *late]


def test_a_scope_that_is_alone_takes_the_whole_batch(store: Store) -> None:
    bulk = append(store, *(f"{number}" for number in range(100)))
    assert events_of(claim(store, limit=32)) == bulk[:32]
    assert claim(store) == []


@pytest.mark.parametrize("name", ["a", "m", "zz"])
def test_every_scope_has_its_turn_however_many_have_long_backlogs(store: Store, name: str) -> None:
    for number in range(60):
        append(store, *"abcdefghijkl", scope=Scope(f"ws:{number}"))
    [late] = append(store, "late", scope=Scope(f"ws:{name}"))
    for _ in range(6):
        jobs = claim(store, limit=32)
        assert len(jobs) == 32
        if late in events_of(jobs):
            return
        store.jobs.finish([drop(job) for job in jobs])
    pytest.fail("it waited for six batches")


def test_a_job_whose_worker_went_away_has_its_turn_alone(store: Store) -> None:
    bulk = append(store, *(f"{number}" for number in range(100)))
    [lost] = append(store, "lost", scope=BOB)
    jobs = claim(store, limit=32, owner="gone")
    store.jobs.finish([drop(job) for job in jobs if job.event != lost])
    more = {"limit": 32, "now": LEASE, "lease_until": 2 * LEASE}
    assert events_of(claim(store, **more)) == [lost]
    assert events_of(claim(store, **more)) == bulk[8:40]


@pytest.mark.parametrize("seed", range(40))
def test_whatever_waits_the_same_jobs_can_run_in_every_engine(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    stores = [
        MemoryStore(clock=ManualClock(), ids=CountedIds()),
        SqliteStore(tmp_path, clock=ManualClock(), ids=CountedIds(), durable=False),
    ]
    for _ in range(60):
        act, scope = rng.random(), Scope(f"ws:{rng.randrange(4)}")
        stage, limit, tenant = rng.choice(STAGES[1:]), rng.randrange(1, 4), rng.choice([TENANT, "other"])
        done, retry_at = rng.randrange(4), rng.choice([None, RETRY, RETRY])
        for store in stores:
            if act < 0.4:
                append(store, "a", "b", scope=scope, tenant_id=tenant)
                continue
            jobs = claim(store, stage, limit=limit)
            if act < 0.8:
                store.jobs.finish([drop(job) for job in jobs[:done]])
            for job in jobs[done:] if act > 0.7 else ():
                store.jobs.fail(job, "boom", retry_at=retry_at)
    monkeypatch.setattr(limits, "JOB_PAGE", 2)
    monkeypatch.setattr(limits, "JOB_PAGES_MAX", rng.randrange(3))
    stage, limit = rng.choice(STAGES[1:]), rng.randrange(1, 9)
    every, some = claim(stores[0], stage, limit=9999), claim(stores[1], stage, limit=limit)
    assert bool(every) == bool(some)
    positions = [job.event.position for job in some if job.event.tenant_id == TENANT]
    assert positions == sorted(positions)
    for place in {(job.event.tenant_id, job.event.scope) for job in some}:
        runnable, leased = (
            [job for job in jobs if (job.event.tenant_id, job.event.scope) == place] for jobs in (every, some)
        )
        assert leased == runnable[: len(leased)], f"seed {seed}"
    stores[1].close()


# ---- leases


@pytest.mark.parametrize(("now", "claimed"), [(LEASE - 1, 0), (LEASE, 1)], ids=["held", "run out"])
def test_a_lease_that_ran_out_makes_its_job_due_again(store: Store, now: int, claimed: int) -> None:
    append(store, "a")
    claim(store, lease_until=LEASE)
    assert len(claim(store, now=now, lease_until=now + 1)) == claimed


def test_an_owner_gives_back_its_own_leases(store: Store) -> None:
    append(store, "a")
    append(store, "b", scope=BOB)
    claim(store, limit=1, owner="one")
    claim(store, limit=1, owner="two")
    assert store.jobs.release("one") == 1
    assert store.jobs.backlog() == {"pending": 1, "running": 1, "failed": 0}
    assert store.jobs.take_over(NOON) == 1
    assert store.jobs.take_over(NOON) == 0
    assert len(claim(store)) == 1, "the dead owner's job comes by itself"
    assert len(claim(store)) == 1


def test_who_takes_the_place_of_another_takes_over_its_leases_alone(store: Store) -> None:
    append(store, "a")
    append(store, "b", scope=BOB)
    claim(store, limit=1, owner="one")
    claim(store, limit=1, owner="two")
    assert store.jobs.take_over(NOON, owner="two") == 1
    assert store.jobs.backlog() == {"pending": 1, "running": 1, "failed": 0}
    assert [(job.attempts, job.last_error) for job in claim(store)] == [(1, LEASE_LOST)]


def test_a_lost_lease_is_a_failed_attempt_and_its_job_comes_by_itself(store: Store) -> None:
    events = append(store, "a", "b", "c")
    claim(store, lease_until=LEASE)
    again = claim(store, now=LEASE, lease_until=LEASE + 1)
    assert [(job.event, job.attempts, job.last_error) for job in again] == [(events[0], 1, LEASE_LOST)]


def test_a_job_that_loses_lease_after_lease_waits_longer_and_longer_and_is_not_given_up(store: Store) -> None:
    deadly, other = append(store, "a", "b")
    now, waited = NOON, []
    for lost in range(1, limits.JOB_ATTEMPTS_MAX + 2):
        (job, *_) = claim(store, now=now, lease_until=now + 3600 * SECOND_US)
        assert job.event == deadly
        store.jobs.take_over(now)
        (state,) = store.jobs.of_event(TENANT, deadly.id)
        assert (state.state, state.attempts) == ("pending", min(lost, limits.JOB_ATTEMPTS_MAX))
        assert state.next_attempt_at is not None
        waited.append((max(state.next_attempt_at, now) - now) // SECOND_US)
        assert not waited[-1] or claim(store, now=state.next_attempt_at - 1) == []
        now = max(state.next_attempt_at, now)
    assert waited == [0, 5, 10, 20, 40, 80]
    (again,) = claim(store, now=now)
    store.jobs.fail(again, LEASE_LOST, retry_at=None, writes=Writes(texts=[text_row(deadly.id, "word")]))
    (state,) = store.jobs.of_event(TENANT, deadly.id)
    assert (state.state, state.attempts) == ("failed", limits.JOB_ATTEMPTS_MAX)
    assert [row.record_id for row in store.index.texts_after(TENANT, ALICE, 0, 10)] == [deadly.id]
    assert [(job.event, job.attempts) for job in claim(store, now=now)] == [(other, 1)]


def test_what_lands_with_a_failure_lands_with_no_job_that_is_gone(store: Store) -> None:
    append(store, "a")
    (job,) = claim(store)
    store.log.cancel(TENANT, job.event.id)
    store.jobs.fail(job, "boom", retry_at=None, writes=Writes(texts=[text_row(job.event.id, "word")]))
    assert store.index.texts_after(TENANT, ALICE, 0, 10) == []


def test_what_failed_for_good_is_due_again_when_asked_for(store: Store) -> None:
    append(store, "a")
    append(store, "b", scope=BOB)
    failed, *_ = claim(store)
    store.jobs.fail(failed, "boom", retry_at=None)
    assert store.jobs.retry_failed() == 1
    assert store.jobs.retry_failed() == 0
    assert [(job.event, job.attempts, job.last_error) for job in claim(store)] == [(failed.event, 0, None)]


def test_a_version_derived_before_a_cancellation_lands_excluded(store: Store) -> None:
    told, _behind = append(store, "a", "b")
    first = fact("f")
    jobs = claim(store)
    store.jobs.finish([(jobs[0], Writes(records=[first], supports=[support(first.id, told.id)]))])
    store.log.cancel(TENANT, told.id)
    store.jobs.finish([(jobs[1], Writes(records=[replace(first, version=2)]))])
    assert [record.excluded for record in store.records.versions(TENANT, first.id)] == [True, True]


# ---- failing


def test_a_failed_attempt_is_due_again_at_its_time(store: Store) -> None:
    [event] = append(store, "a")
    store.jobs.fail(claim(store)[0], "boom", retry_at=RETRY)
    [state] = store.jobs.of_event(TENANT, event.id)
    assert (state.state, state.attempts, state.next_attempt_at, state.last_error) == (
        "pending", 1, RETRY, "boom",
    )  # fmt: skip
    assert claim(store, now=RETRY - 1) == []
    [again] = claim(store, now=RETRY)
    assert (again.attempts, again.last_error) == (1, "boom")


def test_back_off_keeps_the_order_of_its_scope_and_lets_others_pass(store: Store) -> None:
    append(store, "a", "b")
    [other] = append(store, "c", scope=BOB)
    store.jobs.fail(claim(store, limit=1)[0], "boom", retry_at=RETRY)
    assert events_of(claim(store)) == [other]
    assert [event.position for event in events_of(claim(store, now=RETRY))] == [1, 2]


def test_what_failed_for_good_stays_visible_and_blocks_nobody(store: Store) -> None:
    bad, good = append(store, "a", "b")
    store.jobs.fail(claim(store, limit=1)[0], "x" * 10_000, retry_at=None)
    [state] = store.jobs.of_event(TENANT, bad.id)
    assert (state.state, state.next_attempt_at) == ("failed", None)
    assert state.last_error == "x" * limits.JOB_ERROR_LENGTH_MAX
    assert events_of(claim(store)) == [good]
    assert store.jobs.backlog() == {"pending": 0, "running": 1, "failed": 1}


def test_failing_a_job_that_is_gone_changes_nothing(store: Store) -> None:
    [event] = append(store, "a")
    [job] = claim(store)
    store.log.cancel(TENANT, event.id)
    store.jobs.fail(job, "boom", retry_at=RETRY)
    assert store.jobs.of_event(TENANT, event.id) == []
