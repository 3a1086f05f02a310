"""What processes that serve one store count together: tokens of rate buckets, and places that callers hold.

A caller's connections lead to any of the processes, so a bound that belongs to a caller is counted once for all of them. One
process counts in dictionaries; several count in a piece of memory that they share, by the hash of a name, under a lock that the
system takes back from a process that dies. PostgreSQL would hand out tokens in blocks.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import mmap
import os
import struct
import tempfile
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from lamina import limits
from lamina.kernel.time import Instant

__all__ = [
    "Bucket",
    "BucketTable",
    "Buckets",
    "LocalBuckets",
    "LocalPlaces",
    "PlacesTaken",
    "SharedTallies",
    "shared_memory",
]

Name = tuple[str, ...]

_TRY_S: Final = 0.00005
_TRIES: Final = 400
"""Some 20 ms: another process holds the lock for microseconds, unless somebody has stopped it."""
_WINDOW: Final = 32
"""So many slots from that of its hash on, a name may stand in."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Tokens, and when there were so many."""

    tokens: float
    at: Instant


class BucketTable(Protocol):
    """Buckets by name, held by one caller."""

    def get(self, name: Name) -> Bucket | None:
        """A bucket; None where it was not used for long, and so is full."""
        ...

    def put(self, name: Name, bucket: Bucket) -> None:
        """What is left in it."""
        ...


class Buckets(Protocol):
    """The buckets of everybody."""

    def held(self) -> contextlib.AbstractContextManager[BucketTable]:
        """The table, for the length of a block alone."""
        ...


class PlacesTaken(Protocol):
    """How many places each name holds. Whoever takes and gives holds nothing else meanwhile."""

    def take(self, most: Sequence[tuple[Name, int]]) -> int | None:
        """One more place for each name, or for none: then which of them has as many as it may."""
        ...

    def give(self, names: Sequence[Name]) -> None:
        """One place less for each name."""
        ...


