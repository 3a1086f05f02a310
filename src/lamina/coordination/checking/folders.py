"""The folder of one check: it holds copies of documents, so what a killed server left of one is taken away."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lamina.kernel.time import SECOND_US, SystemClock

__all__ = ["check_folder", "left_over_taken_away"]

_PREFIX: Final = "lamina-check-"
_BEGINS_S: Final = 60
"""So long after it was made a folder may not be locked yet."""


@contextmanager
def check_folder() -> Iterator[Path]:
    """A folder for one check, locked for as long as it is there."""
    left_over_taken_away()
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(folder)
        finally:
            os.close(lock)


def left_over_taken_away() -> None:
    """Remove this user's folders of checks that nobody runs. What cannot be looked at is left."""
    now = SystemClock().now()
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            found = os.fstat(lock)
            made_at = found.st_mtime_ns // 1000
            if found.st_uid == os.getuid() and now - made_at > _BEGINS_S * SECOND_US:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)
