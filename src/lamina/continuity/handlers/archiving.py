"""Handlers that put capsules away: to the archive, from there to cold storage and back, or out of the repository."""

from __future__ import annotations

from typing import Any, Final

from lamina.continuity.capsule import requests, results
from lamina.continuity.capsule.subjects import (
    ArchiveName,
    Subject,
    archive_name,
    check_same_subject,
    cold_name,
)
from lamina.continuity.landing import retried
from lamina.continuity.permission import WRITES, require
from lamina.continuity.shelf.cold import archive_of, packed, stub_text, unpacked
from lamina.continuity.shelf.documents import Shelf
from lamina.continuity.shelf.envelopes import archive_bytes, archived
from lamina.errors import Conflict, Malformed, NotFound
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import Change, ChangeKind, Document

__all__ = ["Archiving", "archive_named"]

_SUBJECT_LINE_MAX: Final = 120


class Archiving:
    """Archive, delete, cold store and rehydrate."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def archive(self, request: requests.Archive, call: Call) -> Answer:
        """Put the capsule into an envelope. The snapshot of its last good write stays."""
        subject = request.subject
        require(call, WRITES, "read", subject.active_path)
        require(call, WRITES, "write", subject.active_path, subject.archive_path(call.now))
        return Answer(retried(lambda: self._archive(request, call)))

    def delete(self, request: requests.Delete, call: Call) -> Answer:
        """Take away what was selected; what is not there is named, not an error."""
        return Answer(retried(lambda: self._delete(request, call)))

    def cold_store(self, request: requests.ColdStore, call: Call) -> Answer:
        """Compress an archive and leave a stub that can be read."""
        name = archive_named(request.source_archive_path)
        require(call, WRITES, "write", name.path, name.cold_path, name.stub_path)
        return Answer(retried(lambda: self.stored_cold(name, call)))

    def cold_rehydrate(self, request: requests.ColdRehydrate, call: Call) -> Answer:
        """Bring an archive back to the byte."""
        if request.cold_stub_path is not None:
            name = archive_of(request.cold_stub_path)
        else:
            name = archive_named(request.source_archive_path or "")
        require(call, WRITES, "write", name.path, name.cold_path, name.stub_path)
        return Answer(retried(lambda: self._rehydrated(name, call)))

    def stored_cold(self, name: ArchiveName, call: Call) -> results.ColdStored:
        """The archive moved to cold storage, in one commit.

        Raises ``NotFound`` (CAPSULE_NOT_FOUND), ``Conflict`` (COLD_CONFLICT), ``Malformed`` for an archive that is none.
        """
        wanted = (name.path, name.cold_path, name.stub_path)
        standing = self._shelf.documents(call.principal.tenant_id, wanted)
        source = standing.get(name.path)
        if source is None:
            raise _missing(name.path)
        if len(standing) > 1:
            raise Conflict(
                "COLD_CONFLICT",
                f"{name.path} has a cold copy already",
                details={"paths": sorted(standing.keys() - {name.path})},
            )
        archive = archived(source.content)
        _check_identity(archive.capsule["subject_kind"], archive.capsule["subject_id"], name)
        stub = stub_text(name, archive, call.now).encode()
        changes = (
            _removal(source),
            Change(name.cold_path, ChangeKind.PUT, packed(source.content), expected_version=0),
            Change(name.stub_path, ChangeKind.PUT, stub, expected_version=0),
        )
        commit = self._shelf.land(
            call,
            f"continuity: cold-store {name.path}",
            changes,
            f"Archive {name.stem} went to cold storage.",
            author=self._author(call, name.path),
        )
        return results.ColdStored(
            source_archive_path=name.path,
            cold_storage_path=name.cold_path,
            cold_stub_path=name.stub_path,
            cold_stored_at=rfc3339(call.now),
            committed_files=list(wanted),
            latest_commit=commit.sha,
        )

    def _author(self, call: Call, path: str) -> str | None:
        """Who wrote what stands at a path. It moves in that one's name: in the mover's it would outlive an erasure of its author."""
        write = self._shelf.last_write(call.principal.tenant_id, path)
        return None if write is None else write.commit.author

    def _archive(self, request: requests.Archive, call: Call) -> results.Archived:
        subject, tenant_id = request.subject, call.principal.tenant_id
        standing = self._shelf.own(tenant_id, subject)
        taken = frozenset(d.path for d in self._shelf.beginning(tenant_id, subject.archive_prefix))
        path = subject.archive_path(call.now, taken)
        envelope = archive_bytes(
            standing.capsule, now=call.now, actor=call.principal.actor, reason=request.reason
        )
        changes = (
            Change(subject.active_path, ChangeKind.REMOVE, expected_version=standing.version),
            Change(path, ChangeKind.PUT, envelope, expected_version=0),
        )
        message = f"continuity: archive {subject.kind} {subject.id}"
        words = f"The capsule of {subject.kind} {subject.id} was archived: {request.reason}"
        commit = self._shelf.land(call, message, changes, words)
        return results.Archived(
            archived_path=path, removed_active_path=subject.active_path, latest_commit=commit.sha
        )

    def _delete(self, request: requests.Delete, call: Call) -> results.Deleted:
        subject, tenant_id = request.subject, call.principal.tenant_id
        single = [subject.active_path] if request.delete_active else []
        single += [subject.fallback_path] if request.delete_fallback else []
        archives, others = self._archives(tenant_id, subject) if request.delete_archive else ([], [])
        require(call, WRITES, "write", *single, *archives)
        if request.delete_archive:
            require(call, WRITES, "write", subject.archive_path(call.now))
        self._check_own(tenant_id, subject)
        standing = self._shelf.documents(tenant_id, [*single, *archives])
        gone = [path for path in (*single, *archives) if path in standing]
        commit = self._shelf.head(tenant_id)
        if gone:
            message = f"continuity: delete {subject.kind} {subject.id} - {request.reason}"
            if len(message) > _SUBJECT_LINE_MAX:
                message = f"{message[: _SUBJECT_LINE_MAX - 3]}..."
            words = f"What was kept of {subject.kind} {subject.id} was deleted: {request.reason}"
            changes = [_removal(standing[path]) for path in gone]
            commit = self._shelf.land(call, message, changes, words).sha
        missing = [path for path in single if path not in standing]
        cold = self._cold(subject, call) if request.delete_archive else []
        return results.Deleted(
            deleted_paths=gone,
            missing_paths=missing,
            latest_commit=commit,
            warnings=[*map(_of_another, others), *map(_left_cold, cold)],
        )

    def _archives(self, tenant_id: str, subject: Subject) -> tuple[list[str], list[str]]:
        """The archives of the subject with those that cannot be read, and those of other ids with its normal form."""
        found = self._shelf.beginning(tenant_id, subject.archive_prefix)
        named = [(document, archive_name(document.path)) for document in found]
        alike = [document for document, name in named if name is not None and name.slug == subject.slug]
        read = self._shelf.archives(tenant_id, alike)
        others = [path for path, archive in read.items() if archive.capsule["subject_id"] != subject.id]
        return [document.path for document in alike if document.path not in others], others

    def _cold(self, subject: Subject, call: Call) -> list[str]:
        """The compressed copies of the subject's archives that the caller might write; not those of other ids with its normal form."""
        tenant_id = call.principal.tenant_id
        named = [
            (each, cold_name(each.path)) for each in self._shelf.beginning(tenant_id, subject.cold_prefix)
        ]
        alike = [each for each, name in named if name is not None and name.slug == subject.slug]
        seen = [each for each in alike if call.relay.allows(WRITES, "write", each.path)]
        read = self._shelf.cold_archives(tenant_id, seen)
        others = {path for path, archive in read.items() if archive.capsule["subject_id"] != subject.id}
        return [document.path for document in seen if document.path not in others]

    def _check_own(self, tenant_id: str, subject: Subject) -> None:
        try:
            self._shelf.own(tenant_id, subject)
        except (NotFound, Malformed):  # nothing stands, or what stands is damaged: it may go
            snapshot = self._shelf.fallback(tenant_id, subject)
            if snapshot is not None:
                check_same_subject(snapshot.capsule["subject_id"], subject)

    def _rehydrated(self, name: ArchiveName, call: Call) -> results.Rehydrated:
        wanted = (name.path, name.cold_path, name.stub_path)
        standing = self._shelf.documents(call.principal.tenant_id, wanted)
        for path in (name.stub_path, name.cold_path):
            if path not in standing:
                raise _missing(path)
        if name.path in standing:
            raise Conflict("COLD_CONFLICT", f"{name.path} stands already", details={"paths": [name.path]})
        envelope = unpacked(standing[name.cold_path].content)
        archive = archived(envelope)
        _check_identity(archive.capsule["subject_kind"], archive.capsule["subject_id"], name)
        changes = (
            Change(name.path, ChangeKind.PUT, envelope, expected_version=0),
            _removal(standing[name.cold_path]),
            _removal(standing[name.stub_path]),
        )
        commit = self._shelf.land(
            call,
            f"continuity: cold-rehydrate {name.path}",
            changes,
            f"Archive {name.stem} came back from cold storage.",
            author=self._author(call, name.cold_path),
        )
        return results.Rehydrated(
            restored_archive_path=name.path,
            cold_storage_path=name.cold_path,
            cold_stub_path=name.stub_path,
            rehydrated_at=rfc3339(call.now),
            committed_files=list(wanted),
            latest_commit=commit.sha,
        )


