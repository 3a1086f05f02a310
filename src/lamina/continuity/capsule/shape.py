"""The shape of a capsule (seed 000, "Continuity Capsule Structure"): its types, and the plain object that is kept.

The types check what the wire promises as 422: presence, kinds of values, counts, and the bounds of single texts.
What needs more than one value is in ``validate``. Unknown fields are refused in structured entries, elsewhere dropped
and noted (``unknown``).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from lamina.continuity.capsule.bounds import highest, items_max, length_max, lowest, part_max
from lamina.continuity.capsule.unknown import Noting
from lamina.kernel.canonical import canonical
from lamina.kernel.wire import Text

__all__ = [
    "Capsule",
    "CapsuleObject",
    "IdentityAnchor",
    "Kind",
    "NegativeDecision",
    "RationaleEntry",
    "Signal",
    "SignalKind",
    "StablePreference",
    "Stamped",
    "SubjectId",
    "capsule_bytes",
    "copied",
    "plain",
]

CapsuleObject = dict[str, Any]
"""A capsule as it is kept: a JSON object in the order of the shape, without nulls, with empty lists."""

Kind = Literal["user", "peer", "thread", "task"]
SignalKind = Literal[
    "self_review", "external_observation", "user_confirmation", "peer_confirmation", "system_check"
]
SubjectId = Annotated[Text, StringConstraints(min_length=1, max_length=length_max("continuity.subject_id"))]


class _Part(Noting, BaseModel):
    """An object inside a capsule, or the capsule itself."""


class _Entry(BaseModel):
    """An object of a list in which an unknown field is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Stamped(_Entry):
    """A structured entry with its times, which are the server's but for the last."""

    created_at: Text | None = None
    updated_at: Text | None = None
    last_confirmed_at: Text | None = None


_PREFERENCES, _RATIONALE = "continuity.stable_preferences", "continuity.rationale_entries"
_ANCHORS = "continuity.thread_descriptor.identity_anchors"


class StablePreference(Stamped):
    """A durable preference of a user or peer."""

    tag: Annotated[Text, Field(min_length=1, max_length=part_max(_PREFERENCES, "tag"))]
    content: Annotated[Text, Field(min_length=1, max_length=part_max(_PREFERENCES, "content"))]


class NegativeDecision(Stamped):
    """A decision not to act."""

    decision: Text
    rationale: Text


class RationaleEntry(Stamped):
    """Why something was decided, is assumed, or stays in tension."""

    tag: Annotated[Text, Field(max_length=part_max(_RATIONALE, "tag"))]
    kind: Literal["decision", "assumption", "tension"]
    status: Literal["active", "superseded", "retired"]
    summary: Annotated[Text, Field(max_length=part_max(_RATIONALE, "summary"))]
    reasoning: Annotated[Text, Field(max_length=part_max(_RATIONALE, "reasoning"))]
    alternatives_considered: Annotated[
        list[Text], Field(max_length=part_max(_RATIONALE, "alternatives_considered.items"))
    ] = []
    depends_on: Annotated[list[Text], Field(max_length=part_max(_RATIONALE, "depends_on.items"))] = []
    supersedes: Annotated[Text, Field(max_length=part_max(_RATIONALE, "supersedes"))] | None = None


def _texts(path: str) -> Any:
    return Field(max_length=items_max(path))


class RelationshipModel(_Part):
    """How to be with whom the capsule is about."""

    trust_level: Literal["low", "guarded", "normal", "high"] | None = None
    preferred_style: Annotated[list[Text], _texts("continuity.relationship_model.preferred_style")] = []
    sensitivity_notes: Annotated[list[Text], _texts("continuity.relationship_model.sensitivity_notes")] = []


class RetrievalHints(_Part):
    """What to load, and what not."""

    must_include: Annotated[list[Text], _texts("continuity.retrieval_hints.must_include")] = []
    avoid: Annotated[list[Text], _texts("continuity.retrieval_hints.avoid")] = []
    load_next: Annotated[list[Text], _texts("continuity.retrieval_hints.load_next")] = []


class CapsuleState(_Part):
    """Where the agent stands."""

    top_priorities: Annotated[list[Text], _texts("continuity.top_priorities")]
    active_concerns: Annotated[list[Text], _texts("continuity.active_concerns")]
    active_constraints: Annotated[list[Text], _texts("continuity.active_constraints")]
    open_loops: Annotated[list[Text], _texts("continuity.open_loops")]
    stance_summary: Annotated[Text, Field(max_length=length_max("continuity.stance_summary"))]
    drift_signals: Annotated[list[Text], _texts("continuity.drift_signals")]
    working_hypotheses: Annotated[list[Text], _texts("continuity.working_hypotheses")] = []
    long_horizon_commitments: Annotated[list[Text], _texts("continuity.long_horizon_commitments")] = []
    session_trajectory: Annotated[list[Text], _texts("continuity.session_trajectory")] = []
    negative_decisions: Annotated[list[NegativeDecision], _texts("continuity.negative_decisions")] = []
    trailing_notes: Annotated[list[Text], _texts("continuity.trailing_notes")] = []
    curiosity_queue: Annotated[list[Text], _texts("continuity.curiosity_queue")] = []
    rationale_entries: Annotated[list[RationaleEntry], _texts("continuity.rationale_entries")] = []
    related_documents: Any = None  # Any: `documents` has its rules, whose errors are not those of a type
    relationship_model: RelationshipModel | None = None
    retrieval_hints: RetrievalHints | None = None


