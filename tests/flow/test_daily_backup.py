"""The worker makes a backup every day, and health tells where it does not."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from backups import backed_up, memory, opened
from given import NOON, ManualClock
from lamina import limits
from lamina.cli import daily_backup
from lamina.kernel.time import SECOND_US
from lamina.observe.health import HealthRequest, Operating
from lamina.observe.rounds import Failures
from lamina.settings import Settings
from lamina.store.backups.folder import BackupFolder
from lamina.store.sqlite import SqliteStore
from lamina.store.watch import Watch
from lamina.types.health import HealthReport

HOUR = 3600 * SECOND_US


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return memory(tmp_path / "data")


def health(store: SqliteStore, now: int, *, daily: bool = True) -> HealthReport:
    operating = Operating(store, Watch(store), backs_up=daily)
    answer = operating.health(HealthRequest(), cast("Any", SimpleNamespace(now=now)))
    assert isinstance(answer.result, HealthReport)
    return answer.result


def test_health_tells_of_a_backup_that_is_old_or_was_never_made(data: Path) -> None:
    def told(now: int, *, daily: bool = True) -> list[str]:
        report = health(store, now, daily=daily)
        return [problem for problem in report.problems if "backup" in problem]

    store = opened(data)
    assert "none was made yet" in told(NOON)[0]
    assert told(NOON, daily=False) == []
    backed_up(data)
    assert told(NOON + 25 * HOUR) == []
    assert "27 hours old" in told(NOON + 27 * HOUR)[0]
    report = health(store, NOON + HOUR).backup
    assert report is not None
    assert (report.daily, report.age_s) == (True, 3600.0)
    store.close()


@pytest.mark.parametrize(
    ("time_of_day", "ago_s"),
    [("12:00", 0), ("11:59", 60), ("12:01", 86_340), ("00:00", 43_200), ("23:59", 43_260)],
)
def test_a_backup_is_due_every_day_at_its_time(time_of_day: str, ago_s: int) -> None:
    assert NOON - daily_backup.last_due(NOON, time_of_day) == ago_s * SECOND_US


def test_the_worker_makes_one_when_it_is_due_and_keeps_as_many_as_it_is_told(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, failures = ManualClock(NOON + HOUR), Failures()
    monkeypatch.setattr("lamina.cli.backup_settings.SystemClock", lambda: clock)
    settings = Settings(data=data, backup_folder=data.with_name("backups"), backup_at="12:00", backup_keep=2)
    daily = daily_backup.DailyBackup(settings, clock, failures)
    folder = BackupFolder(settings.backups, data)
    counts = []
    for hours in (0, 1, 22, 24, 24, 48):
        clock.at = NOON + (1 + hours) * HOUR
        assert daily.round(lambda: False) == limits.BACKUP_LOOK_S
        counts.append((len(folder.listed()), folder.listed()[-1].name[5:18]))
    assert counts == [
        (1, "20260513T1300"),
        (1, "20260513T1300"),
        (1, "20260513T1300"),
        (2, "20260514T1300"),
        (2, "20260514T1300"),
        (2, "20260515T1300"),
    ]
    clock.at += 24 * HOUR
    assert daily.round(lambda: True) == limits.BACKUP_LOOK_S
    assert len(folder.listed()) == 2
    settings.backups.rename(data.with_name("away"))
    settings.backups.write_text("a file")
    assert daily.round(lambda: False) >= limits.BACKUP_AGAIN_S
    assert failures.standing() == {"the daily backup": "CANNOT_WRITE_BACKUP"}
    settings.backups.unlink()
    daily.round(lambda: False)
    assert failures.standing() == {}


@pytest.mark.parametrize(("keeps", "left"), [(1, [0]), (2, [-1, 0]), (4, [-1, 0, 365])])
def test_a_clock_that_was_ahead_stops_no_backups(
    data: Path, monkeypatch: pytest.MonkeyPatch, keeps: int, left: list[int]
) -> None:
    """It stood a year ahead for a while: its backup is neither the newest for a year, nor kept in place of those that come."""
    clock, failures = ManualClock(NOON), Failures()
    monkeypatch.setattr("lamina.cli.backup_settings.SystemClock", lambda: clock)
    settings = Settings(
        data=data, backup_folder=data.with_name("backups"), backup_at="12:00", backup_keep=keeps
    )
    daily = daily_backup.DailyBackup(settings, clock, failures)
    for days in (-1, 365, 0, 0):
        clock.at = NOON + days * 24 * HOUR
        daily.round(lambda: False)
    stamps = {
        days: time.strftime("%Y%m%dT%H%M%SZ", time.gmtime((NOON + days * 24 * HOUR) // SECOND_US))
        for days in left
    }
    listed = BackupFolder(settings.backups, data).listed()
    assert [path.name for path in listed] == [f"data-{stamps[days]}.backup" for days in left]
