"""Artifacts as documents: read, found by what they are about, and written with the event that tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from lamina.continuity.landing import EventWords, written
from lamina.coordination.artifacts.cards import ArtifactCards
from lamina.coordination.artifacts.kinds import ArtifactKind, Key
from lamina.coordination.artifacts.reading import record_in, record_or_none
from lamina.kernel.canonical import canonical
from lamina.kernel.operations import Call
from lamina.store.ports.documents import Change, ChangeKind, Documents

__all__ = ["ArtifactShelf", "FoundPage", "LandedArtifact", "StandingArtifact"]

RecordT = TypeVar("RecordT", bound=BaseModel)
_LABEL = "coordination"


@dataclass(frozen=True, slots=True)
class StandingArtifact(Generic[RecordT]):
    """An artifact with the version of its document."""

    record: RecordT
    path: str
    version: int


@dataclass(frozen=True, slots=True)
class LandedArtifact:
    """Where a write stands: the hash of its commit, and the event that tells of it."""

    latest_commit: str
    event_id: str


@dataclass(frozen=True, slots=True)
class FoundPage(Generic[RecordT]):
    """A page of a query: ``total`` artifacts match. A warning says that some could not be read."""

    records: tuple[RecordT, ...]
    total: int
    warnings: tuple[str, ...]


class ArtifactShelf:
    """The documents of artifacts."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._cards = ArtifactCards(documents)

    def standing(
        self, kind: ArtifactKind[RecordT], tenant_id: str, path: str
    ) -> StandingArtifact[RecordT] | None:
        """What stands at a path; raises ``Malformed`` (STORED_ARTIFACT_INVALID) for a document that is no artifact."""
        document = self._documents.read(tenant_id, path)
        if document is None:
            return None
        return StandingArtifact(record_in(kind, path, document.content), path, document.version)

    def told_by(self, tenant_id: str, path: str) -> str | None:
        """The event that tells of what stands at a path."""
        return self._documents.told_by(tenant_id, path)

    def rewrites(self, tenant_id: str) -> int:
        """How often documents of the tenant were erased."""
        return self._documents.rewrites(tenant_id)

    def head(self, tenant_id: str) -> str | None:
        """The hash of the newest commit."""
        commit = self._documents.head(tenant_id)
        return None if commit is None else commit.sha

    def find(
        self,
        kind: ArtifactKind[RecordT],
        tenant_id: str,
        wanted: frozenset[Key],
        *,
        offset: int,
        limit: int,
    ) -> FoundPage[RecordT]:
        """The artifacts that have every key that is wanted, newest first and then by id."""
        matches = self._cards.matching(kind, tenant_id, wanted)
        paths = matches.paths[offset : offset + limit]
        documents = self._documents.read_many(tenant_id, paths)
        records = [record_or_none(kind, documents[path].content) for path in paths if path in documents]
        return FoundPage(
            tuple(each for each in records if each is not None),
            len(matches.paths),
            (kind.skipped,) if matches.skipped else (),
        )

    def land(
        self,
        call: Call,
        path: str,
        record: BaseModel,
        message: str,
        words: str,
        *,
        expected_version: int,
        rests_on: Sequence[str | None],
        rewrites: int | None = None,
    ) -> LandedArtifact:
        """Write an artifact as one commit, with an event that says so in words and what it rests on.

        Raises ``Conflict`` (DOCUMENT_CHANGED) when it is not at ``expected_version``, 0 for one that is new, or when
        documents were erased since there were so many ``rewrites``.
        """
        content = canonical(record.model_dump(mode="json"))
        change = Change(path, ChangeKind.PUT, content, expected_version=expected_version)
        sources = tuple(dict.fromkeys(each for each in rests_on if each is not None))
        done = written(
            self._documents,
            call,
            message,
            [change],
            EventWords(path, words, _LABEL, sources),
            rewrites=rewrites,
        )
        return LandedArtifact(done.commit.sha, done.event_ids[0])
