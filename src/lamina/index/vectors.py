"""Pooled vectors of one scope: int8 rows with a scale each, 388 bytes a row at 384 dimensions.

Measured at 100,000 rows x 384 on one core, ms a scan and MB: float32 12.6 and 154; float16 turned into float32 block by
block 71 and 77 (it has no fast arithmetic on most processors); int8 the same way 6.3 and 39. A block turned into
float32 stays in the processor's cache, so reading a quarter of the memory beats doing no conversion.

A large matrix also keeps the signs of its rows, 48 bytes each. Who wants the nearest few glances at the signs first, in a
fifth of the time, and has the cosines of a few thousand of the best worked out (decision 0005).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import compress, pairwise
from statistics import NormalDist
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from lamina.index.best import Distances, best, closest
from lamina.index.blocks import Blocks, OwnBlocks
from lamina.models.ports import Float32Array, Int8Array, TokenMatrix, quantise

__all__ = ["VectorMatrix", "pack", "unpack"]

_BLOCK_ROWS: Final = 8_192
"""Rows that lie together. Growing wastes less than half of a block, and copies no other; a column of the signs of
as many stays in the processor's cache."""
_CACHED_ROWS: Final = 256
"""Rows that are turned into float32 at a time: 400 kB stay in the cache next to a core, 3 MB took a quarter longer."""
_GLANCED_FROM: Final = 32_768
"""Rows from which on a matrix keeps signs beside its rows; their mean is taken of every fourth of these."""
_MEAN_STEP: Final = 4
_REFINED: Final = 32
"""So many times the rows wanted are compared in full where their signs chose them."""
_DECISIVE: Final = 0.6
"""The share of dimensions whose signs count for a question, those in which it is farthest from the mean."""
_LEVELS_COUNT: Final = 40
_PLACES: Final = np.array([1, _LEVELS_COUNT, _LEVELS_COUNT**2])
_ALIKE_MIN: Final = 0.99
"""The cosine of a row with its levels below which eight bits are kept: of a few large numbers, as no row of ours has, levels say too little."""
_WORD_BITS: Final = 64
_BYTE_MAX: Final = 255


def _levels() -> Int8Array:
    """(40,) as many levels as three of which fit 16 bits, as dense as loses least of numbers that are distributed normally: Panter and Dite,
    "Quantization distortion in pulse-count modulation with nonuniform spacing of levels", Proceedings of the IRE, 1951. The cosine of a pooled
    vector with its levels is 0.999. What is stored is read by them: they never change."""
    normal = NormalDist(sigma=3**0.5)
    levels = np.array([normal.inv_cdf((at + 0.5) / _LEVELS_COUNT) for at in range(_LEVELS_COUNT)])
    return np.asarray(np.rint(levels * (127 / levels[-1])), np.int8)


_LEVELS: Final = _levels()
_SPREAD: Final = 127 / NormalDist(sigma=3**0.5).inv_cdf(1 - 0.5 / _LEVELS_COUNT)
"""The root mean square of a row, in levels."""
_BOUNDS: Final = (_LEVELS[1:].astype(np.float32) + _LEVELS[:-1]) / 2 / _SPREAD


def pack(vectors: Float32Array) -> list[bytes]:
    """(n, d) float32 unit rows as stored: the scale as little-endian float16, then each three numbers of 40 levels in a uint16; 258 bytes at
    d = 384. Rows whose numbers are no multiple of three, or lie far apart, are d int8, as earlier releases wrote all."""
    if vectors.shape[1] % 3:
        return _in_eight_bits(vectors)
    spread = np.sqrt(np.einsum("ij,ij->i", vectors, vectors) / vectors.shape[1])
    numbers = np.searchsorted(_BOUNDS, vectors / np.maximum(spread, 1e-12)[:, None])
    rows = _LEVELS[numbers]
    scales = 1 / np.maximum(np.linalg.norm(rows.astype(np.float32), axis=1), 1.0)
    like = np.einsum("ij,ij->i", rows, vectors) * scales
    codes = (numbers.reshape(len(rows), -1, 3) @ _PLACES).astype("<u2")
    coarse = [
        scale.tobytes() + code.tobytes() for scale, code in zip(scales.astype("<f2"), codes, strict=True)
    ]
    far = np.flatnonzero(like < _ALIKE_MIN)
    for at, row in zip(far.tolist(), _in_eight_bits(vectors[far]), strict=True):
        coarse[at] = row
    return coarse


