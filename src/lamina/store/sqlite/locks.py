"""Locks that processes on one folder share, by name: nobody else holds a name meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lamina import limits
from lamina.store.rules.waiting import Waiting, key_unavailable

__all__ = ["SharedLocks"]

_LOOK_S = 0.002


class SharedLocks:
    """A file for each name that is held, in a folder that is made with the first. The end of a process frees what it held.

    Names do not wait for each other. Of those that wait for the same, so many at once may, and fewer of one tenant: each
    is a thread that answers nobody else.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting = Waiting()
        self._swept = False

    @contextmanager
    def held(self, tenant_id: str, name: str) -> Iterator[None]:
        """The tenant's name for the length of a block; raises ``Unavailable`` (WAL_UNAVAILABLE) when it does not come free."""
        path = (
            self._folder / hashlib.sha256(f"{tenant_id}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
        )
        self._ready()
        descriptor = _tried(path)
        if descriptor is None:
            with self._waiting.place(tenant_id):
                descriptor = _awaited(path)
        try:
            yield
        finally:
            # The name goes before the lock: who waits on the file that was finds it gone, and opens the next.
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(descriptor)

    def _ready(self) -> None:
        """Make the folder, and once take away what processes that were killed left in it."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if not self._swept:
                self._swept = True
                for left in [each for each in self._folder.iterdir() if each.is_file()]:
                    descriptor = _tried(left)
                    if descriptor is not None:
                        left.unlink(missing_ok=True)
                        os.close(descriptor)
        except OSError as error:
            raise key_unavailable(error.strerror or str(error)) from error


def _tried(path: Path) -> int | None:
    """The file of a name, held; None while somebody else holds it."""
    try:
        # Opened for each holder: so threads of one process exclude each other as processes do.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise key_unavailable(error.strerror or str(error)) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError as error:
        os.close(descriptor)
        raise key_unavailable(error.strerror or str(error)) from error
    os.close(descriptor)
    return None


def _awaited(path: Path) -> int:
    until = time.monotonic() + limits.WAIT_S_MAX
    while True:
        descriptor = _tried(path)
        if descriptor is not None:
            return descriptor
        if time.monotonic() > until:
            raise key_unavailable("another call with the key has not ended")
        time.sleep(_LOOK_S)
