"""Request types of the continuity operations (seed 000, "Continuity Requests"). Unknown fields are dropped, and noted."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from lamina import limits
from lamina.continuity.capsule.bounds import highest, items_max, length_max, lowest
from lamina.continuity.capsule.shape import (
    Capsule,
    Kind,
    NegativeDecision,
    RationaleEntry,
    Signal,
    SubjectId,
)
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.capsule.unknown import Noting
from lamina.kernel.wire import BoundText, Text

__all__ = [
    "Archive",
    "ColdRehydrate",
    "ColdStore",
    "Compare",
    "Delete",
    "Diff",
    "History",
    "Lifecycle",
    "ListCapsules",
    "Patch",
    "PatchAction",
    "PatchOperation",
    "PatchTarget",
    "PlanRefresh",
    "PlanRetention",
    "Read",
    "RetentionApply",
    "Revalidate",
    "SessionEndSnapshot",
    "Upsert",
]


class _AboutSubject(Noting):
    subject_kind: Kind
    subject_id: SubjectId

    @property
    def subject(self) -> Subject:
        """Whom the request is about."""
        return Subject(self.subject_kind, self.subject_id)


def _text(path: str, least: int = 0) -> Any:
    return Field(min_length=least, max_length=length_max(path))


def _range(path: str) -> Any:
    return Field(ge=lowest(path), le=highest(path))


_Successor = Annotated[Text, _text("continuity.upsert.superseded_by")]
_Message = Annotated[Text, _text("continuity.upsert.commit_message")]
_SHA256_LENGTH = length_max("continuity.upsert.expected_sha256")
_Expected = Annotated[Text, StringConstraints(min_length=_SHA256_LENGTH, max_length=_SHA256_LENGTH)]
_Transition = Literal["suspend", "resume", "conclude", "supersede"]
_Signals = Annotated[list[Signal], Field(min_length=1, max_length=items_max("continuity.revalidate.signals"))]


class SessionEndSnapshot(Noting):
    """The fields that a session ends with: the first four replace the capsule's, the others where they are given."""

    open_loops: Annotated[list[Text], Field(max_length=items_max("session_end_snapshot.open_loops"))]
    top_priorities: Annotated[list[Text], Field(max_length=items_max("session_end_snapshot.top_priorities"))]
    active_constraints: Annotated[
        list[Text], Field(max_length=items_max("session_end_snapshot.active_constraints"))
    ]
    stance_summary: Annotated[Text, _text("session_end_snapshot.stance_summary")]
    negative_decisions: (
        Annotated[
            list[NegativeDecision], Field(max_length=items_max("session_end_snapshot.negative_decisions"))
        ]
        | None
    ) = None
    session_trajectory: (
        Annotated[list[Text], Field(max_length=items_max("session_end_snapshot.session_trajectory"))] | None
    ) = None
    rationale_entries: (
        Annotated[list[RationaleEntry], Field(max_length=items_max("session_end_snapshot.rationale_entries"))]
        | None
    ) = None


class Upsert(_AboutSubject):
    """Write a whole capsule, or with ``merge_mode`` preserve the fields that are given."""

    capsule: Capsule
    commit_message: _Message | None = None
    idempotency_key: Annotated[Text, _text("continuity.upsert.idempotency_key")] | None = None
    session_end_snapshot: SessionEndSnapshot | None = None
    lifecycle_transition: _Transition | None = None
    superseded_by: _Successor | None = None
    merge_mode: Literal["replace", "preserve"] = "replace"
    expected_sha256: _Expected | None = None


PatchTarget = Literal[
    "continuity.open_loops",
    "continuity.top_priorities",
    "continuity.active_constraints",
    "continuity.active_concerns",
    "continuity.drift_signals",
    "continuity.working_hypotheses",
    "continuity.long_horizon_commitments",
    "continuity.session_trajectory",
    "continuity.trailing_notes",
    "continuity.curiosity_queue",
    "continuity.negative_decisions",
    "continuity.rationale_entries",
    "stable_preferences",
    "thread_descriptor.keywords",
    "thread_descriptor.scope_anchors",
    "thread_descriptor.identity_anchors",
]
PatchAction = Literal["append", "remove", "replace_at"]


class PatchOperation(Noting):
    """One change of one list."""

    target: PatchTarget
    action: PatchAction
    value: Any = None  # Any: a string or an object, as the target says
    match: Text | None = None
    index: int | None = None


class Patch(_AboutSubject):
    """Change items of lists, all or nothing. Without ``updated_at`` it is the server's time: for appends, which commute."""

    updated_at: Text | None = None
    operations: Annotated[list[PatchOperation], Field(min_length=1, max_length=items_max("patch.operations"))]
    commit_message: Annotated[Text, _text("continuity.patch.commit_message")] | None = None
    expected_sha256: _Expected | None = None


