"""Files that hold one tenant's documents as of one moment, for people and other programs to read: a tar archive and its manifest.

They lie beside the backups of whole folders and in no repository. Whole folders are restored from those; these are for taking
documents elsewhere.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from lamina.errors import Invalid, Malformed, NotFound, Unavailable
from lamina.kernel.time import SECOND_US, Instant

__all__ = ["BackedUpDocument", "DocumentBackups"]

KEPT_MAX: Final = 30  # of a tenant: a month of days
BYTES_MAX: Final = 8 * 1024 * 1024 * 1024  # of a backup that is read; none of it is written anywhere
FILES_MAX: Final = 1_000_000
_NAME: Final = re.compile(r"backups/(backup_[0-9]{8}T[0-9]{6}Z_[0-9a-f]{8})\.tar\.gz")
_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_UNFINISHED: Final = ".unfinished"
_READ_ERRORS: Final = (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, UnicodeError)


@dataclass(frozen=True, slots=True)
class BackedUpDocument:
    """A document in a backup."""

    path: str
    content: bytes
    updated_at: Instant


class DocumentBackups:
    """The backups of each tenant's documents in one folder, which only its owner may read."""

    def __init__(self, folder: Path, path_of: Callable[[str], str]) -> None:
        """``path_of`` is the path of a document that a text names; raises ``Invalid`` for a text that names none."""
        self._folder = folder
        self._path_of = path_of

    def write(
        self, tenant_id: str, backup_id: str, documents: Iterable[BackedUpDocument], manifest: bytes
    ) -> tuple[str, str]:
        """Write a backup and its manifest, durably or not at all; their paths as the contract has them. Of older ones only so many stay.

        Raises ``Unavailable`` (CANNOT_WRITE_BACKUP).
        """
        archive = self._place(tenant_id) / f"{backup_id}.tar.gz"
        try:
            archive.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _finished(archive) as out, tarfile.open(fileobj=out, mode="w:gz") as tar:
                for document in documents:
                    tar.addfile(_member(document), io.BytesIO(document.content))
            with _finished(archive.with_name(f"{backup_id}.json")) as out:
                out.write(manifest)
            self._forget_old(tenant_id)
        except OSError as error:
            raise Unavailable(
                "CANNOT_WRITE_BACKUP",
                f"the backup of documents cannot be written: {error.strerror}",
                hint="make room, or name another folder with LAMINA_BACKUP_FOLDER",
            ) from error
        return f"backups/{backup_id}.tar.gz", f"backups/{backup_id}.json"

    def newest(self, tenant_id: str) -> str:
        """The path of the newest backup; raises ``NotFound`` (BACKUP_NOT_FOUND)."""
        archives = self._archives(tenant_id)
        if not archives:
            raise _missing("the tenant's documents were never backed up")
        return f"backups/{archives[-1].name}"

    def read(self, tenant_id: str, path: str) -> Iterator[BackedUpDocument]:
        """The documents of a backup, in its order, none of them written anywhere.

        Raises ``NotFound`` (BACKUP_NOT_FOUND), and ``Malformed`` (INVALID_DOCUMENT_BACKUP) for a path that is none of a backup and for
        an archive that is damaged or holds what no backup does: links, folders, paths that lead outside, more than a backup may.
        """
        name = _NAME.fullmatch(path)
        if name is None:
            raise _invalid("the path is not that of a backup: backups/backup_….tar.gz")
        archive = self._place(tenant_id) / f"{name[1]}.tar.gz"
        try:
            with tarfile.open(archive, mode="r:gz") as tar:
                yield from _documents(tar, self._path_of)
        except FileNotFoundError as error:
            raise _missing(f"there is no backup {path}") from error
        except _READ_ERRORS as error:
            raise _invalid(f"the archive cannot be read to its end: {type(error).__name__}") from error

    def _forget_old(self, tenant_id: str) -> None:
        for archive in self._archives(tenant_id)[:-KEPT_MAX]:
            archive.unlink(missing_ok=True)
            archive.with_name(archive.name.replace(".tar.gz", ".json")).unlink(missing_ok=True)

    def _archives(self, tenant_id: str) -> list[Path]:
        """A tenant's backups, oldest first: their names begin with their time."""
        return sorted(self._place(tenant_id).glob("backup_*.tar.gz"))

    def _place(self, tenant_id: str) -> Path:
        """The folder of a tenant. Ids that are no plain names get one that no plain id has."""
        if _PLAIN.fullmatch(tenant_id):
            return self._folder / tenant_id
        return self._folder / f"={hashlib.sha256(tenant_id.encode('utf-8', 'surrogatepass')).hexdigest()}"


@contextmanager
def _finished(path: Path) -> Iterator[IO[bytes]]:
    """A file that stands under its name once it is whole and on disk, and not at all otherwise."""
    unfinished = path.with_name(path.name + _UNFINISHED)
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _member(document: BackedUpDocument) -> tarfile.TarInfo:
    info = tarfile.TarInfo(document.path)
    info.size, info.mtime, info.mode = len(document.content), document.updated_at // SECOND_US, 0o600
    return info


def _documents(tar: tarfile.TarFile, path_of: Callable[[str], str]) -> Iterator[BackedUpDocument]:
    left, count = BYTES_MAX, 0
    for info in tar:
        count, left = count + 1, left - info.size
        if not info.isreg():
            raise _invalid("the archive holds what is no file")
        if left < 0 or count > FILES_MAX:
            raise _invalid("the archive holds more than a backup may")
        content = tar.extractfile(info)
        assert content is not None, "a regular file has content"
        yield BackedUpDocument(_inside(info.name, path_of), content.read(), int(info.mtime) * SECOND_US)


def _inside(name: str, path_of: Callable[[str], str]) -> str:
    try:
        path = path_of(name)
    except Invalid as error:
        raise _invalid("the archive holds a path that leads outside") from error
    if path != name:
        raise _invalid("the archive holds a path that is none of a document")
    return path


def _missing(reason: str) -> NotFound:
    return NotFound("BACKUP_NOT_FOUND", reason, hint="POST /v1/backup/create makes one")


def _invalid(reason: str) -> Malformed:
    return Malformed("INVALID_DOCUMENT_BACKUP", reason, details={"field": "backup_path"})
