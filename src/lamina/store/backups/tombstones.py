"""The list of what was erased as a file beside the backups: a line of JSON for each erasure, appended and never changed."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from lamina.errors import Invalid, LaminaError, NotFound, Unavailable
from lamina.kernel.scopes import Scope
from lamina.store.flushing import sync_folder
from lamina.store.ports.tombstones import ListedErasure

__all__ = ["NoTombstones", "TombstoneFile"]

_VERSION: Final = 1
_LISTS: Final[Mapping[str, Callable[[str], str]]] = {
    "held": Scope.parse,
    "actors": str,
    "events": str,
    "records": str,
}


class TombstoneFile:
    """``TombstoneList`` in one file. Several processes may append at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self) -> None:
        """Make it where there is none: that a list is there and empty says that nothing was erased."""
        self._write(b"")

    def append(self, erasure: ListedErasure) -> None:
        """Mirrors ``TombstoneList.append``."""
        line: dict[str, Any] = {"version": _VERSION, **asdict(erasure)}  # Any: JSON
        self._write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            is_new = not self._path.exists()
            with os.fdopen(os.open(self._path, flags, 0o600), "rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.truncate(_whole_lines(file.read()))
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                sync_folder(self._path.parent)
        except OSError as error:
            raise Unavailable(
                "CANNOT_WRITE_TOMBSTONES",
                f"{self._path}: {error.strerror or type(error).__name__}; nothing was erased",
                hint="make its folder writable, or name a file elsewhere with LAMINA_TOMBSTONES",
            ) from error

    def read(self) -> Sequence[ListedErasure]:
        """Mirrors ``TombstoneList.read``. What a crash left of a last line is passed over: that erasure had not begun."""
        try:
            data = self._path.read_bytes()
        except OSError as error:
            raise NotFound(
                "TOMBSTONES_NOT_FOUND",
                f"the list of what was erased since, {self._path}, cannot be read: {error.strerror}",
                hint="name it with --tombstones, or say --without-tombstones where nothing was erased since the backup",
            ) from error
        lines = data[: _whole_lines(data)].splitlines()
        return [self._read_line(number, line) for number, line in enumerate(lines, 1)]

    def _read_line(self, number: int, line: bytes) -> ListedErasure:
        try:
            told: dict[str, Any] = json.loads(line)  # Any: JSON
            if told.pop("version") != _VERSION:
                raise KeyError(_VERSION)
            named = {name: tuple(map(kind, told[name])) for name, kind in _LISTS.items()}
            return ListedErasure(**{**told, **named, "scope": Scope.parse(told["scope"])})
        except (ValueError, KeyError, TypeError, AttributeError, LaminaError) as error:
            raise self._invalid(number) from error

    def _invalid(self, number: int) -> Invalid:
        return Invalid(
            "INVALID_TOMBSTONES",
            f"line {number} of {self._path} is none that this release wrote",
            hint="take a copy of the list that is whole, or the release that wrote it",
        )


class NoTombstones:
    """``TombstoneList`` of what has no backups: a folder in memory, a test."""

    def append(self, erasure: ListedErasure) -> None:
        """Nothing is kept."""

    def read(self) -> Sequence[ListedErasure]:
        """Nothing was."""
        return ()


def _whole_lines(data: bytes) -> int:
    return data.rfind(b"\n") + 1
