"""The matrix products of the parser, by numpy's BLAS: 3 to 5 times faster than the library that spaCy brings."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from thinc.api import NumpyOps

__all__ = ["Products"]

_ROWS: Final = 64
"""Rows come in whole blocks. A BLAS treats the rows left over by another order of sums, so that without it the last bit
of a word's vector, and with it now and then a parse, would depend on what else is in the batch."""
_FEW_ROWS: Final = 8
"""The kernels that OpenBLAS takes on some processors (Haswell's, of AVX2 without AVX-512) sum rows in one block of 64
by two orders.
Products of eight rows each are alike there, and take two to four times as long."""


class Products(NumpyOps):  # type: ignore[misc]  # thinc is untyped
    """The operations of a pipeline on the CPU; one row of a product depends on that row alone."""

    def gemm(
        self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False
    ) -> Any:  # Any: thinc's arrays
        """``x @ y``, either one transposed first; into ``out`` where it is given."""
        left, right = x.T if trans1 else x, y.T if trans2 else y
        rows, block = len(left), _block()
        if missing := -rows % block:
            left = np.concatenate((left, np.zeros((missing, left.shape[1]), dtype=left.dtype)))
        if block == _ROWS:
            product = left @ right
        else:
            blocks = np.ascontiguousarray(left).reshape(-1, block, left.shape[1])
            product = (blocks @ np.ascontiguousarray(right)).reshape(len(left), right.shape[1])
        if out is None:
            return product[:rows]
        out[...] = product[:rows]
        return out


@cache
def _block() -> int:
    """In blocks of how many rows this machine's BLAS treats all alike: asked once, of equal rows."""
    chance = np.random.default_rng(7)
    row, weights = chance.standard_normal((1, 96), np.float32), chance.standard_normal((96, 1664), np.float32)
    product = np.repeat(row, _ROWS, axis=0) @ weights
    return _ROWS if (product == product[0]).all() else _FEW_ROWS
