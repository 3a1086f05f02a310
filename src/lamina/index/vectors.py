"""Pooled vectors of one scope, scanned exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["VectorMatrix"]

Float32Array = NDArray[np.float32]


class VectorMatrix:
    """Unit rows that are appended and searched by cosine."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._rows: Float32Array = np.zeros((64, dimensions), np.float32)
        self._count = 0

    def append(self, rows: Float32Array) -> None:
        """Add (n, dimensions) float32 unit rows."""
        needed = self._count + len(rows)
        if needed > len(self._rows):
            grown = np.zeros((max(needed, 2 * len(self._rows)), self.dimensions), np.float32)
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        self._rows[self._count : needed] = rows
        self._count = needed

    def top(
        self, query: Float32Array, limit: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.intp], Float32Array]:
        """(indices, cosines) of the best rows under the mask, best first."""
        scores = self._rows[: self._count] @ query
        if mask is not None:
            scores[~mask] = -2.0
        chosen = np.argsort(-scores, kind="stable")[:limit]
        chosen = chosen[scores[chosen] > -2.0]
        return chosen, scores[chosen]

    def rows(self, indices: NDArray[np.intp]) -> Float32Array:
        """(n, dimensions) float32 of those rows."""
        picked: Float32Array = self._rows[indices]
        return picked
