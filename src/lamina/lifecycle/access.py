"""Whose lifecycle rows a caller may see, and the query behind their filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lamina.errors import NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import LifecycleRow
from lamina.kernel.ids import Prefix, instant_of
from lamina.kernel.operations import Call, Grant, Permits
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.lifecycle import Lifecycle, LifecycleQuery
from lamina.types.lifecycle import LifecycleFilters

__all__ = [
    "RowKind",
    "RowPosition",
    "kind_of",
    "may_follow",
    "place_after",
    "query_of",
    "subscribe_grant",
    "visible",
]

_ERASURE = Prefix.ERASURE.opening


def subscribe_grant(scope: str | None) -> Grant:
    """What following a scope, or everything one may see, takes."""
    return Grant(Capability.LIFECYCLE_SUBSCRIBE, None if scope is None else Scope(scope))


def query_of(filters: LifecycleFilters, tenant_id: str) -> LifecycleQuery:
    """The rows that the filters want, from the first."""
    return LifecycleQuery(
        tenant_id=tenant_id,
        within=None if filters.scope is None else Scope(filters.scope),
        event_id=filters.event,
        job_id=filters.job,
        names=None if filters.events is None else [name.value for name in filters.events],
    )


def visible(rows: Sequence[LifecycleRow], permits: Permits) -> list[LifecycleRow]:
    """The rows that the caller may follow and read; each kind of a scope is decided once per call."""
    allowed = {kind: may_follow(kind, permits) for kind in {kind_of(row) for row in rows}}
    return [row for row in rows if allowed[kind_of(row)]]


class RowPosition(NamedTuple):
    """Between the rows of a tenant: behind those up to ``sequence``, the last of which arrived by then."""

    sequence: int
    arrived_at: Instant


RowKind = tuple[Scope, bool]
"""Where a row belongs, and whether it tells of an erasure: that goes on being told while the scope itself is hidden."""


def kind_of(row: LifecycleRow) -> RowKind:
    """What decides who may see a row."""
    return row.scope, row.job_id is not None and row.job_id.startswith(_ERASURE)


def may_follow(kind: RowKind, permits: Permits) -> bool:
    """Whether the caller may see the rows of a kind: those who read the scope, and of erasures those who may erase it."""
    scope, of_erasure = kind
    if not permits.allows(subscribe_grant(scope)):
        return False
    wanted = [Capability.SCOPE_READ_LOCAL, *([Capability.FORGET_GDPR] if of_erasure else [])]
    return any(permits.allows(Grant(each, scope)) for each in wanted)


def place_after(lifecycle: Lifecycle, call: Call, lifecycle_id: str) -> RowPosition:
    """Where to go on from; raises ``NotFound`` for what has not happened.

    The row of an event that was erased is gone, and its id says when it arrived: who had come so far learns of the erasure next.
    """
    tenant_id = call.principal.tenant_id
    row = lifecycle.get(tenant_id, lifecycle_id)
    if row is not None:
        return RowPosition(row.sequence, row.arrived_at)
    arrived_at = instant_of(lifecycle_id)
    if arrived_at is None or arrived_at >= call.now:
        raise NotFound(
            "NOT_FOUND",
            "there is no lifecycle event of this id to go on from",
            hint="leave since_lifecycle_id out to begin anew",
            details={"id": lifecycle_id},
        )
    return RowPosition(_last_by(lifecycle, tenant_id, arrived_at), arrived_at)


def _last_by(lifecycle: Lifecycle, tenant_id: str, at: Instant) -> int:
    """A number that no row which arrived later has, nor one before it: arrivals rise with the numbers."""
    low, high = 0, lifecycle.last_sequence(tenant_id)
    while low < high:
        middle = (low + high) // 2
        following = lifecycle.query(LifecycleQuery(tenant_id=tenant_id, after=middle, limit=1))
        if not following or following[0].arrived_at > at:  # the last may be erased meanwhile
            high = middle
        else:
            low = following[0].sequence
    return low
