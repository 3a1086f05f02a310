"""How often the processes of a server look for cycles of garbage."""

from __future__ import annotations

import gc
from typing import Final

__all__ = ["collect_seldom"]

_YOUNG_MAX: Final = 20_000
_OLDER: Final = (20, 50)


def collect_seldom() -> None:
    """Look at what stays for good no more, and at the rest after thousands of new objects instead of hundreds.

    A batch of a thousand items makes tens of thousands of values and no cycle. Left as it is, the interpreter walks
    them, and all that was loaded at the start, again and again while they are made: two fifths of what a batch costs.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_MAX, *_OLDER)
