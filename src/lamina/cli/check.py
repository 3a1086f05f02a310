"""Checks under ``lamina serve``: everything on disk is read soon after the start and a few times a day, beside the calls."""

from __future__ import annotations

import logging

from lamina import limits
from lamina.kernel.time import Clock
from lamina.observe.rounds import Failures, RegularRounds
from lamina.store.ports.upkeep import Upkeep

__all__ = ["RegularCheck"]

_LOG = logging.getLogger("lamina.check")


class RegularCheck(RegularRounds):
    """Checks; sooner again where something was damaged, to see it whole."""

    def __init__(
        self,
        upkeep: Upkeep,
        clock: Clock,
        failures: Failures,
        *,
        first_s: float = limits.CHECK_FIRST_S,
        again_s: float = limits.CHECK_AGAIN_S,
    ) -> None:
        super().__init__(
            "the check of what is on disk",
            self._check,
            failures,
            thread="lamina-check",
            first_s=first_s,
            again_s=again_s,
        )
        self._upkeep = upkeep
        self._clock = clock
        self._again_s = again_s

    def _check(self) -> float:
        checked = self._upkeep.check(self._clock.now())
        for fault in checked.database:
            _LOG.error("the database is damaged: %s", fault)
        for name in checked.repositories:
            _LOG.error("the repository %s is damaged and is built anew", name)
        return self._again_s if checked.repositories else limits.CHECK_EVERY_S
