"""Backups by the worker: one a day at the time that the settings name, and at once where that was missed."""

from __future__ import annotations

import time
from collections.abc import Callable

from lamina import limits
from lamina.cli.backup_settings import backup_request, begin_list, folder_of
from lamina.kernel.time import DAY_US, SECOND_US, Clock, Instant
from lamina.observe.rounds import Failures
from lamina.settings import Settings
from lamina.store.opening import Backup, back_up, backed_up_at_of

__all__ = ["DailyBackup", "last_due"]

_PART = "the daily backup"
_STEP_S = 0.2


def last_due(now: Instant, time_of_day: str) -> Instant:
    """When a backup was due last, of one that is due every day at a time, ``HH:MM`` in UTC."""
    hours, minutes = time_of_day.split(":")
    at_us = (int(hours) * 60 + int(minutes)) * 60 * SECOND_US
    return now - (now - at_us) % DAY_US


class DailyBackup:
    """Looks now and then whether a backup is due, makes it, and deletes the oldest."""

    def __init__(self, settings: Settings, clock: Clock, failures: Failures) -> None:
        self._settings = settings
        self._clock = clock
        self._failures = failures

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop. What fails is told by health, and tried again after a while."""
        while not stopping():
            wait_s = self.round(stopping)
            while wait_s > 0 and not stopping():
                time.sleep(min(wait_s, _STEP_S))
                wait_s -= _STEP_S

    def round(self, stopping: Callable[[], bool]) -> float:
        """Make a backup if one is due; returns in how many seconds to look again."""
        try:
            made = self._made(stopping) if self._is_due() else None
            if made is not None:
                begin_list(self._settings)
                folder_of(self._settings).keep(self._settings.backup_keep, made.path)
        except Exception as error:
            return max(limits.BACKUP_AGAIN_S, self._failures.note(_PART, error))
        self._failures.over(_PART)
        return limits.BACKUP_LOOK_S

    def _is_due(self) -> bool:
        now, last = self._clock.now(), backed_up_at_of(self._settings.data)
        # One of the future was made by a clock that was ahead: none would be made until then.
        return last is None or not last_due(now, self._settings.backup_at) <= last <= now

    def _made(self, stopping: Callable[[], bool]) -> Backup | None:
        return back_up(
            self._settings.data,
            backup_request(self._settings, self._settings.tombstone_list),
            stopping=stopping,
        )