def _in_eight_bits(vectors: Float32Array) -> list[bytes]:
    packed = quantise(vectors)
    scales = packed.scales.astype("<f2")
    return [scale.tobytes() + row.tobytes() for scale, row in zip(scales, packed.rows, strict=True)]


def unpack(payloads: Sequence[bytes], dimensions: int) -> TokenMatrix:
    """The rows that ``pack`` wrote, of this release and of earlier ones, in the same order."""
    whole, coarse = 2 + dimensions, 2 + dimensions // 3 * 2
    sizes = np.array([len(payload) for payload in payloads], np.intp)
    assert np.isin(sizes, (whole, coarse)).all(), "a stored vector has another width"
    rows, scales = np.empty((len(payloads), dimensions), np.int8), np.empty(len(payloads), np.float32)
    for size in {*sizes.tolist()}:
        places = sizes == size
        some = b"".join(payloads if places.all() else compress(payloads, places))
        shape = np.dtype([("scale", "<f2"), ("row", "u1", (size - 2,))])
        stored = np.frombuffer(some, shape)
        bits = np.ascontiguousarray(stored["row"])
        rows[places] = bits.view(np.int8) if size == whole else _coarse(bits, dimensions)
        scales[places] = stored["scale"]
    return TokenMatrix(rows, scales)


def _coarse(bits: NDArray[np.uint8], dimensions: int) -> Int8Array:
    codes = bits.view("<u2")
    # A code that none of ours is would be a damaged page's.
    return np.asarray(_triples().take(codes, axis=0, mode="clip").reshape(len(bits), dimensions), np.int8)


