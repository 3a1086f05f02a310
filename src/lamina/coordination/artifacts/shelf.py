"""Artifacts as documents: read, found by what they are about, and written with the event that tells of them.

A query looks at cards: what an artifact is found by, kept in memory by path and version, so that only a new version is read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from lamina import limits
from lamina.continuity.capsule.moments import moment
from lamina.continuity.landing import Told, written
from lamina.coordination.artifacts.kinds import ArtifactKind, Key
from lamina.errors import Malformed
from lamina.kernel.canonical import canonical
from lamina.kernel.operations import Call
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Change, ChangeKind, Document, Documents

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


class _Card(NamedTuple):
    """What an artifact is found by; ``keys`` is empty where it cannot be read."""

    version: int
    at: Instant
    keys: frozenset[Key]


class ArtifactShelf:
    """The documents of artifacts. The cards that were unused for longest go first."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._cards: OrderedDict[tuple[str, str], _Card] = OrderedDict()
        self._lock = threading.Lock()

    def standing(
        self, kind: ArtifactKind[RecordT], tenant_id: str, path: str
    ) -> StandingArtifact[RecordT] | None:
        """What stands at a path; raises ``Malformed`` (STORED_ARTIFACT_INVALID) for a document that is no artifact."""
        document = self._documents.read(tenant_id, path)
        if document is None:
            return None
        return StandingArtifact(_record(kind, document), path, document.version)

    def told_by(self, tenant_id: str, path: str) -> str | None:
        """The event that tells of what stands at a path."""
        return self._documents.told_by(tenant_id, path)

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
        cards = self._current(kind, tenant_id)
        matching = sorted((-card.at, path) for path, card in cards.items() if wanted <= card.keys)
        paths = [path for _, path in matching[offset : offset + limit]]
        documents = self._documents.read_many(tenant_id, paths)
        records = (_record_or_none(kind, documents.get(path)) for path in paths)
        skipped = any(not card.keys for card in cards.values())
        return FoundPage(
            tuple(each for each in records if each is not None),
            len(matching),
            (kind.skipped,) if skipped else (),
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
    ) -> LandedArtifact:
        """Write an artifact as one commit, with an event that says so in words and what it rests on.

        Raises ``Conflict`` (DOCUMENT_CHANGED) when it is not at ``expected_version``, 0 for one that is new.
        """
        content = canonical(record.model_dump(mode="json"))
        change = Change(path, ChangeKind.PUT, content, expected_version=expected_version)
        sources = tuple(dict.fromkeys(each for each in rests_on if each is not None))
        done = written(self._documents, call, message, [change], Told(path, words, _LABEL, sources))
        return LandedArtifact(done.commit.sha, done.event_ids[0])

    def _current(self, kind: ArtifactKind[RecordT], tenant_id: str) -> dict[str, _Card]:
        """The card of every artifact of a kind, by path."""
        current: dict[str, _Card] = {}
        changed: list[str] = []
        for document in self._below(kind, tenant_id):
            card = self._known(tenant_id, document)
            if card is None:
                changed.append(document.path)
            else:
                current[document.path] = card
        for start in range(0, len(changed), limits.DOCUMENTS_READ_MAX):
            part = changed[start : start + limits.DOCUMENTS_READ_MAX]
            for path, document in self._documents.read_many(tenant_id, part).items():
                current[path] = _card(kind, document)
                self._keep(tenant_id, path, current[path])
        return current

    def _below(self, kind: ArtifactKind[RecordT], tenant_id: str) -> Iterator[Document]:
        """The documents of a kind, by path, without their content; not those of the folders below."""
        after, start = "", len(kind.folder) + 1
        while True:
            page = self._documents.below(tenant_id, kind.folder, after=after, limit=limits.DOCUMENTS_PAGE)
            for document in page:
                name = document.path[start:]
                if name.endswith(".json") and kind.path(name.removesuffix(".json")) == document.path:
                    yield document
            if len(page) < limits.DOCUMENTS_PAGE:
                return
            after = page[-1].path

    def _known(self, tenant_id: str, document: Document) -> _Card | None:
        with self._lock:
            card = self._cards.get((tenant_id, document.path))
            if card is None or card.version != document.version:
                return None
            self._cards.move_to_end((tenant_id, document.path))
            return card

    def _keep(self, tenant_id: str, path: str, card: _Card) -> None:
        with self._lock:
            self._cards[tenant_id, path] = card
            self._cards.move_to_end((tenant_id, path))
            while len(self._cards) > limits.COORDINATION_CARDS_MAX:
                self._cards.popitem(last=False)


def _record(kind: ArtifactKind[RecordT], document: Document) -> RecordT:
    try:
        return kind.model.model_validate_json(document.content)
    except ValidationError as error:
        raise Malformed(
            "STORED_ARTIFACT_INVALID",
            f"what stands at {document.path} is no {kind.name} artifact",
            details={"path": document.path},
        ) from error


def _record_or_none(kind: ArtifactKind[RecordT], document: Document | None) -> RecordT | None:
    try:
        return None if document is None else _record(kind, document)
    except Malformed:
        return None


def _card(kind: ArtifactKind[RecordT], document: Document) -> _Card:
    record = _record_or_none(kind, document)
    if record is None:
        return _Card(document.version, 0, frozenset())
    at = moment(getattr(record, kind.sorts_by))
    return _Card(document.version, at or 0, frozenset(kind.found_by(record)))
