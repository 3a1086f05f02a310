"""The lock of a folder's one worker: a file that whoever derives holds, and that ends with its process however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lamina.errors import Conflict, Unavailable

__all__ = ["alone", "require_no_worker", "usable", "worker_lives"]

_NAME = "worker.lock"
_TRIES = 5
_HANDOVER_S = 10.0  # the worker of a server that was killed ends after the batch at hand


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[int]:
    """Hold a folder's lock: with it, a lease that somebody else left is a lease of the dead. It is the descriptor of the lock, which
    processes that inherit it hold, too.

    Raises ``Conflict`` (WORKER_RUNNING), and ``Unavailable`` (CANNOT_OPEN_STORE) where the lock cannot be made.
    """
    with usable(folder):
        file = (folder / _NAME).open("w")
    with file as lock:
        with usable(folder):
            try:
                _take(lock)
            except BlockingIOError as error:
                raise _running(folder) from error
        yield lock.fileno()


@contextlib.contextmanager
def usable(folder: Path) -> Iterator[None]:
    """A block in which the folder is put to use: what cannot be read or made there is one line, as it is for the database."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            "CANNOT_OPEN_STORE",
            f"{error.filename or folder} cannot be used: {error.strerror or type(error).__name__}",
            hint="name with --data a folder that you may write to",
        ) from error


def worker_lives(folder: Path) -> bool:
    """Whether somebody holds a folder's lock. Asking takes a shared one for a moment, never an exclusive one."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), (folder / _NAME).open("rb") as lock:
        return not _is_free(lock)
    return False


def require_no_worker(folder: Path) -> None:
    """Nothing, or ``Conflict`` (WORKER_RUNNING) when a worker still holds a folder's lock after ten seconds."""
    until = time.monotonic() + _HANDOVER_S
    while worker_lives(folder):
        if time.monotonic() > until:
            raise _running(folder)
        time.sleep(0.1)


def _is_free(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _take(lock: IO[str]) -> None:
    """Take the lock; somebody who only asks whether it is held has it for a moment."""
    for _ in range(_TRIES - 1):
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(0.02)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _running(folder: Path) -> Conflict:
    return Conflict(
        "WORKER_RUNNING",
        f"another worker holds {folder}",
        hint="stop the other lamina serve or lamina worker first; --workers 0 serves beside it",
    )
