"""The folder in which a backup has its copy of the database, unsealed, while it is made: one at a time.

A process that is killed leaves it. The next backup takes it away, and so does an erasure, which may come first.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lamina.errors import Conflict

__all__ = ["COPIES", "copying", "drop_left_copies"]

COPIES: Final = "backing-up"
_LOCK: Final = "backup.lock"


@contextlib.contextmanager
def copying(folder: Path) -> Iterator[Path]:
    """An empty folder for copies, of this backup alone. Raises ``Conflict`` (BACKUP_RUNNING)."""
    with _alone(folder):
        copies = folder / COPIES
        shutil.rmtree(copies, ignore_errors=True)
        copies.mkdir(mode=0o700)
        try:
            yield copies
        finally:
            shutil.rmtree(copies, ignore_errors=True)


def drop_left_copies(folder: Path) -> None:
    """Take away what a backup that was killed left. One that is being made takes its own away."""
    copies = folder / COPIES
    if copies.exists():
        with contextlib.suppress(Conflict), _alone(folder):
            shutil.rmtree(copies, ignore_errors=True)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Conflict(
                "BACKUP_RUNNING", f"another process makes a backup of {folder}", hint="wait until it is done"
            ) from error
        yield
