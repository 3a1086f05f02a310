"""The lock of the one server that starts and restarts the worker of a data folder.

The worker has a lock of its own (``store/sqlite/worker_lock.py``). It does not keep two servers apart that begin at the same moment: neither
has a worker yet.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

from lamina.cli.local_socket import lock_of
from lamina.errors import Conflict
from lamina.settings import Settings

__all__ = ["keeping"]

_LOCK: Final = "keeper.lock"
_HANDOVER_S: Final = 10.0  # as long as a server that stops is waited for
_LOOK_S: Final = 0.1


@contextlib.contextmanager
def keeping(settings: Settings) -> Iterator[None]:
    """Hold the lock for the length of a block; does nothing where the settings say that this server has no worker.

    Raises ``Conflict`` (WORKER_RUNNING) when another still is after ten seconds, and ``Unavailable`` (CANNOT_OPEN_STORE).
    """
    if settings.workers < 1:
        yield
        return
    until = time.monotonic() + _HANDOVER_S
    while (lock := lock_of(settings.data, _LOCK)) is None:
        if time.monotonic() > until:
            raise Conflict(
                "WORKER_RUNNING",
                f"another server keeps the worker of {settings.data}",
                hint="stop the other lamina serve first; --workers 0 serves beside it",
            )
        time.sleep(_LOOK_S)
    with lock:
        yield
