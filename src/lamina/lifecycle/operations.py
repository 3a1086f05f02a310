"""The lifecycle operations (seed 002, 8.9)."""

from __future__ import annotations

from typing import Any

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Grant, Operation, Tier
from lamina.kernel.time import Clock
from lamina.lifecycle.access import subscribe_grant
from lamina.lifecycle.feed import Feed
from lamina.lifecycle.reading import LifecycleReads
from lamina.lifecycle.stream import Streaming
from lamina.store.ports.store import Store
from lamina.types import lifecycle as requests

__all__ = ["lifecycle_operations"]


def lifecycle_operations(store: Store, feed: Feed, clock: Clock) -> list[Operation[Any]]:
    """The operations that watch what happens to events and jobs, and the one that stops it."""
    reads, streaming = LifecycleReads(store), Streaming(store, feed, clock)
    return [
        Operation(
            name="lifecycle",
            request=requests.LifecycleList,
            result=requests.LifecyclePage,
            capability=Capability.LIFECYCLE_SUBSCRIBE,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [subscribe_grant(r.scope)],  # noqa: ARG005 - the port's shape
            handler=reads.rows,
            summary="List what happened to events and jobs, in order of arrival.",
            fails=("NOT_FOUND",),
        ),
        Operation(
            name="lifecycle_stream",
            request=requests.StreamRequest,
            result=requests.StreamedRow,
            capability=Capability.LIFECYCLE_SUBSCRIBE,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [subscribe_grant(r.scope)],  # noqa: ARG005 - the port's shape
            handler=streaming.stream,
            summary="Follow what happens to events and jobs, as server-sent events.",
            fails=("NOT_FOUND", "TOO_MANY_STREAMS", "SERVER_STOPPING"),
            streams="always",
        ),
        Operation(
            name="lifecycle_event",
            request=requests.LifecycleId,
            result=requests.LifecycleRowView,
            capability=Capability.LIFECYCLE_SUBSCRIBE,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [subscribe_grant(None)],  # noqa: ARG005 - the row's scope is checked once it is known
            handler=reads.row,
            summary="Read one lifecycle event.",
            fails=("NOT_FOUND",),
        ),
        Operation(
            name="lifecycle_memory_event",
            request=requests.MemoryEventId,
            result=requests.MemoryEventState,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.SCOPE_READ_LOCAL, None)],  # noqa: ARG005 - as above
            handler=reads.memory_event,
            summary="How far an event has come.",
            fails=("NOT_FOUND",),
        ),
        Operation(
            name="lifecycle_cancel",
            request=requests.CancelRequest,
            result=requests.Cancelled,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.SCOPE_WRITE, None)],  # noqa: ARG005 - as above
            handler=reads.cancel,
            summary="Stop deriving from an event and keep it out of recall.",
            fails=("NOT_FOUND",),
        ),
    ]
