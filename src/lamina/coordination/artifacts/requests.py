"""Request and result types of coordination artifacts (seed 000, Coordination Payloads).

Bounds that seed and contract give the types refuse as 422; those of single texts that they leave to the service are ``checks``'.
Where the seed and the original name a field differently, both names are taken.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from lamina import limits
from lamina.coordination.artifacts.records import (
    ClassificationName,
    EpistemicStatus,
    Handoff,
    OutcomeName,
    Reconciliation,
    SharedArtifact,
    SourceKind,
    TriggerName,
)
from lamina.kernel.wire import Request, Result, Text

__all__ = [
    "ConsumeHandoff",
    "CreateHandoff",
    "CreateShared",
    "FoundHandoffs",
    "FoundReconciliations",
    "FoundShared",
    "HandoffChanged",
    "HandoffCreated",
    "HandoffRead",
    "OpenReconciliation",
    "QueryHandoffs",
    "QueryReconciliations",
    "QueryShared",
    "ReadHandoff",
    "ReadReconciliation",
    "ReadShared",
    "ReconciliationChanged",
    "ReconciliationCreated",
    "ReconciliationRead",
    "ResolveReconciliation",
    "SentClaim",
    "SharedChanged",
    "SharedCreated",
    "SharedRead",
    "UpdateShared",
]

_Peer = Annotated[Text, Field(min_length=1, max_length=limits.COORDINATION_PEER_LENGTH_MAX)]
_Link = Annotated[Text, Field(max_length=limits.COORDINATION_LINK_LENGTH_MAX)]
_Words = Annotated[Text, Field(max_length=limits.COORDINATION_TEXT_LENGTH_MAX)]
_Items = Annotated[tuple[Text, ...], Field(max_length=limits.COORDINATION_ITEMS_MAX)]
_Version = Annotated[int, Field(ge=1, le=limits.COORDINATION_VERSION_MAX)]
_Offset = Annotated[int, Field(ge=0, le=limits.COORDINATION_OFFSET_MAX)]
_Limit = Annotated[int, Field(ge=1, le=limits.COORDINATION_PAGE_MAX)]
_Id = Annotated[Text, Field(max_length=limits.COORDINATION_PEER_LENGTH_MAX)]


class _Loose(Request):
    """A request whose unknown fields are dropped, as the contract has it."""

    model_config = ConfigDict(extra="ignore")


class _TwoNamed(Request):
    """A request with a field that is sent under either of two names; under both it has to say the same."""

    names: ClassVar[tuple[str, str]]
    """Ours and the other one."""

    @model_validator(mode="before")
    @classmethod
    def _one_name(cls, given: Any) -> Any:  # Any: JSON
        own, other = cls.names
        if not isinstance(given, dict) or other not in given:
            return given
        if given.get(own, given[other]) != given[other]:
            raise ValueError(f"{own} and {other} are the same field, and they differ")
        return {name: value for name, value in given.items() if name != other} | {own: given[other]}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Both names, so that who goes by the schema may send either."""
        shown = handler(core_schema)
        schema, (own, other) = handler.resolve_ref_schema(shown), cls.names
        schema["properties"][other] = schema["properties"][own]
        if own in schema["required"]:
            schema["required"] = [name for name in schema["required"] if name != own]
            schema["anyOf"] = [{"required": [own]}, {"required": [other]}]
        return shown


class _Page(Request):
    offset: _Offset = 0
    limit: _Limit = 20


# ---- handoffs


class CreateHandoff(_Loose):
    """Hand a part of a capsule over: its ``active_constraints`` and ``drift_signals``, and no other field."""

    recipient_peer: _Peer
    subject_kind: Literal["user", "peer", "thread", "task"]
    subject_id: Annotated[Text, Field(min_length=1, max_length=limits.COORDINATION_LINK_LENGTH_MAX)]
    task_id: _Link | None = None
    thread_id: _Link | None = None
    note: _Words | None = None
    commit_message: Text | None = None


class ReadHandoff(_Loose):
    """One handoff."""

    handoff_id: _Id


class QueryHandoffs(_Page):
    """Handoffs by recipient, sender or both, newest first."""

    model_config = ConfigDict(extra="ignore")

    recipient_peer: _Peer | None = None
    sender_peer: _Peer | None = None
    status: Literal["pending", "accepted_advisory", "deferred", "rejected"] | None = None


class ConsumeHandoff(_TwoNamed):
    """What the recipient makes of a handoff. ``reason`` may be sent as ``note``, its name in the contract's own page."""

    model_config = ConfigDict(extra="ignore")
    names = ("reason", "note")

    handoff_id: _Id
    status: Literal["accepted_advisory", "deferred", "rejected"]
    reason: _Words | None = None


class HandoffRead(Result):
    """A handoff. ``event_id`` is the event that tells of it: what ``GET /v1/why/{record_id}`` walks from."""

    ok: Literal[True] = True
    handoff: Handoff
    path: str
    event_id: str | None = None


class HandoffCreated(HandoffRead):
    """The handoff that was made."""

    created: Literal[True] = True
    latest_commit: str | None


class HandoffChanged(HandoffRead):
    """The handoff as it stands, and whether this call changed it."""

    updated: bool
    latest_commit: str | None


