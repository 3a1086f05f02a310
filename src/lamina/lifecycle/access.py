"""Whose lifecycle rows a caller may see, and the query behind their filters."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.errors import NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import LifecycleRow
from lamina.kernel.operations import Grant, Permits
from lamina.kernel.scopes import Scope
from lamina.store.ports.lifecycle import Lifecycle, LifecycleQuery
from lamina.types.lifecycle import LifecycleFilters

__all__ = ["may_follow", "query_of", "row_after", "subscribe_grant", "visible"]


def subscribe_grant(scope: str | None) -> Grant:
    """What following a scope, or everything one may see, takes."""
    return Grant(Capability.LIFECYCLE_SUBSCRIBE, None if scope is None else Scope(scope))


def query_of(filters: LifecycleFilters, tenant_id: str) -> LifecycleQuery:
    """The rows that the filters want, from the first."""
    return LifecycleQuery(
        tenant_id=tenant_id,
        within=None if filters.scope is None else Scope(filters.scope),
        event_id=filters.event_id,
        job_id=filters.job,
        names=None if filters.events is None else [name.value for name in filters.events],
    )


def visible(rows: Sequence[LifecycleRow], permits: Permits) -> list[LifecycleRow]:
    """The rows of scopes that the caller may follow and read; each scope is decided once per call."""
    allowed = {scope: may_follow(scope, permits) for scope in {row.scope for row in rows}}
    return [row for row in rows if allowed[row.scope]]


def may_follow(scope: Scope, permits: Permits) -> bool:
    """Whether the caller may see the rows of a scope."""
    return permits.allows(subscribe_grant(scope)) and permits.allows(
        Grant(Capability.SCOPE_READ_LOCAL, scope)
    )


def row_after(lifecycle: Lifecycle, tenant_id: str, lifecycle_id: str) -> LifecycleRow:
    """The row to go on from; raises ``NotFound`` for one that is not there."""
    row = lifecycle.get(tenant_id, lifecycle_id)
    if row is None:
        raise NotFound(
            "NOT_FOUND",
            "there is no lifecycle event of this id to go on from",
            hint="leave since_lifecycle_id out to begin anew",
            details={"id": lifecycle_id},
        )
    return row
