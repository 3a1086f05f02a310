"""What calls came to, counted by operation: by one process, or by all that serve a folder together.

Each process writes rows of its own and reads everybody's, so whoever is asked says the same, and no lock is shared. A row
stands for an operation by a hash of its name: processes of two releases may count beside each other. Rows outlive a process that
dies, so that the one in its place goes on from them.
"""

from __future__ import annotations

import hashlib
import struct
import threading
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from lamina import limits
from lamina.errors import (
    Busy,
    Conflict,
    Fault,
    Forbidden,
    Gone,
    Invalid,
    LaminaError,
    NotFound,
    TooLarge,
    Unauthenticated,
    Unavailable,
    Unsupported,
)

__all__ = ["BOUNDS_S", "OUTCOMES", "CallCounts", "OperationFigures"]

_KINDS: Final[dict[str, type[LaminaError]]] = {
    "invalid": Invalid,
    "unauthenticated": Unauthenticated,
    "forbidden": Forbidden,
    "not_found": NotFound,
    "gone": Gone,
    "conflict": Conflict,
    "too_large": TooLarge,
    "busy": Busy,
    "unavailable": Unavailable,
    "unsupported": Unsupported,
    "fault": Fault,
}
OUTCOMES: Final = ("ok", *_KINDS)
"""How a call can end: well, or by whose move is next."""

BOUNDS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets of durations, in seconds; one more has what took longer."""

_FREE: Final = bytes(8)
_ROW: Final = struct.Struct(f"=8s{len(OUTCOMES) + len(BOUNDS_S) + 1}Qd")
_ROWS: Final = limits.METRIC_OPERATIONS_MAX
_AREA: Final = _ROWS * _ROW.size


@dataclass(frozen=True, slots=True)
class OperationFigures:
    """The calls of one operation since the server began: how they ended, in the order of ``OUTCOMES``, and how many of those that
    ran ended within each of ``BOUNDS_S`` but not the one before; the last is of those that took longer. ``seconds`` is their sum."""

    operation: str
    outcomes: Sequence[int]
    durations: Sequence[int]
    seconds: float


class CallCounts:
    """Counts of calls. Safe for any thread."""

    def __init__(self, memory: memoryview | None = None, number: int = 1) -> None:
        """``memory`` is of ``SIZE`` bytes and shared with the processes beside this one, which is the one of that number among them, from 1;
        without it the process counts for itself."""
        self._memory = memory if memory is not None else memoryview(bytearray(_AREA))
        self._areas = len(self._memory) // _AREA
        self._start = (number - 1) * _AREA
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}

    SIZE: Final = limits.PROCESSES_MAX * _AREA
    """So many bytes are enough for as many processes as there may be."""

    def ended(self, operation: str, seconds: float | None, error: BaseException | None = None) -> None:
        """A call ended after so many seconds, with an error where it failed; None where it was refused before it ran."""
        with self._lock:
            at = self._row_of(operation)
            if at is None:
                return  # more operations than the product has: nobody's metrics are worth a failing call
            key, *counts, total = _ROW.unpack_from(self._memory, at)
            counts[_outcome_of(error)] += 1
            if seconds is not None:
                counts[len(OUTCOMES) + bisect_left(BOUNDS_S, seconds)] += 1
                total += seconds
            _ROW.pack_into(self._memory, at, key, *counts, total)

    def figures(self, operations: Iterable[str]) -> list[OperationFigures]:
        """The counts of these operations by name, of every process together; none of those that nobody called."""
        names = {_key(name): name for name in operations}
        sums: dict[str, tuple[list[int], float]] = {}
        for area in range(self._areas):
            for row in range(_ROWS):
                key, *counts, seconds = _ROW.unpack_from(self._memory, area * _AREA + row * _ROW.size)
                if key == _FREE:
                    break
                if key in names:
                    before, sum_s = sums.get(names[key], ([0] * len(counts), 0.0))
                    added = [one + other for one, other in zip(before, counts, strict=True)]
                    sums[names[key]] = (added, sum_s + seconds)
        split = len(OUTCOMES)
        return [
            OperationFigures(name, counts[:split], counts[split:], seconds)
            for name, (counts, seconds) in sorted(sums.items())
        ]

    def _row_of(self, operation: str) -> int | None:
        """Where the row of an operation begins: the one that stands, also of a process of this number before, or a free one."""
        if operation not in self._rows:
            wanted = _key(operation)
            for at in range(self._start, self._start + _AREA, _ROW.size):
                key = bytes(self._memory[at : at + 8])
                if key == _FREE:
                    self._memory[at : at + 8] = wanted
                if key in (_FREE, wanted):
                    self._rows[operation] = at
                    break
        return self._rows.get(operation)


def _outcome_of(error: BaseException | None) -> int:
    if error is None:
        return 0
    for place, kind in enumerate(_KINDS.values(), 1):
        if isinstance(error, kind):
            return place
    return OUTCOMES.index("fault")


def _key(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=8).digest().replace(_FREE, b"\1" * 8)
