"""Versioned documents in memory, with the hashes that a repository would have, but no repository."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from lamina.kernel.relay import told_path
from lamina.kernel.time import Clock, Instant
from lamina.store.documents.objects import Worktree
from lamina.store.memory.log import MemoryLog, find_key
from lamina.store.memory.messages import put_post
from lamina.store.memory.tables import DocumentEvent, Memory, StoredVersion, Tables
from lamina.store.ports.documents import (
    Change,
    ChangeKind,
    Commit,
    CommitChanges,
    Document,
    DocumentVersion,
    LandedWrite,
    PastWrite,
    Step,
    Tell,
    Write,
)
from lamina.store.ports.log import Appended
from lamina.store.rules.documents import (
    StandingDocument,
    above,
    again,
    check_still,
    collision,
    no_history,
    not_empty,
    same_in_other_letters,
    stood_after,
    twin,
    with_commit,
)
from lamina.store.rules.refusals import check_same

__all__ = ["MemoryDocuments", "hashed"]


class MemoryDocuments:
    """``Documents`` over dictionaries."""

    def __init__(self, memory: Memory, clock: Clock, log: MemoryLog) -> None:
        self._memory = memory
        self._clock = clock
        self._log = log

    def write(self, writes: Sequence[Write]) -> list[LandedWrite]:
        """Mirrors ``Documents.write``."""
        with self._memory.change() as tables:
            return [self._write(tables, write) for write in writes]

    def restore(self, tenant_id: str, past: Iterable[PastWrite], tell: Tell) -> Commit:
        """Mirrors ``Documents.restore``."""
        with self._memory.change() as tables:
            if _last_commit(tables, tenant_id) is not None:
                raise not_empty(tenant_id)
            landed = [self._land(tables, each.write, each.committed_at) for each in past]
            if not landed:
                raise no_history()
            for step in _standing_steps(tables, tenant_id):
                capture = tell(step)
                if capture is not None:
                    _note_told(tables, self._log.put(tables, [capture]), {step.path})
            return landed[-1].commit

    def _write(self, tables: Tables, write: Write) -> LandedWrite:
        assert write.changes, "a write changes something"
        now = self._clock.now()
        if write.once is None:
            return self._land(tables, write, now)
        known = find_key(tables, write.once.key, write.once.created_at)
        if known is not None:
            check_same(known, write.once.body_hash)
            return again(known, lambda number: tables.commits_made.get((write.tenant_id, number)))
        written = self._land(tables, write, now)
        tables.keys[write.once.key] = with_commit(write.once, written.commit)
        return written

    def _land(self, tables: Tables, write: Write, now: Instant) -> LandedWrite:
        check_still(
            write,
            lambda path: tables.documents.get((write.tenant_id, path)),
            lambda: tables.rewrites.get(write.tenant_id, 0),
        )
        if write.post is not None:
            put_post(tables, write.post)
        last = _last_commit(tables, write.tenant_id)
        at = max(now, last.committed_at + 1 if last else 1)
        commit = Commit(last.number + 1 if last else 1, "", write.author, write.message, at)
        versions = {change.path: _change(tables, write.tenant_id, change, commit) for change in write.changes}
        appended = self._log.put(tables, write.captures)
        ended_at = appended[-1].recorded_at if appended else at
        _end_told(tables, write, replace(commit, committed_at=ended_at))
        _note_told(tables, appended, versions)
        parent = bytes.fromhex(last.sha) if last else None
        commit = replace(commit, sha=hashed(tables, write.tenant_id, commit, parent))
        tables.commits_made[write.tenant_id, commit.number] = commit
        return LandedWrite(commit, versions, tuple(each.event_id for each in appended))

    def read(self, tenant_id: str, path: str, *, at: Instant | None = None) -> Document | None:
        """Mirrors ``Documents.read``."""
        tables = self._memory.tables
        stood = [
            row.standing
            for (tenant, _, _), row in tables.versions.items()
            if tenant == tenant_id
            and row.standing.path == path
            and (at is None or row.standing.updated_at <= at)
        ]
        return _document(tables, tenant_id, stood[-1]) if stood and stood[-1].live else None

    def told_by(self, tenant_id: str, path: str) -> str | None:
        """Mirrors ``Documents.told_by``."""
        told = [
            event_id
            for (tenant, event_id), each in self._memory.tables.document_events.items()
            if (tenant, each.path, each.ended_number) == (tenant_id, path, 0)
        ]
        return max(told, default=None)

    def read_version(self, tenant_id: str, path: str, version: int) -> Document | None:
        """Mirrors ``Documents.read_version``."""
        tables = self._memory.tables
        row = tables.versions.get((tenant_id, path, version))
        return None if row is None or not row.standing.live else _document(tables, tenant_id, row.standing)

    def read_many(self, tenant_id: str, paths: Collection[str]) -> dict[str, Document]:
        """Mirrors ``Documents.read_many``."""
        found = {path: self.read(tenant_id, path) for path in paths}
        return {path: document for path, document in found.items() if document is not None}

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
        """Mirrors ``Documents.below``."""
        tables, folder = self._memory.tables, prefix.rstrip("/")
        stood = {
            path: row.standing
            for (tenant, path, _), row in tables.versions.items()
            if tenant == tenant_id
            and (at is None or row.standing.updated_at <= at)
            and path > after
            and (not folder or path.startswith(f"{folder}/"))
        }
        live = [standing for _, standing in sorted(stood.items()) if standing.live][:limit]
        documents = [_document(tables, tenant_id, each) for each in live]
        return documents if with_content else [replace(each, content=b"") for each in documents]

    def history(
        self, tenant_id: str, path: str, *, before: int | None = None, limit: int = 50
    ) -> list[DocumentVersion]:
        """Mirrors ``Documents.history``."""
        tables = self._memory.tables
        rows = [
            DocumentVersion(
                path, version, row.kind, row.standing.size, tables.commits_made[tenant_id, row.number]
            )
            for (tenant, name, version), row in tables.versions.items()
            if (tenant, name) == (tenant_id, path) and (before is None or version < before)
        ]
        return rows[::-1][:limit]

    def head(self, tenant_id: str) -> Commit | None:
        """Mirrors ``Documents.head``."""
        return _last_commit(self._memory.tables, tenant_id)

    def commit_of(self, tenant_id: str, sha: str) -> Commit | None:
        """Mirrors ``Documents.commit_of``."""
        made = self._memory.tables.commits_made.items()
        found = [commit for (tenant, _), commit in made if tenant == tenant_id and commit.sha.startswith(sha)]
        return found[0] if len(found) == 1 else None

    def commit_numbered(self, tenant_id: str, number: int) -> Commit | None:
        """Mirrors ``Documents.commit_numbered``."""
        return self._memory.tables.commits_made.get((tenant_id, number))

    def commit_at(self, tenant_id: str, at: Instant) -> Commit | None:
        """Mirrors ``Documents.commit_at``."""
        made = self._memory.tables.commits_made.items()
        found = [commit for (tenant, _), commit in made if tenant == tenant_id and commit.committed_at <= at]
        return found[-1] if found else None

    def commits(self, tenant_id: str, after: int, limit: int) -> list[CommitChanges]:
        """Mirrors ``Documents.commits``."""
        tables = self._memory.tables
        made = [c for (tenant, _), c in tables.commits_made.items() if tenant == tenant_id]
        return [
            CommitChanges(commit, _left_by(tables, tenant_id, commit.number))
            for commit in made
            if commit.number > after
        ][:limit]

    def rewrites(self, tenant_id: str) -> int:
        """Mirrors ``Documents.rewrites``."""
        return self._memory.tables.rewrites.get(tenant_id, 0)

    def rebuild(self, tenant_ids: Collection[str]) -> None:
        """Mirrors ``Documents.rebuild``. There are no repositories to build."""

    def recover(self) -> None:
        """Mirrors ``Documents.recover``. Nothing here outlives its process."""


def _last_commit(tables: Tables, tenant_id: str) -> Commit | None:
    made = [commit for (tenant, _), commit in tables.commits_made.items() if tenant == tenant_id]
    return made[-1] if made else None


def _change(tables: Tables, tenant_id: str, change: Change, commit: Commit) -> int:
    before = tables.documents.get((tenant_id, change.path))
    after = stood_after(before, change, commit.committed_at)
    if after.live and not (before and before.live):
        _check_room(tables, tenant_id, change.path, portable=change.portable)
    tables.documents[tenant_id, change.path] = after
    content = b"" if change.kind is ChangeKind.REMOVE else bytes(change.content)
    row = StoredVersion(after, change.kind, commit.number, content)
    tables.versions[tenant_id, change.path, after.version] = row
    return after.version


def _standing_steps(tables: Tables, tenant_id: str) -> list[Step]:
    """The changes that what stands is made of, in their order."""
    found: list[Step] = []
    for (tenant, path, version), row in tables.versions.items():
        stands = tables.documents[tenant, path]
        if tenant == tenant_id and stands.live and version >= stands.base:
            found.append(Step(path, row.kind, row.content, tables.commits_made[tenant, row.number]))
    return found


def _end_told(tables: Tables, write: Write, commit: Commit) -> None:
    """What was told of the documents that a write puts or removes is so no more."""
    replaced = {change.path for change in write.changes if change.kind is not ChangeKind.APPEND}
    for key, told in list(tables.document_events.items()):
        if key[0] == write.tenant_id and told.path in replaced and not told.ended_number:
            ended = replace(told, ended_number=commit.number, ended_at=commit.committed_at)
            tables.document_events[key] = ended


def _note_told(tables: Tables, appended: Iterable[Appended], paths: Collection[str]) -> None:
    for event in (each.event for each in appended):
        path = told_path(event)
        if path is not None and path in paths:
            tables.document_events[event.tenant_id, event.id] = DocumentEvent(path, event.scope)


def _check_room(tables: Tables, tenant_id: str, path: str, *, portable: bool) -> None:
    live = {name for (tenant, name), each in tables.documents.items() if tenant == tenant_id and each.live}
    for folder in above(path):
        if folder in live:
            raise collision(path, folder)
    for other in sorted(live):
        if other.startswith(f"{path}/"):
            raise collision(path)

    def first(beginning: str) -> str | None:
        return min((other for other in live if other.startswith(beginning)), default=None)

    if portable and twin(path, first) is not None:
        raise same_in_other_letters(path)


def _document(tables: Tables, tenant_id: str, stood: StandingDocument) -> Document:
    rows = (
        tables.versions[tenant_id, stood.path, version] for version in range(stood.base, stood.version + 1)
    )
    return stood.document(b"".join(row.content for row in rows))


def _left_by(tables: Tables, tenant_id: str, number: int) -> dict[str, bytes | None]:
    left: dict[str, bytes | None] = {}
    for (tenant, path, _), row in tables.versions.items():
        if (tenant, row.number) == (tenant_id, number):
            live = row.standing.live
            left[path] = _document(tables, tenant_id, row.standing).content if live else None
    return left


def hashed(tables: Tables, tenant_id: str, commit: Commit, parent: bytes | None) -> str:
    """The hash of a commit over its parent, whose objects are kept."""
    worktree = Worktree(parent, tables.objects.__getitem__)
    left = _left_by(tables, tenant_id, commit.number)
    objects = worktree.commit(left, commit.author, commit.message, commit.committed_at)
    tables.objects.update({each.id: each.data for each in objects})
    return objects[-1].id.hex()
