"""Retention under ``lamina serve``: once a day, audit rows past their time are deleted; where that failed, again in an hour."""

from __future__ import annotations

import logging

from lamina.access.retention import Retention
from lamina.observe.rounds import Failures, RegularRounds

__all__ = ["DailyRetention"]

_LOG = logging.getLogger("lamina.retention")
_EVERY_S = 24 * 3600.0
_FIRST_S = 60.0
_AGAIN_S = 3600.0


class DailyRetention(RegularRounds):
    """Prunes."""

    def __init__(
        self,
        retention: Retention,
        failures: Failures,
        *,
        first_s: float = _FIRST_S,
        again_s: float = _AGAIN_S,
    ) -> None:
        super().__init__(
            "audit retention",
            self._prune,
            failures,
            thread="lamina-retention",
            first_s=first_s,
            again_s=again_s,
        )
        self._retention = retention

    def _prune(self) -> float:
        deleted = self._retention.run()
        _LOG.info("deleted %d audit rows past their retention", deleted)
        return _EVERY_S
