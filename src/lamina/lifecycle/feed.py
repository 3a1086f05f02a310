"""One look-out for all lifecycle streams: it notices commits of any process, reads what is new once for everybody, and
wakes those who want some of it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from lamina import limits
from lamina.errors import Unavailable
from lamina.kernel.events import LifecycleRow
from lamina.lifecycle.places import Places, PlacesMax
from lamina.lifecycle.tail import RowEvent, Tail
from lamina.observe.rounds import Failures
from lamina.store.ports.changes import Follower
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.store import Store
from lamina.store.tallies import PlacesTaken

__all__ = ["Feed", "Listener"]

_PART = "the look-out of lifecycle streams"
_FAILED_S_MAX = 1.0
_ROWS_AT_ONCE = 1000
_WOKEN_AT_ONCE = 8


@dataclass(eq=False, slots=True)
class Listener:
    """A stream as the look-out sees it: what it waits for, and how it is woken."""

    query: LifecycleQuery
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False
    policy_moved: bool = True
    """Members, policies or tokens may have changed since the stream last asked what it may."""
    due: int | None = None
    """The sequence of the oldest row that the stream wants and has not taken."""

    def wants(self, row: LifecycleRow) -> bool:
        """Whether the row is one that the stream's query would find."""
        query = self.query
        return (
            (query.within is None or query.within.contains(row.scope))
            and query.event_id in (None, row.event_id)
            and query.job_id in (None, row.job_id)
            and (query.names is None or row.name in query.names)
        )


