"""Handlers of handoffs: a part of one agent's capsule, for another agent, who says what it makes of it.

Nothing of a handoff reaches the recipient's capsules: what is accepted is accepted as advice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.landing import retried
from lamina.continuity.shelf.documents import Shelf
from lamina.coordination.artifacts.checks import (
    check_peers,
    check_visible,
    message_of,
    wanted_keys,
)
from lamina.coordination.artifacts.kinds import HANDOFFS
from lamina.coordination.artifacts.records import (
    Handoff,
    ProjectedContinuity,
    SourceSelector,
    SourceSummary,
)
from lamina.coordination.artifacts.requests import (
    ConsumeHandoff,
    CreateHandoff,
    FoundHandoffs,
    HandoffChanged,
    HandoffCreated,
    HandoffRead,
    QueryHandoffs,
    ReadHandoff,
)
from lamina.coordination.artifacts.shelf import ArtifactShelf
from lamina.coordination.artifacts.wording import handoff_in_words
from lamina.errors import Conflict, Forbidden
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import rfc3339
from lamina.store.ports.peers import Peers

__all__ = ["Handoffs"]

_LOOKS = 3
"""How often a capsule is read anew that changes under the eyes."""


@dataclass(frozen=True, slots=True)
class _Source:
    capsule: CapsuleObject
    path: str
    event_id: str | None


class Handoffs:
    """Create, read, query and consume."""

    def __init__(self, shelf: ArtifactShelf, capsules: Shelf, peers: Peers, ids: IdSource) -> None:
        self._shelf = shelf
        self._capsules = capsules
        self._peers = peers
        self._ids = ids

    def create(self, request: CreateHandoff, call: Call) -> Answer:
        """Hand over what binds and what drifts of a capsule, as it stands.

        The peer is looked at before the capsule is (contracts 1.7): who names an unknown one learns nothing of what is stored.
        """
        check_peers(self._peers, call.principal.tenant_id, [request.recipient_peer])
        handoff_id = HANDOFFS.new_id(self._ids, call.now)
        message = message_of(request.commit_message, f"handoff: create {handoff_id}")
        return Answer(retried(lambda: self._create(handoff_id, message, request, call)))

    def _create(self, handoff_id: str, message: str, request: CreateHandoff, call: Call) -> HandoffCreated:
        rewrites = self._shelf.rewrites(call.principal.tenant_id)
        source = self._source(call.principal.tenant_id, Subject(request.subject_kind, request.subject_id))
        record = _projected(request, source, call, handoff_id)
        path = HANDOFFS.checked_path(handoff_id, "handoff_id")
        landed = self._shelf.land(
            call,
            path,
            record,
            message,
            handoff_in_words(record),
            expected_version=0,
            rests_on=[source.event_id],
            rewrites=rewrites,
        )
        return HandoffCreated(
            handoff=record, path=path, latest_commit=landed.latest_commit, event_id=landed.event_id
        )

    def read(self, request: ReadHandoff, call: Call) -> Answer:
        """A handoff, for whom it names."""
        path = HANDOFFS.path(request.handoff_id)
        tenant_id = call.principal.tenant_id
        standing = None if path is None else self._shelf.standing(HANDOFFS, tenant_id, path)
        if standing is None:
            raise HANDOFFS.missing(request.handoff_id)
        check_visible(HANDOFFS, standing.record, call)
        event_id = self._shelf.told_by(tenant_id, standing.path)
        return Answer(HandoffRead(handoff=standing.record, path=standing.path, event_id=event_id))

    def query(self, request: QueryHandoffs, call: Call) -> Answer:
        """Handoffs that name the caller, or anybody for who administers peers."""
        peers = {"recipient_peer": request.recipient_peer, "sender_peer": request.sender_peer}
        wanted = wanted_keys(call, peers, {}, {"status": request.status})
        found = self._shelf.find(
            HANDOFFS, call.principal.tenant_id, wanted, offset=request.offset, limit=request.limit
        )
        return Answer(
            FoundHandoffs(
                count=len(found.records),
                total_matches=found.total,
                warnings=found.warnings,
                handoffs=found.records,
            )
        )

    def consume(self, request: ConsumeHandoff, call: Call) -> Answer:
        """Say what was made of a handoff. The recipient alone may, once; the same again changes nothing."""
        path = HANDOFFS.checked_path(request.handoff_id, "handoff_id")
        return Answer(retried(lambda: self._consume(path, request, call)))

    def _consume(self, path: str, request: ConsumeHandoff, call: Call) -> HandoffChanged:
        tenant_id = call.principal.tenant_id
        standing = self._shelf.standing(HANDOFFS, tenant_id, path)
        if standing is None:
            raise HANDOFFS.missing(request.handoff_id)
        before, told = standing.record, self._shelf.told_by(tenant_id, path)
        if before.recipient_peer != call.relay.peer_id:
            raise Forbidden(
                "ARTIFACT_NOT_YOURS",
                "a handoff is consumed by its recipient alone",
                details={"kind": HANDOFFS.name},
            )
        reason = request.reason or None
        if before.recipient_status != "pending":
            if (before.recipient_status, before.recipient_reason) != (request.status, reason):
                raise Conflict(
                    "HANDOFF_CONSUMED",
                    f"the handoff was consumed already, as {before.recipient_status}",
                    details={"status": before.recipient_status},
                )
            head = self._shelf.head(tenant_id)
            return HandoffChanged(handoff=before, path=path, event_id=told, updated=False, latest_commit=head)
        record = before.model_copy(
            update={
                "recipient_status": request.status,
                "recipient_reason": reason,
                "consumed_at": rfc3339(call.now),
                "consumed_by": call.relay.peer_id,
            }
        )
        landed = self._shelf.land(
            call,
            path,
            record,
            f"handoff: consume {record.handoff_id} {request.status}",
            handoff_in_words(record),
            expected_version=standing.version,
            rests_on=[told],
        )
        return HandoffChanged(
            handoff=record,
            path=path,
            event_id=landed.event_id,
            updated=True,
            latest_commit=landed.latest_commit,
        )

    def _source(self, tenant_id: str, subject: Subject) -> _Source:
        """The capsule with the event that tells of this very version of it; without one where it keeps changing."""
        path = subject.active_path
        for _ in range(_LOOKS):
            before = self._shelf.told_by(tenant_id, path)
            capsule = self._capsules.own(tenant_id, subject).capsule
            if self._shelf.told_by(tenant_id, path) == before:
                return _Source(capsule, path, before)
        return _Source(capsule, path, None)


def _projected(request: CreateHandoff, source: _Source, call: Call, handoff_id: str) -> Handoff:
    capsule, sender = source.capsule, call.relay.peer_id
    state: Mapping[str, Any] = capsule["continuity"]  # Any: as it was stored
    return Handoff(
        handoff_id=handoff_id,
        created_at=rfc3339(call.now),
        created_by=sender,
        sender_peer=sender,
        recipient_peer=request.recipient_peer,
        source_selector=SourceSelector(subject_kind=request.subject_kind, subject_id=request.subject_id),
        source_summary=SourceSummary(
            path=source.path,
            updated_at=capsule.get("updated_at"),
            verified_at=capsule.get("verified_at"),
            verification_status=_status(capsule, "verification_state"),
            health_status=_status(capsule, "capsule_health"),
        ),
        task_id=request.task_id,
        thread_id=request.thread_id,
        note=request.note,
        shared_continuity=ProjectedContinuity(
            active_constraints=tuple(state.get("active_constraints", ())),
            drift_signals=tuple(state.get("drift_signals", ())),
        ),
    )


def _status(capsule: CapsuleObject, part: str) -> str | None:
    said = capsule.get(part)
    return said.get("status") if isinstance(said, Mapping) else None
