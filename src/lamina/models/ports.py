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
_EIGHT_BITS, _FOUR_BITS = 1, 2
_BITS: Final = {_EIGHT_BITS: 8, _FOUR_BITS: 4}
"""Of a number, by the format of stored token vectors. Earlier releases wrote the first, which is still read."""
_LEVELS: Final = 7


@dataclass(frozen=True, slots=True, eq=False)
class TokenMatrix:
    """The token vectors of one text, in reading order, special tokens left out.

    ``rows`` is (t, d) int8 and ``scales`` is (t,) float32; ``rows * scales[:, None]`` are unit vectors up to
    rounding. An empty text has t = 0.
    """

    rows: Int8Array
    scales: Float32Array

    def to_bytes(self) -> bytes:
        """Little-endian: format byte, t and d as uint16, t scales as float16, then the rows in four bits a number, -7 to 7 as 1
        to 15, two to a byte. Half the room of int8 rows, and ranking is as good (``bench/results/token-vectors.md``)."""
        count, width = self.rows.shape
        assert width % 2 == 0, "two numbers share a byte"
        largest = np.maximum(
            np.abs(self.rows.astype(np.float32)).max(axis=1, initial=1.0, keepdims=True), 1.0
        )
        coarse = np.rint(self.rows * (_LEVELS / largest))
        scales = 1 / np.maximum(np.linalg.norm(coarse, axis=1), 1.0)
        numbers = (coarse + _LEVELS + 1).astype(np.uint8)  # 1 to 15
        pairs = numbers[:, ::2] | (numbers[:, 1::2] << 4)
        return b"".join(
            (_HEADER.pack(_FOUR_BITS, count, width), scales.astype("<f2").tobytes(), pairs.tobytes())
        )


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """The token vectors of n texts below each other: text i has the next ``counts[i]`` rows, (n,) in all.

    ``rows`` and ``scales`` are as in ``TokenMatrix``.
    """

    rows: Int8Array
    scales: Float32Array
    counts: NDArray[np.intp]

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
            assert version in _BITS, f"token matrix of an unknown format {version}"
            body = _HEADER.size + 2 * count
            assert len(payload) == body + count * width * _BITS[version] // 8, "token matrix is cut short"
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


_READ: Final[Mapping[int, Callable[[Int8Array, int], Int8Array]]] = {
    _EIGHT_BITS: _eight_bits,
    _FOUR_BITS: _four_bits,
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
