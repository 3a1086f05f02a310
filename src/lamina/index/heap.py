"""Memory that is free goes back to the system."""

from __future__ import annotations

import ctypes
import sys

__all__ = ["give_back"]


def give_back() -> None:
    """Let the C library give back what it keeps of what was freed, where it is glibc: whole pages, wherever in its heaps they lie.

    What a large scope takes while it is loaded would stay with the process otherwise: 20 MB at 10^5 events, for a tenth of a second.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # musl has none
        trim(0)
