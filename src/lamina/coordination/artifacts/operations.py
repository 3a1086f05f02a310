"""The operations over coordination artifacts: names are those of the contract's audit rows, each with a rate bucket of its own.

Writing takes the right in the folder of its kind. Reading by id and consuming are for whom an artifact names, whatever their
token holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from lamina.continuity.declaring import reads, writes
from lamina.continuity.shelf.documents import Shelf
from lamina.coordination.artifacts import requests
from lamina.coordination.artifacts.handing_over import Handoffs
from lamina.coordination.artifacts.kinds import HANDOFFS, RECONCILIATIONS, SHARED, ArtifactKind
from lamina.coordination.artifacts.reconciling import Reconciliations
from lamina.coordination.artifacts.sharing import SharedArtifacts
from lamina.coordination.artifacts.shelf import ArtifactShelf
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayNeed, RelayRight
from lamina.store.ports.documents import Documents
from lamina.store.ports.peers import Peers

__all__ = ["ArtifactParts", "artifact_operations"]

_KNOWN: Final = RelayNeed(None)
_CHANGES: Final = RelayNeed(None, "write")
_FILES: Final = RelayNeed(RelayRight.READ_FILES)
_REFUSED: Final = ("INVALID_COORDINATION",)
_WRITTEN: Final = (
    *_REFUSED, "PAYLOAD_TOO_LARGE", "NAMESPACE_DENIED", "DOCUMENT_CHANGED", "REPOSITORY_UNAVAILABLE",
)  # fmt: skip
_NAMED: Final = ("PEER_NOT_FOUND", "UNTRUSTED_PEER")
_ONE: Final = ("ARTIFACT_NOT_FOUND", "ARTIFACT_NOT_YOURS", "STORED_ARTIFACT_INVALID")
_MANY: Final = (*_REFUSED, "PEER_FILTER_DENIED")


@dataclass(frozen=True, slots=True)
class ArtifactParts:
    """What the operations stand on: the documents, the registry of peers, and new ids."""

    documents: Documents
    peers: Peers
    ids: IdSource


def artifact_operations(parts: ArtifactParts) -> list[Operation[Any]]:
    """Every operation over handoffs, shared artifacts and reconciliations."""
    shelf = ArtifactShelf(parts.documents)
    return [*_handoffs(parts, shelf), *_shared(parts, shelf), *_reconciliations(parts, shelf)]


def _handoffs(parts: ArtifactParts, shelf: ArtifactShelf) -> list[Operation[Any]]:
    handoffs = Handoffs(shelf, Shelf(parts.documents), parts.peers, parts.ids)
    bucket = "coordination_handoff"
    return [
        _counted(f"{bucket}_create", writes(
            _writes(HANDOFFS), "handoff_create", requests.CreateHandoff, requests.HandoffCreated, handoffs.create,
            "Hand the constraints and drift signals of a capsule to another peer, as advice.",
            fails=(*_WRITTEN, *_NAMED, "CAPSULE_NOT_FOUND", "SUBJECT_TAKEN", "STORED_CAPSULE_INVALID"))),
        _counted(f"{bucket}_read", reads(
            _KNOWN, "handoff_read", requests.ReadHandoff, requests.HandoffRead, handoffs.read,
            "Read a handoff that names you.", fails=_ONE)),
        _counted(f"{bucket}_query", reads(
            _FILES, "handoff_query", requests.QueryHandoffs, requests.FoundHandoffs, handoffs.query,
            "Find handoffs to you or from you.", fails=_MANY)),
        _counted(f"{bucket}_consume", writes(
            _CHANGES, "handoff_consume", requests.ConsumeHandoff, requests.HandoffChanged, handoffs.consume,
            "Say what you make of a handoff to you: accepted as advice, deferred or rejected.",
            fails=(*_WRITTEN, *_ONE, "HANDOFF_CONSUMED"))),
    ]  # fmt: skip


def _shared(parts: ArtifactParts, shelf: ArtifactShelf) -> list[Operation[Any]]:
    shared = SharedArtifacts(shelf, parts.peers, parts.ids)
    name = "coordination_shared"
    rows = [
        writes(_writes(SHARED), f"{name}_create", requests.CreateShared, requests.SharedCreated, shared.create,
               "Show coordination state of yours to named peers.", fails=(*_WRITTEN, *_NAMED)),
        reads(_KNOWN, f"{name}_read", requests.ReadShared, requests.SharedRead, shared.read,
              "Read a shared artifact that names you.", fails=(*_REFUSED, *_ONE)),
        reads(_FILES, f"{name}_query", requests.QueryShared, requests.FoundShared, shared.query,
              "Find shared artifacts that you own or take part in.", fails=_MANY),
        writes(_writes(SHARED), f"{name}_update", requests.UpdateShared, requests.SharedChanged, shared.update,
               "Put new content into a shared artifact of yours, at the version that you have seen.",
               fails=(*_WRITTEN, *_ONE, "ARTIFACT_CHANGED")),
    ]  # fmt: skip
    return [_counted(row.name, row) for row in rows]


def _reconciliations(parts: ArtifactParts, shelf: ArtifactShelf) -> list[Operation[Any]]:
    disputes = Reconciliations(shelf, parts.peers, parts.ids)
    name = "coordination_reconciliation"
    rows = [
        writes(_writes(RECONCILIATIONS), f"{name}_open", requests.OpenReconciliation, requests.ReconciliationCreated, disputes.open,
               "Name a dispute about handoffs and shared artifacts, with what each party claims.",
               fails=(*_WRITTEN, *_NAMED, *_ONE)),
        reads(_KNOWN, f"{name}_read", requests.ReadReconciliation, requests.ReconciliationRead, disputes.read,
              "Read a dispute that names you.", fails=(*_REFUSED, *_ONE)),
        reads(_FILES, f"{name}_query", requests.QueryReconciliations, requests.FoundReconciliations, disputes.query,
              "Find disputes that you opened or that name your claims.", fails=_MANY),
        writes(_writes(RECONCILIATIONS), f"{name}_resolve", requests.ResolveReconciliation, requests.ReconciliationChanged,
               disputes.resolve, "End a dispute that you opened, once, with a conservative outcome.",
               fails=(*_WRITTEN, *_ONE, "ARTIFACT_CHANGED", "RECONCILIATION_RESOLVED")),
    ]  # fmt: skip
    return [_counted(row.name, row) for row in rows]


def _writes(kind: ArtifactKind[Any]) -> RelayNeed:  # Any: of three kinds
    return RelayNeed(RelayRight.WRITE_PROJECTS, "write", f"{kind.folder}/")


def _counted(bucket: str, row: Operation[Any]) -> Operation[Any]:
    return replace(row, bucket=bucket)
