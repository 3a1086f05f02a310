"""What each lifecycle event says beside where and when (seed 002, 13): the shapes behind ``payload``.

Rows carry their payload as it was written; these types are what ``lifecycle_event.schema.json`` publishes, and a
test compares them with what a stream sends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from lamina.kernel.wire import Result

__all__ = ["CLOSING", "PAYLOADS"]

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class CapturedPayload(Result):
    """The event is in the log."""

    actor: str
    modality: str
    wal_offset: Count


class DerivedCounts(Result):
    """How many records a stage derived."""

    facts: Count
    entities: Count
    beliefs: Count
    episodes: Count = 0


class ExtractedPayload(Result):
    """What was read from the event."""

    derived: DerivedCounts


class IndexedPayload(Result):
    """The layers that recall now finds it in."""

    layers_indexed: list[str]


class ConsolidatedPayload(Result):
    """What the event changed of what was held before."""

    beliefs_updated: Count
    conflicts_resolved: Count
    superseded_facts: list[str]


class CompressedPayload(Result):
    """The episode that the event belongs to, and the concepts that were versioned."""

    episode_id: str | None
    understanding_ids: list[str]


class ForgottenPayload(Result):
    """Records that were deleted."""

    layer: str
    count: Count
    by_actor: str
    cascade: str


class ExpiredPayload(Result):
    """Records of a layer that are over by their time to live; what goes with them is not counted."""

    layer: str
    count: Count


class CapabilityDiff(Result):
    """Capabilities that the subscriber holds now and did not before, and the other way round."""

    granted: list[str]
    revoked: list[str]


class PolicyChangedPayload(Result):
    """Policy as it concerns the stream's subscriber changed."""

    tier: str
    scope_or_actor: str
    capability_diff: CapabilityDiff


class PolicyRevokedPayload(Result):
    """The subscription is no longer allowed; the stream ends."""

    reason: str


class ImportProgressPayload(Result):
    """How far an import is."""

    import_id: str
    fraction_complete: Share
    processed: Count
    total: Count


class ImportCompletePayload(Result):
    """An import is done."""

    import_id: str
    summary: dict[str, Any]  # Any: counts by kind


class ImportErrorPayload(Result):
    """A line could not be imported."""

    import_id: str
    line: Count
    error: str


class ExportProgressPayload(Result):
    """How far an export is."""

    export_id: str
    fraction_complete: Share


class ExportCompletePayload(Result):
    """An export is done."""

    export_id: str
    url: str | None
    size_bytes: Count


class ErasureProgressPayload(Result):
    """How far an erasure is."""

    erasure_id: str
    phase: str
    fraction_complete: Share
    deleted_events: Count | None = None
    redacted_events: Count | None = None


class ErasureCompletePayload(Result):
    """An erasure is done."""

    erasure_id: str
    summary: dict[str, Any]  # Any: counts by kind
    audit_id: str | None = None


class LaggingPayload(Result):
    """The client is too slow; the stream ends. ``behind_by`` is an ISO 8601 duration."""

    behind_by: str


PAYLOADS: Final[Mapping[str, type[BaseModel]]] = {
    "captured": CapturedPayload,
    "extracted": ExtractedPayload,
    "indexed": IndexedPayload,
    "consolidated": ConsolidatedPayload,
    "compressed": CompressedPayload,
    "forgotten": ForgottenPayload,
    "expired": ExpiredPayload,
    "policy_changed": PolicyChangedPayload,
    "import_progress": ImportProgressPayload,
    "import_complete": ImportCompletePayload,
    "import_error": ImportErrorPayload,
    "export_progress": ExportProgressPayload,
    "export_complete": ExportCompletePayload,
    "erasure_progress": ErasureProgressPayload,
    "erasure_complete": ErasureCompletePayload,
}
"""By name of the event; each stands in ``payload``."""

CLOSING: Final[Mapping[str, type[BaseModel]]] = {
    "policy_revoked": PolicyRevokedPayload,
    "lagging": LaggingPayload,
}
"""The last words of a stream: their data is the payload itself."""
