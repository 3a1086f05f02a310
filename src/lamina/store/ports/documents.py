"""Versioned documents. Every write is one commit: rows and events in one transaction.

The rows are the truth; a git repository of the same layout is a view of them (``store/documents``). A write is durable
and stands in the repository when it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from lamina.kernel.time import Instant
from lamina.store.ports.idempotency import IdempotencyEntry
from lamina.store.ports.log import Capture
from lamina.store.ports.messages import Post

__all__ = [
    "Change",
    "ChangeKind",
    "Commit",
    "CommitChanges",
    "Document",
    "DocumentVersion",
    "Documents",
    "Landed",
    "LandedWrite",
    "PastWrite",
    "Step",
    "Tell",
    "Write",
]


class ChangeKind(StrEnum):
    """What a change does to its path."""

    PUT = "put"
    APPEND = "append"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class Change:
    """One path of a write: its whole new content, more at its end, or its end.

    ``expected_version`` guards against a lost update: the version that the writer has read, 0 for a path that must
    not exist, None for no guard. Versions count from 1 per path and go on after a removal. ``appended_to`` guards less:
    more may have been appended since that version, but nothing was put as a whole. A ``portable`` change begins no
    document whose name differs from that of another in capital and small letters alone.
    """

    path: str
    kind: ChangeKind
    content: bytes = b""
    expected_version: int | None = None
    appended_to: int | None = None
    portable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Changes that land together as one commit, with the events that say so in the log.

    ``author`` is the caller's actor, ``message`` the commit's subject line. An event that tells of a document
    (``kernel.relay.told_path``) does so until a later write puts or removes that document. ``once`` lands its
    idempotency key in the same transaction; its ``response`` is kept with the commit's number as ``commit``. ``post`` is the message
    or the acknowledgement that the documents are of. Nothing may stand at the paths of ``absent``. ``rewrites`` is what
    ``Documents.rewrites`` said before that was read of which the changes are made: nothing may have been erased since.
    """

    tenant_id: str
    author: str
    message: str
    changes: Sequence[Change]
    captures: Sequence[Capture] = ()
    once: IdempotencyEntry | None = None
    post: Post | None = None
    absent: Collection[str] = ()
    rewrites: int | None = None


@dataclass(frozen=True, slots=True)
class PastWrite:
    """A write as a repository remembers it, with its time."""

    write: Write
    committed_at: Instant


@dataclass(frozen=True, slots=True)
class Commit:
    """One write as it stands: ``number`` counts per tenant, ``sha`` is the commit's hash in the repository.

    ``sha`` is empty while a write that others make is still on its way there.
    """

    number: int
    sha: str
    author: str
    message: str
    committed_at: Instant


@dataclass(frozen=True, slots=True)
class LandedWrite:
    """What a write led to: its commit, the new version of every path, and the ids of its events in order.

    ``replayed`` where an earlier write had landed under the same key: then it is the commit of that one, and no more.
    """

    commit: Commit
    versions: dict[str, int]
    event_ids: tuple[str, ...]
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A path's content at a version."""

    path: str
    version: int
    content: bytes
    updated_at: Instant


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """One step in a path's history, newest first where listed."""

    path: str
    version: int
    kind: ChangeKind
    size: int
    commit: Commit


@dataclass(frozen=True, slots=True)
class CommitChanges:
    """A commit with what it left at each of its paths; None where it took the document away."""

    commit: Commit
    contents: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Landed:
    """A commit whose rows are on disk; ``contents`` is what it left, None where the rows have to be asked."""

    tenant_id: str
    commit: Commit
    contents: Mapping[str, bytes | None] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One of the changes that a document as it stands is made of, with the commit that brought it."""

    path: str
    kind: ChangeKind
    content: bytes
    commit: Commit


Tell = Callable[[Step], Capture | None]
"""The event that tells of a change; None where none does."""


class Documents(Protocol):
    """The documents of every tenant."""

    def write(self, writes: Sequence[Write]) -> list[LandedWrite]:
        """Land every write, each as its own commit, all in one transaction; durable and projected on return.

        Raises ``Conflict`` for the whole call: DOCUMENT_CHANGED when an ``expected_version`` has moved on, a path to
        remove holds nothing, or ``absent`` or ``rewrites`` do not hold, PATH_COLLISION when a path is a folder of other documents or lies below one, or
        is not portable where that is asked. Paths are relative, slash-separated and already checked (``store/documents/paths.py``). An append where nothing stands begins a
        document. Changes of the same path follow each other.
        A write whose key is known lands nothing; raises ``Conflict`` (IDEMPOTENCY_CONFLICT) when the key stands for
        another request.
        """
        ...

    def restore(self, tenant_id: str, past: Iterable[PastWrite], tell: Tell) -> Commit:
        """Land a tenant's whole history in one transaction, with the events that tell of what stands; its newest commit.

        ``tell`` is asked for every change that a standing document is made of, in their order.
        The times are those of ``past``, a microsecond apart where they stand still. Raises ``Conflict``
        (TENANT_NOT_EMPTY) when the tenant has documents, ``Invalid`` (INVALID_CLONE) when there is no history.
        """
        ...

    def read(self, tenant_id: str, path: str, *, at: Instant | None = None) -> Document | None:
        """What stands at a path now or at an instant; None where nothing does."""
        ...

    def read_many(self, tenant_id: str, paths: Collection[str]) -> dict[str, Document]:
        """What stands now at those paths that exist."""
        ...

    def below(
        self,
        tenant_id: str,
        prefix: str,
        *,
        after: str = "",
        limit: int = 10_000,
        with_content: bool = False,
        at: Instant | None = None,
    ) -> list[Document]:
        """The documents below a prefix now or at an instant, by path from past ``after``.

        ``content`` is empty unless wanted.
        """
        ...

    def history(
        self, tenant_id: str, path: str, *, before: int | None = None, limit: int = 50
    ) -> list[DocumentVersion]:
        """The versions of a path, newest first, from below version ``before``."""
        ...

    def told_by(self, tenant_id: str, path: str) -> str | None:
        """The newest event that tells of the document at a path; None where none does any more."""
        ...

    def read_version(self, tenant_id: str, path: str, version: int) -> Document | None:
        """What stood at a path as of one of its versions; None where that took it away, or there is none such."""
        ...

    def head(self, tenant_id: str) -> Commit | None:
        """The tenant's newest commit that stands; None before the first."""
        ...

    def commit_of(self, tenant_id: str, sha: str) -> Commit | None:
        """The one commit whose hash begins so; None where there is none, or more than one."""
        ...

    def commit_numbered(self, tenant_id: str, number: int) -> Commit | None:
        """A tenant's commit by its number; None where there is none."""
        ...

    def commit_at(self, tenant_id: str, at: Instant) -> Commit | None:
        """The newest commit of an instant or before it."""
        ...

    def commits(self, tenant_id: str, after: int, limit: int) -> list[CommitChanges]:
        """The commits past a number, in order, with what they left: for the repository and for export."""
        ...

    def rewrites(self, tenant_id: str) -> int:
        """How often the tenant's history was written anew without what was erased: who follows commits begins anew then."""
        ...

    def rebuild(self, tenant_ids: Collection[str]) -> None:
        """Build repositories anew from the rows, behind the writes; raises ``Unavailable`` (DOCUMENTS_IN_USE) where another
        process writes the documents."""
        ...

    def recover(self) -> None:
        """Finish what a crash left of the repositories; nothing where another process writes the documents."""
        ...
