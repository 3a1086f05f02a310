"""Deriving anew, behind everything else, what earlier versions of derivation made (decision 0020).

One group of scopes at a time is derived in a store aside, by the same worker as ever, and then takes the place of the
old rows at once. Until then readers see the old ones.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from lamina.kernel.time import SECOND_US, Clock
from lamina.observe.rounds import Failures
from lamina.pipeline.worker import Worker
from lamina.store.ports.rederivation import ScopeGroup, Versions
from lamina.store.ports.store import Store
from lamina.store.rules.rederivation import differences

__all__ = ["Upgrader"]

_LOG = logging.getLogger("lamina.worker")
_PART = "deriving anew"
_SWAP_AGAIN_S = 1.0
_LOOK_US = 2 * SECOND_US


class Upgrader:
    """Brings a store to ``versions``. ``worker_of`` makes a worker of a store that asks nobody and embeds nothing."""

    def __init__(
        self,
        store: Store,
        versions: Versions,
        worker_of: Callable[[Store], Worker],
        clock: Clock,
        failures: Failures | None = None,
    ) -> None:
        self._store = store
        self._versions = versions
        self._worker_of = worker_of
        self._clock = clock
        self._failures = failures or Failures()
        self._current: tuple[ScopeGroup, Store, Worker] | None = None
        self._due_at = 0
        self._over = False
        self._look_at = 0

    def begin(self) -> None:
        """Compare the store's versions with today's, and say what will be derived anew."""
        state = self._store.rederivation.begin(self._versions)
        self._over = state.scopes == 0
        if state.scopes:
            _LOG.warning(
                "%d scopes with %d events are derived anew, behind the calls: %s",
                state.scopes,
                state.events,
                differences(state.earlier, state.versions),
            )

    def step(self) -> bool:
        """A batch of the work, whether there was any to do now. A failure is told and tried again later."""
        if self._clock.now() < self._due_at or (self._over and not self._is_asked_again()):
            return False
        try:
            done = self._step()
        except Exception as error:
            self.close()
            self._due_at = self._clock.now() + int(self._failures.note(_PART, error) * SECOND_US)
            return False
        self._failures.over(_PART)
        return done

    def _is_asked_again(self) -> bool:
        """Whether an erasure has listed scopes since everything was done; it is looked for now and then."""
        now = self._clock.now()
        if self._look_at <= now < self._look_at + _LOOK_US:
            return False
        self._look_at = now
        self._over = self._store.rederivation.state().scopes == 0
        return not self._over

    def _step(self) -> bool:
        if self._current is None:
            group = self._store.rederivation.next_group()
            if group is None:
                self._over = True
                _LOG.warning("everything is derived by today's versions")
                return False
            aside = self._store.rederivation.aside(group)
            aside.jobs.take_over(self._clock.now())
            self._current = (group, aside, self._worker_of(aside))
        group, aside, worker = self._current
        done = worker.step()
        backlog = aside.jobs.backlog()
        left = backlog["pending"] + backlog["running"]
        if left:
            self._store.rederivation.note_derived(
                group, max(0, aside.log.count(group.tenant_id, group.scopes) - left)
            )
            return done > 0
        self.close()
        if not self._store.rederivation.swap(group):
            self._due_at = self._clock.now() + int(_SWAP_AGAIN_S * SECOND_US)
        return True

    def close(self) -> None:
        """Leave what was derived aside where it is, for the next process to go on with."""
        if self._current is not None:
            self._current[1].close()
            self._current = None
