"""The folder of one check: it holds copies of documents, so what a killed server left of one is taken away."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from lamina.coordination.checking import bounds
from lamina.errors import Busy, Unavailable
from lamina.kernel.time import SECOND_US, SystemClock

__all__ = ["another_check", "check_folder", "left_over_taken_away"]

_PREFIX: Final = "lamina-check-"
_BEGINS_S: Final = 60
"""So long after it was made a folder may not be locked yet."""


@contextmanager
def check_folder() -> Iterator[Path]:
    """A folder for one check, locked for as long as it is there.

    Raises ``Busy`` (TOO_MUCH_AT_ONCE) where a check of this user runs, in whichever process: it could read the other one's files.
    Raises ``Unavailable`` (CHECK_FOLDER_UNAVAILABLE) where there can be no folder, or no lock on it.
    """
    with ExitStack() as held:
        try:
            folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
            held.enter_context(folder)
            lock = os.open(folder.name, os.O_RDONLY)
            held.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            raise Unavailable(
                "CHECK_FOLDER_UNAVAILABLE",
                f"no folder for a check in the system's one for temporary files: {error.strerror or error}",
                hint="start the server with TMPDIR on a local disk with room",
            ) from error
        # Locked first: of two that begin at once each sees the other.
        if left_over_taken_away(Path(folder.name)):
            raise another_check()
        yield Path(folder.name)


def left_over_taken_away(own: Path | None = None) -> bool:
    """Remove this user's folders of checks that nobody runs, but for one's own; whether somebody runs one. What cannot be looked at is
    left."""
    now, runs = SystemClock().now(), False
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if folder == own:
            continue
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            found = os.fstat(lock)
            if found.st_uid != os.getuid():
                continue
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if now - found.st_mtime_ns // 1000 > _BEGINS_S * SECOND_US:
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            runs = True
        except OSError:  # no locks here: whoever begins a check is told
            continue
        finally:
            os.close(lock)
    return runs


def another_check() -> Busy:
    """The error for a check beside another."""
    return Busy(
        "TOO_MUCH_AT_ONCE",
        "another check is running",
        hint="wait as Retry-After says, then ask again",
        details={"retry_after_s": bounds.CHECK_RETRY_S},
    )
