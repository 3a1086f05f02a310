"""``POST /v1/backup/create`` and ``restore-test``: one tenant's documents in a file outside git, and whether it can be read back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import Field

from lamina import limits
from lamina.continuity.capsule.subjects import ROOT
from lamina.continuity.files.names import is_text
from lamina.coordination.operators import bounds
from lamina.coordination.operators.restore_test import (
    ContinuityChecked,
    HistoryChecked,
    continuity_checked,
    history_checked,
    is_stub,
)
from lamina.coordination.operators.running import stamped_id
from lamina.kernel.canonical import indented
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import Instant, rfc3339
from lamina.kernel.wire import Request, Result, Text
from lamina.store.backups.documents import BackedUpDocument, DocumentBackups
from lamina.store.ports.documents import Documents

__all__ = ["BackUpDocuments", "BackingUp", "DocumentsBackedUp", "RestoreTested", "TestRestore"]

_DEFAULT: Final = (
    "memory", "messages", "tasks", "patches", "runs", "projects", "essays", "journal", "snapshots", "peers", "config", "logs",
)  # fmt: skip
_ALLOWED: Final = frozenset({*_DEFAULT, "archive"})
_CONTRACT: Final = "2026-02-25"


class BackUpDocuments(Request):
    """Which folders to back up. What is none of a backup's is left out; without any that is, the default twelve are taken."""

    include_prefixes: Annotated[
        tuple[Annotated[Text, Field(max_length=bounds.OPS_PATH_LENGTH_MAX)], ...],
        Field(max_length=bounds.BACKUP_PREFIXES_MAX),
    ] = _DEFAULT
    note: Annotated[Text, Field(max_length=bounds.OPS_NOTE_LENGTH_MAX)] | None = None


class DocumentsBackedUp(Result):
    """Where the backup stands. Nothing is committed: backups are in no repository."""

    ok: bool = True
    backup_id: str
    backup_path: str
    manifest_path: str
    committed_files: list[str] = Field(default_factory=list)
    latest_commit: str | None


class TestRestore(Request):
    """Which backup, the newest where none is named, and what to look at besides that it can be read."""

    backup_path: Annotated[Text, Field(max_length=bounds.OPS_PATH_LENGTH_MAX)] | None = None
    verify_index_rebuild: bool = True
    verify_continuity: bool = True


class IndexChecked(Result):
    """Whether what is text can be read, and how many files that is."""

    ok: bool
    file_count: int


class RestoreTested(Result):
    """What was read back, and whether it would do; nothing was written. ``ok`` is false where a part of it is damaged."""

    ok: bool
    backup_path: str
    extracted_files: int
    extracted_prefixes: list[str]
    index_validation: IndexChecked | None
    continuity_validation: ContinuityChecked | None
    artifact_history_validation: HistoryChecked
    segment_history_validation: HistoryChecked
    registry_history_validation: HistoryChecked


class BackingUp:
    """Makes and tests the backups of the caller's tenant."""

    def __init__(self, documents: Documents, backups: DocumentBackups, ids: IdSource) -> None:
        self._documents = documents
        self._backups = backups
        self._ids = ids

    def create(self, request: BackUpDocuments, call: Call) -> Answer:
        """Put the documents, as they stand at one moment, into a file."""
        tenant_id = call.principal.tenant_id
        head = self._documents.head(tenant_id)
        at = max(call.now, head.committed_at) if head is not None else call.now
        wanted = {prefix.strip("/") for prefix in request.include_prefixes}
        chosen = [prefix for prefix in (*_DEFAULT, "archive") if prefix in wanted & _ALLOWED] or list(
            _DEFAULT
        )
        prefixes = [each for each in chosen if self._documents.below(tenant_id, each, limit=1, at=at)]
        backup_id = stamped_id("backup", self._ids, call)
        manifest = {
            "schema_version": "1.0",
            "backup_id": backup_id,
            "created_at": rfc3339(call.now),
            "created_by": call.relay.peer_id,
            "as_of": rfc3339(at),
            "commit": head.sha if head is not None else None,
            "include_prefixes": prefixes,
            "note": request.note,
            "contract_version": _CONTRACT,
            "continuity_counts": self._counts(tenant_id, at),
        }
        found = (each for prefix in prefixes for each in self._below(tenant_id, prefix, at))
        archive, beside = self._backups.write(tenant_id, backup_id, found, indented(manifest))
        commit = head.sha if head is not None else None
        return Answer(
            DocumentsBackedUp(
                backup_id=backup_id, backup_path=archive, manifest_path=beside, latest_commit=commit or None
            )
        )

    def test(self, request: TestRestore, call: Call) -> Answer:
        """Read a backup to its end."""
        tenant_id = call.principal.tenant_id
        path = request.backup_path or self._backups.newest(tenant_id)
        paths: set[str] = set()
        capsules: dict[str, bytes] = {}
        stubs: dict[str, bytes] = {}
        texts, whole = 0, True
        for document in self._backups.read(tenant_id, path):
            paths.add(document.path)
            if document.path.startswith(f"{ROOT}/"):
                capsules[document.path] = document.content
            elif is_stub(document.path):
                stubs[document.path] = document.content
            if is_text(document.path):
                texts += 1
                whole = whole and _is_utf8(document.content)
        all_paths = frozenset(paths)
        index = IndexChecked(ok=whole, file_count=texts) if request.verify_index_rebuild else None
        continuity = continuity_checked(capsules) if request.verify_continuity else None
        histories = {
            name: history_checked(name, stubs, all_paths) for name in ("artifact", "segment", "registry")
        }
        checks = [index, continuity, *histories.values()]
        return Answer(
            RestoreTested(
                ok=all(check.ok for check in checks if check is not None),
                backup_path=path,
                extracted_files=len(paths),
                extracted_prefixes=sorted({each.partition("/")[0] for each in paths}),
                index_validation=index,
                continuity_validation=continuity,
                artifact_history_validation=histories["artifact"],
                segment_history_validation=histories["segment"],
                registry_history_validation=histories["registry"],
            )
        )

    def _below(self, tenant_id: str, prefix: str, at: Instant) -> Iterator[BackedUpDocument]:
        after = ""
        while True:
            page = self._documents.below(
                tenant_id, prefix, after=after, limit=limits.DOCUMENTS_READ_MAX, with_content=True, at=at
            )
            for each in page:
                yield BackedUpDocument(each.path, each.content, each.updated_at)
            if len(page) < limits.DOCUMENTS_READ_MAX:
                return
            after = page[-1].path

    def _counts(self, tenant_id: str, at: Instant) -> dict[str, int]:
        checked = continuity_checked({each.path: each.content for each in self._below(tenant_id, ROOT, at)})
        return {
            "active_capsules": checked.active_capsules,
            "fallback_snapshots": checked.fallback_capsules,
            "archive_envelopes": checked.archive_envelopes,
            "cold_payloads": checked.cold_payloads,
            "cold_stubs": checked.cold_stubs,
        }


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
