import numpy as np
import pytest

from lamina.index.vectors import VectorMatrix, pack, unpack
from lamina.models.ports import Float32Array

WIDTH = 24


def unit(count: int, seed: int = 7) -> Float32Array:
    rows = np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def matrix(*parts: Float32Array) -> VectorMatrix:
    made = VectorMatrix(WIDTH)
    for part in parts:
        made.append(part)
    return made


@pytest.mark.parametrize("cuts", [[], [1], [2047], [2048], [2048, 2049, 4096], [500, 500, 4600]])
def test_rows_are_the_same_however_they_arrive(cuts: list[int]) -> None:
    rows = unit(4700)
    made = matrix(*np.split(rows, cuts))
    assert len(made) == 4700
    assert made.rows(np.arange(4700)) == pytest.approx(rows, abs=0.01)
    assert made.scan(rows[5]).tobytes() == matrix(rows).scan(rows[5]).tobytes()


def test_the_best_come_first_as_an_exact_search_finds_them() -> None:
    rows, query = unit(2100), unit(1, seed=8)[0]
    places, cosines = matrix(rows).top(query, 20)
    exact = rows @ query
    assert exact[places[0]] == pytest.approx(exact.max(), abs=0.01)
    assert cosines == pytest.approx(exact[places], abs=0.01)
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)
    assert len(set(places.tolist()) & set(np.argsort(-exact)[:20].tolist())) >= 18


def test_only_rows_under_the_mask_are_found() -> None:
    rows = unit(50)
    mask = np.zeros(50, np.bool_)
    mask[[3, 9]] = True
    places, _ = matrix(rows).top(rows[9], 5, mask)
    assert places.tolist() == [9, 3]
    assert matrix(rows).top(rows[9], 5, np.zeros(50, np.bool_))[0].tolist() == []


def test_equal_rows_come_in_the_order_they_were_added() -> None:
    same = np.repeat(unit(1), 3000, axis=0)
    assert matrix(same).top(same[0], 4)[0].tolist() == [0, 1, 2, 3]


def test_nothing_is_found_in_nothing() -> None:
    places, cosines = matrix().top(unit(1)[0], 5)
    assert (places.tolist(), cosines.tolist()) == ([], [])
    assert matrix(unit(3)).top(unit(1)[0], 0)[0].tolist() == []


def test_packed_rows_equal_the_vectors_they_were_made_of() -> None:
    rows = unit(1500)
    packed = pack(rows)
    assert {len(one) for one in packed} == {WIDTH + 2}
    made = VectorMatrix(WIDTH)
    made.append_packed(packed[:7])
    made.append_packed([])
    made.append_packed(packed[7:])
    assert made.scan(rows[0]).tobytes() == matrix(rows).scan(rows[0]).tobytes()


def test_a_stored_vector_of_another_width_is_not_read() -> None:
    with pytest.raises(AssertionError, match="width"):
        unpack([b"\0" * WIDTH], WIDTH)
    with pytest.raises(AssertionError, match="width"):
        matrix(np.ones((1, WIDTH + 1), np.float32))
