"""The operations of memory files."""

from __future__ import annotations

from typing import Any, Final

from lamina.continuity.declaring import reads, writes
from lamina.continuity.files import requests
from lamina.continuity.files.finding import Finding
from lamina.continuity.files.keeping import Keeping
from lamina.continuity.permission import READS
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayRight
from lamina.store.ports.documents import Documents
from lamina.store.ports.idempotency import Idempotency

__all__ = ["file_operations"]


def file_operations(documents: Documents, finding: Finding, idempotency: Idempotency) -> list[Operation[Any]]:
    """Every operation over memory files. Writing takes the right of the folder, which the handler asks."""
    keeping = Keeping(documents, idempotency)
    return [
        writes(None, "file_write", requests.WriteFile, requests.Written, keeping.write, "Write a file.",
               bucket="write", keeps_keys=True, fails=_WRITTEN),
        reads(READS, "file_read", requests.ReadFile, requests.ReadText, keeping.read, "Read a file.",
              fails=("INVALID_FILE_PATH", "NAMESPACE_DENIED", "FILE_NOT_FOUND", "FILE_NOT_TEXT")),
        writes(None, "file_append",
            requests.AppendRecord,
            requests.Written,
            keeping.append,
            "Append a record to a file.",
            bucket="append",
            keeps_keys=True,
            fails=(*_WRITTEN, "JOURNAL_DAY_CLOSED", "FILE_NOT_TEXT", "FILE_TOO_LARGE"),
        ),
        reads(RelayRight.SEARCH, "file_search", requests.Search, requests.FoundFiles, finding.search, "Find files."),
        reads(RelayRight.SEARCH, "file_recent", requests.Recent, requests.RecentFiles, finding.recent, "List the newest files."),
        reads(RelayRight.READ_INDEX, "index_status", requests.RebuildIndex, requests.IndexStatus, finding.status, "How far the index is."),
        reads(RelayRight.READ_INDEX, "index_rebuild", requests.RebuildIndex, requests.Rebuilt, finding.rebuild, "Bring the index up to date."),
        reads(RelayRight.READ_INDEX, "index_rebuild_incremental", requests.RebuildIndex, requests.RebuiltIncrementally,
              finding.rebuild_incremental, "Bring the index up to date, and say how much that was."),
    ]  # fmt: skip


_WRITTEN: Final = (
    "INVALID_FILE_PATH", "NAMESPACE_DENIED", "PAYLOAD_TOO_LARGE", "PATH_COLLISION", "DOCUMENT_CHANGED", "REPOSITORY_UNAVAILABLE", "SECRET_FILE",
)  # fmt: skip
