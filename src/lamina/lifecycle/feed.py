"""One look-out for all lifecycle streams: it notices commits of any process and wakes those that have something to read."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from lamina import limits
from lamina.errors import Busy, Unavailable
from lamina.kernel.events import LifecycleRow
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.store import Store

__all__ = ["Feed", "Listener"]

_LOG = logging.getLogger("lamina.lifecycle")
_ROWS_AT_ONCE = 1000


@dataclass(eq=False, slots=True)
class Listener:
    """A stream as the look-out sees it: what it waits for, and how it is woken."""

    query: LifecycleQuery
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False
    policy_moved: bool = False
    """Members or policies changed since the stream last asked what it may."""

    def wants(self, row: LifecycleRow) -> bool:
        """Whether the row is one that the stream's query would find."""
        query = self.query
        return (
            (query.within is None or query.within.contains(row.scope))
            and query.event_id in (None, row.event_id)
            and query.job_id in (None, row.job_id)
            and (query.names is None or row.name in query.names)
        )

    def wake(self) -> None:
        """Let the stream look; from any thread. A loop that has closed has nobody left to wake."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.woken.set)


class Feed:
    """Wakes listeners. Its thread runs only while there are any, and looks for all of them together."""

    def __init__(self, store: Store, *, streams_max: int = limits.LIFECYCLE_STREAMS_MAX) -> None:
        self._store = store
        self._streams_max = streams_max
        # Re-entrant: a stream that is collected gives its slot back on whatever thread is just allocating.
        self._lock = threading.RLock()
        self._slots = 0
        self._listeners: set[Listener] = set()
        self._read_to: dict[str, int] = {}
        self._access: int | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def take_slot(self) -> None:
        """Count a stream in; raises ``Busy`` (TOO_MANY_STREAMS), or ``Unavailable`` once the server stops."""
        with self._lock:
            if self._stopping.is_set():
                raise Unavailable(
                    "SERVER_STOPPING", "the server is stopping", hint="connect again in a moment"
                )
            if self._slots >= self._streams_max:
                raise Busy(
                    "TOO_MANY_STREAMS",
                    f"{self._streams_max} lifecycle streams are open",
                    hint="close one, or read GET /v1/lifecycle page by page",
                    details={"retry_after_s": 5},
                )
            self._slots += 1

    def give_slot(self) -> None:
        """Count a stream out."""
        with self._lock:
            self._slots -= 1

    def add(self, listener: Listener) -> None:
        """Wake a listener from now on. What was committed before is its own to read."""
        tenant_id = listener.query.tenant_id
        newest = self._store.lifecycle.last_sequence()
        with self._lock:
            listener.ended = self._stopping.is_set()
            self._read_to.setdefault(tenant_id, newest)
            self._listeners.add(listener)
            if self._thread is None and not listener.ended:
                self._thread = threading.Thread(target=self._run, name="lamina-lifecycle", daemon=True)
                self._thread.start()

    def remove(self, listener: Listener) -> None:
        """Wake a listener no more."""
        with self._lock:
            self._listeners.discard(listener)

    def close(self) -> None:
        """End every stream, now and for good."""
        with self._lock:
            self._stopping.set()
            thread = self._thread
        self._end_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _end_all(self) -> None:
        with self._lock:
            for listener in list(self._listeners):
                listener.ended = True
                listener.wake()

    def _run(self) -> None:
        mark: int | None = None
        try:
            while not self._stopping.wait(limits.LIFECYCLE_LOOK_S):
                with self._lock:
                    if not self._listeners:
                        self._thread = None
                        self._read_to.clear()
                        return
                now = self._store.change_mark()
                if now != mark:
                    mark = now
                    self._look()
        except Exception:
            # Streams that nobody wakes would be silent for ever: end them, so that their clients come back.
            _LOG.exception("the lifecycle look-out failed; its streams end")
            with self._lock:
                self._thread = None
                self._read_to.clear()
            self._end_all()

    def _look(self) -> None:
        with self._lock:
            tenants = dict(self._read_to)
            listeners = list(self._listeners)
        self._note_policy(listeners)
        for tenant_id, read_to in tenants.items():
            waiting = [each for each in listeners if each.query.tenant_id == tenant_id]
            newest = self._wake(waiting, tenant_id, read_to)
            with self._lock:
                self._read_to[tenant_id] = newest

    def _note_policy(self, listeners: Sequence[Listener]) -> None:
        """Wake everybody when members or policies changed: each asks for itself whether that concerns it."""
        version = self._store.registry.version()
        if version != self._access:
            self._access = version
            for listener in listeners:
                listener.policy_moved = True
                listener.wake()

    def _wake(self, waiting: Sequence[Listener], tenant_id: str, after: int) -> int:
        """Wake those who want a row past a sequence; returns the newest sequence there was."""
        while True:
            rows = self._store.lifecycle.query(
                LifecycleQuery(tenant_id=tenant_id, after=after, limit=_ROWS_AT_ONCE)
            )
            for listener in waiting:
                if any(map(listener.wants, rows)):
                    listener.wake()
            if rows:
                after = rows[-1].sequence
            if len(rows) < _ROWS_AT_ONCE:
                return after
