import numpy as np
import pytest

from lamina.index import vectors
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


def test_the_best_are_those_that_an_exact_search_finds() -> None:
    rows, query = unit(2100), unit(1, seed=8)[0]
    cosines, exact = matrix(rows).scan(query), rows @ query
    places = np.argsort(-cosines, kind="stable")[:20]
    assert exact[places[0]] == pytest.approx(exact.max(), abs=0.01)
    assert cosines == pytest.approx(exact, abs=0.01)
    assert len(set(places.tolist()) & set(np.argsort(-exact)[:20].tolist())) >= 18


def test_rows_come_in_the_order_they_are_asked_for() -> None:
    rows = unit(4700)
    asked = np.array([4699, 0, 2048, 2047, 0])
    assert matrix(rows).rows(asked) == pytest.approx(rows[asked], abs=0.01)
    assert matrix(rows).rows(asked[:0]).shape == (0, WIDTH)


def test_nothing_is_found_in_nothing() -> None:
    assert matrix().scan(unit(1)[0]).tolist() == []


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


@pytest.fixture
def small_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix that is large from 2,048 rows on, and keeps 8 of its 24 columns short."""
    monkeypatch.setattr(vectors, "_GLANCED_FROM", 2048)
    monkeypatch.setattr(vectors, "_AXES", 8)


def told_apart(count: int, seed: int = 7) -> Float32Array:
    """Unit rows most of which lies in a few directions, as it is with texts."""
    draw = np.random.default_rng(seed)
    spread = np.linspace(3.0, 0.1, WIDTH) ** 2
    turned, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((WIDTH, WIDTH)))
    rows = (draw.standard_normal((count, WIDTH)) * spread) @ turned
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.mark.usefixtures("small_axes")
def test_a_glance_at_many_rows_has_the_nearest_among_its_best() -> None:
    made, found = matrix(told_apart(4700)), 0
    assert made.glances
    for query in told_apart(20, seed=8):
        glanced = np.argsort(-made.glance(query))[:80].tolist()
        found += len(set(glanced) & set(np.argsort(-made.scan(query))[:20].tolist()))
    assert found >= 0.9 * 20 * 20


@pytest.mark.usefixtures("small_axes")
@pytest.mark.parametrize("cuts", [[1], [2047], [2048, 2049], [500, 500, 4600]])
def test_a_glance_is_the_same_however_rows_arrive(cuts: list[int]) -> None:
    rows = told_apart(4700)
    glanced, whole = (made.glance(rows[5]) for made in (matrix(*np.split(rows, cuts)), matrix(rows)))
    assert glanced == pytest.approx(whole, abs=0.01)


def test_a_glance_at_few_rows_is_a_scan() -> None:
    made = matrix(unit(300))
    assert not made.glances
    assert made.glance(unit(1)[0]).tobytes() == made.scan(unit(1)[0]).tobytes()
