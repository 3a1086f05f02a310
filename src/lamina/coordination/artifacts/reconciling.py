"""Handlers of reconciliations: a dispute about artifacts is named, and ended once. What is disputed stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from pydantic import BaseModel

from lamina import limits
from lamina.continuity.landing import retried
from lamina.coordination.artifacts.checks import (
    check_bounds,
    check_peers,
    check_text,
    check_visible,
    message_of,
    refused,
    wanted_keys,
)
from lamina.coordination.artifacts.kinds import HANDOFFS, RECONCILIATIONS, SHARED, ArtifactKind
from lamina.coordination.artifacts.records import Claim, Reconciliation, TriggerName
from lamina.coordination.artifacts.requests import (
    FoundReconciliations,
    OpenReconciliation,
    QueryReconciliations,
    ReadReconciliation,
    ReconciliationChanged,
    ReconciliationCreated,
    ReconciliationRead,
    ResolveReconciliation,
    SentClaim,
)
from lamina.coordination.artifacts.shelf import ArtifactShelf
from lamina.coordination.artifacts.wording import reconciliation_in_words
from lamina.errors import Conflict, Forbidden
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import rfc3339
from lamina.store.ports.peers import Peers

__all__ = ["Reconciliations"]

RecordT = TypeVar("RecordT", bound=BaseModel)

_KINDS_OF: Final[dict[TriggerName, frozenset[str]]] = {
    "handoff_vs_handoff": frozenset({"handoff"}),
    "shared_vs_shared": frozenset({"shared"}),
    "concurrent_mutation_race": frozenset({"shared"}),
    "handoff_vs_shared": frozenset({"handoff", "shared"}),
}
"""Of which kinds the sources of a trigger's claims are, no fewer and no others."""


@dataclass(frozen=True, slots=True)
class _Source(Generic[RecordT]):
    record: RecordT
    event_id: str | None


