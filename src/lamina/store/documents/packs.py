"""Pack files: the objects of a batch in one file, so that a batch is one flush however many objects it has.

Formats: Git's ``gitformat-pack``, version 2 of both files. An object whose predecessor stands in the same pack is
written as its difference from it, which for a folder of thousands of documents is a few dozen bytes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lamina.store.documents.objects import GitObject

__all__ = ["PackIndex", "delta", "objects_in", "sync_folder", "write_pack"]

_TYPES = {"commit": 1, "tree": 2, "blob": 3}
_OFS_DELTA = 6
_DEPTH_MAX = 50  # of differences on differences: Git's own default
_RECENT_MAX = 64
_DELTA_BYTES_MIN = 64
_STORED_BYTES_MIN = 64 * 1024  # past it a tree is mostly hashes, which deflating does not shrink for its cost
_BLOCKS = (65_536, 4096, 256, 16, 1)  # each step narrows where two contents part
_COPY_MAX = 0xFFFFFF
_OFFSET_MAX = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class _Entry:
    id: bytes
    offset: int
    crc: int
    depth: int


def write_pack(
    folder: Path, objects: Iterable[GitObject], count: int, *, durable: bool, quick: bool = True
) -> Path:
    """Write ``count`` different objects as a pack with its index into ``folder``; flushed when ``durable``.

    ``quick`` leaves large trees undeflated: a later gathering makes them small.
    """
    name = uuid.uuid4().hex
    temporary, temporary_index = folder / f"tmp_pack_{name}", folder / f"tmp_idx_{name}"
    with temporary.open("xb") as pack, temporary_index.open("xb") as index:
        entries, checksum = _write_entries(pack, objects, count, quick)
        pack.flush()
        index.write(_index(entries, checksum))
        index.flush()
        final = folder / f"pack-{checksum.hex()}.pack"
        temporary.rename(final)
        # Last: whoever sees the index finds the pack. Nothing points at what is in it before this returns.
        temporary_index.rename(final.with_suffix(".idx"))
        if durable:
            _flushed(pack, index)
    return final


def _write_entries(
    file: BinaryIO, objects: Iterable[GitObject], count: int, quick: bool
) -> tuple[list[_Entry], bytes]:
    """The pack's content; where each object went, and the checksum at its end."""
    entries: list[_Entry] = []
    digest = hashlib.sha1(usedforsecurity=False)
    file.write(header := b"PACK" + struct.pack(">II", 2, count))
    digest.update(header)
    offset = len(header)
    recent: OrderedDict[bytes, tuple[_Entry, bytes]] = OrderedDict()
    for each in objects:
        packed, depth = _packed(each, offset, recent, quick)
        entry = _Entry(each.id, offset, zlib.crc32(packed), depth)
        entries.append(entry)
        file.write(packed)
        digest.update(packed)
        offset += len(packed)
        if each.kind != "commit":
            recent[each.id] = (entry, each.data)
            if len(recent) > _RECENT_MAX:
                recent.popitem(last=False)
    assert len(entries) == count, "the header says how many objects follow"
    assert offset <= _OFFSET_MAX, "batches are bounded far below two gigabytes"
    file.write(digest.digest())
    return entries, digest.digest()


def _flushed(pack: BinaryIO, index: BinaryIO) -> None:
    """Put both files and their names on disk with one flush, as Git does with ``core.fsyncMethod=batch``.

    The pack's pages go to the disk first; the flush of the index then ends the journal's transaction, which has the
    names and sizes of both. Where that call is not there, the pack has a flush of its own.
    """
    if _WRITE_OUT is None or _WRITE_OUT(pack.fileno(), 0, 0, _WRITE_AND_WAIT) != 0:
        os.fsync(pack.fileno())
    os.fsync(index.fileno())


def _write_out() -> Callable[[int, int, int, int], int] | None:
    """Linux's ``sync_file_range``, which the standard library lacks."""
    try:
        function = ctypes.CDLL(None).sync_file_range
    except (OSError, AttributeError, TypeError):
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    function.restype = ctypes.c_int
    return function


