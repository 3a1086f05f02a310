"""Bytes that processes which serve one store keep for each other for a while, in memory that they share and nowhere else."""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from lamina.store.tallies import shared_memory

__all__ = ["SharedShelf", "Shelf"]

_SLOTS: Final = 512
_WINDOW: Final = 8
"""So many slots from that of its hash on, a name may stand in; the one that was put there first makes room."""
_HEAD: Final = struct.Struct("=16sQI")
_BYTES_MAX: Final = 128 * 1024
"""Of one value. Memory is taken as values come: as a rule some 20 kB each."""
_SIZE: Final = _SLOTS * (_HEAD.size + _BYTES_MAX)
_TRY_S: Final = 0.0002
_TRIES: Final = 100


class Shelf(Protocol):
    """Values by name; any of them may be gone."""

    def get(self, name: tuple[str, ...]) -> bytes | None:
        """What was put there last."""
        ...

    def put(self, name: tuple[str, ...], value: bytes) -> None:
        """Keep a value, unless it is too long."""
        ...


class SharedShelf:
    """``Shelf`` behind a file descriptor that several processes have."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._memory = mmap.mmap(descriptor, _SIZE)
        self._lock = threading.Lock()

    @staticmethod
    def make() -> int:
        """The descriptor of fresh memory, to be inherited."""
        return shared_memory("lamina-shelf", _SIZE)

    def get(self, name: tuple[str, ...]) -> bytes | None:
        """Mirrors ``Shelf.get``."""
        key = _key(name)
        with self._alone() as held:
            for at in _places(key) if held else ():
                kept, _, length = _HEAD.unpack_from(self._memory, at)
                if kept == key:
                    start = at + _HEAD.size
                    return bytes(self._memory[start : start + length])
        return None

    def put(self, name: tuple[str, ...], value: bytes) -> None:
        """Mirrors ``Shelf.put``."""
        if len(value) > _BYTES_MAX:
            return
        key = _key(name)
        with self._alone() as held:
            if not held:
                return
            heads = {at: _HEAD.unpack_from(self._memory, at) for at in _places(key)}
            newest = max(count for _, count, _ in heads.values())
            at = next(
                (at for at, head in heads.items() if head[0] == key), min(heads, key=lambda at: heads[at][1])
            )
            # The name last: a process that dies in between leaves a value without one.
            _HEAD.pack_into(self._memory, at, bytes(16), newest + 1, len(value))
            self._memory[at + _HEAD.size : at + _HEAD.size + len(value)] = value
            _HEAD.pack_into(self._memory, at, key, newest + 1, len(value))

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """The memory for this thread of this process alone; False where another holds it for too long."""
        with self._lock:
            for _ in range(_TRIES):
                try:
                    fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    time.sleep(_TRY_S)
            else:
                yield False
                return
            try:
                yield True
            finally:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN)


def _key(name: tuple[str, ...]) -> bytes:
    return hashlib.blake2b("\0".join(name).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _places(key: bytes) -> list[int]:
    first = int.from_bytes(key[:4], "little") % _SLOTS
    return [(first + step) % _SLOTS * (_HEAD.size + _BYTES_MAX) for step in range(_WINDOW)]