class Reconciliations:
    """Open, read, query and resolve."""

    def __init__(self, shelf: ArtifactShelf, peers: Peers, ids: IdSource) -> None:
        self._shelf = shelf
        self._peers = peers
        self._ids = ids

    def open(self, request: OpenReconciliation, call: Call) -> Answer:
        """Name a dispute. Every peer is looked at before any source is (contracts 1.7)."""
        tenant_id, owner, now = call.principal.tenant_id, call.relay.peer_id, rfc3339(call.now)
        reconciliation_id = RECONCILIATIONS.new_id(self._ids, call.now)
        message = message_of(request.commit_message, f"coordination: open {reconciliation_id}")
        _check_request(request)
        check_peers(self._peers, tenant_id, (each.claimant_peer for each in request.claims))
        sources = [self._checked_source(number, each, call) for number, each in enumerate(request.claims)]
        others = (each.claimant_peer for each in request.claims if each.claimant_peer != owner)
        record = Reconciliation(
            reconciliation_id=reconciliation_id,
            created_at=now,
            updated_at=now,
            opened_by=owner,
            owner_peer=owner,
            participant_peers=tuple(dict.fromkeys(others)),
            task_id=request.task_id,
            thread_id=request.thread_id,
            title=request.title,
            summary=request.summary,
            classification=request.classification,
            trigger=request.trigger,
            claims=tuple(Claim(**each.model_dump()) for each in request.claims),
            version=1,
            last_updated_by=owner,
        )
        path = RECONCILIATIONS.checked_path(reconciliation_id, "reconciliation_id")
        words = reconciliation_in_words(record)
        landed = self._shelf.land(call, path, record, message, words, expected_version=0, rests_on=sources)
        return Answer(
            ReconciliationCreated(
                reconciliation=record,
                path=path,
                latest_commit=landed.latest_commit,
                event_id=landed.event_id,
            )
        )

    def read(self, request: ReadReconciliation, call: Call) -> Answer:
        """A reconciliation, for who opened it and whose claims it names."""
        path = RECONCILIATIONS.checked_path(request.reconciliation_id, "reconciliation_id")
        tenant_id = call.principal.tenant_id
        standing = self._shelf.standing(RECONCILIATIONS, tenant_id, path)
        if standing is None:
            raise RECONCILIATIONS.missing(request.reconciliation_id)
        check_visible(RECONCILIATIONS, standing.record, call)
        event_id = self._shelf.told_by(tenant_id, path)
        return Answer(ReconciliationRead(reconciliation=standing.record, path=path, event_id=event_id))

    def query(self, request: QueryReconciliations, call: Call) -> Answer:
        """Reconciliations that name the caller, or anybody for who administers peers."""
        peers = {"owner_peer": request.owner_peer, "claimant_peer": request.claimant_peer}
        others = {
            "status": request.status,
            "classification": request.classification,
            "task_id": request.task_id,
            "thread_id": request.thread_id,
        }
        wanted = wanted_keys(call, peers, others)
        found = self._shelf.find(
            RECONCILIATIONS, call.principal.tenant_id, wanted, offset=request.offset, limit=request.limit
        )
        return Answer(
            FoundReconciliations(
                count=len(found.records),
                total_matches=found.total,
                warnings=found.warnings,
                reconciliations=found.records,
            )
        )

    def resolve(self, request: ResolveReconciliation, call: Call) -> Answer:
        """End a dispute: the first who does so is right, and the same again changes nothing."""
        path = RECONCILIATIONS.checked_path(request.reconciliation_id, "reconciliation_id")
        return Answer(retried(lambda: self._resolve(path, request, call)))

    def _resolve(self, path: str, request: ResolveReconciliation, call: Call) -> ReconciliationChanged:
        tenant_id, caller = call.principal.tenant_id, call.relay.peer_id
        standing = self._shelf.standing(RECONCILIATIONS, tenant_id, path)
        if standing is None:
            raise RECONCILIATIONS.missing(request.reconciliation_id)
        before, told = standing.record, self._shelf.told_by(tenant_id, path)
        if before.owner_peer != caller and not call.relay.admin:
            raise Forbidden(
                "ARTIFACT_NOT_YOURS",
                "a dispute is ended by who opened it, or by who administers peers",
                details={"kind": RECONCILIATIONS.name},
            )
        summary = request.resolution_summary
        check_text("resolution_summary", summary or "", limits.COORDINATION_TEXT_LENGTH_MAX)
        usual = f"coordination: resolve {before.reconciliation_id} {request.outcome}"
        message = message_of(request.commit_message, usual)
        if before.status == "resolved":
            if (before.resolution_outcome, before.resolution_summary) != (request.outcome, summary):
                raise Conflict(
                    "RECONCILIATION_RESOLVED",
                    f"the dispute was ended already, as {before.resolution_outcome}",
                    details={"outcome": before.resolution_outcome},
                )
            head = self._shelf.head(tenant_id)
            return ReconciliationChanged(
                reconciliation=before, path=path, event_id=told, updated=False, latest_commit=head
            )
        if before.version != request.expected_version:
            raise Conflict(
                "ARTIFACT_CHANGED",
                f"the reconciliation is at version {before.version}, and not at {request.expected_version}",
                details={"version": before.version},
            )
        now = rfc3339(call.now)
        record = before.model_copy(
            update={
                "status": "resolved",
                "resolution_outcome": request.outcome,
                "resolution_summary": summary,
                "resolved_at": now,
                "resolved_by": caller,
                "updated_at": now,
                "version": before.version + 1,
                "last_updated_by": caller,
            }
        )
        words = reconciliation_in_words(record)
        landed = self._shelf.land(
            call, path, record, message, words, expected_version=standing.version, rests_on=[told]
        )
        return ReconciliationChanged(
            reconciliation=record,
            path=path,
            event_id=landed.event_id,
            updated=True,
            latest_commit=landed.latest_commit,
        )

    def _checked_source(self, number: int, claim: SentClaim, call: Call) -> str | None:
        """The event that tells of a claim's source: one that is there, that the caller may see, and that names the claimant."""
        if claim.source_kind == "handoff":
            return self._named(HANDOFFS, number, claim, call).event_id
        source = self._named(SHARED, number, claim, call)
        newest = source.record.version
        if claim.observed_version is not None and claim.observed_version > newest:
            raise refused(f"claims.{number}.observed_version", f"the source is at version {newest} only")
        return source.event_id

    def _named(
        self, kind: ArtifactKind[RecordT], number: int, claim: SentClaim, call: Call
    ) -> _Source[RecordT]:
        field, tenant_id = f"claims.{number}", call.principal.tenant_id
        path = kind.checked_path(claim.source_id, f"{field}.source_id")
        event_id = self._shelf.told_by(tenant_id, path)
        standing = self._shelf.standing(kind, tenant_id, path)
        if standing is None:
            raise kind.missing(claim.source_id)
        check_visible(kind, standing.record, call)
        if claim.claimant_peer not in kind.people(standing.record):
            raise refused(f"{field}.claimant_peer", "the source does not name this peer")
        return _Source(standing.record, event_id)


def _check_request(request: OpenReconciliation) -> None:
    check_bounds(request.title, request.summary)
    if not (request.task_id or request.thread_id):
        raise refused("body", "one of task_id and thread_id is needed")
    _check_claims(request.claims, request.trigger)


def _check_claims(claims: Sequence[SentClaim], trigger: TriggerName) -> None:
    for number, each in enumerate(claims):
        field = f"claims.{number}.observed_version"
        if each.source_kind == "shared" and each.observed_version is None:
            raise refused(field, "a claim about a shared artifact says which version it is about")
        if each.source_kind == "handoff" and each.observed_version is not None:
            raise refused(field, "a handoff has no versions")
    wanted = _KINDS_OF[trigger]
    if {each.source_kind for each in claims} != wanted:
        raise refused("trigger", f"{trigger} is about sources of the kind {' and '.join(sorted(wanted))}")
    made = {(each.source_kind, each.source_id, each.claimant_peer) for each in claims}
    if len(made) < len(claims):
        raise refused("claims", "a peer claims something of the same source twice")
