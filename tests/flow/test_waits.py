"""Calls that wait for derivation leave room for all others."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import pytest

import given
from lamina import limits
from lamina.kernel.events import Stage
from lamina.store.ports.jobs import Job
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.writes import Writes

SCOPE = "org:acme/user:alice"


def envelope(number: int) -> dict[str, Any]:
    return {
        "scope": SCOPE,
        "modality": "text",
        "content": {"kind": "text", "text": f"tea {number}"},
        "context": {"observed_at": "2026-05-13T11:00:00Z"},
        "idempotency_key": f"k-{number}",
    }


@pytest.fixture
def two(make_world: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server where two may wait."""
    monkeypatch.setattr("lamina.limits.WAITS_MAX", 2)
    return make_world()


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def waits(world: Any, pool: ThreadPoolExecutor, number: int) -> Future[Any]:
    return pool.submit(world.call, "POST", "/v1/experience", body=envelope(number), wait="indexed")


def derive(world: Any) -> None:
    for stage in (Stage.EXTRACTED, Stage.INDEXED):
        while jobs := given.claim(world.store, stage, now=world.clock.at, lease_until=world.clock.at + 1):
            world.store.jobs.finish([(job, Writes(lifecycle=[done(stage, job)])) for job in jobs])


def done(stage: Stage, job: Job) -> LifecycleDraft:
    return LifecycleDraft(
        tenant_id="acme", name=stage.value, scope=job.event.scope, payload={}, event_id=job.event.id
    )


def test_who_comes_when_too_many_wait_is_answered_at_once(two: Any, callers: ThreadPoolExecutor) -> None:
    asked = [waits(two, callers, number) for number in range(3)]
    done, waiting = wait(asked, timeout=300, return_when=FIRST_COMPLETED)
    (answer,) = [each.result() for each in done]
    assert (answer.status_code, answer.json()["stages_completed"]) == (202, ["captured"])
    assert len(waiting) == 2
    flushed = two.call("POST", "/v1/admin/flush-views", body={"timeout_s": 25})
    assert (flushed.status_code, flushed.json()["elapsed_ms"] < 25_000) == (202, True)
    derive(two)
    assert [each.result(timeout=300).status_code for each in waiting] == [200, 200]
    again = waits(two, callers, 3)
    assert not wait([again], timeout=0.3).done, "a place that was given back is free"
    derive(two)
    assert again.result(timeout=300).status_code == 200


def test_what_is_done_is_told_also_when_too_many_wait(two: Any, callers: ThreadPoolExecutor) -> None:
    first = waits(two, callers, 0)
    wait([first], timeout=0.3)
    derive(two)
    assert first.result(timeout=300).status_code == 200
    others = [waits(two, callers, number) for number in (1, 2, 3)]
    wait(others, timeout=300, return_when=FIRST_COMPLETED)
    replayed = waits(two, callers, 0).result(timeout=300)
    assert (replayed.status_code, replayed.json()["status"]) == (200, "indexed")
    derive(two)
    assert all(each.result(timeout=300) for each in others)


def test_waits_leave_most_threads_to_other_calls(world: Any) -> None:
    assert world.server.pool._max_workers >= 3 * limits.WAITS_MAX
