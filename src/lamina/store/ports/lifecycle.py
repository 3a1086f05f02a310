"""The lifecycle: what happened to events and jobs, row by row."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lamina.kernel.events import LifecycleRow
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["Lifecycle", "LifecycleDraft", "LifecycleQuery"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleDraft:
    """A lifecycle row before the store gives it its id, sequence and arrival."""

    tenant_id: str
    name: str
    scope: Scope
    payload: Mapping[str, Any]
    event_id: str | None = None
    job_id: str | None = None
    position: int | None = None
    """That of the event, where it is at hand; an engine looks it up where it needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleQuery:
    """Which lifecycle rows are wanted, in order of arrival; None means any."""

    tenant_id: str
    scopes: Collection[Scope] | None = None
    """None means every scope of the tenant: only for callers that may see them all."""
    within: Scope | None = None
    event_id: str | None = None
    job_id: str | None = None
    names: Collection[str] | None = None
    after: int = 0
    arrived_from: Instant | None = None
    limit: int = 100


class Lifecycle(Protocol):
    """What happened to events and jobs, strictly ordered inside one event."""

    def get(self, tenant_id: str, lifecycle_id: str) -> LifecycleRow | None:
        """One row, or None."""
        ...

    def query(self, query: LifecycleQuery) -> list[LifecycleRow]:
        """Rows in order of arrival."""
        ...

    def last_sequence(self, tenant_id: str) -> int:
        """The sequence of a tenant's newest row, 0 when there is none. It counts per tenant and is never given twice."""
        ...