def shared_memory(name: str, size: int) -> int:
    """The descriptor of so many fresh bytes, which end with the last process that has it."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create(name)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor


# ---- of one process


class LocalBuckets:
    """``Buckets`` of one process; the longest unused are forgotten first."""

    def __init__(self, buckets_max: int = limits.RATE_BUCKETS_MAX) -> None:
        self._buckets_max = buckets_max
        self._buckets: OrderedDict[Name, Bucket] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[LocalBuckets]:
        """Mirrors ``Buckets.held``."""
        with self._lock:
            yield self

    def get(self, name: Name) -> Bucket | None:
        """Mirrors ``BucketTable.get``."""
        return self._buckets.get(name)

    def put(self, name: Name, bucket: Bucket) -> None:
        """Mirrors ``BucketTable.put``."""
        self._buckets[name] = bucket
        self._buckets.move_to_end(name)
        if len(self._buckets) > self._buckets_max:
            self._buckets.popitem(last=False)


class LocalPlaces:
    """``PlacesTaken`` of one process."""

    def __init__(self) -> None:
        # Re-entrant: what is collected gives its place back on whatever thread is just allocating.
        self._lock = threading.RLock()
        self._taken: Counter[Name] = Counter()

    def __len__(self) -> int:
        """How many names hold a place."""
        return len(self._taken)

    def take(self, most: Sequence[tuple[Name, int]]) -> int | None:
        """Mirrors ``PlacesTaken.take``."""
        with self._lock:
            for number, (name, bound) in enumerate(most):
                if self._taken[name] >= bound:
                    return number
            for name, _ in most:
                self._taken[name] += 1
        return None

    def give(self, names: Sequence[Name]) -> None:
        """Mirrors ``PlacesTaken.give``."""
        with self._lock:
            for name in names:
                self._taken[name] -= 1
                if not self._taken[name]:
                    del self._taken[name]


# ---- of several processes

_BUCKET: Final = struct.Struct("=8sdq")
_BUCKETS: Final = 16_384
_PLACES: Final = 16_384
_PLACE: Final = struct.Struct(f"=8s{limits.PROCESSES_MAX}H")
_PLACES_FROM: Final = _BUCKETS * _BUCKET.size
_SIZE: Final = _PLACES_FROM + _PLACES * _PLACE.size
_FREE: Final = bytes(8)


class SharedTallies:
    """``Buckets`` and ``PlacesTaken`` of several processes, in the memory behind a file descriptor that all of them have."""

    def __init__(self, descriptor: int, number: int) -> None:
        """``number`` is this process's among them, from 1; what one of that number held before it died is given back."""
        self._descriptor = descriptor
        self._number = number
        self._memory = mmap.mmap(descriptor, 0)
        self._lock = threading.RLock()
        self._beyond = LocalPlaces()
        """Where no slot is free: each of the processes then counts for itself."""
        with self._alone(_PLACES_FROM):
            for slot in range(_PLACES):
                self._set_count(slot, 0)

    @staticmethod
    def make(more: int = 0) -> int:
        """The descriptor of fresh memory, to be inherited, with so many bytes that are counted in elsewhere."""
        return shared_memory("lamina-tallies", _SIZE + more)

    @property
    def number(self) -> int:
        """This process's among them."""
        return self._number

    @property
    def more(self) -> memoryview:
        """The bytes that are counted in elsewhere."""
        return memoryview(self._memory)[_SIZE:]

    @contextmanager
    def _alone(self, start: int) -> Iterator[None]:
        """A part of the memory for this thread of this process alone, as far as the others are not stopped."""
        with self._lock:
            held = False
            for _ in range(_TRIES):
                try:
                    fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start)
                    held = True
                    break
                except OSError:
                    time.sleep(_TRY_S)
            try:
                yield
            finally:
                if held:
                    fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, start)

    # ---- buckets

    @contextmanager
    def held(self) -> Iterator[SharedTallies]:
        """Mirrors ``Buckets.held``."""
        with self._alone(0):
            yield self

    def get(self, name: Name) -> Bucket | None:
        """Mirrors ``BucketTable.get``."""
        key = _key(name)
        for slot in _slots(key, _BUCKETS):
            held, tokens, at = _BUCKET.unpack_from(self._memory, slot * _BUCKET.size)
            if held == key:
                return Bucket(tokens, at)
        return None

    def put(self, name: Name, bucket: Bucket) -> None:
        """Mirrors ``BucketTable.put``: in its slot, else in the one that was not used for longest."""
        key = _key(name)
        oldest, oldest_at = -1, None
        for slot in _slots(key, _BUCKETS):
            held, _, at = _BUCKET.unpack_from(self._memory, slot * _BUCKET.size)
            if held == key:
                oldest = slot
                break
            used_at = at if held != _FREE else -1
            if oldest_at is None or used_at < oldest_at:
                oldest, oldest_at = slot, used_at
        _BUCKET.pack_into(self._memory, oldest * _BUCKET.size, key, bucket.tokens, bucket.at)

    # ---- places

    def take(self, most: Sequence[tuple[Name, int]]) -> int | None:
        """Mirrors ``PlacesTaken.take``."""
        with self._alone(_PLACES_FROM):
            slots: list[int | None] = []
            for name, _ in most:
                slots.append(self._slot_of(_key(name), slots))
            if None in slots:
                return self._beyond.take(most)
            for number, (slot, (_, bound)) in enumerate(zip(slots, most, strict=True)):
                if slot is not None and sum(self._counts(slot)) >= bound:
                    return number
            for slot, (name, _) in zip(slots, most, strict=True):
                assert slot is not None, "all have one"
                _PLACE.pack_into(self._memory, self._place(slot), _key(name), *self._counts(slot))
                self._set_count(slot, self._counts(slot)[self._number - 1] + 1)
        return None

    def give(self, names: Sequence[Name]) -> None:
        """Mirrors ``PlacesTaken.give``."""
        with self._alone(_PLACES_FROM):
            slots = [self._held_slot(_key(name)) for name in names]
            if None in slots:
                self._beyond.give(names)
                return
            for slot in slots:
                assert slot is not None, "all have one"
                self._set_count(slot, max(0, self._counts(slot)[self._number - 1] - 1))

    def _slot_of(self, key: bytes, chosen: Container[int | None]) -> int | None:
        """The slot of a name, or a free one that is not ``chosen`` already for another; None where there is none."""
        free = None
        for slot in _slots(key, _PLACES):
            held = bytes(self._memory[self._place(slot) : self._place(slot) + 8])
            if held == key:
                return slot
            is_free = held == _FREE or not any(self._counts(slot))
            if free is None and is_free and slot not in chosen:
                free = slot
        return free

    def _held_slot(self, key: bytes) -> int | None:
        for slot in _slots(key, _PLACES):
            at = self._place(slot)
            if self._memory[at : at + 8] == key and self._counts(slot)[self._number - 1]:
                return slot
        return None

    def _place(self, slot: int) -> int:
        return _PLACES_FROM + slot * _PLACE.size

    def _counts(self, slot: int) -> tuple[int, ...]:
        return tuple(_PLACE.unpack_from(self._memory, self._place(slot))[1:])

    def _set_count(self, slot: int, count: int) -> None:
        struct.pack_into("=H", self._memory, self._place(slot) + 8 + 2 * (self._number - 1), count)


@lru_cache(maxsize=4096)
def _key(name: Name) -> bytes:
    """Eight bytes that stand for a name; never those of a free slot."""
    data = "\0".join(name).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=8).digest().replace(_FREE, b"\1" * 8)


def _slots(key: bytes, count: int) -> list[int]:
    first = int.from_bytes(key[:4], "little") % count
    return [(first + step) % count for step in range(_WINDOW)]
