"""The standard streams of a command: they are there, they take any text, and it is told in a line when they cannot be written."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Final

from lamina.errors import Unavailable

__all__ = ["ready_streams", "unwritten"]

_CANNOT_WRITE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def ready_streams() -> None:
    """Put the null device in place of a stream that is closed, and escape what the encoding of the output lacks.

    The next file that is opened would have the number of the closed one, and what is printed to that number would be in it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115 - for good
    if isinstance(sys.stdout, io.TextIOWrapper):
        with contextlib.suppress(OSError):  # of a stream that was put in the place of a file
            sys.stdout.reconfigure(errors="backslashreplace")


def unwritten(error: OSError) -> Unavailable | None:
    """What it means that a stream cannot be written; None where the error is another. What is wrong with a file has its name, and a
    pipe whose reader left is nobody's error."""
    if error.filename is not None or error.errno not in _CANNOT_WRITE:
        return None
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer has nowhere to go
    return Unavailable("OUTPUT_NOT_WRITTEN", f"what was to be printed cannot be written: {error.strerror}")
