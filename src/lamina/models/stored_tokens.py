"""Token vectors of a text as bytes, and back.

Little-endian: a byte for the format, then t and d as uint16, of t tokens that were read and d numbers of each. Of *four levels*, which is written,
t bits follow that say which tokens are kept, and of each of these d bits for what is above zero and d for what is far from it. Of the others,
which earlier releases wrote and which is kept of rows that four levels do not tell, t scales as float16 and all rows.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["StoredRows", "read", "written"]

_HEADER = struct.Struct("<BHH")
_EIGHT_BITS, _FOUR_BITS, _SIX_LEVELS, _FOUR_LEVELS = 1, 2, 3, 4
_TO_A_BYTE: Final = {_EIGHT_BITS: 1, _FOUR_BITS: 2, _SIX_LEVELS: 3, _FOUR_LEVELS: 4}
"""Numbers, by the format."""
_LEVELS: Final = 7
_SIX: Final = 6
_NEAR, _FAR = 3, 10
_BOUND: Final = 0.9816
"""Between the levels, in root mean squares of a row: bound and levels that lose least of numbers that are distributed normally (Max,
"Quantizing for minimum distortion", IRE Transactions on Information Theory, 1960)."""
_AS_SIX: Final = 1.036
"""The length of rows of four levels. A question's cosine with a row is on the mean lower by the row's own with what it stands for,
which is 0.932 with four levels and 0.965 with six, by which figures were fitted: so a row of either is as near."""
_ALIKE_MIN: Final = 0.8
"""The cosine of a row with its four levels below which four bits are kept: a model may have rows of a few large numbers."""


class StoredRows(NamedTuple):
    """The kept rows of n texts below each other: text i has the next ``counts[i]``. ``rows`` is (rows, d) int8, ``scales`` (rows,) float32;
    of ``masks`` bit b is set where token b of the text is kept, None where all are."""

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    counts: NDArray[np.intp]
    masks: Sequence[int | None]


def written(rows: NDArray[np.int8], kept: NDArray[np.bool_]) -> bytes:
    """The bytes of (t, d) rows, those alone that are ``kept`` of (t,)."""
    count, width = rows.shape
    chosen = rows[kept].astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", chosen, chosen))
    sizes = np.abs(chosen)
    far = sizes > _BOUND / max(width, 1) ** 0.5 * lengths[:, None]
    products = _NEAR * sizes.sum(axis=1) + (_FAR - _NEAR) * np.einsum("ij,ij->i", sizes, far)
    if width % 8 or (products < _ALIKE_MIN * lengths / _lengths(far.sum(axis=1), width)).any():
        return _in_four_bits(rows)
    bits = np.packbits(np.stack([chosen > 0, far], axis=1), axis=2)
    marks = np.packbits(kept, bitorder="little")
    return b"".join((_HEADER.pack(_FOUR_LEVELS, count, width), marks.tobytes(), bits.tobytes()))


def _lengths(far: NDArray[np.intp], width: int) -> NDArray[np.float32]:
    """(n,) what rows of four levels with so many numbers far from zero are multiplied with to have length one."""
    inverse: NDArray[np.float32] = (1 / np.sqrt(_NEAR**2 * width + (_FAR**2 - _NEAR**2) * far)).astype(
        np.float32
    )
    return inverse


def _in_four_bits(rows: NDArray[np.int8]) -> bytes:
    """All rows, the numbers -7 to 7 as 1 to 15, two to a byte."""
    assert rows.shape[1] % 2 == 0, "two numbers share a byte"
    largest = np.maximum(np.abs(rows.astype(np.float32)).max(axis=1, initial=1.0, keepdims=True), 1.0)
    coarse = np.rint(rows * (_LEVELS / largest))
    numbers = (coarse + _LEVELS + 1).astype(np.uint8)  # 1 to 15
    scales = 1 / np.maximum(np.linalg.norm(coarse, axis=1), 1.0)
    packed = numbers[:, ::2] | (numbers[:, 1::2] << 4)
    return b"".join((_HEADER.pack(_FOUR_BITS, *rows.shape), scales.astype("<f2").tobytes(), packed.tobytes()))


class _Parts(NamedTuple):
    """The bytes of the texts of one format, in their order."""

    scales: list[bytes]
    rows: list[bytes]


def read(payloads: Sequence[bytes | None]) -> StoredRows:
    """Texts as ``written``, None for one without."""
    counts, widths = [0] * len(payloads), {0}
    masks: list[int | None] = [None] * len(payloads)
    parts: dict[int, _Parts] = defaultdict(lambda: _Parts([], []))  # by format
    formats = []
    for at, payload in enumerate(payloads):
        if payload is None:
            continue
        version, count, width = _HEADER.unpack_from(payload)
        assert version in _TO_A_BYTE, f"token matrix of an unknown format {version}"
        body = _HEADER.size + (-(-count // 8) if version == _FOUR_LEVELS else 2 * count)
        before = payload[_HEADER.size : body]
        if version == _FOUR_LEVELS:
            mask = int.from_bytes(before, "little")
            masks[at], count = (None if mask.bit_count() == count else mask), mask.bit_count()
        assert len(payload) == body + count * -(-width // _TO_A_BYTE[version]), "token matrix is cut short"
        if count:
            counts[at] = count
            widths.add(width)
            # Copies, since a view of each payload costs more than its few kilobytes.
            parts[version].scales.append(before)
            parts[version].rows.append(payload[body:])
            formats.append((version, count))
    assert len(widths) <= 2, "one model, one width"
    rows, scales = _joined(parts, formats, max(widths))
    return StoredRows(rows, scales, np.array(counts, np.intp), masks)


def _joined(
    parts: Mapping[int, _Parts], formats: Sequence[tuple[int, int]], width: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """(n, width) rows and (n,) scales of texts whose ``formats`` and counts come in their order."""
    of_format = {version: _of_format(version, each, width) for version, each in parts.items()}
    if len(of_format) <= 1:
        return next(iter(of_format.values()), (np.zeros((0, 0), np.int8), np.zeros(0, np.float32)))
    versions, counts = zip(*formats, strict=True)
    of_row = np.repeat(versions, counts)
    rows, scales = np.empty((len(of_row), width), np.int8), np.empty(len(of_row), np.float32)
    for version, (some, their_scales) in of_format.items():
        rows[of_row == version] = some
        scales[of_row == version] = their_scales
    return rows, scales


def _of_format(version: int, parts: _Parts, width: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    stored = np.frombuffer(b"".join(parts.rows), np.int8)
    if version == _FOUR_LEVELS:
        return _four_levels(stored.view(np.uint8).reshape(-1, 2, width // 8))
    return _READ[version](stored, width), np.frombuffer(b"".join(parts.scales), "<f2").astype(np.float32)


def _four_levels(bits: NDArray[np.uint8]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    above, far = bits[:, 0], bits[:, 1]
    rows = _SIGNS.take(above, mode="clip").view(
        np.int8
    )  # no byte is too large, and looking takes half of the time
    rows *= _SIZES.take(far, mode="clip").view(np.int8)
    count = np.bitwise_count(far).sum(axis=1, dtype=np.intp)
    return rows, _AS_SIX * _lengths(count, rows.shape[1])


def _of_bits(clear: int, is_set: int) -> NDArray[np.uint64]:
    """(256,) by a byte: eight int8 that stand for its bits, side by side, so that one step takes them all."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return np.where(bits, is_set, clear).astype(np.int8).view(np.uint64)[:, 0]


