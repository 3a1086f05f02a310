"""The one server of a folder that keeps its worker. Of two that begin at one moment neither has a worker yet by which the other is told."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator
from typing import Final

from lamina.errors import Conflict, Unavailable
from lamina.settings import Settings

__all__ = ["keeping"]

_LOCK: Final = "keeper.lock"
_HANDOVER_S: Final = 10.0  # as long as a server that stops is waited for
_LOOK_S: Final = 0.1


@contextlib.contextmanager
def keeping(settings: Settings) -> Iterator[None]:
    """Be that server for the length of a block; nothing where the settings leave derivation to others.

    Raises ``Conflict`` (WORKER_RUNNING) when another still is after ten seconds, and ``Unavailable`` (CANNOT_OPEN_STORE).
    """
    if settings.workers < 1:
        yield
        return
    try:
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (settings.data / _LOCK).open("w")
    except OSError as error:
        raise Unavailable(
            "CANNOT_OPEN_STORE",
            f"{settings.data} cannot be used: {error.strerror}",
            hint="name with --data a folder that you may write to",
        ) from error
    with file:
        until = time.monotonic() + _HANDOVER_S
        while not _is_taken(file.fileno()):
            if time.monotonic() > until:
                raise Conflict(
                    "WORKER_RUNNING",
                    f"another server keeps the worker of {settings.data}",
                    hint="stop the other lamina serve first; --workers 0 serves beside it",
                )
            time.sleep(_LOOK_S)
        yield


def _is_taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
