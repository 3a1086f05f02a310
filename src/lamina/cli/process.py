"""How a process of a server uses the machine: its heaps, its cores, its garbage collector."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Final

from threadpoolctl import threadpool_limits

from lamina import limits

__all__ = ["allow_connections", "collect_seldom", "share_heaps", "use_one_core_a_product"]

_M_ARENA_MAX: Final = -8
_HEAPS_MAX: Final = 2

_YOUNG_MAX: Final = 50_000
_OLDER: Final = (20, 50)


def share_heaps() -> None:
    """Let all threads share two heaps, where the C library is glibc; before they begin.

    It gives each of many threads one of its own, and each keeps what a recall on that thread took for a moment: with
    10^5 events 430 MB in place of 525. Python hands out most memory under one lock anyway.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:  # musl has none
        mallopt(_M_ARENA_MAX, _HEAPS_MAX)


def use_one_core_a_product() -> None:
    """Let each product of matrices stay on the thread that asked for it.

    Ours are small. The threads that numpy's library keeps for large ones spin on after each, on cores that other calls
    need: a brief with a query at 10^5 events took 81 ms of processor time on two cores, and 27 so.
    """
    threadpool_limits(1, "blas")


def allow_connections(wanted: int) -> int:
    """How many connections the process may have open: as many as wanted, if the system gives it the files for them.

    Past its files a process takes no connection at all, not even to say so. The soft limit is raised as far as the hard
    one lets it.
    """
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = wanted + limits.FILES_OPEN_MIN
    if soft != resource.RLIM_INFINITY and soft < need:
        soft = need if hard == resource.RLIM_INFINITY else min(need, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - limits.FILES_OPEN_MIN))


def collect_seldom() -> None:
    """Look at what stays for good no more, and at the rest after thousands of new objects instead of hundreds.

    A batch of a thousand items makes tens of thousands of values and no cycle. Left as it is, the interpreter walks
    them, and all that was loaded at the start, again and again while they are made: two fifths of what a batch costs. Recalls make no
    cycle either, and walking what they keep for the next one costs a microsecond an object: with 10^5 events 3 ms of each of 70 where it was
    done after 20,000 new objects, half a millisecond so.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_MAX, *_OLDER)
