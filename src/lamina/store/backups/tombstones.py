"""The list of what was erased as a file beside the backups: a line of JSON for each erasure, appended and never changed.

One line says which list it is: the first, or, in a list of an earlier release, the first that is put into it. A list that was lost and
begun anew is another, and so it is seen for which backups it does not speak.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from lamina.errors import Invalid, LaminaError, NotFound, Unavailable
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SystemClock
from lamina.settings import Settings
from lamina.store.backups.folder import folder_name_of
from lamina.store.backups.manifest import ListState
from lamina.store.flushing import sync_folder
from lamina.store.ports.tombstones import ListedErasure

__all__ = ["NoTombstones", "TombstoneFile", "tombstone_file"]

_VERSION: Final = 1
_BEGUN: Final = b'{"version":1,"list":'
_LISTS: Final[Mapping[str, Callable[[str], str]]] = {
    "held": Scope.parse,
    "actors": str,
    "events": str,
    "records": str,
}


class TombstoneFile:
    """``TombstoneList`` in one file. Several processes may append at once; ``folder`` is the name of the data folder whose they are."""

    def __init__(self, path: Path, folder: str = "") -> None:
        self._path = path
        self._folder = folder

    def begin(self) -> ListState:
        """Make it where there is none; how it stands from then on. Raises ``Unavailable`` (CANNOT_WRITE_TOMBSTONES), ``Invalid``
        (INVALID_TOMBSTONES)."""
        self._write(b"")
        return self.states()[-1]

    def append(self, erasure: ListedErasure) -> None:
        """Mirrors ``TombstoneList.append``."""
        self._write(_line(asdict(replace(erasure, folder=self._folder))))

    def _write(self, line: bytes) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            is_new = not self._path.exists()
            with os.fdopen(os.open(self._path, flags, 0o600), "rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                data = file.read()
                file.truncate(_whole_lines(data))
                if not data.startswith(_BEGUN) and b"\n" + _BEGUN not in data:
                    file.write(
                        _line({"list": os.urandom(8).hex(), "since": SystemClock().now() if is_new else None})
                    )
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

    def read(self, lines: int | None = None) -> Sequence[ListedErasure]:
        """Mirrors ``TombstoneList.read``; of so many ``lines`` from its beginning, else of all. What a crash left of a last line is passed over: that erasure had not begun."""
        return [
            self._read_line(number, line)
            for number, line in enumerate(self._lines()[:lines], 1)
            if not line.startswith(_BEGUN)
        ]

    def states(self) -> Sequence[ListState]:
        """Which list it is, and how many lines it has; several where lists were put together in one file, none where an earlier release
        wrote it alone. Errors as of ``read``."""
        lines = self._lines()
        return [
            self._read_state(number, line, len(lines))
            for number, line in enumerate(lines, 1)
            if line.startswith(_BEGUN)
        ]

    def _lines(self) -> Sequence[bytes]:
        try:
            data = self._path.read_bytes()
        except OSError as error:
            raise NotFound(
                "TOMBSTONES_NOT_FOUND",
                f"the list of what was erased since, {self._path}, cannot be read: {error.strerror}",
                hint="name it with --tombstones, or say --without-tombstones where nothing was erased since the backup",
            ) from error
        return data[: _whole_lines(data)].splitlines()

    def _read_line(self, number: int, line: bytes) -> ListedErasure:
        try:
            told: dict[str, Any] = json.loads(line)  # Any: JSON
            if told.pop("version") != _VERSION:
                raise KeyError(_VERSION)
            named = {name: tuple(map(kind, told[name])) for name, kind in _LISTS.items()}
            return ListedErasure(**{**told, **named, "scope": Scope.parse(told["scope"])})
        except (ValueError, KeyError, TypeError, AttributeError, LaminaError) as error:
            raise self._invalid(number) from error

    def _read_state(self, number: int, line: bytes, lines: int) -> ListState:
        try:
            told: dict[str, Any] = json.loads(line)  # Any: JSON
            return ListState(id=told["list"], since=told["since"], lines=lines)
        except (ValueError, KeyError) as error:
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


def tombstone_file(settings: Settings) -> TombstoneFile:
    """The list that a data folder's server writes to."""
    return TombstoneFile(settings.tombstone_list, folder_name_of(settings.data))


def _line(told: dict[str, Any]) -> bytes:  # Any: JSON
    return (
        json.dumps({"version": _VERSION, **told}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    )


def _whole_lines(data: bytes) -> int:
    return data.rfind(b"\n") + 1