_SIGNS: Final = _of_bits(-1, 1)
_SIZES: Final = _of_bits(_NEAR, _FAR)


def _eight_bits(stored: NDArray[np.int8], width: int) -> NDArray[np.int8]:
    return stored.reshape(-1, width)


def _four_bits(stored: NDArray[np.int8], width: int) -> NDArray[np.int8]:
    wide = stored.view(np.uint8).astype("<u2")  # each byte becomes two: 0x00ab -> 0x0a0b
    wide |= wide << 4
    wide &= 0x0F0F
    rows = wide.view(np.int8)
    rows -= _LEVELS + 1
    return rows.reshape(-1, width)


def _six_levels(stored: NDArray[np.int8], width: int) -> NDArray[np.int8]:
    """Three numbers of 0 to 5 to a byte, which stand for -6, -3, -1, 1, 3 and 6."""
    third = -(-width // 3)
    low = stored.view(np.uint8).copy()
    high = low // _SIX**2
    low -= high * _SIX**2
    middle = low // _SIX
    low -= middle * _SIX
    thirds = (low.reshape(-1, third), middle.reshape(-1, third), high.reshape(-1, third))
    rows = np.concatenate((*thirds[:2], thirds[2][:, : width - 2 * third]), axis=1).view(np.int8)
    outer = 10 * rows
    outer -= 9
    outer >>= 5  # -1 for the lowest, 1 for the highest
    rows *= 2
    rows -= _SIX - 1
    rows += outer
    return rows


_READ: Final[Mapping[int, Callable[[NDArray[np.int8], int], NDArray[np.int8]]]] = {
    _EIGHT_BITS: _eight_bits,
    _FOUR_BITS: _four_bits,
    _SIX_LEVELS: _six_levels,
}
