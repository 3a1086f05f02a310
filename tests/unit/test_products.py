"""The matrix products of the parser: what they are, and that no row knows of the others."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("thinc")

from lamina.pipeline.extract.products import Products

CHANCE = np.random.default_rng(7)


def matrix(rows: int, columns: int) -> np.ndarray:
    return CHANCE.standard_normal((rows, columns), dtype=np.float32)


@pytest.mark.parametrize(("columns", "width"), [(96, 288), (288, 288), (96, 1664), (96, 50), (97, 33)])
def test_a_row_of_a_product_depends_on_that_row_alone(columns: int, width: int) -> None:
    rows, weights = matrix(300, columns), matrix(width, columns)
    whole = Products().gemm(rows, weights, trans2=True)
    for count in (1, 2, 7, 63, 64, 65, 130):
        part = Products().gemm(rows[100 : 100 + count], weights, trans2=True)
        assert np.array_equal(part, whole[100 : 100 + count]), f"{count} rows"


def test_a_product_is_that_of_the_matrices() -> None:
    one, other = matrix(5, 8), matrix(8, 3)
    out = np.empty((5, 3), dtype=np.float32)
    assert Products().gemm(one, other, out=out) is out
    np.testing.assert_allclose(out, one @ other, rtol=1e-4)
    np.testing.assert_allclose(Products().gemm(one.T, other, trans1=True), one @ other, rtol=1e-4)
