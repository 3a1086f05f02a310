"""What the rest of Lamina may ask of an embedding model.

Vectors are derived state: an embedder's ``name`` identifies the model *and* every step after it
(projection, quantisation), so that vectors under two names are never compared with each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lamina.models import stored_tokens

Float32Array = NDArray[np.float32]
Int8Array = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class TokenMatrix:
    """The token vectors of one text, in reading order, special tokens left out.

    ``rows`` is (t, d) int8 and ``scales`` is (t,) float32; ``rows * scales[:, None]`` are unit vectors up to
    rounding. An empty text has t = 0. Of ``telling``, (t,), what is false says little by itself, as a comma does; None: all tell.
    """

    rows: Int8Array
    scales: Float32Array
    telling: NDArray[np.bool_] | None = None

    def to_bytes(self) -> bytes:
        """The rows as they are stored, for a text that is asked about: those that are not ``telling`` are left out, and of the others four levels
        of each number are kept. A quarter of the room of int8 rows, and ranking is as good (``bench/results/token-vectors.md``)."""
        kept = self.telling
        if kept is None or not kept.any():
            kept = np.ones(len(self.rows), np.bool_)
        return stored_tokens.written(self.rows, kept)


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """The token vectors of n texts below each other: text i has the next ``counts[i]`` rows, (n,) in all.

    ``rows`` and ``scales`` are as in ``TokenMatrix``. Where tokens of a text were left out, its mask has a bit for each that was read, the first
    lowest, which is set if the token is here; None, or no masks at all: all are.
    """

    rows: Int8Array
    scales: Float32Array
    counts: NDArray[np.intp]
    masks: Sequence[int | None] = ()

    @classmethod
    def unread(cls, count: int) -> TokenRows:
        """``count`` texts of which no token vectors were read."""
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
        return cls(*stored_tokens.read(payloads))


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

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Vectors of ``texts`` in the same order; long texts are read up to the model's token cap."""
        ...


@dataclass(frozen=True, slots=True)
class ChatMessage:
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
        self, messages: Sequence[ChatMessage], *, tokens_max: int, schema: Mapping[str, Any] | None = None
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
