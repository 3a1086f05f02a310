"""The socket of a data folder: who holds the folder's lock serves it there, for processes of the same user alone."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from lamina.errors import Unavailable
from lamina.kernel.folder_socket import socket_path

__all__ = ["answers", "bound", "lock_of", "socket_path"]

_LOCK: Final = "server.lock"
_CONNECT_S: Final = 1.0


def lock_of(folder: Path, name: str = _LOCK) -> IO[str] | None:
    """The lock of who serves a folder, or another one of its locks, held for as long as the file is open; None where somebody has it.

    A process that inherits the file holds it, too. Raises ``Unavailable`` (CANNOT_OPEN_STORE).
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (folder / name).open("w")
    except OSError as error:
        raise Unavailable(
            "CANNOT_OPEN_STORE",
            f"{folder} cannot be used: {error.strerror}",
            hint="name with --data a folder that you may write to",
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError as error:
        file.close()
        raise Unavailable(
            "CANNOT_OPEN_STORE",
            f"{folder / name} cannot be locked: {error.strerror}",
            hint="name with --data a folder on a disk of this machine: some shared ones have no locks",
        ) from error
    return file


@contextlib.contextmanager
def bound(folder: Path) -> Iterator[socket.socket]:
    """The socket, bound; whoever calls holds the lock, so that what lies there is of the dead."""
    path = socket_path(folder)
    if path.parent != folder.resolve():
        _make_own(path.parent)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)
    try:
        yield listener
    finally:
        listener.close()
        path.unlink(missing_ok=True)


def _make_own(folder: Path) -> None:
    """A folder that nobody else can write to; raises ``Unavailable`` where somebody else made it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or folder.is_symlink():
        raise Unavailable(
            "CANNOT_OPEN_STORE",
            f"{folder} is not this user's alone",
            hint="remove it, or use a data folder with a shorter path",
        )


def answers(folder: Path) -> bool:
    """Whether somebody listens at the folder's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_S)
        try:
            probe.connect(str(socket_path(folder)))
        except OSError:
            return False
    return True
