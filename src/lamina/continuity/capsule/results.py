"""Result types of the continuity operations (seed 000, "Continuity Requests"; keys and their order are a promise)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import InstantText, Result

__all__ = [
    "Applied",
    "AppliedOne",
    "Archived",
    "ArchivingNote",
    "CapsuleHistory",
    "CapsuleProvenance",
    "CapsuleVersion",
    "ColdStored",
    "Compared",
    "Deleted",
    "Differences",
    "FieldChange",
    "Listed",
    "Moved",
    "Patched",
    "ReadCapsule",
    "RefreshPlan",
    "Rehydrated",
    "RetentionPlan",
    "Revalidated",
    "Upserted",
]

Plain = dict[str, Any]
"""A JSON object whose shape a module of this slice makes and its tests pin."""


class _Sparse(Result):
    """Leaves out those of its ``occasional`` fields that were not set."""

    occasional: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_unset(self, serialize: SerializerFunctionWrapHandler) -> Plain:
        unset = self.occasional - self.model_fields_set
        return {name: value for name, value in serialize(self).items() if name not in unset}


class Upserted(_Sparse):
    """A capsule was written, or stands already just so: then neither created nor updated."""

    occasional = frozenset({"session_end_snapshot_applied", "resume_quality", "lifecycle"})

    ok: Literal[True] = True
    path: str
    created: bool
    updated: bool
    durable: bool = True
    latest_commit: str | None
    capsule_sha256: str
    normalizations_applied: list[str]
    warnings: list[Plain] = Field(default_factory=list)
    recovery_warnings: list[str] = Field(default_factory=list)
    fallback_warning_detail: str | None = None
    session_end_snapshot_applied: bool = False
    resume_quality: dict[str, bool] | None = None
    lifecycle: str | None = None


class Patched(Result):
    """Every operation was applied."""

    ok: Literal[True] = True
    path: str
    updated: bool
    durable: bool = True
    latest_commit: str | None
    capsule_sha256: str
    operations_applied: int
    normalizations_applied: list[str]
    warnings: list[Plain] = Field(default_factory=list)
    recovery_warnings: list[str] = Field(default_factory=list)


class Moved(Result):
    """The capsule is at another point of its lifecycle."""

    ok: Literal[True] = True
    path: str
    lifecycle: str
    previous_lifecycle: str
    durable: bool = True
    latest_commit: str | None
    capsule_sha256: str
    warnings: list[Plain] = Field(default_factory=list)
    recovery_warnings: list[str] = Field(default_factory=list)


class ArchivingNote(Result):
    """When a capsule was put away, by whom, and the reason that was given."""

    archived_at: str
    archived_by: str
    reason: str


class CapsuleProvenance(Result):
    """Who last wrote a capsule, and when by the server's clock; null where no write of it is known.

    ``archived`` is null unless the capsule was put away after that write.
    """

    written_by: str | None = None
    written_at: Stamp | None = None
    version: int | None = None
    archived: ArchivingNote | None = None


class ReadCapsule(_Sparse):
    """A capsule and what can be said of it. The last four keys come with the startup view.

    ``capsule_sha256`` is that of the document of an active capsule: a write that names it as ``expected_sha256`` is
    refused where another one stands.
    """

    occasional = frozenset({"startup_summary", "graph_summary", "schedule_context", "provenance"})

    ok: Literal[True] = True
    path: str
    capsule: Plain | None
    archived: bool = False
    source_state: Literal["active", "fallback", "missing"]
    recovery_warnings: list[str]
    trust_signals: Plain | None
    capsule_sha256: str | None = None
    startup_summary: Plain | None = None
    graph_summary: Plain | None = None
    schedule_context: Plain | None = None
    provenance: CapsuleProvenance | None = None


class Compared(Result):
    """How a candidate differs; nothing was changed."""

    ok: Literal[True] = True
    path: str
    identical: bool
    changed_fields: list[str]
    strongest_signal: str
    recommended_outcome: str


class CapsuleVersion(Result):
    """One step of a capsule's document and the commit that made it. ``commit`` is null while it is being made."""

    version: int
    kind: str
    size: int
    commit: str | None
    author: str
    message: str
    committed_at: InstantText


