"""Begins a check: sets its bounds and takes away what is not its business, then becomes the command.

Run by path and by itself (``python -I launch.py BOUNDS COMMAND…``): the standard library is all it needs, and what it does
happens in the new process, where no thread of the server's is.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence

__all__ = ["ends_with", "hidden", "launched", "without_powers"]

_DROP_FROM_BOUNDS = 24  # PR_CAPBSET_DROP of prctl(2)
_ENDS_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_NO_NEW_PRIVILEGES = 38  # PR_SET_NO_NEW_PRIVS
_POWERS_MAX = 64  # the kernel has some forty, and refuses the first that it does not know


def launched(arguments: Sequence[str]) -> None:
    """Become the command under bounds: seconds of processor, bytes of memory and of a file, counts, and folders to hide."""
    bounds = json.loads(arguments[0])
    if bounds.get("ends_with_parent"):
        ends_with(bounds["ends_with_parent"])
    for folder in bounds["hidden"]:
        hidden(folder)
    if bounds["hidden"]:
        without_powers()
    for name, most in bounds["limits"].items():
        resource.setrlimit(getattr(resource, name), (most, most))
    try:
        os.execvp(arguments[1], list(arguments[1:]))  # noqa: S606 - the operator's own command, without a shell
    except OSError as error:
        sys.exit(f"{arguments[1]}: {error.strerror}")


def ends_with(parent: int) -> None:
    """This process, and what it becomes, is killed when its parent ends, however that ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_ENDS_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the server has ended")


def hidden(folder: str) -> None:
    """An empty folder in the place of one, for this process and those that it begins. Raises ``OSError``."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, b"size=4k"):
        raise OSError(ctypes.get_errno(), "the folder cannot be hidden")


def without_powers() -> None:
    """Nothing that this process becomes has a power over what was mounted for it, though it is the root of its namespace: who could
    mount could take an empty folder away again. Raises ``OSError``."""
    libc = ctypes.CDLL(None, use_errno=True)
    dropped = 0
    while dropped < _POWERS_MAX and libc.prctl(_DROP_FROM_BOUNDS, dropped, 0, 0, 0) == 0:
        dropped += 1
    if not dropped or libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "the powers of the namespace cannot be dropped")


if __name__ == "__main__":
    launched(sys.argv[1:])