@cache
def _triples() -> Int8Array:
    """(64000, 3) the three numbers of a code."""
    codes = np.arange(len(_LEVELS) ** 3)
    return np.asarray(_LEVELS[codes[:, None] // _PLACES % _LEVELS_COUNT], np.int8)


_Row = TypeVar("_Row", bound=np.generic)


def _portions(count: int, rows: NDArray[_Row]) -> Iterator[tuple[int, NDArray[_Row]]]:
    """How rows behind ``count`` others fall into blocks: each part with the place in its block where it begins."""
    taken = 0
    while taken < len(rows):
        spot = (count + taken) % _BLOCK_ROWS
        some = rows[taken : taken + _BLOCK_ROWS - spot]
        yield spot, some
        taken += len(some)


class _Rows:
    """Int8 rows with a scale each, appended block by block; places count from 0."""

    def __init__(self, width: int, blocks: Blocks) -> None:
        self._full = blocks
        self.width = width
        self.count = 0
        self._blocks: list[Int8Array] = []
        self._scales = np.zeros(0, np.float32)

    def extend(self, rows: Int8Array, scales: Float32Array) -> None:
        """Add (n, width) rows with their (n,) scales."""
        total = self.count + len(rows)
        if total > len(self._scales):
            grown = np.zeros(max(total, 2 * len(self._scales)), np.float32)
            grown[: self.count] = self._scales[: self.count]
            self._scales = grown
        self._scales[self.count : total] = scales
        for spot, some in _portions(self.count, rows):
            self._room(spot, len(some))[spot : spot + len(some)] = some
            if spot + len(some) == _BLOCK_ROWS:
                self._blocks[-1] = self._full.keep(self._blocks[-1])
        self.count = total

    def _room(self, filled: int, more: int) -> Int8Array:
        """The last block, with room for so many rows more. It grows as it fills: most scopes hold a few rows."""
        if filled == 0:
            self._blocks.append(np.zeros((0, self.width), np.int8))
        last = self._blocks[-1]
        if filled + more > len(last):
            grown = np.zeros((min(_BLOCK_ROWS, max(filled + more, 2 * len(last))), self.width), np.int8)
            grown[:filled] = last[:filled]
            self._blocks[-1] = last = grown
        return last

    def dot(self, query: Float32Array) -> Float32Array:
        """(n,) float32: every row with ``query`` of (width,)."""
        products = np.empty(self.count, np.float32)
        cached = np.empty((_CACHED_ROWS, self.width), np.float32)
        for start in range(0, self.count, _CACHED_ROWS):
            block, spot = divmod(start, _BLOCK_ROWS)
            filled = min(_CACHED_ROWS, self.count - start)
            np.copyto(cached[:filled], self._blocks[block][spot : spot + filled])
            np.dot(cached[:filled], query, out=products[start : start + filled])
        products *= self._scales[: self.count]
        return products

    def dot_at(self, indices: NDArray[np.intp], query: Float32Array) -> Float32Array:
        """(n,) float32: as ``dot``, at those places alone, which rise."""
        products = np.empty(len(indices), np.float32)
        bounds = np.searchsorted(indices, np.arange(len(self._blocks) + 1) * _BLOCK_ROWS).tolist()
        for number, (start, end) in enumerate(pairwise(bounds)):
            if start < end:
                picked = self._blocks[number][indices[start:end] - number * _BLOCK_ROWS]
                np.dot(picked.astype(np.float32), query, out=products[start:end])
        products *= self._scales[indices]
        return products

    def take(self, indices: NDArray[np.intp]) -> Float32Array:
        """(n, width) float32 of those places."""
        picked = np.empty((len(indices), self.width), np.float32)
        order = np.argsort(indices, kind="stable")
        blocks, spots = np.divmod(indices[order], _BLOCK_ROWS)
        bounds = np.searchsorted(blocks, np.arange(len(self._blocks) + 1)).tolist()
        for block, start, end in zip(self._blocks, bounds[:-1], bounds[1:], strict=True):
            if start < end:
                picked[order[start:end]] = block[spots[start:end]]
        picked *= self._scales[indices, None]
        return picked


class _Signs:
    """On which side of a mean each row lies, dimension by dimension, as bits; appended block by block.

    How many signs two vectors share goes with the angle between them: Charikar, "Similarity estimation techniques from
    rounding algorithms", STOC 2002, section 3. Ours are not of random directions but of the dimensions themselves,
    and those count in which the question is far from the mean.
    """

    def __init__(self, mean: Float32Array) -> None:
        self._mean = mean
        self._words = -(-len(mean) // _WORD_BITS)
        self._blocks: list[NDArray[np.uint64]] = []
        self.count = 0

    def extend(self, rows: Float32Array) -> None:
        """Add (n, d) rows."""
        for spot, some in _portions(self.count, self._bits(rows)):
            if spot == 0:
                self._blocks.append(np.zeros((self._words, _BLOCK_ROWS), np.uint64))
            self._blocks[-1][:, spot : spot + len(some)] = some.T
        self.count += len(rows)

    def distances(self, query: Float32Array) -> Distances:
        """(n,) lower for rows that share more signs with ``query`` of (d,); comparable for one query only."""
        ours, far = self._bits(query[None])[0], np.abs(query - self._mean)
        minor = round(len(far) * (1 - _DECISIVE))
        counts = far >= np.partition(far, minor)[minor]
        decisive = _packed(counts[None])[0]
        # So few can differ that a byte holds them all, and half of the memory goes through the processor.
        kind = np.uint8 if np.count_nonzero(counts) <= _BYTE_MAX else np.uint16
        found: Distances = np.empty((len(self._blocks), _BLOCK_ROWS), kind)
        differing = np.empty((self._words, _BLOCK_ROWS), np.uint64)
        counted = np.empty((self._words, _BLOCK_ROWS), np.uint8)
        for block, sums in zip(self._blocks, found, strict=True):
            np.bitwise_xor(block, ours[:, None], out=differing)
            np.bitwise_count(np.bitwise_and(differing, decisive[:, None], out=differing), out=counted)
            counted.sum(axis=0, dtype=kind, out=sums)
        return found.ravel()[: self.count]

    def _bits(self, rows: Float32Array) -> NDArray[np.uint64]:
        return _packed(rows > self._mean)


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """(n, w) words of the bits of (n, d), padded with zeros."""
    packed = np.packbits(bits, axis=1)
    padded = np.zeros((len(bits), -(-bits.shape[1] // _WORD_BITS) * (_WORD_BITS // 8)), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


class VectorMatrix:
    """Unit rows that are appended and searched by cosine; places count from 0. Not safe for a writer beside readers."""

    def __init__(self, dimensions: int, blocks: Blocks | None = None) -> None:
        """``blocks`` keep the rows of full ones; without, this process has its own."""
        self.dimensions = dimensions
        self._rows = _Rows(dimensions, blocks or OwnBlocks())
        self._signs: _Signs | None = None

    def __len__(self) -> int:
        return self._rows.count

    def append_packed(self, payloads: Sequence[bytes]) -> None:
        """Add rows as ``pack`` stored them."""
        self._extend(unpack(payloads, self.dimensions))

    def scan(self, query: Float32Array) -> Float32Array:
        """(n,) float32: the cosine of every row with the unit vector ``query`` of (dimensions,).

        The cosines are of the rounded rows: 0.002 from the exact ones on average and 0.012 at most, of 1,000,000 that were compared; of rows
        that are kept in eight bits within 0.003.
        """
        return self._rows.dot(query)

    def nearest(
        self, query: Float32Array, masks: Sequence[tuple[NDArray[np.bool_], int]], places: NDArray[np.intp]
    ) -> list[tuple[NDArray[np.intp], Float32Array]]:
        """For each mask with its limit the rows of the highest cosines under it, best first, and these; a row stands in the masks
        where ``places`` of (n,) says.

        Exact in a small matrix; of a large one it compares the rows that share most signs with the query.
        """
        if self._signs is None:
            cosines = self.scan(query)
            exact = [best(cosines, mask[places], limit) for mask, limit in masks]
            return [(rows, cosines[rows]) for rows in exact]
        distances = self._signs.distances(query)
        return [self._refined(query, distances, mask, places, limit) for mask, limit in masks]

    def _refined(
        self,
        query: Float32Array,
        distances: Distances,
        mask: NDArray[np.bool_],
        places: NDArray[np.intp],
        limit: int,
    ) -> tuple[NDArray[np.intp], Float32Array]:
        rows = closest(distances, lambda rows: mask[places[rows]], _REFINED * limit)
        cosines = self._rows.dot_at(rows, query)
        order = np.argsort(-cosines, kind="stable")[:limit]
        return rows[order], cosines[order]

    def rows(self, indices: NDArray[np.intp]) -> Float32Array:
        """(n, dimensions) float32 of those places."""
        return self._rows.take(indices)

    def _extend(self, added: TokenMatrix) -> None:
        assert added.rows.shape[1] == self.dimensions, "vectors of another width"
        self._rows.extend(added.rows, added.scales)
        if self._signs is None:
            if len(self) < _GLANCED_FROM:
                return
            # Of the first rows alone: the same rows have the same mean, whenever they are loaded.
            mean = self.rows(np.arange(0, _GLANCED_FROM, _MEAN_STEP)).mean(axis=0)
            self._signs = _Signs(mean)
        while self._signs.count < len(self):
            places = np.arange(self._signs.count, min(self._signs.count + _CACHED_ROWS, len(self)))
            self._signs.extend(self.rows(places))