class _Found(Result):
    ok: Literal[True] = True
    count: int
    total_matches: int
    warnings: tuple[str, ...] = ()


class FoundHandoffs(_Found):
    """A page of handoffs, the newest first; ``total_matches`` is how many there are."""

    handoffs: tuple[Handoff, ...]


# ---- shared artifacts


class CreateShared(_Loose):
    """Show coordination state to participants; at least one item of the three lists is needed."""

    participant_peers: Annotated[
        tuple[_Peer, ...], Field(min_length=1, max_length=limits.COORDINATION_PARTICIPANTS_MAX)
    ]
    task_id: _Link | None = None
    thread_id: _Link | None = None
    title: Text
    summary: Text | None = None
    constraints: _Items = ()
    drift_signals: _Items = ()
    coordination_alerts: _Items = ()
    commit_message: Text | None = None


class ReadShared(_Loose):
    """One shared artifact."""

    shared_id: _Id


class QueryShared(_Page):
    """Shared artifacts by owner, participant, task or thread, the last updated first."""

    model_config = ConfigDict(extra="ignore")

    owner_peer: _Peer | None = None
    participant_peer: _Peer | None = None
    task_id: Annotated[_Link, Field(min_length=1)] | None = None
    thread_id: Annotated[_Link, Field(min_length=1)] | None = None


class UpdateShared(_TwoNamed):
    """Put title, summary and lists in place of those that stand, at the version that the owner has seen.

    ``expected_version`` may be sent as ``observed_version``. What is left out is empty afterwards.
    """

    names = ("expected_version", "observed_version")

    shared_id: _Id
    expected_version: _Version
    title: Text
    summary: Text | None = None
    constraints: _Items = ()
    drift_signals: _Items = ()
    coordination_alerts: _Items = ()
    commit_message: Text | None = None


class SharedRead(Result):
    """A shared artifact, and the event that tells of it."""

    ok: Literal[True] = True
    shared: SharedArtifact
    path: str
    event_id: str | None = None


class SharedCreated(SharedRead):
    """The artifact that was made."""

    created: Literal[True] = True
    latest_commit: str | None


class SharedChanged(SharedRead):
    """The artifact in its new version."""

    updated: Literal[True] = True
    latest_commit: str | None
    warnings: tuple[str, ...] = ()


class FoundShared(_Found):
    """A page of shared artifacts, the last updated first."""

    shared_artifacts: tuple[SharedArtifact, ...]


# ---- reconciliations


class SentClaim(Request):
    """A claim about an artifact. ``observed_version`` is needed for a shared artifact, and a handoff has none."""

    source_kind: SourceKind
    source_id: Annotated[Text, Field(min_length=1, max_length=limits.COORDINATION_SOURCE_LENGTH_MAX)]
    claimant_peer: _Peer
    claim_summary: Annotated[_Words, Field(min_length=1)]
    epistemic_status: EpistemicStatus
    evidence_refs: Annotated[
        tuple[Annotated[Text, Field(min_length=1, max_length=limits.COORDINATION_ITEM_LENGTH_MAX)], ...],
        Field(max_length=limits.COORDINATION_EVIDENCE_MAX),
    ] = ()
    observed_version: _Version | None = None


class OpenReconciliation(Request):
    """Name a dispute about handoffs and shared artifacts, by a task or a thread."""

    task_id: _Link | None = None
    thread_id: _Link | None = None
    title: Text
    summary: Text | None = None
    classification: ClassificationName
    trigger: TriggerName
    claims: Annotated[
        tuple[SentClaim, ...],
        Field(min_length=limits.COORDINATION_CLAIMS_MIN, max_length=limits.COORDINATION_CLAIMS_MAX),
    ]
    commit_message: Text | None = None


class ReadReconciliation(_Loose):
    """One reconciliation."""

    reconciliation_id: _Id


class QueryReconciliations(_Page):
    """Reconciliations by any of their fields, the last updated first."""

    owner_peer: _Peer | None = None
    claimant_peer: _Peer | None = None
    status: Literal["open", "resolved"] | None = None
    classification: ClassificationName | None = None
    task_id: Annotated[_Link, Field(min_length=1)] | None = None
    thread_id: Annotated[_Link, Field(min_length=1)] | None = None


class ResolveReconciliation(_TwoNamed):
    """End a dispute, once. ``outcome`` may be sent as ``resolution_outcome``, its name in the seed."""

    names = ("outcome", "resolution_outcome")

    reconciliation_id: _Id
    expected_version: _Version
    outcome: OutcomeName
    resolution_summary: _Words | None = None
    commit_message: Text | None = None


class ReconciliationRead(Result):
    """A reconciliation, and the event that tells of it."""

    ok: Literal[True] = True
    reconciliation: Reconciliation
    path: str
    event_id: str | None = None


class ReconciliationCreated(ReconciliationRead):
    """The reconciliation that was opened."""

    created: Literal[True] = True
    latest_commit: str | None


class ReconciliationChanged(ReconciliationRead):
    """The reconciliation as it stands, and whether this call ended it."""

    updated: bool
    latest_commit: str | None


class FoundReconciliations(_Found):
    """A page of reconciliations, the last updated first."""

    reconciliations: tuple[Reconciliation, ...]
