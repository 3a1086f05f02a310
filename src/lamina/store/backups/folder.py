"""The folder that backups are kept in: how they are called, how one gets there whole, and which are deleted."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from lamina.errors import Invalid, Unavailable
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.flushing import sync_folder

__all__ = ["BackupFolder", "folder_name_of"]

_END, _UNFINISHED, _OWNER = ".backup", ".unfinished", ".owner"
_STAMP: Final = "%Y%m%dT%H%M%SZ"


class BackupFolder:
    """The backups of one data folder, which are told from others by its name."""

    def __init__(self, folder: Path, data: Path) -> None:
        self._folder = folder
        self._data = os.path.realpath(data)
        self._name = folder_name_of(data)
        self._own = re.compile(re.escape(self._name) + r"-(\d{8}T\d{6}Z)(?:-(\d+))?" + re.escape(_END))

    def listed(self) -> list[Path]:
        """The backups, oldest first."""
        try:
            paths = [path for path in self._folder.iterdir() if path.is_file() and not path.is_symlink()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _cannot_write(self._folder, error) from error
        named = [
            (match[1], int(match[2] or 1), path)
            for path in paths
            if (match := self._own.fullmatch(path.name))
        ]
        return [path for _, _, path in sorted(named)]

    def put(self, at: Instant, write: Callable[[IO[bytes]], bool]) -> Path | None:
        """A backup that ``write`` filled, under its own name and on disk; None where it says that it stopped.

        Until then it has another name, which nobody takes for a backup. Raises ``Unavailable`` (CANNOT_WRITE_BACKUP), and ``Invalid``
        (INVALID_SETTING) where backups of another data folder of this name go there, which would be taken for its own.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._claim()
            self._sweep()
            target = self._free_name(at)
            unfinished = target.with_name(target.name + _UNFINISHED)
            descriptor = os.open(
                unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                try:
                    whole = write(file)
                    file.flush()
                    os.fsync(file.fileno())
                    if whole:
                        unfinished.rename(target)
                except BaseException:
                    with contextlib.suppress(OSError):
                        unfinished.unlink(missing_ok=True)
                    raise
            if not whole:
                unfinished.unlink()
                return None
            sync_folder(self._folder)
        except OSError as error:
            raise _cannot_write(self._folder, error) from error
        return target

    def keep(self, newest: int, made: Path) -> list[Path]:
        """Delete all but so many, the one that was just ``made`` and those before it; those that went. What has a later time in its name
        is of a clock that was ahead, and goes first."""
        listed = self.listed()
        behind = _place(listed, made) + 1
        gone = [*listed[behind:], *listed[:behind]][:-newest]
        try:
            for path in gone:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise _cannot_write(self._folder, error) from error
        return gone

    def _claim(self) -> None:
        """Note whose backups of this name these are; a data folder that is there no more has left them."""
        note = self._folder / f"{self._name}{_OWNER}"
        owner = os.fsdecode(note.read_bytes()) if note.is_file() else ""
        if owner == self._data:
            return
        if owner and os.path.isdir(owner) and not os.path.samefile(owner, self._data):
            raise Invalid(
                "INVALID_SETTING",
                f"the backups of {owner} go to {self._folder}, and could not be told from those of {self._data}",
                hint="name a folder for each data folder with --to or LAMINA_BACKUP_FOLDER",
                details={"setting": "LAMINA_BACKUP_FOLDER"},
            )
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(note, flags, 0o600), "wb") as file:
            file.write(os.fsencode(self._data))

    def _free_name(self, at: Instant) -> Path:
        stem = f"{self._name}-{datetime.fromtimestamp(at // SECOND_US, UTC).strftime(_STAMP)}"
        path, number = self._folder / f"{stem}{_END}", 1
        while path.exists():
            number += 1
            path = self._folder / f"{stem}-{number}{_END}"
        return path

    def _sweep(self) -> None:
        """Remove what was not finished, where nobody writes it any more."""
        for path in self._folder.glob(f"*{_END}{_UNFINISHED}"):
            if not self._own.fullmatch(path.name.removesuffix(_UNFINISHED)) or path.is_symlink():
                continue
            with contextlib.suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def folder_name_of(data: Path) -> str:
    """The name by which backups of a data folder, and what it erased, are told from those of others."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", os.path.basename(os.path.realpath(data))) or "lamina"


def _place(listed: Sequence[Path], made: Path) -> int:
    return next((number for number, path in enumerate(listed) if path.name == made.name), len(listed))


def _cannot_write(folder: Path, error: OSError) -> Unavailable:
    return Unavailable(
        "CANNOT_WRITE_BACKUP",
        f"no backup could be made in {error.filename or folder}: {error.strerror or type(error).__name__}",
    )
