"""Clearing what SQLite leaves between the pointers and the cells of a page.

``secure_delete`` overwrites a row where it stood when it goes. But where rows move to other pages (btree.c, rebuildPage) their bytes
stay in the part of a page that belongs to no cell, until something else is put there; later deletions do not find them. SQL reaches
these bytes only by writing the whole file anew.

They mean nothing to SQLite, so they are overwritten in the file itself: under the write lock, with everything of the write-ahead
file moved, so that what stands in the file is what holds. A commit in the same lock has every other connection read these pages again.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from lamina import limits
from lamina.store.blocks import load_blocks

__all__ = ["clear_gaps", "mostly_moved"]

_SQL = load_blocks("lamina.store.sqlite")
_INTERIOR, _LEAF = frozenset({2, 5}), frozenset({10, 13})
_HEADER: Final = 100  # of the file, on its first page
_PAGES_MAX: Final = 1 << 24
"""Beyond it an overflow page, whose first byte is of a page's number, could be taken for one of a tree."""
_AGAIN_S: Final = 0.05
_PAUSE_S: Final = 0.002
"""In which whoever waits for the lock has it."""
_READ_PAGES: Final = 256
_LEFT_PAGES: Final = 200
"""Of the write-ahead file, that are moved while nobody else writes: a millisecond."""
_open: dict[str, int] = {}
"""Descriptors are kept: closing one would take the locks of every connection that this process has to the file."""


class _Two(NamedTuple):
    """One connection holds the write lock, while the other one moves what the write-ahead file has."""

    holder: apsw.Connection
    mover: apsw.Connection


def clear_gaps(path: Path, holder: apsw.Connection, mover: apsw.Connection) -> bool:
    """Clear every page of a database, a few at a time, of what belongs to no row; whether that was possible. The connections are in no
    transaction; one holds the write lock while the other one moves what the write-ahead file has.

    Pages are looked for beside others' writes, once the file holds all that was erased: what comes to stand in one later is younger.
    """
    connections, descriptor = _Two(holder, mover), _descriptor(path)
    if not _moved(connections, lambda: None):
        return False
    for numbers in _portions(_pages_with_gaps(descriptor), limits.GAP_PAGES):

        def clear(numbers: Sequence[int] = numbers) -> None:
            size, usable, _ = _layout(descriptor)
            for number in numbers:
                # Others may have written to it since.
                gap = _gap_of(os.pread(descriptor, size, (number - 1) * size), number, usable)
                if gap is not None:
                    os.pwrite(descriptor, bytes(gap[1] - gap[0]), (number - 1) * size + gap[0])

        if not _moved(connections, clear):
            return False
        # Now, or whoever moves pages next has these flushed while it has the lock.
        os.fsync(descriptor)
        time.sleep(_PAUSE_S)
    return True


def _moved(connections: _Two, then: Callable[[], None]) -> bool:
    """Do something while nobody writes and all that holds is in the file; False where somebody reads from before for too long."""
    for tries in range(limits.LOG_EMPTIED_TRIES):
        if not mostly_moved(connections.mover) and tries < limits.LOG_EMPTIED_TRIES // 2:
            time.sleep(_AGAIN_S)
            continue
        connections.holder.execute("BEGIN IMMEDIATE")
        try:
            if is_moved := _pages_left(connections.mover) == 0:
                then()
                connections.holder.execute(_SQL["note_pages_cleared"])
        finally:
            connections.holder.execute("COMMIT")
        if is_moved:
            return True
        time.sleep(_AGAIN_S)
    return False


def _layout(descriptor: int) -> tuple[int, int, bool]:
    """The size of a page, how much of it is used, and whether some say of which kind others are (auto_vacuum)."""
    head = os.pread(descriptor, _HEADER, 0)
    (size,) = struct.unpack_from(">H", head, 16)
    size = 65_536 if size == 1 else size
    return size, size - head[20], any(head[52:56])


def _pages_with_gaps(descriptor: int) -> list[int]:
    size, usable, is_mapped = _layout(descriptor)
    count = min(os.fstat(descriptor).st_size // size, _PAGES_MAX - 1)
    found: list[int] = []
    for first in range(1, count + 1, _READ_PAGES):
        pages = memoryview(os.pread(descriptor, size * _READ_PAGES, (first - 1) * size))
        for number in range(first, min(first + _READ_PAGES, count + 1)):
            page = bytes(pages[(number - first) * size : (number - first + 1) * size])
            if not (is_mapped and _maps(number, usable)) and _gap_of(page, number, usable) is not None:
                found.append(number)
    return found


def _portions(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


def mostly_moved(connection: apsw.Connection) -> bool:
    """Move what the write-ahead file has into the database; whether so little is left that it may be moved under the lock, for which
    others wait."""
    left = _pages_left(connection)
    return left is not None and left <= _LEFT_PAGES


def _pages_left(connection: apsw.Connection) -> int | None:
    """How many pages were not moved by now, as while somebody reads from before; None where somebody else moves them."""
    try:
        logged, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.BusyError:
        return None
    return logged - moved


def _gap_of(page: bytes, number: int, usable: int) -> tuple[int, int] | None:
    """The part of a page of a tree that belongs to no cell, where anything stands there (SQLite's file format, 1.6)."""
    at = _HEADER if number == 1 else 0
    if len(page) < usable or page[at] not in _INTERIOR | _LEAF:
        return None
    cells, start = struct.unpack_from(">HH", page, at + 3)
    start = start or 65_536
    pointers = at + (12 if page[at] in _INTERIOR else 8)
    end = pointers + 2 * cells
    if not end <= start <= usable:
        return None
    if any(not start <= each < usable for each in struct.unpack_from(f">{cells}H", page, pointers)):
        return None
    return (end, start) if page.count(0, end, start) < start - end else None


def _maps(number: int, usable: int) -> bool:
    """Whether a page is one of those that say of which kind the others are (1.8)."""
    return number >= 2 and (number - 2) % (usable // 5 + 1) == 0


def _descriptor(path: Path) -> int:
    name = str(path.resolve())
    if name in _open:
        known, there = os.fstat(_open[name]), path.stat()
        if (known.st_dev, known.st_ino) == (there.st_dev, there.st_ino):
            return _open[name]
    _open[name] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    return _open[name]
