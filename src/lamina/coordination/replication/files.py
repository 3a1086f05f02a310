"""Which documents travel between servers, and what a file that arrives has to be."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from lamina.continuity.capsule.subjects import ACTIVE, ARCHIVE, ROOT, Subject, archive_name
from lamina.continuity.capsule.validate import check_capsule, check_size
from lamina.continuity.files.names import check_new, file_path, folder_of
from lamina.continuity.permission import require_open
from lamina.continuity.shelf.envelopes import archived
from lamina.continuity.shelf.loading import loaded, object_in
from lamina.coordination.replication.requests import ReplicatedFile
from lamina.errors import Forbidden, Malformed
from lamina.kernel.operations import Call

__all__ = [
    "FOLDERS",
    "check_file",
    "check_source",
    "compressed_path",
    "invalid",
    "stands_compressed",
    "subject_of",
    "travelling_path",
    "travels",
]

FOLDERS: Final = frozenset(
    {
        "journal",
        "essays",
        "projects",
        "memory",
        "messages",
        "tasks",
        "patches",
        "runs",
        "snapshots",
        "archive",
    }
)
"""The folders that travel. Who may do what, what is derived and what is kept for the server alone lies in others."""

_SHA256: Final = "sha256:"
_STUB: Final = re.compile(r".+/history/(?:.+/)?index/[^/]+\.json")


def invalid(field: str, reason: str) -> Malformed:
    """The error of a bundle that is refused."""
    return Malformed("INVALID_REPLICATION", f"{field}: {reason}", details={"field": field})


def travels(path: str) -> bool:
    """Whether a document of the folders travels: what is derived from others is made anew where they arrive."""
    if any(part.startswith(".") for part in path.split("/")):
        return False
    derived = path.startswith(f"{ROOT}/") and not path.startswith((*ACTIVE, f"{ARCHIVE}/"))
    return folder_of(path) in FOLDERS and not derived


def compressed_path(path: str) -> str | None:
    """Where the copy of an archive or of a unit of a history stands that went to cold storage; None for other documents.

    It is no text, so it does not travel: elsewhere the document stays that it was made of.
    """
    archive = archive_name(path)
    if archive is not None:
        return archive.cold_path
    folder, _, name = path.rpartition("/")
    return f"{folder}/cold/{name}.gz" if "history" in folder.split("/") else None


def stands_compressed(path: str, content: bytes) -> bool:
    """Whether a document is a stub that says of its unit that it went to cold storage."""
    if not _STUB.fullmatch(path):
        return False
    try:
        payload = object_in(content).get("payload_path")
    except Malformed:
        return False
    return isinstance(payload, str) and payload.endswith(".gz")


def travelling_path(field: str, text: str, call: Call) -> str:
    """The path that a bundle names; raises ``Forbidden`` for a secret's place, ``Malformed`` outside the folders."""
    path = file_path(text)
    require_open(call, path)
    if folder_of(path) not in FOLDERS:
        raise invalid(field, f"{path[:120]!r} lies in none of {', '.join(sorted(FOLDERS))}")
    return path


def check_file(path: str, file: ReplicatedFile) -> bytes | None:
    """The content of a file that arrives, None where it was taken away. A capsule has to be one, and of this path."""
    if file.deleted:
        return None
    if file.content is None or file.sha256 is None:
        raise invalid(path, "content and sha256 are needed")
    content = file.content.encode()
    if hashlib.sha256(content).hexdigest() != file.sha256.lower().removeprefix(_SHA256):
        raise invalid(path, "sha256 is not that of the content")
    try:
        check_new(path)
        _check_capsule(path, content)
    except Malformed as error:
        details = {**error.details, "path": path}
        raise Malformed(error.code, f"{path}: {error.message}", hint=error.hint, details=details) from error
    return content


def subject_of(path: str, content: bytes) -> Subject | None:
    """Whose capsule the content of a path is; None where it is none."""
    if not path.startswith(ACTIVE):
        return None
    try:
        capsule = loaded(content).capsule
    except Malformed:
        return None
    return Subject(capsule["subject_kind"], capsule["subject_id"])


def _check_capsule(path: str, content: bytes) -> None:
    if path.startswith(f"{ARCHIVE}/"):
        archived(content)
        if archive_name(path) is None:
            raise invalid(path, "is no name of an archive")
    if not path.startswith(ACTIVE):
        return
    capsule = loaded(content).capsule
    check_capsule(capsule)
    check_size(capsule)
    if Subject(capsule["subject_kind"], capsule["subject_id"]).active_path != path:
        raise Malformed("SUBJECT_MISMATCH", "the capsule is of another subject than its path")


def check_source(call: Call, source_peer: str) -> None:
    """Nothing where the caller sends its own files, or administers peers: what a source agreed on, only it says."""
    if source_peer != call.relay.peer_id and not call.relay.admin:
        raise Forbidden(
            "REPLICATION_SOURCE_DENIED",
            f"source_peer is {source_peer[:64]!r}, and the caller is {call.relay.peer_id[:64]!r}",
            details={"source_peer": source_peer[:64]},
        )