class Lifecycle(_AboutSubject):
    """Move a thread or task along its lifecycle."""

    subject_kind: Literal["thread", "task"]
    transition: _Transition
    superseded_by: _Successor | None = None
    updated_at: Text
    commit_message: Annotated[Text, _text("continuity.lifecycle.commit_message")] | None = None


class Read(_AboutSubject):
    """Read a capsule; with the view ``startup`` also what an agent needs first."""

    allow_fallback: bool = False
    view: Literal["startup"] | None = None


class Compare(_AboutSubject):
    """Compare a candidate with the capsule that stands."""

    candidate_capsule: Capsule
    signals: _Signals


class Revalidate(_AboutSubject):
    """Say how a capsule fared against signals."""

    outcome: Literal["confirm", "correct", "degrade", "conflict"]
    signals: _Signals
    candidate_capsule: Capsule | None = None
    reason: Annotated[Text, _text("continuity.revalidate.reason", 1)] | None = None


_Version = Annotated[int, Field(ge=1, le=limits.DOCUMENT_VERSION_MAX)]


class History(_AboutSubject):
    """List a capsule's versions, newest first; ``before`` goes on below a version."""

    limit: Annotated[int, Field(ge=1, le=limits.CAPSULE_VERSIONS_MAX)] = 20
    before: _Version | None = None


class Diff(_AboutSubject):
    """Compare two versions of a capsule; the newest and the one before where nothing else is asked.

    ``since`` compares the newest with the one that stood then: all that others made of it in between.
    """

    from_version: _Version | None = None
    to_version: _Version | None = None
    since: BoundText | None = None

    @model_validator(mode="after")
    def _one_way_to_ask(self) -> Diff:
        if self.since is not None and (self.from_version, self.to_version) != (None, None):
            raise ValueError(
                "since names the older version, and the newest is the other: leave out the versions"
            )
        return self


class ListCapsules(Noting):
    """Which capsules to list."""

    subject_kind: Kind | None = None
    limit: Annotated[int, _range("continuity.list.limit")] = 50
    include_fallback: bool = False
    include_archived: bool = False
    include_cold: bool = False
    lifecycle: Literal["active", "suspended", "concluded", "superseded"] | None = None
    scope_anchor: Annotated[Text, _text("continuity.list.scope_anchor")] | None = None
    keyword: Annotated[Text, _text("continuity.list.keyword")] | None = None
    label_exact: Annotated[Text, _text("continuity.list.label_exact")] | None = None
    anchor_kind: Annotated[Text, _text("continuity.list.anchor_kind")] | None = None
    anchor_value: Annotated[Text, _text("continuity.list.anchor_value")] | None = None
    sort: Literal["default", "salience"] = "default"

    @model_validator(mode="after")
    def _anchor_whole(self) -> ListCapsules:
        if self.anchor_value is not None and self.anchor_kind is None:
            raise ValueError("anchor_value requires anchor_kind")
        return self


class Archive(_AboutSubject):
    """Put a capsule away."""

    reason: Annotated[Text, _text("continuity.archive.reason", 3)]


class Delete(_AboutSubject):
    """Remove what is kept of a subject: at least one of the three."""

    delete_active: bool = False
    delete_archive: bool = False
    delete_fallback: bool = False
    reason: Annotated[Text, _text("continuity.delete.reason", 3)]

    @model_validator(mode="after")
    def _something(self) -> Delete:
        if not (self.delete_active or self.delete_archive or self.delete_fallback):
            raise ValueError("at least one of delete_active, delete_archive and delete_fallback must be true")
        return self


class PlanRefresh(Noting):
    """Which capsules should be looked at again."""

    subject_kind: Kind | None = None
    limit: Annotated[int, _range("continuity.refresh_plan.limit")] = 25
    include_healthy: bool = False


class PlanRetention(Noting):
    """Which archives are old enough for cold storage."""

    subject_kind: Kind | None = None
    limit: Annotated[int, _range("continuity.retention_plan.limit")] = 25


_Path = Annotated[Text, _text("continuity.cold_store.source_archive_path", 1)]


class RetentionApply(Noting):
    """Move these archives to cold storage where they are old enough."""

    source_archive_paths: Annotated[
        list[_Path],
        Field(min_length=1, max_length=items_max("continuity.retention_apply.source_archive_paths")),
    ]


class ColdStore(Noting):
    """Move an archive to cold storage."""

    source_archive_path: _Path


class ColdRehydrate(Noting):
    """Bring an archive back, named by its own path or by that of its stub."""

    source_archive_path: _Path | None = None
    cold_stub_path: _Path | None = None

    @model_validator(mode="after")
    def _one_name(self) -> ColdRehydrate:
        if (self.source_archive_path is None) == (self.cold_stub_path is None):
            raise ValueError("give either source_archive_path or cold_stub_path")
        return self
