"""What the rest of Lamina may ask of an embedding model.

Vectors are derived state: an embedder's ``name`` identifies the model *and* every step after it
(projection, quantisation), so that vectors under two names are never compared with each other.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

Float32Array = NDArray[np.float32]
Int8Array = NDArray[np.int8]

_HEADER = struct.Struct("<BHH")
_EIGHT_BITS, _FOUR_BITS, _SIX_LEVELS = 1, 2, 3
_TO_A_BYTE: Final = {_EIGHT_BITS: 1, _FOUR_BITS: 2, _SIX_LEVELS: 3}
"""Numbers, by the format of stored token vectors. Earlier releases wrote the first two, which are still read."""
_LEVELS: Final = 7
_SIX: Final = 6
_BOUNDS: Final = (-1.447, -0.659, 0.0, 0.659, 1.447)
"""Between the six levels, in root mean squares of a row: those that lose least of numbers that are distributed normally (Max,
"Quantizing for minimum distortion", IRE Transactions on Information Theory, 1960); the levels are as 1 to 3 to 6."""
_NEAR_MIN: Final = 0.87
"""The cosine of a row with its six levels below which four bits are kept: a model may have rows of a few large numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenMatrix:
    """The token vectors of one text, in reading order, special tokens left out.

    ``rows`` is (t, d) int8 and ``scales`` is (t,) float32; ``rows * scales[:, None]`` are unit vectors up to
    rounding. An empty text has t = 0.
    """

    rows: Int8Array
    scales: Float32Array

    def to_bytes(self) -> bytes:
        """Little-endian: format byte, t and d as uint16, t scales as float16, then the rows, three numbers of -6, -3, -1, 1, 3
        and 6 to a byte. A third of the room of int8 rows, and ranking is as good (``bench/results/token-vectors.md``)."""
        width = self.rows.shape[1]
        rows = self.rows.astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        unit = np.maximum(lengths / max(width, 1) ** 0.5, 1e-6)[:, None]
        numbers = np.zeros(rows.shape, np.uint8)
        for bound in _BOUNDS:
            numbers += rows > bound * unit
        coarse = _levels(numbers.copy()).astype(np.float32)
        near = np.einsum("ij,ij->i", rows, coarse) / np.sqrt(np.einsum("ij,ij->i", coarse, coarse))
        if (near < _NEAR_MIN * lengths).any():
            return self._in_four_bits()
        third = -(-width // 3)
        packed = numbers[:, :third] + _SIX * numbers[:, third : 2 * third]
        packed[:, : width - 2 * third] += _SIX**2 * numbers[:, 2 * third :]
        return _payload(_SIX_LEVELS, coarse, packed)

    def _in_four_bits(self) -> bytes:
        """As ``to_bytes``, the numbers -7 to 7 as 1 to 15, two to a byte."""
        assert self.rows.shape[1] % 2 == 0, "two numbers share a byte"
        largest = np.maximum(
            np.abs(self.rows.astype(np.float32)).max(axis=1, initial=1.0, keepdims=True), 1.0
        )
        coarse = np.rint(self.rows * (_LEVELS / largest))
        numbers = (coarse + _LEVELS + 1).astype(np.uint8)  # 1 to 15
        return _payload(_FOUR_BITS, coarse, numbers[:, ::2] | (numbers[:, 1::2] << 4))


def _payload(version: int, coarse: Float32Array, packed: NDArray[np.uint8]) -> bytes:
    """The bytes of rows that are ``coarse`` once they are read."""
    scales = 1 / np.maximum(np.linalg.norm(coarse, axis=1), 1.0)
    return b"".join((_HEADER.pack(version, *coarse.shape), scales.astype("<f2").tobytes(), packed.tobytes()))


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """The token vectors of n texts below each other: text i has the next ``counts[i]`` rows, (n,) in all.

    ``rows`` and ``scales`` are as in ``TokenMatrix``.
    """

    rows: Int8Array
    scales: Float32Array
    counts: NDArray[np.intp]

    @classmethod
    def unread(cls, count: int) -> TokenRows:
        """So many texts without any."""
        return cls(np.zeros((0, 0), np.int8), np.zeros(0, np.float32), np.zeros(count, np.intp))

    @classmethod
    def joined(cls, matrices: Sequence[TokenMatrix]) -> TokenRows:
        """Texts that are at hand one by one."""
        counts = np.array([len(matrix.rows) for matrix in matrices], np.intp)
        if not counts.any():
            return cls(np.zeros((0, 0), np.int8), np.zeros(0, np.float32), counts)
        filled = [matrix for matrix in matrices if len(matrix.rows)]
        rows = np.concatenate([matrix.rows for matrix in filled])
        return cls(rows, np.concatenate([matrix.scales for matrix in filled]), counts)

    @classmethod
    def from_payloads(cls, payloads: Sequence[bytes | None]) -> TokenRows:
        """Texts as ``TokenMatrix.to_bytes`` wrote them, None for one without."""
        counts, scales, widths = [0] * len(payloads), [], {0}
        rows: dict[int, list[bytes]] = defaultdict(list)  # by format
        formats = []
        for at, payload in enumerate(payloads):
            if payload is None:
                continue
            version, count, width = _HEADER.unpack_from(payload)
            assert version in _TO_A_BYTE, f"token matrix of an unknown format {version}"
            body = _HEADER.size + 2 * count
            assert len(payload) == body + count * -(-width // _TO_A_BYTE[version]), (
                "token matrix is cut short"
            )
            if count:
                counts[at] = count
                widths.add(width)
                # Copies, since a view of each payload costs more than its few kilobytes.
                scales.append(payload[_HEADER.size : body])
                rows[version].append(payload[body:])
                formats.append((version, count))
        assert len(widths) <= 2, "one model, one width"
        return cls(
            _rows(rows, formats, max(widths)),
            np.frombuffer(b"".join(scales), "<f2").astype(np.float32),
            np.array(counts, np.intp),
        )


def _rows(parts: Mapping[int, Sequence[bytes]], formats: Sequence[tuple[int, int]], width: int) -> Int8Array:
    """(n, width): the rows of texts whose ``formats`` and counts come in their order, from the bytes of each format."""
    read = {
        version: _READ[version](np.frombuffer(b"".join(parts[version]), np.int8), width) for version in parts
    }
    if len(read) <= 1:
        return next(iter(read.values()), np.zeros((0, 0), np.int8))
    versions, counts = zip(*formats, strict=True)
    of_row = np.repeat(versions, counts)
    joined = np.empty((len(of_row), width), np.int8)
    for version, rows in read.items():
        joined[of_row == version] = rows
    return joined


def _eight_bits(stored: Int8Array, width: int) -> Int8Array:
    return stored.reshape(-1, width)


def _four_bits(stored: Int8Array, width: int) -> Int8Array:
    wide = stored.view(np.uint8).astype("<u2")  # each byte becomes two: 0x00ab -> 0x0a0b
    wide |= wide << 4
    wide &= 0x0F0F
    rows = wide.view(np.int8)
    rows -= _LEVELS + 1
    return rows.reshape(-1, width)


def _six_levels(stored: Int8Array, width: int) -> Int8Array:
    third = -(-width // 3)
    low = stored.view(np.uint8).copy()
    high = low // _SIX**2
    low -= high * _SIX**2
    middle = low // _SIX
    low -= middle * _SIX
    thirds = (low.reshape(-1, third), middle.reshape(-1, third), high.reshape(-1, third))
    return _levels(np.concatenate((*thirds[:2], thirds[2][:, : width - 2 * third]), axis=1))


def _levels(numbers: NDArray[np.uint8]) -> Int8Array:
    """0 to 5 as -6, -3, -1, 1, 3 and 6, in the place of the numbers."""
    rows = numbers.view(np.int8)
    outer = 10 * rows
    outer -= 9
    outer >>= 5  # -1 for the lowest, 1 for the highest
    rows *= 2
    rows -= _SIX - 1
    rows += outer
    return rows


_READ: Final[Mapping[int, Callable[[Int8Array, int], Int8Array]]] = {
    _EIGHT_BITS: _eight_bits,
    _FOUR_BITS: _four_bits,
    _SIX_LEVELS: _six_levels,
}


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """One forward pass over n texts: ``pooled`` is (n, dim) float32 with unit rows, ``tokens`` has n entries."""

    pooled: Float32Array
    tokens: list[TokenMatrix]


class Embedder(Protocol):
    """Turns texts into one vector each and one vector per token.

    The vectors of a text depend on the text alone: neither what it is encoded together with nor the thread count
    may move them. A remote embedder that cannot promise the last bit stays within 1e-3 in cosine.
    """

    @property
    def name(self) -> str:
        """Model, projection and quantisation, for example ``minilm-l6-v2-int8-dynamic/p2``."""
        ...

    @property
    def dim_pooled(self) -> int: ...

    @property
    def dim_tokens(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Vectors of ``texts`` in the same order; long texts are read up to the model's token cap."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One message: ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Generated:
    """What the model wrote, with the tokens that it counted; 0 where it did not say. ``cut_off`` when it was not done."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cut_off: bool = False


class Generator(Protocol):
    """Writes text. ``name`` identifies the model."""

    @property
    def name(self) -> str: ...

    def complete(
        self, messages: Sequence[Message], *, tokens_max: int, schema: Mapping[str, Any] | None = None
    ) -> Generated:
        """The model's answer, JSON of the ``schema`` where one is given.

        Raises ``Unavailable`` (MODEL_UNAVAILABLE) when it may answer later, ``Invalid`` when it will not: to this
        (MODEL_REFUSED), or to anything until an operator acts (MODEL_MISCONFIGURED).
        """
        ...


def quantise(vectors: Float32Array) -> TokenMatrix:
    """Unit vectors of (t, d) float32 as int8 rows, each filling the range with its own scale.

    The scale restores unit length *after* rounding and is itself rounded to float16, so that a matrix
    equals the one read back from its bytes.
    """
    if not len(vectors):
        return TokenMatrix(np.zeros(vectors.shape, np.int8), np.zeros(0, np.float32))
    peaks = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-12)
    rows = np.rint(vectors * (127.0 / peaks)).astype(np.int8)
    lengths = np.maximum(np.linalg.norm(rows.astype(np.float32), axis=1), 1.0)
    scales = (1.0 / lengths).astype(np.float16).astype(np.float32)
    return TokenMatrix(rows, scales)
