"""Erasures as they are asked for and answered (seed 002, 8.6): the shapes that ``erasure_preview`` and ``erasure_job`` publish."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from lamina import limits
from lamina.kernel.ids import Prefix, parse_id
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import Request, Result, ScopePath, Text

__all__ = [
    "CancelErasure",
    "ErasureCancelled",
    "ErasureId",
    "ErasureList",
    "ErasureManifest",
    "ErasureManifestId",
    "ErasurePage",
    "ErasurePreview",
    "ErasurePreviewId",
    "ErasureStarted",
    "ErasureState",
    "PreviewErasure",
    "StartErasure",
]


def _id_of(prefix: Prefix) -> AfterValidator:
    return AfterValidator(lambda text: parse_id(text, prefix))


_Erasure = Annotated[str, _id_of(Prefix.ERASURE)]
_Preview = Annotated[str, _id_of(Prefix.ERASURE_PREVIEW)]
_Note = Annotated[Text, Field(min_length=1, max_length=limits.ERASURE_NOTE_LENGTH_MAX)]
_Page = Annotated[int, Field(ge=1, le=limits.ERASURE_MANIFEST_PAGE_MAX)]


class PreviewErasure(Request):
    """What an erasure of a scope, with all below it, would do. ``audit_note`` is the controller's own reference to the case; it is kept,
    so that it should name nobody."""

    scope: ScopePath
    audit_note: _Note | None = None


class StartErasure(Request):
    """Erase a scope with all below it: for good. With ``from_preview_id`` only what that preview showed is erased, but for the drift that
    the tenant allows."""

    scope: ScopePath
    from_preview_id: _Preview | None = None
    audit_note: _Note


class ErasureId(Request):
    """One erasure."""

    erasure_id: _Erasure


class CancelErasure(Request):
    """Have an erasure stop at its next phase."""

    erasure_id: _Erasure


class ErasurePreviewId(Request):
    """A page of the manifest of a preview."""

    preview_id: _Preview
    cursor: str | None = None
    limit: _Page = limits.ERASURE_MANIFEST_PAGE_MAX


class ErasureManifestId(Request):
    """A page of the manifest of an erasure."""

    erasure_id: _Erasure
    cursor: str | None = None
    limit: _Page = limits.ERASURE_MANIFEST_PAGE_MAX


class ErasureList(Request):
    """Erasures of the tenant, newest first, of scopes that the caller may erase."""

    cursor: str | None = None
    limit: Annotated[int, Field(ge=1, le=limits.ERASURES_LISTED_MAX)] = 50


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
    """A scope outside the erased one that cites its events, or holds some of them. It is ``erased`` as a whole where nobody but the
    person owns it."""

    scope: str
    events_referenced: Count
    co_owners: list[str]
    erased: bool


class CrossScopePropagation(Result):
    """How far the erasure reaches beyond its scope, and the capability that takes."""

    affected_workspaces: list[AffectedWorkspace]
    requires_capability: str | None


class ErasurePreview(Result):
    """What an erasure would do. Good for 24 hours. ``residue`` counts claims about the person that others told: they stay."""

    preview_id: str
    scope: str
    estimated_affected: LayerCounts
    refcount_breakdown: RefcountBreakdown
    cross_scope_propagation: CrossScopePropagation
    legal_holds: list[str]
    residue: Count
    estimated_duration_ms: Count
    manifest_url: str


class ResidueRecord(Result):
    """A claim about the person that others told, which is theirs and stays."""

    record_id: str
    scope: str


class CrossScopeReference(Result):
    """A record outside the erased scope that rests on an event inside."""

    event_id: str
    record_id: str
    scope: str


class ErasureManifest(Result):
    """Line by line what an erasure would do, or did: ids, and paths of documents until it is over. A page of it: the lists of all pages
    put together are the manifest. Documents that others wrote in, too, are ``documents_shared``, and stay; so does
    what others told of the person, ``residue``, of which a page has what the caller may read."""

    preview_id: str | None = None
    erasure_id: str | None = None
    scope: str
    events_to_delete: list[str]
    events_to_redact: list[str]
    events_under_legal_hold: list[str]
    cross_scope_references: list[CrossScopeReference]
    beliefs_to_demote: list[str]
    documents_to_delete: list[str]
    documents_shared: list[str]
    residue: list[ResidueRecord]
    expires_at: Stamp | None = None
    next_cursor: str | None = None
    has_more: bool = False


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
    held_events: Count
    deleted_records: Count
    demoted_beliefs: Count
    elapsed_ms: Count


class ErasureState(Result):
    """How far an erasure is. ``audit_id`` is set once it is done."""

    erasure_id: str
    scope: str
    status: Literal["running", "completed", "cancelled", "failed"]
    phase: Literal["enumerate", "refcount", "categorize", "delete", "demote"]
    fraction_complete: Annotated[float, Field(ge=0.0, le=1.0)]
    progress: ErasureProgress
    legal_holds: list[str]
    started_at: Stamp
    ended_at: Stamp | None
    audit_id: str | None
    audit_note: str


class ErasurePage(Result):
    """Erasures, newest first."""

    items: list[ErasureState]
    next_cursor: str | None = None
    has_more: bool


class ErasureCancelled(Result):
    """What was deleted before the erasure stopped; it does not come back."""

    erasure_id: str
    cancellation_accepted: bool
    deleted_events_before_cancel: Count
    audit_id: str | None
