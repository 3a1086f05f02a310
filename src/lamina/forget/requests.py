"""What an erasure looks like (seed 002, 8.6): the shapes that ``erasure_preview`` and ``erasure_job`` publish."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import Result

__all__ = [
    "ErasureCancelled",
    "ErasureManifest",
    "ErasurePreview",
    "ErasureStarted",
    "ErasureState",
]

Count = Annotated[int, Field(ge=0)]


class LayerCounts(Result):
    """How many records of each layer."""

    events: Count
    episodes: Count
    facts: Count
    beliefs: Count
    understanding: Count


class RefcountBreakdown(Result):
    """What becomes of the events: those that others cite are redacted, the rest is deleted."""

    events_to_delete: Count
    events_to_redact: Count
    events_under_legal_hold: Count


class AffectedWorkspace(Result):
    """A scope outside the erased one that cites its events."""

    scope: str
    events_referenced: Count
    co_owners: list[str]


class CrossScopePropagation(Result):
    """How far the erasure reaches beyond its scope, and the capability that takes."""

    affected_workspaces: list[AffectedWorkspace]
    requires_capability: str | None


class ErasurePreview(Result):
    """What an erasure would do. Good for 24 hours."""

    preview_id: str
    scope: str
    estimated_affected: LayerCounts
    refcount_breakdown: RefcountBreakdown
    cross_scope_propagation: CrossScopePropagation
    legal_holds: list[str]
    estimated_duration_ms: Count
    manifest_url: str


class CrossScopeReference(Result):
    """A record outside the erased scope that rests on an event inside."""

    event_id: str
    record_id: str
    scope: str


class ErasureManifest(Result):
    """Line by line what an erasure would do, or did: ids only."""

    preview_id: str | None = None
    erasure_id: str | None = None
    scope: str
    events_to_delete: list[str]
    events_to_redact: list[str]
    cross_scope_references: list[CrossScopeReference]
    beliefs_to_demote: list[str]
    expires_at: Stamp | None = None


class ErasureStarted(Result):
    """The erasure runs behind the answer."""

    erasure_id: str
    status: Literal["running", "completed", "cancelled", "failed"]
    manifest_url: str
    lifecycle_stream: str


class ErasureProgress(Result):
    """What was done so far."""

    deleted_events: Count
    redacted_events: Count
    demoted_beliefs: Count
    elapsed_ms: Count


class ErasureState(Result):
    """How far an erasure is. ``audit_id`` is set once it is done."""

    erasure_id: str
    status: Literal["running", "completed", "cancelled", "failed"]
    phase: Literal["enumerate", "refcount", "categorize", "delete", "demote"]
    fraction_complete: Annotated[float, Field(ge=0.0, le=1.0)]
    progress: ErasureProgress
    audit_id: str | None


class ErasureCancelled(Result):
    """What was deleted before the erasure stopped; it does not come back."""

    erasure_id: str
    cancellation_accepted: bool
    deleted_events_before_cancel: Count
    audit_id: str | None