_WRITE_OUT = _write_out()
_WRITE_AND_WAIT = 7  # SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE and _WAIT_AFTER


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _packed(
    each: GitObject, offset: int, recent: OrderedDict[bytes, tuple[_Entry, bytes]], quick: bool
) -> tuple[bytes, int]:
    """An object as it stands in the pack, and how many differences deep it is."""
    found = recent.get(each.base) if each.base is not None else None
    if found is not None and found[0].depth < _DEPTH_MAX and len(each.data) >= _DELTA_BYTES_MIN:
        base, base_data = found
        difference = delta(base_data, each.data)
        if len(difference) < len(each.data) // 2:
            head = _size_header(_OFS_DELTA, len(difference)) + _distance(offset - base.offset)
            return head + zlib.compress(difference, 1), base.depth + 1
    stored = quick and each.kind == "tree" and len(each.data) >= _STORED_BYTES_MIN
    level = 0 if stored else 1 if quick else 6
    return _size_header(_TYPES[each.kind], len(each.data)) + zlib.compress(each.data, level), 0


def _size_header(type_: int, size: int) -> bytes:
    byte, size = (type_ << 4) | (size & 15), size >> 4
    out = bytearray()
    while size:
        out.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    out.append(byte)
    return bytes(out)


def _distance(distance: int) -> bytes:
    out = [distance & 0x7F]
    while distance := distance >> 7:
        distance -= 1
        out.append(0x80 | (distance & 0x7F))
    return bytes(reversed(out))


def delta(base: bytes, target: bytes) -> bytes:
    """The instructions that make ``target`` of ``base``: its beginning, what is new, its end."""
    start = _common_start(base, target)
    end = _common_end(base, target, min(len(base), len(target)) - start)
    middle = target[start : len(target) - end]
    out = bytearray(_varint(len(base)) + _varint(len(target)))
    out += _copies(0, start)
    for at in range(0, len(middle), 127):
        piece = middle[at : at + 127]
        out.append(len(piece))
        out += piece
    out += _copies(len(base) - end, end)
    return bytes(out)


def _common_start(left: bytes, right: bytes) -> int:
    """How many bytes are the same from the start on: large blocks first, which compare as fast as memory is read."""
    size, at = min(len(left), len(right)), 0
    for block in _BLOCKS:
        while at + block <= size and left[at : at + block] == right[at : at + block]:
            at += block
    return at


def _common_end(left: bytes, right: bytes, most: int) -> int:
    """How many bytes are the same at the end, at most ``most``."""
    count, a, b = 0, len(left), len(right)
    for block in _BLOCKS:
        while (
            count + block <= most
            and left[a - count - block : a - count] == right[b - count - block : b - count]
        ):
            count += block
    return count


def _copies(offset: int, size: int) -> bytes:
    out = bytearray()
    while size:
        length = min(size, _COPY_MAX)
        flags, arguments = 0x80, bytearray()
        for bit, value in enumerate([*offset.to_bytes(4, "little"), *length.to_bytes(3, "little")]):
            if value:
                flags |= 1 << bit
                arguments.append(value)
        out.append(flags)
        out += arguments
        offset, size = offset + length, size - length
    return bytes(out)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(0x80 | (value & 0x7F))
        value >>= 7
    out.append(value)
    return bytes(out)


def _index(entries: Sequence[_Entry], checksum: bytes) -> bytes:
    ordered = sorted(entries, key=lambda entry: entry.id)
    counts = [0] * 256
    for entry in ordered:
        counts[entry.id[0]] += 1
    fanout, total = [], 0
    for count in counts:
        total += count
        fanout.append(total)
    body = b"\xfftOc" + struct.pack(">I256I", 2, *fanout)
    body += b"".join(entry.id for entry in ordered)
    body += struct.pack(f">{len(ordered)}I", *(entry.crc for entry in ordered))
    body += struct.pack(f">{len(ordered)}I", *(entry.offset for entry in ordered)) + checksum
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def objects_in(path: Path) -> int:
    """How many objects a pack holds, by its header."""
    with path.open("rb") as pack:
        (count,) = struct.unpack(">I", pack.read(12)[8:])
    return int(count)


class PackIndex:
    """The ids in a pack, in the order in which they were written."""

    def __init__(self, path: Path) -> None:
        data = path.with_suffix(".idx").read_bytes()
        (count,) = struct.unpack(">I", data[8 + 255 * 4 : 8 + 256 * 4])
        start = 8 + 256 * 4
        ids = [data[start + 20 * n : start + 20 * (n + 1)] for n in range(count)]
        places = start + 24 * count
        offsets = struct.unpack(f">{count}I", data[places : places + 4 * count])
        self.ids = [id_ for _, id_ in sorted(zip(offsets, ids, strict=True))]
