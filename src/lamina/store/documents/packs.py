"""Pack files as bytes: how an object stands in a pack, the index beside it, and how both come to disk with one flush.

Formats: Git's ``gitformat-pack``, version 2 of both files. An object whose predecessor stands in the same pack is
written as its difference from it, which for a folder of thousands of documents is a few dozen bytes.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import struct
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import IO

from lamina.store.documents.objects import ID_BYTES, GitObject

__all__ = [
    "DEPTH_MAX",
    "HEADER_BYTES",
    "OFS_DELTA",
    "TRAILER_BYTES",
    "UNFINISHED",
    "PackEntry",
    "delta",
    "distance",
    "is_whole",
    "objects_in",
    "packed",
    "place_pack",
    "remove_pack",
    "replacing",
]

DEPTH_MAX = 100  # of differences on differences: Git reads any depth, and each new start writes folders whole
HEADER_BYTES, TRAILER_BYTES = 12, 20
UNFINISHED = "tmp_"  # how the names of files begin until they are renamed
OFS_DELTA = 6
_TYPES = {"commit": 1, "tree": 2, "blob": 3}
_DELTA_BYTES_MIN = 64
_LEVEL = 1  # of deflating; hashes and short texts gain little from more
_BLOCKS = (65_536, 4096, 256, 16, 1)  # each step narrows where two contents part
_PARTED_MAX, _SAME_BYTES_MIN = 64, 16
_COPY_MAX = 0xFFFFFF
_OFFSET_MAX = 0x7FFFFFFF
_INDEX_MAGIC = b"\xfftOc" + struct.pack(">I", 2)
_INDEX_HEADER_BYTES = len(_INDEX_MAGIC) + 256 * 4
_INDEX_ENTRY_BYTES = 28
_INDEX_BYTES_MIN = _INDEX_HEADER_BYTES + 2 * TRAILER_BYTES


@dataclass(frozen=True, slots=True)
class PackEntry:
    """Where an object stands in a pack; ``depth`` is how many differences deep, 0 for one that stands whole."""

    id: bytes
    offset: int
    crc: int
    depth: int


def packed(each: GitObject, offset: int, base: tuple[PackEntry, bytes] | None) -> tuple[bytes, int]:
    """An object as it stands at an offset of a pack, and how many differences deep; ``base`` stands before it."""
    if base is not None and base[0].depth < DEPTH_MAX and len(each.data) >= _DELTA_BYTES_MIN:
        entry, data = base
        if each.replaced is not None:
            difference = replacing(each.data, each.replaced)
        else:
            difference = delta(data, each.data)
        if len(difference) < len(each.data) // 2:
            head = _size_header(OFS_DELTA, len(difference)) + distance(offset - entry.offset)
            return head + zlib.compress(difference, _LEVEL), entry.depth + 1
    return _size_header(_TYPES[each.kind], len(each.data)) + zlib.compress(each.data, _LEVEL), 0


def place_pack(
    folder: Path,
    chunks: Iterable[bytes | bytearray],
    entries: Collection[PackEntry],
    count: int,
    *,
    durable: bool,
) -> Path:
    """Put a pack of ``count`` different objects with its index into the ``objects/pack`` of a repository; flushed when ``durable``.

    They are written beside ``objects``: a clone on the same machine links every file that it once saw below it, and fails where one has gone.

    Their names come to disk with the next flush of anything: until then a power cut takes the pack as a whole.
    ``chunks`` joined are the objects; ``entries`` is complete once they have been taken.
    """
    name = uuid.uuid4().hex
    beside = folder.parent.parent
    temporary, temporary_index = f"{beside}/{UNFINISHED}pack_{name}", f"{beside}/{UNFINISHED}idx_{name}"
    try:
        with open(temporary, "xb") as pack, open(temporary_index, "xb") as index:
            checksum = _write(pack, chunks, count)
            assert len(entries) == count, "the header says how many objects there are"
            index.write(_index(entries, checksum))
            pack.flush()
            index.flush()
            if durable:
                _flushed(pack, index)
            # Only now: a power cut must leave no name whose bytes are not on disk.
            final = f"{folder}/pack-{checksum.hex()}"
            os.rename(temporary, f"{final}.pack")
            # Last: whoever sees the index finds the pack. Nothing points at what is in it before this returns.
            os.rename(temporary_index, f"{final}.idx")
    except BaseException:
        _remove(temporary, temporary_index)
        raise
    return Path(f"{final}.pack")


def _write(pack: IO[bytes], chunks: Iterable[bytes | bytearray], count: int) -> bytes:
    """Write a pack; the checksum at its end."""
    digest = hashlib.sha1(usedforsecurity=False)
    pack.write(header := b"PACK" + struct.pack(">II", 2, count))
    digest.update(header)
    size = len(header)
    for chunk in chunks:
        pack.write(chunk)
        digest.update(chunk)
        size += len(chunk)
    assert size <= _OFFSET_MAX, "packs are bounded far below two gigabytes"
    pack.write(digest.digest())
    return digest.digest()


def remove_pack(pack: Path) -> None:
    """Take a pack away, its index first, so that nobody looks for what is not there."""
    _remove(str(pack.with_suffix(".idx")), str(pack))


def _remove(*paths: str) -> None:
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _flushed(pack: IO[bytes], index: IO[bytes]) -> None:
    """Put both files on disk with one flush, as Git does with ``core.fsyncMethod=batch``.

    The pack's pages go to the disk first; the flush of the index then ends the journal's transaction, which has the
    sizes of both. Where that call is not there, the pack has a flush of its own.
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


