"""One file for a whole backup: the manifest, then the content of every file that it names, in its order."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from lamina import limits
from lamina.errors import NotFound
from lamina.store.backups.manifest import BackupManifest, BackupMember
from lamina.store.backups.sealing import ChunkReader, ChunkWriter, RandomBytes, Secret, damaged

__all__ = ["BackupArchive", "member_of", "open_archive", "write_archive"]

_LENGTH: Final = struct.Struct(">Q")
_STEP_BYTES: Final = 1024 * 1024


def member_of(name: str, path: Path) -> BackupMember:
    """A file as a manifest names it; all of it is read."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return BackupMember(name=name, bytes=file.tell(), sha256=digest.hexdigest())


def write_archive(
    out: IO[bytes],
    manifest: BackupManifest,
    paths: Mapping[str, Path],
    *,
    secret: Secret | None,
    random_bytes: RandomBytes,
    stopping: Callable[[], bool],
) -> bool:
    """Write a backup of the files at ``paths``, by member; False where it was to stop before it was whole."""
    chunks = ChunkWriter(out, secret, random_bytes)
    told = manifest.encoded()
    chunks.write(_LENGTH.pack(len(told)) + told)
    for member in manifest.members:
        with paths[member.name].open("rb") as file:
            while data := file.read(_STEP_BYTES):
                if stopping():
                    return False
                chunks.write(data)
    chunks.finish()
    return True


class BackupArchive:
    """A backup that is read, once and from its beginning."""

    def __init__(self, chunks: ChunkReader) -> None:
        self._chunks = chunks
        (size,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if size > limits.BACKUP_MANIFEST_BYTES_MAX:
            raise damaged("its manifest is longer than manifests are")
        self.manifest = BackupManifest.parsed(self._exactly(size))

    def read(self, out_of: Callable[[BackupMember], IO[bytes] | None]) -> None:
        """Check every byte, and put the content of each file where ``out_of`` says, if anywhere.

        What was put there is to be used only once this has returned. Raises ``Invalid`` (INVALID_BACKUP).
        """
        for member in self.manifest.members:
            out = out_of(member)
            try:
                self._member(member, out)
            finally:
                if out is not None:
                    out.close()
        self._chunks.finish()

    def _member(self, member: BackupMember, out: IO[bytes] | None) -> None:
        digest, left = hashlib.sha256(), member.bytes
        while left:
            data = self._exactly(min(left, _STEP_BYTES))
            digest.update(data)
            left -= len(data)
            if out is not None:
                out.write(data)
        if digest.hexdigest() != member.sha256:
            raise damaged(f"{member.name} is not what the manifest says")
        if out is not None:
            out.flush()
            os.fsync(out.fileno())

    def _exactly(self, size: int) -> bytes:
        data = self._chunks.read(size)
        if len(data) != size:
            raise damaged("it holds less than it says")
        return data


@contextmanager
def open_archive(path: Path, secret: Callable[[str], Secret | None]) -> Iterator[BackupArchive]:
    """The backup at a path; ``secret`` as in ``ChunkReader``, whose errors this raises too.

    Raises ``NotFound`` (BACKUP_NOT_FOUND) where no file is.
    """
    try:
        # Without waiting: a pipe in place of the file would otherwise hold us.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise NotFound(
            "BACKUP_NOT_FOUND", f"{path} cannot be read: {error.strerror or type(error).__name__}"
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # before ``fdopen``, which raises for a folder
        os.close(descriptor)
        raise damaged("it is no file")
    with os.fdopen(descriptor, "rb") as file:
        yield BackupArchive(ChunkReader(file, secret))
