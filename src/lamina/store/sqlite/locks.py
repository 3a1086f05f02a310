"""Locks that processes on one folder share, by name: nobody else holds a name meanwhile."""

from __future__ import annotations

import fcntl
import os
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lamina import limits
from lamina.store.rules.waiting import Waiting, key_unavailable

__all__ = ["SharedLocks"]

_FILES = 64
_LOOK_S = 0.002


class SharedLocks:
    """A file for every so many names, in a folder that is made with the first. The end of a process frees what it held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting = Waiting()

    @contextmanager
    def held(self, name: str) -> Iterator[None]:
        """The name for the length of a block; raises ``Unavailable`` (WAL_UNAVAILABLE) when it does not come free, at once
        when too many wait already."""
        path = self._folder / f"{zlib.crc32(name.encode()) % _FILES:02}"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            # Opened for each holder: so threads of one process exclude each other as processes do.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise key_unavailable(error.strerror or str(error)) from error
        try:
            if not _taken(descriptor):
                with self._waiting.place():
                    _take(descriptor)
            yield
        finally:
            os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _take(descriptor: int) -> None:
    until = time.monotonic() + limits.WAIT_S_MAX
    while not _taken(descriptor):
        if time.monotonic() > until:
            raise key_unavailable("another call with the key has not ended")
        time.sleep(_LOOK_S)