def archive_named(path: str) -> ArchiveName:
    """The parts of an archive's path; raises ``Malformed`` (INVALID_COLD_ARTIFACT) for any other path."""
    name = archive_name(path)
    if name is None:
        raise Malformed("INVALID_COLD_ARTIFACT", "the path is not that of an archived capsule")
    return name


def _of_another(path: str) -> dict[str, Any]:
    why = "it is of an id that only has the same normal form"
    return _left("archive_of_another_subject", path, why)


def _left_cold(path: str) -> dict[str, Any]:
    why = "an archive in cold storage is brought back before it is deleted"
    return _left("archive_in_cold_storage", path, why)


def _left(code: str, path: str, why: str) -> dict[str, Any]:
    """The warning about an archive that stays."""
    return {"code": code, "detail": f"{path} was left: {why}", "path": path, "segment_id": None}


def _removal(document: Document) -> Change:
    return Change(document.path, ChangeKind.REMOVE, expected_version=document.version)


def _check_identity(kind: str, subject_id: str, name: ArchiveName) -> None:
    if (kind, Subject(kind, subject_id).slug) != (name.kind, name.slug):
        raise Malformed("INVALID_COLD_ARTIFACT", "the archive is about another subject than its path says")


def _missing(path: str) -> NotFound:
    return NotFound("CAPSULE_NOT_FOUND", f"nothing stands at {path}", details={"path": path})
