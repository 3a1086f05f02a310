"""Putting packs together: what stands in them is copied as it is, since its differences rest on what moves with it.

Nothing is inflated or deflated, so that ten thousand documents are gathered beside the writes without slowing them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lamina.store.documents.packs import (
    HEADER_BYTES,
    OFS_DELTA,
    TRAILER_BYTES,
    PackEntry,
    distance,
    place_pack,
)

__all__ = ["DamagedPack", "gathered"]


class DamagedPack(Exception):
    """A pack is not as it was written: it is left where it is."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """An object in a pack; ``end`` is where the next begins."""

    entry: PackEntry
    end: int


def gathered(packs: Sequence[Path], folder: Path, *, durable: bool) -> Path:
    """One pack with everything that ``packs`` hold, in their order; they stay. Raises ``DamagedPack``."""
    stored = [_stored(pack) for pack in packs]
    count = len({each.entry.id for one in stored for each in one})
    placed: dict[bytes, PackEntry] = {}
    return place_pack(folder, _copied(packs, stored, placed), placed.values(), count, durable=durable)


def _copied(
    packs: Sequence[Path], stored: Sequence[Sequence[_Stored]], placed: dict[bytes, PackEntry]
) -> Iterator[bytes]:
    """The objects of every pack, each once; ``placed`` says where they went."""
    offset = HEADER_BYTES
    for pack, found in zip(packs, stored, strict=True):
        data = pack.read_bytes()
        ids = {each.entry.offset: each.entry.id for each in found}
        for each in found:
            if each.entry.id in placed:
                continue
            content = data[each.entry.offset : each.end]
            if zlib.crc32(content) != each.entry.crc:
                raise DamagedPack(f"{pack.name} differs from its index")
            content, depth = _moved(content, each.entry.offset, offset, ids, placed)
            entry = replace(each.entry, offset=offset, crc=zlib.crc32(content), depth=depth)
            placed[entry.id] = entry
            offset += len(content)
            yield content


def _moved(
    content: bytes, at: int, offset: int, ids: dict[int, bytes], placed: dict[bytes, PackEntry]
) -> tuple[bytes, int]:
    """An object's bytes for another place, and how many differences deep it is there."""
    size_end = 1
    while content[size_end - 1] & 0x80:
        size_end += 1
    if (content[0] >> 4) & 7 != OFS_DELTA:
        return content, 0
    away, end = content[size_end] & 0x7F, size_end + 1
    while content[end - 1] & 0x80:
        away = ((away + 1) << 7) | (content[end] & 0x7F)
        end += 1
    base = placed[ids[at - away]]
    return content[:size_end] + distance(offset - base.offset) + content[end:], base.depth + 1


def _stored(pack: Path) -> list[_Stored]:
    """What a pack holds, by its index, in the order in which it stands."""
    data = pack.with_suffix(".idx").read_bytes()
    (count,) = struct.unpack(">I", data[8 + 255 * 4 : 8 + 256 * 4])
    start = 8 + 256 * 4
    ids = [data[start + 20 * n : start + 20 * (n + 1)] for n in range(count)]
    crcs = struct.unpack(f">{count}I", data[start + 20 * count : start + 24 * count])
    offsets = struct.unpack(f">{count}I", data[start + 24 * count : start + 28 * count])
    ordered = sorted(zip(offsets, ids, crcs, strict=True))
    ends = [*(offset for offset, _, _ in ordered[1:]), pack.stat().st_size - TRAILER_BYTES]
    return [
        _Stored(PackEntry(id_, offset, crc, 0), end)
        for (offset, id_, crc), end in zip(ordered, ends, strict=True)
    ]
