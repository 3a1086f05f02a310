"""Lifecycle streams: replay from a row on, then whatever happens, until the client or the server goes (seed 002, 10.3 to 10.5)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Self

from lamina import limits
from lamina.errors import Unauthenticated
from lamina.kernel.events import LifecycleRow
from lamina.kernel.operations import Answer, Call
from lamina.kernel.streams import ServerSentEvent
from lamina.kernel.time import SECOND_US, Clock, Instant, duration_text, rfc3339
from lamina.lifecycle.access import query_of, row_after, subscribe_grant, visible
from lamina.lifecycle.feed import Feed, Listener
from lamina.lifecycle.requests import LifecycleName, StreamedRow, StreamRequest
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.store import Store

__all__ = ["LifecycleStream", "Streaming"]

_MOMENT_S = 0.05


class Streaming:
    """Handler of ``GET /v1/lifecycle/stream``."""

    def __init__(self, store: Store, feed: Feed, clock: Clock) -> None:
        self._store = store
        self._feed = feed
        self._clock = clock

    def stream(self, request: StreamRequest, call: Call) -> Answer:
        """A stream of rows: those after the one named that arrived within the last hour, then the new ones.

        Without such a row it begins now. A row older than the hour is answered with a warning: what arrived
        between it and the hour is in ``GET /v1/lifecycle``.
        """
        lifecycle, tenant_id = self._store.lifecycle, call.principal.tenant_id
        since = request.last_event_id or request.since_lifecycle_id
        window_from = call.now - limits.LIFECYCLE_REPLAY_S * SECOND_US
        warnings: tuple[str, ...] = ()
        query = query_of(request, tenant_id)
        if since is None:
            query = replace(query, after=lifecycle.last_sequence())
        else:
            row = row_after(lifecycle, tenant_id, since)
            query = replace(query, after=row.sequence, arrived_from=window_from)
            if row.arrived_at < window_from:
                warnings = ("resume_window_passed",)
        self._feed.take_slot()
        stream = LifecycleStream(self._store, self._feed, self._clock, query, call)
        return Answer(stream, warnings=warnings)


class LifecycleStream(AsyncIterator[ServerSentEvent | None]):
    """The events of one stream; None says only that it is alive. Ends when closed, when the server stops, when
    the client lags, and when policy takes the subscription back."""

    def __init__(self, store: Store, feed: Feed, clock: Clock, query: LifecycleQuery, call: Call) -> None:
        self._store = store
        self._feed = feed
        self._clock = clock
        self._query = replace(query, limit=limits.LIFECYCLE_BATCH_MAX)
        self._permits = call.permits
        self._held = call.permits.denials(query.within)
        self._actor = call.principal.actor
        token = call.principal.token
        self._token_until: Instant | None = None if token is None else token.exp * SECOND_US
        self._opened_at: Instant = call.now
        self._listener: Listener | None = None
        self._rows: deque[LifecycleRow] = deque()
        self._news: deque[ServerSentEvent] = deque()
        self._more = True
        self._closed = False
        self._quiet_since = 0.0

    def __aiter__(self) -> Self:
        """Itself."""
        return self

    async def __anext__(self) -> ServerSentEvent | None:
        """The next event, or None after a quiet while."""
        loop = asyncio.get_running_loop()
        if self._listener is None and not self._closed:
            self._listener = Listener(self._query, loop)
            await asyncio.to_thread(self._feed.add, self._listener)
            self._quiet_since = loop.time()
            return None
        event = await self._next(loop)
        self._quiet_since = loop.time()
        return event

    async def _next(self, loop: asyncio.AbstractEventLoop) -> ServerSentEvent | None:
        listener = self._listener
        while listener is not None and not listener.ended and not self._closed:
            if self._news:
                return self._news.popleft()
            anew = listener.policy_moved or self._expired()
            if self._rows and not anew:
                return self._sent(self._rows.popleft())
            if anew or self._more or listener.woken.is_set():
                listener.policy_moved = False
                listener.woken.clear()
                refusal = await asyncio.to_thread(self._read)
                if refusal is not None:
                    return self._last(ServerSentEvent("policy_revoked", {"reason": refusal}))
                continue
            left_s = self._quiet_since + limits.LIFECYCLE_HEARTBEAT_S - loop.time()
            try:
                await asyncio.wait_for(listener.woken.wait(), max(0.0, min(left_s, self._token_left_s())))
            except TimeoutError:
                self._more = True  # a look at the store, and at policy, comes with every sign of life
                if loop.time() >= self._quiet_since + limits.LIFECYCLE_HEARTBEAT_S:
                    return None
        self.close()
        raise StopAsyncIteration

    def _expired(self) -> bool:
        return self._token_until is not None and self._clock.now() >= self._token_until

    def _token_left_s(self) -> float:
        """Until the token is to be looked at again; a moment where it ends in a fraction of this second."""
        if self._token_until is None:
            return limits.LIFECYCLE_HEARTBEAT_S
        return max(_MOMENT_S, (self._token_until - self._clock.now()) / SECOND_US)

    def _read(self) -> str | None:
        """Fetch what is new; a reason when the subscription is no longer allowed."""
        try:
            self._permits = self._permits.renewed()
        except Unauthenticated as ended:
            return f"{ended.code}: {ended.message}"
        if not self._permits.allows(subscribe_grant(self._query.within)):
            return "lifecycle.subscribe is denied"
        self._tell_of_policy()
        if self._rows:  # read under the policy before: what is hidden by now is not sent
            self._rows = deque(visible(list(self._rows), self._permits))
            return None
        rows = self._store.lifecycle.query(self._query)
        self._more = len(rows) == self._query.limit
        if rows:
            self._query = replace(self._query, after=rows[-1].sequence)
        self._rows.extend(visible(rows, self._permits))
        return None

    def _tell_of_policy(self) -> None:
        """A ``policy_changed`` event when the caller holds more or less than before, put down to the tier that did it."""
        before, self._held = self._held, self._permits.denials(self._query.within)
        revoked = sorted(self._held.keys() - before.keys())
        granted = sorted(before.keys() - self._held.keys())
        wanted = self._query.names is None or LifecycleName.POLICY_CHANGED in self._query.names
        if wanted and (revoked or granted):
            tier = self._held[revoked[0]] if revoked else before[granted[0]]
            self._news.append(
                ServerSentEvent(
                    LifecycleName.POLICY_CHANGED.value,
                    {
                        "event_id": None,
                        "timestamp": rfc3339(self._clock.now()),
                        "scope": self._query.within,
                        "payload": {
                            "tier": tier,
                            "scope_or_actor": self._concerned(tier),
                            "capability_diff": {"granted": granted, "revoked": revoked},
                        },
                    },
                )
            )

    def _concerned(self, tier: str) -> str:
        return self._actor if tier == "actor" or self._query.within is None else self._query.within

    def _sent(self, row: LifecycleRow) -> ServerSentEvent:
        # Old rows of a replay are not the client's delay: they count from when it asked for them.
        behind_us = self._clock.now() - max(row.arrived_at, self._opened_at)
        if behind_us > limits.LIFECYCLE_LAG_S_MAX * SECOND_US:
            return self._last(ServerSentEvent("lagging", {"behind_by": duration_text(behind_us)}))
        data = StreamedRow(
            event_id=row.event_id,
            job_id=row.job_id,
            timestamp=row.arrived_at,
            scope=row.scope,
            sequence=row.number,
            payload=row.payload,
        )
        return ServerSentEvent(row.name, data, row.id)

    def _last(self, event: ServerSentEvent) -> ServerSentEvent:
        self.close()
        return event

    async def aclose(self) -> None:
        """Mirrors ``close``."""
        self.close()

    def close(self) -> None:
        """Give the stream's place to another; again, it does nothing."""
        if not self._closed:
            self._closed = True
            self._feed.give_slot()
            if self._listener is not None:
                self._feed.remove(self._listener)

    def __del__(self) -> None:
        """A client may go before the first event was asked for: then nobody else closes the stream."""
        self.close()