def _size_header(type_: int, size: int) -> bytes:
    byte, size = (type_ << 4) | (size & 15), size >> 4
    out = bytearray()
    while size:
        out.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    out.append(byte)
    return bytes(out)


def distance(away: int) -> bytes:
    """How far before an object its base stands, as an ``OFS_DELTA`` says it."""
    out = [away & 0x7F]
    while away := away >> 7:
        away -= 1
        out.append(0x80 | (away & 0x7F))
    return bytes(reversed(out))


def delta(base: bytes, target: bytes) -> bytes:
    """The instructions that make ``target`` of ``base``: what is the same is copied, what is new is in them.

    Finds what changed in its place, such as hashes in a folder, and one stretch that has another length.
    """
    at = _common_start(base, target, 0, min(len(base), len(target)))
    end = _common_end(base, target, min(len(base), len(target)) - at)
    stop = min(len(base), len(target)) - end
    out = bytearray(_varint(len(base)) + _varint(len(target)))
    out += _copies(0, at)
    while (again := _same_again(base, target, at, stop)) is not None:
        out += _new(target[at:again])
        at = _common_start(base, target, again, stop)
        out += _copies(again, at - again)
    out += _new(target[at : len(target) - end])
    out += _copies(len(base) - end, end)
    return bytes(out)


def replacing(target: bytes, places: Sequence[int]) -> bytes:
    """The instructions that make ``target`` of a base that differs from it by the ids at ``places``, in their order."""
    size, at = _varint(len(target)), 0
    out = bytearray(size + size)
    for place in places:
        out += _copies(at, place - at)
        at = place + ID_BYTES
        out += _new(target[place:at])
    out += _copies(at, len(target) - at)
    return bytes(out)


def _new(content: bytes) -> bytes:
    pieces = [content[at : at + 127] for at in range(0, len(content), 127)]
    return b"".join([bytes((len(piece),)) + piece for piece in pieces])


def _same_again(base: bytes, target: bytes, at: int, stop: int) -> int | None:
    """Where both are the same again soon after they parted, in the same place of both; None where they are not."""
    for again in range(at + 1, min(at + _PARTED_MAX, stop - _SAME_BYTES_MIN) + 1):
        if base[again : again + _SAME_BYTES_MIN] == target[again : again + _SAME_BYTES_MIN]:
            return again
    return None


def _common_start(left: bytes, right: bytes, at: int, stop: int) -> int:
    """To where both are the same from ``at`` on: large blocks first, which compare as fast as memory is read."""
    for block in _BLOCKS:
        while at + block <= stop and left.startswith(right[at : at + block], at):
            at += block
    return at


def _common_end(left: bytes, right: bytes, most: int) -> int:
    """How many bytes are the same at the end, at most ``most``."""
    count, a, b = 0, len(left), len(right)
    for block in _BLOCKS:
        while count + block <= most and left.endswith(right[b - count - block : b - count], 0, a - count):
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


def _index(entries: Collection[PackEntry], checksum: bytes) -> bytes:
    ordered = sorted(entries, key=attrgetter("id"))
    counts = [0] * 256
    for entry in ordered:
        counts[entry.id[0]] += 1
    body = _INDEX_MAGIC + struct.pack(">256I", *accumulate(counts))
    body += b"".join([entry.id for entry in ordered])
    body += struct.pack(f">{len(ordered)}I", *[entry.crc for entry in ordered])
    body += struct.pack(f">{len(ordered)}I", *[entry.offset for entry in ordered]) + checksum
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def is_whole(pack: Path) -> bool:
    """Whether a pack and its index end as they should and belong together; what is between is not read."""
    with pack.open("rb") as file, pack.with_suffix(".idx").open("rb") as index:
        size, index_size = os.fstat(file.fileno()).st_size, os.fstat(index.fileno()).st_size
        if size < HEADER_BYTES + TRAILER_BYTES or index_size < _INDEX_BYTES_MIN:
            return False
        header = file.read(HEADER_BYTES)
        index_header = index.read(_INDEX_HEADER_BYTES)
        file.seek(-TRAILER_BYTES, os.SEEK_END)
        index.seek(-2 * TRAILER_BYTES, os.SEEK_END)
        checksum, named = file.read(), index.read(TRAILER_BYTES)
    count = index_header[-4:]
    # Beyond two gigabytes an index has eight bytes more for an object.
    spare = index_size - _INDEX_BYTES_MIN - _INDEX_ENTRY_BYTES * int.from_bytes(count, "big")
    return (
        header == b"PACK" + struct.pack(">I", 2) + count
        and index_header.startswith(_INDEX_MAGIC)
        and spare >= 0
        and checksum == named
    )


def objects_in(path: Path) -> int:
    """How many objects a pack holds, by its header."""
    with path.open("rb") as pack:
        (count,) = struct.unpack(">I", pack.read(12)[8:])
    return int(count)