class CapsuleHistory(Result):
    """Versions, newest first; ``next_before`` continues the list and is null at its end."""

    ok: Literal[True] = True
    path: str
    count: int
    versions: list[CapsuleVersion]
    next_before: int | None


class FieldChange(Result):
    """A field in both versions; null where it is not there."""

    field: str
    old: Any  # Any: whatever a capsule holds
    new: Any


class Differences(Result):
    """What two versions have different. ``from_version`` is null where nothing stood before.

    ``changed_fields`` are those that a comparison counts; ``uncompared_fields`` the others, such as preferences and
    judgements. ``changes`` has both. ``written_by`` are the authors of what came after the older version, the first first.
    """

    ok: Literal[True] = True
    path: str
    from_version: CapsuleVersion | None
    to_version: CapsuleVersion
    written_by: list[str]
    identical: bool
    changed_fields: list[str]
    uncompared_fields: list[str]
    changes: list[FieldChange]


class Revalidated(Result):
    """The capsule carries a new judgement. ``updated`` says whether its words changed."""

    ok: Literal[True] = True
    path: str
    outcome: str
    updated: bool
    verification_state: Plain
    capsule_health: Plain
    durable: bool = True
    latest_commit: str | None
    warnings: list[Plain] = Field(default_factory=list)
    recovery_warnings: list[str] = Field(default_factory=list)
    fallback_warning_detail: str | None = None


class Listed(_Sparse):
    """Capsules that the caller may read. ``salience_metadata`` comes with the salience order, ``recovery_warnings``
    where what stands at a capsule's path cannot be read as one: each names such a path."""

    occasional = frozenset({"salience_metadata", "recovery_warnings"})

    ok: Literal[True] = True
    count: int
    capsules: list[Plain]
    unique_match: bool
    salience_metadata: Plain | None = None
    recovery_warnings: list[str] = Field(default_factory=list)


class Archived(Result):
    """The capsule was put away."""

    ok: Literal[True] = True
    archived_path: str
    removed_active_path: str
    durable: bool = True
    latest_commit: str | None
    warnings: list[Plain] = Field(default_factory=list)


class Deleted(Result):
    """What was there is gone, and what was not there is named."""

    ok: Literal[True] = True
    deleted_paths: list[str]
    missing_paths: list[str]
    durable: bool = True
    latest_commit: str | None
    warnings: list[Plain] = Field(default_factory=list)


class RefreshPlan(Result):
    """The capsules to look at again, the most urgent first."""

    ok: Literal[True] = True
    count: int
    generated_at: str
    candidates: list[Plain]
    durable: bool = True
    latest_commit: str | None
    warnings: list[Plain] = Field(default_factory=list)


class RetentionPlan(Result):
    """The archives that may go to cold storage, the oldest first."""

    ok: Literal[True] = True
    count: int
    generated_at: str
    path: str
    durable: bool = True
    latest_commit: str | None
    warnings: list[str]
    candidates: list[Plain]
    total_candidates: int
    has_more: bool


class ColdStored(Result):
    """An archive is in cold storage."""

    ok: Literal[True] = True
    artifact_state: Literal["cold"] = "cold"
    source_archive_path: str
    cold_storage_path: str
    cold_stub_path: str
    cold_stored_at: str
    committed_files: list[str]
    durable: bool = True
    latest_commit: str | None
    warnings: list[Plain] = Field(default_factory=list)
    recovery_warnings: list[str] = Field(default_factory=list)


class Rehydrated(Result):
    """An archive is back from cold storage."""

    ok: Literal[True] = True
    artifact_state: Literal["archived"] = "archived"
    restored_archive_path: str
    cold_storage_path: str
    cold_stub_path: str
    rehydrated_at: str
    committed_files: list[str]
    durable: bool = True
    latest_commit: str | None
    warnings: list[Plain] = Field(default_factory=list)
    recovery_warnings: list[str] = Field(default_factory=list)


class AppliedOne(Result):
    """What became of one archive of a retention run."""

    source_archive_path: str
    ok: bool
    status: str
    detail: str | None = None
    cold_storage_path: str | None = None
    cold_stub_path: str | None = None


class Applied(Result):
    """What became of the archives of a retention run."""

    ok: bool
    requested: int
    unique_requested: int
    processed: int
    cold_stored: int
    failed: int
    durable: bool = True
    results: list[AppliedOne]
    warnings: list[str]
