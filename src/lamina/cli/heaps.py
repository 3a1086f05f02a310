"""How many heaps the threads of a server share."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

__all__ = ["share_heaps"]

_M_ARENA_MAX: Final = -8
_HEAPS_MAX: Final = 2


def share_heaps() -> None:
    """Let all threads share two heaps, where the C library is glibc; before they begin.

    It gives each of many threads one of its own, and each keeps what a recall on that thread took for a moment: with
    10^5 events 430 MB in place of 525. Python hands out most memory under one lock anyway.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:  # musl has none
        mallopt(_M_ARENA_MAX, _HEAPS_MAX)
