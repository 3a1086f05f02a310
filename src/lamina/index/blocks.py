"""Full blocks of vectors, of which processes that serve one folder hold each once.

A block is known by what is in it: who has filled one gives it away for the same bytes in memory that the processes share, where another
has put them before, or puts them there. So it does not matter in which order, or when, each came to it, and nobody is given
what it did not have. A block goes, and its bytes with it, once no process holds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import mmap
import os
import struct
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import numpy as np

from lamina import limits
from lamina.models.ports import Int8Array

__all__ = ["Blocks", "OwnBlocks", "SharedBlocks"]

_BYTES: Final = 8_192 * 384
"""Of the blocks that are shared; a whole number of pages. Scopes with others are small, or of another model."""
_SLOTS: Final = limits.INDEX_BYTES_MAX // _BYTES
_DIGEST_BYTES: Final = 16
_SLOT: Final = struct.Struct(f"={_DIGEST_BYTES}s{limits.PROCESSES_MAX}H")
_BLOCKS_FROM: Final = -(-_SLOTS * _SLOT.size // mmap.PAGESIZE) * mmap.PAGESIZE
_FREE: Final = bytes(_DIGEST_BYTES)
_TRY_S: Final = 0.001
_TRIES: Final = 200
"""Another process holds the lock for a millisecond or two, unless somebody has stopped it."""


class Blocks(Protocol):
    """Where full blocks are kept."""

    def keep(self, block: Int8Array) -> Int8Array:
        """The same rows, which nobody will change any more; whoever asks holds no other view of them."""
        ...


class OwnBlocks:
    """``Blocks`` of a process that shares none."""

    def keep(self, block: Int8Array) -> Int8Array:
        """Mirrors ``Blocks.keep``."""
        return block


class SharedBlocks:
    """``Blocks`` of processes that serve beside each other."""

    def __init__(self, descriptor: int, number: int) -> None:
        """``descriptor`` is that of ``shared_memory`` of any size; in the process of a ``number`` from 1 on, which lets go of what one of that
        number held before it died."""
        # To the size that every one of them makes it: what is there stays.
        os.ftruncate(descriptor, _BLOCKS_FROM + _SLOTS * _BYTES)
        self._descriptor = descriptor
        self._memory = mmap.mmap(descriptor, 0)
        self._number = number
        self._lock = threading.RLock()
        self._depth = 0
        with self._alone():
            for slot in range(_SLOTS):
                self._set_count(slot, 0)

    def keep(self, block: Int8Array) -> Int8Array:
        """Mirrors ``Blocks.keep``; the block itself where it is of another size, or there is no room."""
        if block.nbytes != _BYTES:
            return block
        rows = np.ascontiguousarray(block)
        digest = hashlib.blake2b(rows.data, digest_size=_DIGEST_BYTES).digest()
        with self._alone() as held:
            slot = self._slot_of(digest) if held else None
            if slot is None:
                return block
            at = _BLOCKS_FROM + slot * _BYTES
            if self._digest(slot) != digest:
                # Named before it is there: if this process is killed between, it is cleared by whoever comes next.
                self._name(slot, digest)
                self._memory[at : at + _BYTES] = rows.tobytes()
            self._set_count(slot, self._counts(slot)[self._number - 1] + 1)
        values = np.frombuffer(self._memory, np.int8, _BYTES, at)
        values.flags.writeable = False
        assert np.array_equal(values, rows.ravel()), "a block is what it was"
        # Of these, and not of the rows made of them: a view of rows keeps the array that all of them show.
        weakref.finalize(values, self._release, slot).atexit = False
        return values.reshape(block.shape)

    def _release(self, slot: int) -> None:
        with self._alone():
            self._set_count(slot, self._counts(slot)[self._number - 1] - 1)

    def _slot_of(self, digest: bytes) -> int | None:
        """The slot that has a block, or a free one; None where there is none."""
        free = None
        for slot in range(_SLOTS):
            there = self._digest(slot)
            if there == digest:
                return slot
            if there == _FREE and free is None:
                free = slot
        return free

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """The memory for this thread of this process alone, as far as the others are not stopped; whether it is.

        What no process holds is cleared, before and behind. Re-entrant: a block may go wherever something is collected.
        """
        with self._lock:
            held = self._depth > 0 or self._taken()
            self._depth += held
            outermost = held and self._depth == 1
            try:
                if outermost:
                    self._clear()
                yield held
                if outermost:
                    self._clear()
            finally:
                self._depth -= held
                if outermost:
                    fcntl.lockf(self._descriptor, fcntl.LOCK_UN)

    def _taken(self) -> bool:
        for _ in range(_TRIES):
            with contextlib.suppress(OSError):
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            time.sleep(_TRY_S)
        return False

    def _clear(self) -> None:
        for slot in range(_SLOTS):
            if self._digest(slot) != _FREE and not any(self._counts(slot)):
                self._memory.madvise(mmap.MADV_REMOVE, _BLOCKS_FROM + slot * _BYTES, _BYTES)
                self._name(slot, _FREE)

    def _name(self, slot: int, digest: bytes) -> None:
        struct.pack_into(f"={_DIGEST_BYTES}s", self._memory, slot * _SLOT.size, digest)

    def _digest(self, slot: int) -> bytes:
        at = slot * _SLOT.size
        return self._memory[at : at + _DIGEST_BYTES]

    def _counts(self, slot: int) -> tuple[int, ...]:
        return tuple(_SLOT.unpack_from(self._memory, slot * _SLOT.size)[1:])

    def _set_count(self, slot: int, count: int) -> None:
        at = slot * _SLOT.size + _DIGEST_BYTES + 2 * (self._number - 1)
        struct.pack_into("=H", self._memory, at, count)
