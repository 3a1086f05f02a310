"""Waiting for stages: one thread looks for commits of any process, everyone who waits is woken by it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lamina import limits
from lamina.kernel.events import LifecycleRow, Stage
from lamina.observe.rounds import Failures
from lamina.store.ports.changes import Follower
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.store import Store

__all__ = ["Watch"]

_PAUSE_S = 0.002
"""Between two looks: where many commits come at once, those who wait look once for all of them."""
_FAILED_S_MAX = 1.0  # somebody waits
_GONE_S = 0.5  # after which a place is given back that nobody needs
_PART = "waiting for stages"
_ROWS_OF_EVENT_MAX = 64


class Watch:
    """Wakes waiters when something was committed. Without waiters it does nothing."""

    def __init__(self, store: Store, failures: Failures | None = None) -> None:
        self._store = store
        self._failures = failures or Failures()
        self._condition = threading.Condition()
        self._room = threading.BoundedSemaphore(limits.WAITS_MAX)
        self._waiters = 0
        self._commits: Counter[str] = Counter()
        self._others = 0
        self._thread: threading.Thread | None = None

    @contextmanager
    def place(self) -> Iterator[bool]:
        """A place among those who wait, given back at the end; False when none is free, and the caller should not wait."""
        held = self._room.acquire(blocking=False)
        try:
            yield held
        finally:
            if held:
                self._room.release()

    def wait_for(
        self,
        tenant_id: str,
        event_id: str,
        stage: Stage,
        *,
        timeout_s: float,
        is_gone: Callable[[], bool] | None = None,
    ) -> list[LifecycleRow]:
        """The event's lifecycle rows, once ``stage`` is among them, it can no longer come, or time is up; at once when
        too many wait, and soon after ``is_gone`` says that nobody needs them any more."""
        with self.place() as held:
            until = time.monotonic() + timeout_s * held
            while True:
                part = until if is_gone is None else min(until, time.monotonic() + _GONE_S)
                rows = self._waited(tenant_id, event_id, stage, part)
                if time.monotonic() < part or part == until or (is_gone is not None and is_gone()):
                    return rows

    def _waited(self, tenant_id: str, event_id: str, stage: Stage, until: float) -> list[LifecycleRow]:
        with self._condition:
            self._waiters += 1
            self._start()
        try:
            while True:
                seen = self._seen(tenant_id)
                rows = self.rows(tenant_id, event_id)
                left_s = until - time.monotonic()
                if left_s <= 0 or any(row.name == stage for row in rows) or self._stuck(tenant_id, event_id):
                    return rows
                self._wait_past(seen, tenant_id, left_s)
        finally:
            with self._condition:
                self._waiters -= 1

    def _wait_past(self, seen: tuple[int, int], tenant_id: str, timeout_s: float) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._seen(tenant_id) != seen, timeout_s)

    def _seen(self, tenant_id: str) -> tuple[int, int]:
        return self._commits[tenant_id], self._others

    def rows(self, tenant_id: str, event_id: str) -> list[LifecycleRow]:
        """What happened to an event so far, in order."""
        return self._store.lifecycle.query(
            LifecycleQuery(tenant_id=tenant_id, event_id=event_id, limit=_ROWS_OF_EVENT_MAX)
        )

    def _stuck(self, tenant_id: str, event_id: str) -> bool:
        states = self._store.jobs.of_event(tenant_id, event_id)
        return not states or any(state.state == "failed" for state in states)

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._look, name="lamina-watch", daemon=True)
            self._thread.start()

    def _look(self) -> None:
        follower: Follower | None = None
        wait_s = _PAUSE_S
        while True:
            time.sleep(wait_s)
            with self._condition:
                if self._waiters == 0:
                    self._thread = None
                    break
            try:
                if follower is None:
                    follower = self._store.changes.follow()
                    changed: frozenset[str] = frozenset()
                else:
                    changed = follower.wait(limits.CHANGES_LOOK_S)
            except Exception as error:
                # Those who wait look for themselves meanwhile, and are told what the store says.
                wait_s = min(self._failures.note(_PART, error), _FAILED_S_MAX)
                changed = frozenset()
            else:
                self._failures.over(_PART)
                wait_s = _PAUSE_S
            self._woken(changed)
        if follower is not None:
            follower.close()
        self._failures.drop(_PART)

    def _woken(self, tenants: frozenset[str]) -> None:
        """Wake those who wait for something of these tenants; everybody where none is named."""
        with self._condition:
            self._commits.update(tenants)
            self._others += not tenants
            if self._waiters == 0:
                self._commits.clear()
            self._condition.notify_all()
