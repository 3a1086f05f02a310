"""Lifecycle streams: replay from a row on, then whatever happens, until the client or the server goes (seed 002, 10.3 to 10.5)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from typing import Final, Self

from lamina import limits
from lamina.errors import Unauthenticated
from lamina.kernel.events import LifecycleRow
from lamina.kernel.ids import Prefix, with_low
from lamina.kernel.operations import Answer, Call
from lamina.kernel.streams import Beginning, Burst, ServerSentEvent
from lamina.kernel.time import SECOND_US, Clock, Instant, duration_text, rfc3339
from lamina.lifecycle.access import RowKind, kind_of, may_follow, place_after, query_of, subscribe_grant
from lamina.lifecycle.feed import Feed, Listener
from lamina.lifecycle.tail import RowEvent, told
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.store import Store
from lamina.types.lifecycle import LifecycleName, StreamRequest

__all__ = ["LifecycleStream", "Streaming"]

_MOMENT_S = 0.05
_BEFORE_US: Final = 5 * SECOND_US
"""How long before a stream began it is resumed from: a row that was stamped by then may have become visible after."""


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
            query = replace(query, after=lifecycle.last_sequence(tenant_id))
        else:
            place = place_after(lifecycle, call, since)
            query = replace(query, after=place.sequence, arrived_from=window_from)
            if place.arrived_at < window_from:
                warnings = ("resume_window_passed",)
        beginning = Beginning(with_low(Prefix.LIFECYCLE, call.now - _BEFORE_US, 0)) if since is None else None
        stream = LifecycleStream(self._store, self._feed, self._clock, query, call, beginning)
        return Answer(stream, warnings=warnings)


class LifecycleStream(AsyncIterator[ServerSentEvent | Burst | Beginning | None]):
    """The events of one stream; None says only that it is alive. One that begins now says first where: a client whose connection
    breaks before the first event would have nothing to go on from. Ends when closed, when the server stops, when
    the client lags, and when policy or the end of its token takes the subscription back.

    It reads the store from where it begins to the end, and from there on takes what the feed has read for everybody. A
    client that reads too slowly for that holds no rows: its stream goes on in the store, until it lags too far.
    """

    _closed = True
    """Whether it holds no place."""

    def __init__(
        self,
        store: Store,
        feed: Feed,
        clock: Clock,
        query: LifecycleQuery,
        call: Call,
        beginning: Beginning | None = None,
    ) -> None:
        """Takes a place; raises ``Busy`` (TOO_MANY_STREAMS) where there is none, ``Unavailable`` (SERVER_STOPPING)."""
        self._store = store
        self._feed = feed
        self._clock = clock
        self._beginning = beginning
        self._query = replace(query, limit=limits.LIFECYCLE_BATCH_MAX)
        self._permits = call.permits
        self._held = call.permits.denials(query.within)
        self._caller = call.principal
        token = call.principal.token
        self._token_until: Instant | None = None if token is None else token.exp * SECOND_US
        self._opened_at: Instant = call.now
        self._listener: Listener | None = None
        self._news: deque[ServerSentEvent] = deque()
        self._allowed: dict[RowKind, bool] = {}
        self._after = query.after
        self._behind = True
        """Whether the store may hold rows that the feed has not handed on."""
        self._quiet_since = 0.0
        self._renewed_at = 0.0
        feed.check_open()
        # The last step: a stream that could not be made has no place to give back.
        feed.places.take(self._caller.tenant_id, self._caller.actor)
        self._closed = False

    def __aiter__(self) -> Self:
        """Itself."""
        return self

    async def __anext__(self) -> ServerSentEvent | Burst | Beginning | None:
        """What is next, or None after a quiet while."""
        loop = asyncio.get_running_loop()
        if self._listener is None and not self._closed:
            self._listener = Listener(self._query, loop)
            await asyncio.to_thread(self._begin, self._listener)
            self._quiet_since = loop.time()
            return self._beginning
        event = await self._next(loop)
        self._quiet_since = loop.time()
        return event

    def _begin(self, listener: Listener) -> None:
        self._feed.add(listener)
        if self._closed:  # meanwhile, by a client who went
            self._feed.remove(listener)

    async def _next(self, loop: asyncio.AbstractEventLoop) -> ServerSentEvent | Burst | None:
        listener = self._listener
        while listener is not None and not listener.ended and not self._closed:
            if self._permits_are_old(listener, loop.time()):
                listener.policy_moved = False
                self._renewed_at = loop.time()
                refusal = await asyncio.to_thread(self._renew)
                if refusal is not None:
                    return self._last(ServerSentEvent("policy_revoked", {"reason": refusal}))
                continue
            if self._news:
                return self._news.popleft()
            listener.woken.clear()
            found = await self._found(listener)
            if found:
                return self._sent(found)
            if self._behind or listener.due is not None or listener.policy_moved:
                continue
            beat_at = self._quiet_since + limits.LIFECYCLE_HEARTBEAT_S
            try:
                async with asyncio.timeout(min(max(0.0, beat_at - loop.time()), self._token_left_s())):
                    await listener.woken.wait()
            except TimeoutError:
                if loop.time() >= beat_at:
                    self._behind = True  # a look at the store comes with every sign of life
                    return None
        self.close()
        raise StopAsyncIteration

    # ---- what the caller may

    def _permits_are_old(self, listener: Listener, now_s: float) -> bool:
        expired = self._token_until is not None and self._clock.now() >= self._token_until
        return listener.policy_moved or expired or now_s >= self._renewed_at + limits.LIFECYCLE_HEARTBEAT_S

    def _token_left_s(self) -> float:
        """Until the token is to be looked at again; a moment where it ends in a fraction of this second."""
        if self._token_until is None:
            return limits.LIFECYCLE_HEARTBEAT_S
        return max(_MOMENT_S, (self._token_until - self._clock.now()) / SECOND_US)

    def _renew(self) -> str | None:
        """Ask what the caller may by now; a reason when the subscription is no longer allowed."""
        self._allowed = {}
        try:
            self._permits = self._permits.renewed()
        except Unauthenticated as ended:
            return f"{ended.code}: {ended.message}"
        if not self._permits.allows(subscribe_grant(self._query.within)):
            return "lifecycle.subscribe is denied"
        self._tell_of_policy()
        return None

    def _decide(self, kinds: Collection[RowKind]) -> None:
        if len(self._allowed) > limits.LIFECYCLE_SCOPES_MAX:
            self._allowed = {}
        self._allowed |= {kind: may_follow(kind, self._permits) for kind in kinds}

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
        return self._caller.actor if tier == "actor" or self._query.within is None else self._query.within

    # ---- rows

    async def _found(self, listener: Listener) -> list[RowEvent]:
        """The next rows that the caller may see, none when they have to be looked for again or there are none."""
        if self._behind:
            query = replace(self._query, after=self._after)
            rows = await asyncio.to_thread(self._read, query)
            found, behind = [told(row) for row in rows], len(rows) == query.limit
        else:
            taken = self._feed.take(listener, self._after, limits.LIFECYCLE_BATCH_MAX)
            found, behind = taken or [], taken is None
        self._behind = True  # until what was found is on its way
        kinds = {kind_of(each.row) for each in found}
        if not kinds <= self._allowed.keys():
            await asyncio.to_thread(self._decide, kinds)
        if listener.policy_moved:  # what was found may be hidden by now
            return []
        self._behind = behind
        if found:
            self._after = found[-1].row.sequence
        return [each for each in found if self._allowed[kind_of(each.row)]]

    def _read(self, query: LifecycleQuery) -> list[LifecycleRow]:
        rows = self._store.lifecycle.query(query)
        self._feed.look_at_policy()  # after the rows, as whoever reads for everybody does
        return rows

    def _sent(self, found: Sequence[RowEvent]) -> ServerSentEvent | Burst:
        # Old rows of a replay are not the client's delay: they count from when it asked for them.
        behind_us = self._clock.now() - max(found[0].row.arrived_at, self._opened_at)
        if behind_us > limits.LIFECYCLE_LAG_S_MAX * SECOND_US:
            return self._last(ServerSentEvent("lagging", {"behind_by": duration_text(behind_us)}))
        return found[0].event if len(found) == 1 else Burst([each.event for each in found])

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
            self._feed.places.give(self._caller.tenant_id, self._caller.actor)
            if self._listener is not None:
                self._feed.remove(self._listener)

    def __del__(self) -> None:
        """A client may go before the first event was asked for: then nobody else closes the stream."""
        self.close()
