"""Handlers of shared artifacts: what an owner shows to participants. They read it, the owner alone changes it."""

from __future__ import annotations

from lamina.continuity.landing import retried
from lamina.coordination.artifacts.checks import (
    check_bounds,
    check_items,
    check_peers,
    check_visible,
    message_of,
    refused,
    wanted_keys,
)
from lamina.coordination.artifacts.kinds import SHARED
from lamina.coordination.artifacts.records import SharedArtifact, SharedState
from lamina.coordination.artifacts.requests import (
    CreateShared,
    FoundShared,
    QueryShared,
    ReadShared,
    SharedChanged,
    SharedCreated,
    SharedRead,
    UpdateShared,
)
from lamina.coordination.artifacts.shelf import ArtifactShelf
from lamina.coordination.artifacts.wording import shared_in_words
from lamina.errors import Conflict, Forbidden
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import rfc3339
from lamina.store.ports.peers import Peers

__all__ = ["SharedArtifacts"]


class SharedArtifacts:
    """Create, read, query and update."""

    def __init__(self, shelf: ArtifactShelf, peers: Peers, ids: IdSource) -> None:
        self._shelf = shelf
        self._peers = peers
        self._ids = ids

    def create(self, request: CreateShared, call: Call) -> Answer:
        """Begin an artifact; the caller owns it, and its participants never change."""
        owner, now = call.relay.peer_id, rfc3339(call.now)
        state = _checked_state(request)
        shared_id = SHARED.new_id(self._ids, call.now)
        message = message_of(request.commit_message, f"coordination: create {shared_id}")
        _check_participants(owner, request.participant_peers)
        check_peers(self._peers, call.principal.tenant_id, request.participant_peers)
        record = SharedArtifact(
            shared_id=shared_id,
            created_at=now,
            updated_at=now,
            created_by=owner,
            owner_peer=owner,
            participant_peers=request.participant_peers,
            task_id=request.task_id,
            thread_id=request.thread_id,
            title=request.title,
            summary=request.summary,
            shared_state=state,
            version=1,
            last_updated_by=owner,
        )
        path = SHARED.checked_path(shared_id, "shared_id")
        words = shared_in_words(record)
        landed = self._shelf.land(call, path, record, message, words, expected_version=0, rests_on=())
        return Answer(
            SharedCreated(
                shared=record, path=path, latest_commit=landed.latest_commit, event_id=landed.event_id
            )
        )

    def read(self, request: ReadShared, call: Call) -> Answer:
        """An artifact, for its owner and its participants."""
        path, tenant_id = SHARED.checked_path(request.shared_id, "shared_id"), call.principal.tenant_id
        standing = self._shelf.standing(SHARED, tenant_id, path)
        if standing is None:
            raise SHARED.missing(request.shared_id)
        check_visible(SHARED, standing.record, call)
        event_id = self._shelf.told_by(tenant_id, path)
        return Answer(SharedRead(shared=standing.record, path=path, event_id=event_id))

    def query(self, request: QueryShared, call: Call) -> Answer:
        """Artifacts that name the caller, or anybody for who administers peers."""
        peers = {"owner_peer": request.owner_peer, "participant_peer": request.participant_peer}
        links = {"task_id": request.task_id, "thread_id": request.thread_id}
        wanted = wanted_keys(call, peers, links)
        found = self._shelf.find(
            SHARED, call.principal.tenant_id, wanted, offset=request.offset, limit=request.limit
        )
        return Answer(
            FoundShared(
                count=len(found.records),
                total_matches=found.total,
                warnings=found.warnings,
                shared_artifacts=found.records,
            )
        )

    def update(self, request: UpdateShared, call: Call) -> Answer:
        """Put new content in place of what stands, at the version that the owner has seen."""
        path = SHARED.checked_path(request.shared_id, "shared_id")
        return Answer(retried(lambda: self._update(path, request, call)))

    def _update(self, path: str, request: UpdateShared, call: Call) -> SharedChanged:
        tenant_id = call.principal.tenant_id
        standing = self._shelf.standing(SHARED, tenant_id, path)
        if standing is None:
            raise SHARED.missing(request.shared_id)
        before, told = standing.record, self._shelf.told_by(tenant_id, path)
        if before.owner_peer != call.relay.peer_id:
            raise Forbidden(
                "ARTIFACT_NOT_YOURS",
                "a shared artifact is updated by its owner alone",
                details={"kind": SHARED.name},
            )
        state = _checked_state(request)
        version = before.version + 1
        message = message_of(request.commit_message, f"coordination: update {before.shared_id} v{version}")
        if before.version != request.expected_version:
            raise Conflict(
                "ARTIFACT_CHANGED",
                f"the shared artifact is at version {before.version}, and not at {request.expected_version}",
                details={"version": before.version},
            )
        record = before.model_copy(
            update={
                "title": request.title,
                "summary": request.summary,
                "shared_state": state,
                "version": version,
                "updated_at": rfc3339(call.now),
                "last_updated_by": call.relay.peer_id,
            }
        )
        words = shared_in_words(record)
        landed = self._shelf.land(
            call, path, record, message, words, expected_version=standing.version, rests_on=[told]
        )
        return SharedChanged(
            shared=record, path=path, event_id=landed.event_id, latest_commit=landed.latest_commit
        )


def _checked_state(request: CreateShared | UpdateShared) -> SharedState:
    check_bounds(request.title, request.summary)
    lists = {
        "constraints": request.constraints,
        "drift_signals": request.drift_signals,
        "coordination_alerts": request.coordination_alerts,
    }
    for field, items in lists.items():
        check_items(field, items)
    if not any(lists.values()):
        raise refused("body", f"one item is needed in {', '.join(lists)}")
    return SharedState(**lists)


def _check_participants(owner: str, peers: tuple[str, ...]) -> None:
    if owner in peers:
        raise refused("participant_peers", "the owner is no participant", "leave yourself out")
    if len(set(peers)) < len(peers):
        raise refused("participant_peers", "a peer is named twice")