class Feed:
    """Wakes listeners. Its thread runs only while there are any, and looks for all of them together."""

    def __init__(
        self,
        store: Store,
        failures: Failures | None = None,
        *,
        taken: PlacesTaken | None = None,
    ) -> None:
        """``taken`` counts the places of callers: this process's own unless given."""
        self._store = store
        self._failures = failures or Failures()
        self.places = Places(PlacesMax(), taken)
        # Re-entrant: a stream that is collected leaves on whatever thread is just allocating.
        self._lock = threading.RLock()
        self._listeners: set[Listener] = set()
        self._tails: dict[str, Tail] = {}
        self._access: int | None = None
        self._thread: threading.Thread | None = None
        self._follower: Follower | None = None
        self._stopping = threading.Event()

    def check_open(self) -> None:
        """Nothing, or ``Unavailable`` (SERVER_STOPPING) once the server stops."""
        if self._stopping.is_set():
            raise Unavailable("SERVER_STOPPING", "the server is stopping", hint="connect again in a moment")

    def add(self, listener: Listener) -> None:
        """Wake a listener from now on. What was committed before is its own to read."""
        newest = self._store.lifecycle.last_sequence(listener.query.tenant_id)
        with self._lock:
            listener.ended = self._stopping.is_set()
            self._tails.setdefault(listener.query.tenant_id, Tail(newest))
            self._listeners.add(listener)
            if self._thread is None and not listener.ended:
                thread = threading.Thread(target=self._run, name="lamina-lifecycle", daemon=True)
                thread.start()
                self._thread = thread

    def remove(self, listener: Listener) -> None:
        """Stop waking a listener, whose stream has ended."""
        with self._lock:
            self._listeners.discard(listener)

    def take(self, listener: Listener, after: int, rows_max: int) -> list[RowEvent] | None:
        """What a listener wants of the rows read for everybody, past ``after``; None when they are no longer at hand,
        and the store has to be asked. For a listener that has read the store to its end since it was added.
        """
        with self._lock:
            due, listener.due = listener.due, None
            if due is None:
                return []
            tail = self._tails.get(listener.query.tenant_id)
            if tail is None or not tail.holds(due):
                return None
            taken: list[RowEvent] = []
            for each in tail.since(due):
                if each.row.sequence > after and listener.wants(each.row):
                    if len(taken) == rows_max:
                        listener.due = each.row.sequence
                        break
                    taken.append(each)
            return taken

    def look_at_policy(self) -> None:
        """Notice now what changed, for a stream that has read the store itself: those rows may be newer than the last look."""
        _wake(self._moved_by_policy())

    def close(self) -> None:
        """End every stream, now and for good."""
        with self._lock:
            self._stopping.set()
            thread, follower = self._thread, self._follower
        self._end_all()
        if follower is not None:
            follower.close()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _end_all(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
            for listener in listeners:
                listener.ended = True
            # Nothing is read for those who ended: what is left of them must not be in the way of others.
            self._listeners.clear()
            self._tails.clear()
        _wake(listeners)

    def _run(self) -> None:
        wait_s = limits.LIFECYCLE_LOOK_S
        while not self._stopping.wait(wait_s):
            with self._lock:
                if not self._listeners:
                    self._rest()
                    self._thread = None
                    self._tails.clear()
                    break
            try:
                if self._follower is None:
                    self._begin()
                else:
                    self._look(self._follower.wait(limits.CHANGES_LOOK_S))
                wait_s = limits.LIFECYCLE_LOOK_S
            except Exception as error:
                # Streams that nobody wakes would be silent for ever: end them, so that their clients come back.
                wait_s = min(self._failures.note(_PART, error), _FAILED_S_MAX)
                self._rest()
                self._end_all()
            else:
                self._failures.over(_PART)
        else:
            self._rest()
        self._failures.drop(_PART)

    def _begin(self) -> None:
        """Follow from here on; what came before, since the first of those who listen did, is looked for at once."""
        follower = self._store.changes.follow()
        with self._lock:
            self._follower = follower
            followed = frozenset(self._tails)
        self._look(followed)

    def _rest(self) -> None:
        with self._lock:
            follower, self._follower = self._follower, None
        if follower is not None:
            follower.close()

    def _look(self, changed: frozenset[str]) -> None:
        """Read on for the tenants that changed, of those that somebody follows, and wake those who want what was read."""
        with self._lock:
            followed = {listener.query.tenant_id for listener in self._listeners}
            self._tails = {tenant_id: self._tails[tenant_id] for tenant_id in followed}
            tails = {tenant_id: tail for tenant_id, tail in self._tails.items() if tenant_id in changed}
        self._wake_in_turn(self._moved_by_policy())
        for tenant_id, tail in tails.items():
            more = True
            while more:
                rows = self._store.lifecycle.query(
                    LifecycleQuery(tenant_id=tenant_id, after=tail.read_to, limit=_ROWS_AT_ONCE)
                )
                # Policy after the rows: no row goes out under rules older than itself.
                moved = self._moved_by_policy()
                self._wake_in_turn({*moved, *self._wanting(tail, tenant_id, rows)})
                more = len(rows) == _ROWS_AT_ONCE

    def _wake_in_turn(self, listeners: Iterable[Listener]) -> None:
        """A few at a time: they share their processor with whoever writes, and what comes meanwhile goes out with the rest."""
        left = iter(listeners)
        while few := list(islice(left, _WOKEN_AT_ONCE)):
            _wake(few)
            self._stopping.wait(len(few) * limits.LIFECYCLE_PAUSE_S)

    def _moved_by_policy(self) -> Collection[Listener]:
        """Everybody when members, policies or tokens changed: each asks for itself whether that concerns it."""
        version = self._store.registry.version()
        if version == self._access:
            return ()
        self._access = version
        with self._lock:
            for listener in self._listeners:
                listener.policy_moved = True
            return list(self._listeners)

    def _wanting(self, tail: Tail, tenant_id: str, rows: Sequence[LifecycleRow]) -> Collection[Listener]:
        """Put rows into the tail; returns those who want one of them."""
        with self._lock:
            tail.add(rows, limits.LIFECYCLE_TAIL_ROWS_MAX // max(1, len(self._tails)))
            wanting = []
            for listener in self._listeners:
                if listener.query.tenant_id == tenant_id:
                    first = next((row.sequence for row in rows if listener.wants(row)), None)
                    if first is not None:
                        listener.due = first if listener.due is None else listener.due
                        wanting.append(listener)
            return wanting


def _wake(listeners: Collection[Listener]) -> None:
    """Let streams look; from any thread. A loop that has closed has nobody left to wake."""
    for loop in {listener.loop for listener in listeners}:
        there = [listener for listener in listeners if listener.loop is loop]
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_set, there)


def _set(listeners: Sequence[Listener]) -> None:
    for listener in listeners:
        listener.woken.set()
