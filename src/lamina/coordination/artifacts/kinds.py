"""The three kinds of artifacts: where each is kept, who may see it, and by what it is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from pydantic import BaseModel

from lamina.coordination.artifacts.records import Handoff, Reconciliation, SharedArtifact
from lamina.errors import Malformed, NotFound
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.time import Instant

__all__ = ["HANDOFFS", "RECONCILIATIONS", "SHARED", "ArtifactKind", "Key"]

RecordT = TypeVar("RecordT", bound=BaseModel)

Key = tuple[str, str]
"""A filter of a query and the value that it wants: an artifact is found by every key that it has."""

_ROOT: Final = "memory/coordination"


@dataclass(frozen=True, slots=True)
class ArtifactKind(Generic[RecordT]):
    """One kind. ``sorts_by`` is the field whose instant orders a query, newest first; ``people`` may see an artifact."""

    name: str
    prefix: str
    folder: str
    model: type[RecordT]
    sorts_by: str
    people: Callable[[RecordT], Collection[str]]
    found_by: Callable[[RecordT], Iterable[Key]]
    skipped: str

    def path(self, artifact_id: str) -> str | None:
        """Where the artifact of an id stands; None for what is no id, so that none reaches a path unchecked."""
        form = rf"{self.prefix}_[0-9a-f]{{32}}"
        return f"{self.folder}/{artifact_id}.json" if re.fullmatch(form, artifact_id) else None

    def stands_at(self, path: str) -> bool:
        """Whether a path is that of an artifact of the kind, and not of a folder below."""
        name = path.removeprefix(f"{self.folder}/")
        return name.endswith(".json") and self.path(name.removesuffix(".json")) == path

    def checked_path(self, artifact_id: str, field: str) -> str:
        """Mirrors ``path``; raises ``Malformed`` (INVALID_COORDINATION) for what is no id."""
        path = self.path(artifact_id)
        if path is None:
            raise Malformed(
                "INVALID_COORDINATION",
                f"{field} is not of the form {self.prefix}_ and 32 hexadecimal digits",
                hint="send the id as the server returned it",
                details={"field": field},
            )
        return path

    def new_id(self, ids: IdSource, now: Instant) -> str:
        """An id that was not there before."""
        made = ids.stamped(Prefix.REQUEST, now).rpartition("_")[2]
        return f"{self.prefix}_{made.replace('-', '')}"

    def missing(self, artifact_id: str) -> NotFound:
        """The error for an id of which nothing stands."""
        return NotFound(
            "ARTIFACT_NOT_FOUND",
            f"there is no {self.name} {artifact_id[:64]!r}",
            hint=f"the query of {self.name} artifacts lists those that you may see",
            details={"kind": self.name},
        )


def _given(*keys: tuple[str, str | None]) -> list[Key]:
    return [(name, value) for name, value in keys if value is not None]


def _handoff_keys(record: Handoff) -> list[Key]:
    return _given(
        ("recipient_peer", record.recipient_peer),
        ("sender_peer", record.sender_peer),
        ("status", record.recipient_status),
    )


def _shared_keys(record: SharedArtifact) -> list[Key]:
    return _given(
        ("owner_peer", record.owner_peer),
        ("task_id", record.task_id),
        ("thread_id", record.thread_id),
        *(("participant_peer", each) for each in record.participant_peers),
    )


def _reconciliation_keys(record: Reconciliation) -> list[Key]:
    return _given(
        ("owner_peer", record.owner_peer),
        ("task_id", record.task_id),
        ("thread_id", record.thread_id),
        ("status", record.status),
        ("classification", record.classification),
        *(("claimant_peer", each.claimant_peer) for each in record.claims),
    )


HANDOFFS: Final = ArtifactKind(
    "handoff",
    "handoff",
    f"{_ROOT}/handoffs",
    Handoff,
    "created_at",
    lambda record: (record.sender_peer, record.recipient_peer),
    _handoff_keys,
    "handoff_artifact_skipped_invalid",
)
SHARED: Final = ArtifactKind(
    "shared",
    "shared",
    f"{_ROOT}/shared",
    SharedArtifact,
    "updated_at",
    lambda record: (record.owner_peer, *record.participant_peers),
    _shared_keys,
    "coordination_shared_artifact_skipped_invalid",
)
RECONCILIATIONS: Final = ArtifactKind(
    "reconciliation",
    "recon",
    f"{_ROOT}/reconciliations",
    Reconciliation,
    "updated_at",
    lambda record: (record.owner_peer, *record.participant_peers),
    _reconciliation_keys,
    "coordination_reconciliation_artifact_skipped_invalid",
)
