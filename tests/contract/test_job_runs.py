"""What every engine promises about the runs of operators' jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from given import NOON, TENANT
from lamina import limits
from lamina.errors import Conflict
from lamina.store.ports.job_runs import JobRun
from lamina.store.ports.store import Store


def run(run_id: str, at: int = 0, **more: Any) -> JobRun:
    given = {
        "tenant_id": TENANT,
        "job_id": "backup.create",
        "status": "running",
        "lease_until": NOON + at + 100,
    }
    return JobRun(run_id=run_id, started_at=NOON + at, **{**given, **more})


def test_a_job_runs_once_at_a_time_and_a_lock_ends_with_its_lease(store: Store) -> None:
    runs = store.job_runs
    runs.begin(run("one", initiator="root", client_ip="127.0.0.1"))
    runs.begin(run("elsewhere", tenant_id="other"))
    runs.begin(run("another", job_id="compact.plan"))
    with pytest.raises(Conflict, match="JOB_RUNNING"):
        runs.begin(run("two", 99))
    runs.begin(run("rehearsed", 99, status="succeeded", lease_until=None, dry_run=True))
    runs.begin(run("two", 100))
    states = {each.run_id: (each.status, each.finished_at) for each in runs.listed(TENANT, 10)}
    assert states["one"] == ("abandoned", NOON + 100)
    assert states["two"] == ("running", None)
    # Who comes back after that has nothing to say.
    runs.end(replace(run("one"), status="succeeded", finished_at=NOON + 200))
    assert runs.listed(TENANT, 10)[-1].status == "abandoned"


def test_a_run_begun_under_a_clock_far_ahead_holds_nothing_once_the_clock_is_right(store: Store) -> None:
    runs = store.job_runs
    runs.begin(run("ahead", 100))
    with pytest.raises(Conflict, match="JOB_RUNNING"):
        runs.begin(run("two"))  # no further ahead than a lease is long
    runs.begin(run("three", -1))
    states = {each.run_id: (each.status, each.finished_at) for each in runs.listed(TENANT, 10)}
    assert states == {"ahead": ("abandoned", NOON + 100), "three": ("running", None)}


def test_how_a_run_ended_is_kept_and_the_newest_of_each_job_is_told(store: Store) -> None:
    runs = store.job_runs
    for number in range(3):
        begun = run(f"run_{number}", number)
        runs.begin(begun)
        ended = replace(begun, status="failed", finished_at=NOON + number + 1, error="X", result_keys=("a",))
        runs.end(ended)
    runs.begin(run("rehearsed", 9, status="succeeded", lease_until=None, dry_run=True))
    assert [each.run_id for each in runs.listed(TENANT, 2)] == ["rehearsed", "run_2"]
    assert runs.newest(TENANT) == {"backup.create": ended}
    assert runs.newest("other") == {}


def test_only_the_newest_runs_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OPS_RUNS_KEPT_MAX", 2)
    runs = store.job_runs
    runs.begin(run("held", job_id="compact.plan"))
    for number in range(4):
        runs.begin(run(f"run_{number}", 1 + number, status="succeeded", lease_until=None))
    assert [each.run_id for each in runs.listed(TENANT, 9)] == ["run_3", "run_2", "held"]
