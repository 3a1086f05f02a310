"""The artifacts as they are kept and shown: their keys and the order of these are a promise of the contract.

What is stored is read for its shape; the bounds are those of writes (``requests``).
"""

from __future__ import annotations

from typing import Literal

from lamina.kernel.wire import Result

__all__ = [
    "Claim",
    "ClassificationName",
    "EpistemicStatus",
    "Handoff",
    "HandoffStatus",
    "OutcomeName",
    "ProjectedContinuity",
    "Reconciliation",
    "SharedArtifact",
    "SharedState",
    "SourceKind",
    "SourceSelector",
    "SourceSummary",
    "TriggerName",
]

HandoffStatus = Literal["pending", "accepted_advisory", "deferred", "rejected"]
SourceKind = Literal["handoff", "shared"]
EpistemicStatus = Literal["frame_present", "frame_absent_evidence_confirms", "frame_status_unknown"]
ClassificationName = Literal["contradictory", "stale_observation", "frame_conflict", "concurrent_race"]
TriggerName = Literal[
    "handoff_vs_handoff", "shared_vs_shared", "handoff_vs_shared", "concurrent_mutation_race"
]
OutcomeName = Literal["advisory_only", "conflicted", "rejected"]


class SourceSelector(Result):
    """Whose capsule a handoff was made from."""

    subject_kind: str
    subject_id: str


class SourceSummary(Result):
    """How that capsule stood; the statuses are null where nobody verified or checked it."""

    path: str
    updated_at: str | None = None
    verified_at: str | None = None
    verification_status: str | None = None
    health_status: str | None = None


class ProjectedContinuity(Result):
    """What crosses the boundary of a handoff, and all that does."""

    active_constraints: tuple[str, ...] = ()
    drift_signals: tuple[str, ...] = ()


class Handoff(Result):
    """A part of one agent's capsule, for another agent: advice, and what the recipient made of it."""

    schema_type: Literal["continuity_handoff"] = "continuity_handoff"
    schema_version: str = "1.0"
    handoff_id: str
    created_at: str
    created_by: str
    sender_peer: str
    recipient_peer: str
    source_selector: SourceSelector
    source_summary: SourceSummary
    task_id: str | None = None
    thread_id: str | None = None
    note: str | None = None
    shared_continuity: ProjectedContinuity
    recipient_status: HandoffStatus = "pending"
    recipient_reason: str | None = None
    consumed_at: str | None = None
    consumed_by: str | None = None


class SharedState(Result):
    """What an owner shows to the participants."""

    constraints: tuple[str, ...] = ()
    drift_signals: tuple[str, ...] = ()
    coordination_alerts: tuple[str, ...] = ()


class SharedArtifact(Result):
    """Coordination state of its owner, for named participants; ``version`` counts its updates from 1."""

    schema_type: Literal["coordination_shared_state"] = "coordination_shared_state"
    schema_version: str = "1.0"
    shared_id: str
    created_at: str
    updated_at: str
    created_by: str
    owner_peer: str
    participant_peers: tuple[str, ...]
    task_id: str | None = None
    thread_id: str | None = None
    title: str
    summary: str | None = None
    shared_state: SharedState
    version: int
    last_updated_by: str


class Claim(Result):
    """What one party says of an artifact, and how sure that is. ``observed_version`` is that of a shared artifact."""

    source_kind: SourceKind
    source_id: str
    claimant_peer: str
    claim_summary: str
    epistemic_status: EpistemicStatus
    evidence_refs: tuple[str, ...] = ()
    observed_version: int | None = None


class Reconciliation(Result):
    """A dispute that is named: its claims, and how it ended. It settles nothing of what is disputed."""

    schema_type: Literal["coordination_reconciliation_record"] = "coordination_reconciliation_record"
    schema_version: str = "1.0"
    reconciliation_id: str
    created_at: str
    updated_at: str
    opened_by: str
    owner_peer: str
    participant_peers: tuple[str, ...]
    task_id: str | None = None
    thread_id: str | None = None
    title: str
    summary: str | None = None
    classification: ClassificationName
    trigger: TriggerName
    claims: tuple[Claim, ...]
    status: Literal["open", "resolved"] = "open"
    resolution_outcome: OutcomeName | None = None
    resolution_summary: str | None = None
    resolved_at: str | None = None
    resolved_by: str | None = None
    version: int
    last_updated_by: str
