"""Capsules and what is kept around them, as documents: read, parsed once for each version, and written with an event."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from lamina import limits
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import ACTIVE, KINDS, ROOT, Subject, check_same_subject
from lamina.continuity.landing import EventWords, written
from lamina.continuity.shelf.cold import Stub, stub_in, unpacked
from lamina.continuity.shelf.envelopes import ArchiveEnvelope, archived, fallback
from lamina.continuity.shelf.loading import Loaded, loaded, object_in
from lamina.errors import LaminaError, Malformed, NotFound
from lamina.kernel.operations import Call
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Change, ChangeKind, Commit, Document, Documents, DocumentVersion

__all__ = ["NO_CAPSULE_SHA256", "ParsedDocument", "Shelf", "StandingCapsule", "no_capsule", "sha256_of"]

T = TypeVar("T")
NO_CAPSULE_SHA256: Final = hashlib.sha256(b"").hexdigest()
"""The hash of nothing: who expects it expects that no capsule stands."""
_STEPS = 100


@dataclass(frozen=True, slots=True)
class StandingCapsule:
    """The capsule that stands at a subject's path, with the version of its document, when that was written, and its hash."""

    loaded: Loaded
    version: int
    written_at: Instant
    sha256: str

    @property
    def capsule(self) -> CapsuleObject:
        """The capsule itself; shared, so never changed."""
        return self.loaded.capsule


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What parsing a document at one version led to: a value, or the error that it is. ``size`` is the document's.

    A document that begins anew where one was erased has its versions from 1 again, and another ``written_at``.
    """

    version: int
    written_at: Instant
    size: int
    value: Any  # Any: what the reader of the path makes of it
    error: LaminaError | None = None

    def got(self) -> Any:
        """The value; raises what parsing raised."""
        if self.error is not None:
            # A new one each time: an exception that is raised again carries the frames of every caller along.
            raise type(self.error)(
                self.error.code, self.error.message, hint=self.error.hint, details=self.error.details
            )
        return self.value


class Shelf:
    """The documents of continuity. What was parsed is kept by path and version, the longest unused goes first."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._parsed: OrderedDict[tuple[str, str], ParsedDocument] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def document(self, tenant_id: str, path: str) -> Document | None:
        """What stands at a path."""
        return self._documents.read(tenant_id, path)

    def documents(self, tenant_id: str, paths: Sequence[str]) -> dict[str, Document]:
        """What stands at those of the paths that exist."""
        return self._documents.read_many(tenant_id, paths)

    def beginning(self, tenant_id: str, prefix: str) -> list[Document]:
        """The documents of one folder whose paths begin so, by path, without their content."""
        folder = prefix.rpartition("/")[0]
        found: list[Document] = []
        after = prefix
        while True:
            page = self._documents.below(tenant_id, folder, after=after, limit=limits.DOCUMENTS_PAGE)
            wanted = [document for document in page if document.path.startswith(prefix)]
            found += wanted
            if len(wanted) < limits.DOCUMENTS_PAGE:
                return found
            after = page[-1].path

    def active_documents(self, tenant_id: str, kind: str | None = None) -> list[Document]:
        """The documents of active capsules, of one kind or of all, without their content."""
        if kind is not None:
            return self.beginning(tenant_id, f"{ROOT}/{kind}-")
        found: list[Document] = []
        after = f"{ROOT}/{min(KINDS)}-"  # past the folders of the other artifacts, which sort before it
        while True:
            page = self._documents.below(tenant_id, ROOT, after=after, limit=limits.DOCUMENTS_PAGE)
            found += [document for document in page if document.path.startswith(ACTIVE)]
            if len(page) < limits.DOCUMENTS_PAGE:
                return found
            after = page[-1].path

    def active(self, tenant_id: str, subject: Subject) -> StandingCapsule:
        """The subject's capsule; raises ``NotFound`` (CAPSULE_NOT_FOUND), ``Malformed`` (STORED_CAPSULE_INVALID)."""
        document = self._documents.read(tenant_id, subject.active_path)
        if document is None:
            raise no_capsule(subject)
        kept = self._kept(tenant_id, document, _active)
        return StandingCapsule(kept.got(), document.version, document.updated_at, sha256_of(document.content))

    def versions(
        self, tenant_id: str, subject: Subject, *, before: int | None = None
    ) -> Iterator[DocumentVersion]:
        """The steps of the document at the subject's path, newest first, from below version ``before``."""
        page: list[DocumentVersion] = []
        while not page or len(page) == _STEPS:
            page = self._documents.history(tenant_id, subject.active_path, before=before, limit=_STEPS)
            yield from page
            if not page:
                return
            before = page[-1].version

    def last_write(self, tenant_id: str, path: str, through: int | None = None) -> DocumentVersion | None:
        """The newest step at a path that left something there, as of a version where one is given."""
        before = None if through is None else through + 1
        steps = self._documents.history(tenant_id, path, before=before, limit=_STEPS)
        return next((step for step in steps if step.kind is not ChangeKind.REMOVE), None)

    def owner(self, tenant_id: str, subject: Subject, version: int) -> Subject | None:
        """Whose capsule stood at the subject's path as of a version; None where that does not say."""
        document = self._documents.read_version(tenant_id, subject.active_path, version)
        try:
            said = {} if document is None else object_in(document.content)
        except Malformed:
            return None
        kind, id_ = said.get("subject_kind"), said.get("subject_id")
        return Subject(kind, id_) if isinstance(kind, str) and isinstance(id_, str) else None

    def at_version(self, tenant_id: str, subject: Subject, version: int) -> Loaded | None:
        """The subject's capsule as of a version; None where that took it away. Raises ``Malformed``."""
        document = self._documents.read_version(tenant_id, subject.active_path, version)
        return None if document is None else loaded(document.content)

    def own(self, tenant_id: str, subject: Subject) -> StandingCapsule:
        """The subject's capsule for a change of it: also raises ``Conflict`` (SUBJECT_TAKEN)."""
        standing = self.active(tenant_id, subject)
        check_same_subject(standing.capsule["subject_id"], subject)
        return standing

    def fallback(self, tenant_id: str, subject: Subject) -> Loaded | None:
        """The snapshot of the subject's last good write; None where there is none that can be read."""
        found = self.snapshot(tenant_id, subject)
        return None if found is None else found.loaded

    def snapshot(self, tenant_id: str, subject: Subject) -> StandingCapsule | None:
        """Mirrors ``fallback``, with the version of its document, when that was written, and its hash."""
        document = self._documents.read(tenant_id, subject.fallback_path)
        if document is None:
            return None
        kept = self._kept(tenant_id, document, _fallback)
        if kept.error is not None:
            return None
        return StandingCapsule(kept.value, document.version, document.updated_at, sha256_of(document.content))

    def capsules(self, tenant_id: str, found: Sequence[Document]) -> dict[str, Loaded]:
        """The active capsules among documents, by path; what cannot be read is left out."""
        return self._many(tenant_id, found, _active)

    def unreadable(self, tenant_id: str, found: Sequence[Document]) -> list[str]:
        """The paths of those documents of active capsules that cannot be read."""
        return sorted({document.path for document in found} - self.capsules(tenant_id, found).keys())

    def fallbacks(self, tenant_id: str, found: Sequence[Document]) -> dict[str, Loaded]:
        """The snapshots among documents."""
        return self._many(tenant_id, found, _fallback)

    def archives(self, tenant_id: str, found: Sequence[Document]) -> dict[str, ArchiveEnvelope]:
        """The archives among documents."""
        return self._many(tenant_id, found, _archived)

    def cold_archives(self, tenant_id: str, found: Sequence[Document]) -> dict[str, ArchiveEnvelope]:
        """The archives whose compressed copies are among documents, by the paths of the copies."""
        return self._many(tenant_id, found, _cold)

    def stubs(self, tenant_id: str, found: Sequence[Document]) -> dict[str, Stub]:
        """The cold stubs among documents."""
        return self._many(tenant_id, found, _stub)

    def rewrites(self, tenant_id: str) -> int:
        """How often documents of the tenant were erased."""
        return self._documents.rewrites(tenant_id)

    def land(
        self,
        call: Call,
        message: str,
        changes: Sequence[Change],
        words: str | None,
        *,
        rewrites: int | None = None,
        author: str | None = None,
    ) -> Commit:
        """Write changes as one commit, with an event that says so in words; of ``author`` where they only move what that one wrote. Raises
        ``Conflict`` (DOCUMENT_CHANGED), also where documents were erased since there were so many ``rewrites``."""
        told = None if words is None else EventWords(changes[0].path, words, "continuity")
        landed = written(self._documents, call, message, changes, told, rewrites=rewrites, author=author)
        return landed.commit

    def head(self, tenant_id: str) -> str | None:
        """The hash of the newest commit."""
        commit = self._documents.head(tenant_id)
        return None if commit is None else commit.sha

    def _many(
        self, tenant_id: str, found: Sequence[Document], parse: Callable[[Document], T]
    ) -> dict[str, T]:
        known: dict[str, ParsedDocument] = {}
        unread: list[str] = []
        with self._lock:
            for document in found:
                kept = self._parsed.get((tenant_id, document.path))
                if kept is not None and (kept.version, kept.written_at) == (
                    document.version,
                    document.updated_at,
                ):
                    known[document.path] = kept
                else:
                    unread.append(document.path)
        for start in range(0, len(unread), limits.DOCUMENTS_READ_MAX):
            part = unread[start : start + limits.DOCUMENTS_READ_MAX]
            for path, document in self._documents.read_many(tenant_id, part).items():
                known[path] = self._kept(tenant_id, document, parse)
        return {path: kept.value for path, kept in sorted(known.items()) if kept.error is None}

    def _kept(self, tenant_id: str, document: Document, parse: Callable[[Document], Any]) -> ParsedDocument:
        key = (tenant_id, document.path)
        with self._lock:
            kept = self._parsed.get(key)
            if kept is not None and (kept.version, kept.written_at) == (
                document.version,
                document.updated_at,
            ):
                self._parsed.move_to_end(key)
                return kept
        kept = _parsed(document, parse)
        with self._lock:
            before = self._parsed.pop(key, None)
            self._parsed[key] = kept
            self._bytes += kept.size - (before.size if before else 0)
            while self._bytes > limits.CAPSULE_BYTES_KEPT_MAX:
                _, oldest = self._parsed.popitem(last=False)
                self._bytes -= oldest.size
        return kept


def sha256_of(content: bytes) -> str:
    """The hash that a capsule is told by: of the bytes of its document, in hex."""
    return hashlib.sha256(content).hexdigest()


def no_capsule(subject: Subject) -> NotFound:
    """The error for a subject of which nothing stands."""
    return NotFound(
        "CAPSULE_NOT_FOUND",
        f"{subject.kind} {subject.id[:200]!r} has no capsule",
        details={"subject_kind": subject.kind, "path": subject.active_path},
    )


def _parsed(document: Document, parse: Callable[[Document], Any]) -> ParsedDocument:
    size = len(document.content)
    try:
        return ParsedDocument(document.version, document.updated_at, size, parse(document))
    except LaminaError as error:
        return ParsedDocument(document.version, document.updated_at, size, None, error)


def _active(document: Document) -> Loaded:
    return loaded(document.content)


def _fallback(document: Document) -> Loaded:
    return fallback(document.content)


def _archived(document: Document) -> ArchiveEnvelope:
    return archived(document.content)


def _cold(document: Document) -> ArchiveEnvelope:
    return archived(unpacked(document.content))


def _stub(document: Document) -> Stub:
    return stub_in(document.path, document.content)