class CapsuleSource(_Part):
    """Who wrote the capsule, and why."""

    producer: Annotated[Text, Field(min_length=1, max_length=length_max("continuity.source.producer"))]
    update_reason: Literal["startup_refresh", "pre_compaction", "interaction_boundary", "manual", "migration"]
    inputs: Annotated[list[Text], _texts("continuity.source.inputs")] = []


class CapsuleConfidence(_Part):
    """How sure the agent is, 0 to 1."""

    continuity: Annotated[float, Field(ge=0, le=1)]
    relationship_model: Annotated[float, Field(ge=0, le=1)]


class AttentionPolicy(_Part):
    """What to load first, and what to weigh otherwise than usual."""

    early_load: Annotated[list[Text], _texts("continuity.attention_policy.early_load")] = []
    presence_bias_overrides: Annotated[
        list[Text], _texts("continuity.attention_policy.presence_bias_overrides")
    ] = []


_STALE = "continuity.freshness.stale_after_seconds"


class CapsuleFreshness(_Part):
    """How long the capsule can be relied on."""

    freshness_class: Literal["persistent", "durable", "situational", "ephemeral"] | None = None
    expires_at: Text | None = None
    stale_after_seconds: Annotated[int, Field(ge=lowest(_STALE), le=highest(_STALE))] | None = None


_UPSERT = "continuity.upsert.capsule."


class VerificationState(_Part):
    """How far the capsule was verified; the server keeps it."""

    status: Literal[
        "unverified",
        "self_attested",
        "externally_supported",
        "user_confirmed",
        "peer_confirmed",
        "system_confirmed",
        "conflicted",
    ]
    last_revalidated_at: Text
    strongest_signal: SignalKind
    evidence_refs: Annotated[list[Text], _texts(f"{_UPSERT}verification_state.evidence_refs")] = []
    conflict_summary: (
        Annotated[Text, Field(max_length=length_max(f"{_UPSERT}verification_state.conflict_summary"))] | None
    ) = None


class CapsuleHealth(_Part):
    """What was found out about the capsule; the server keeps it."""

    status: Literal["healthy", "degraded", "conflicted"]
    reasons: Annotated[list[Text], _texts(f"{_UPSERT}capsule_health.reasons")] = []
    last_checked_at: Text


class IdentityAnchor(_Part):
    """A typed pin by which a thread is found."""

    kind: Annotated[Text, Field(min_length=1, max_length=part_max(_ANCHORS, "kind"))]
    value: Annotated[Text, Field(min_length=1, max_length=part_max(_ANCHORS, "value"))]


_DESCRIPTOR = "continuity.thread_descriptor."


class ThreadDescriptor(_Part):
    """What a thread is called, and how it is found."""

    label: Annotated[Text, Field(min_length=1, max_length=length_max(f"{_DESCRIPTOR}label"))]
    keywords: Annotated[list[Text], _texts(f"{_DESCRIPTOR}keywords")] = []
    scope_anchors: Annotated[list[Text], _texts(f"{_DESCRIPTOR}scope_anchors")] = []
    identity_anchors: Annotated[list[IdentityAnchor], _texts(f"{_DESCRIPTOR}identity_anchors")] = []
    lifecycle: Literal["active", "suspended", "concluded", "superseded"] | None = None
    superseded_by: (
        Annotated[Text, Field(max_length=length_max(f"{_UPSERT}thread_descriptor.superseded_by"))] | None
    ) = None


class Capsule(_Part):
    """What an agent keeps about one subject."""

    schema_version: Literal["1.0", "1.1"] = "1.1"
    subject_kind: Kind
    subject_id: SubjectId
    updated_at: Text
    verified_at: Text
    source: CapsuleSource
    continuity: CapsuleState
    confidence: CapsuleConfidence
    verification_kind: SignalKind | None = None
    attention_policy: AttentionPolicy | None = None
    freshness: CapsuleFreshness | None = None
    canonical_sources: Annotated[list[Text], _texts("continuity.canonical_sources")] = []
    metadata: dict[Text, Any] = {}  # Any: scalars, which `validate` checks
    verification_state: VerificationState | None = None
    capsule_health: CapsuleHealth | None = None
    stable_preferences: Annotated[list[StablePreference], _texts(_PREFERENCES)] = []
    thread_descriptor: ThreadDescriptor | None = None


class Signal(_Part):
    """What somebody or something saw that speaks for or against a capsule."""

    kind: SignalKind
    source_ref: Annotated[
        Text, Field(min_length=1, max_length=part_max("continuity.compare.signals", "source_ref"))
    ]
    observed_at: Text
    summary: Annotated[
        Text, Field(min_length=1, max_length=part_max("continuity.compare.signals", "summary"))
    ]


def plain(capsule: Capsule) -> CapsuleObject:
    """The object that is kept of a capsule, in the current version."""
    kept: CapsuleObject = capsule.model_dump(exclude_none=True)
    kept["schema_version"] = "1.1"
    return kept


def copied(value: Any) -> Any:  # Any: whatever JSON can hold
    """A copy that shares nothing that can change; ``copy.deepcopy`` costs six times as much."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def capsule_bytes(value: CapsuleObject) -> bytes:
    """The bytes of a document: canonical JSON, of which ``capsule_sha256`` is the hash."""
    return canonical(value)
