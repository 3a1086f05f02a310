import numpy as np
import pytest

from lamina.index import vectors
from lamina.index.vectors import VectorMatrix, pack, unpack
from lamina.models.ports import Float32Array, quantise

WIDTH = 24


def unit(count: int, seed: int = 7) -> Float32Array:
    rows = np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def in_eight_bits(rows: Float32Array) -> list[bytes]:
    """As earlier releases kept all rows."""
    kept = quantise(rows)
    return [
        scale.tobytes() + row.tobytes()
        for scale, row in zip(kept.scales.astype("<f2"), kept.rows, strict=True)
    ]


def matrix(*parts: Float32Array) -> VectorMatrix:
    made = VectorMatrix(WIDTH)
    for part in parts:
        made.append_packed(in_eight_bits(part))
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


def test_packed_rows_are_near_the_vectors_they_were_made_of() -> None:
    rows = unit(1500)
    packed = pack(rows)
    assert sum(len(one) == 2 + WIDTH // 3 * 2 for one in packed) > 1400, (
        "three numbers in two bytes, but where they lie far apart"
    )
    made, at_once = VectorMatrix(WIDTH), VectorMatrix(WIDTH)
    made.append_packed(packed[:7])
    made.append_packed([])
    made.append_packed(packed[7:])
    at_once.append_packed(packed)
    assert made.scan(rows[0]).tobytes() == at_once.scan(rows[0]).tobytes()
    assert (made.rows(np.arange(1500)) * rows).sum(axis=1).min() > 0.99


def test_rows_of_a_few_large_numbers_and_those_of_earlier_releases_keep_eight_bits() -> None:
    few, some = np.eye(2, 384, dtype=np.float32), wide(3)
    before = quantise(some[:1])
    earlier = before.scales.astype("<f2").tobytes() + before.rows.tobytes()
    packed = [*pack(few), pack(some)[1], earlier, pack(some)[2]]
    assert [len(one) for one in packed] == [386, 386, 258, 386, 258]
    read = unpack(packed, 384)
    units = read.rows * read.scales[:, None]
    assert units[:2] == pytest.approx(few, abs=1e-3)
    assert (units[[3, 2, 4]] * some).sum(axis=1) == pytest.approx(1, abs=2e-3)


def test_what_was_stored_is_read_by_the_same_levels_for_ever() -> None:
    code = (0 + 40 * 17 + 1600 * 39).to_bytes(2, "little") + (20 + 40 * 21 + 1600 * 1).to_bytes(2, "little")
    stored = np.float16(0.5).tobytes() + code * 4
    read = unpack([stored], WIDTH)
    assert read.rows[0].tolist() == [-127, -9, 127, 2, 5, -101] * 4
    assert read.scales.tolist() == [0.5]


def wide(count: int) -> Float32Array:
    rows = np.random.default_rng(9).standard_normal((count, 384)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def test_rows_of_any_width_are_packed() -> None:
    rows = unit(3)[:, :23] / np.linalg.norm(unit(3)[:, :23], axis=1, keepdims=True)
    packed = pack(np.asarray(rows, np.float32))
    assert {len(one) for one in packed} == {25}
    assert unpack(packed, 23).rows.shape == (3, 23)


def test_a_stored_vector_of_another_width_is_not_read() -> None:
    with pytest.raises(AssertionError, match="width"):
        unpack([b"\0" * WIDTH], WIDTH)
    with pytest.raises(AssertionError, match="width"):
        matrix(np.ones((1, WIDTH + 1), np.float32))


@pytest.fixture
def soon_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix is large from 2,048 rows on, and compares twelve times as many rows as are wanted."""
    monkeypatch.setattr(vectors, "_GLANCED_FROM", 2048)
    monkeypatch.setattr(vectors, "_REFINED", 12)


def told_apart(count: int, width: int, seed: int = 7) -> Float32Array:
    """Unit rows off the origin around two hundred subjects, as it is with texts."""
    subjects = np.random.default_rng(1).standard_normal((200, width)) + 0.3
    noise = np.random.default_rng(seed).standard_normal((count, width))
    rows = subjects[np.arange(count) % 200] + 0.8 * noise
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def large(rows: Float32Array, cuts: list[int] | None = None) -> VectorMatrix:
    made = VectorMatrix(rows.shape[1])
    for part in np.split(rows, cuts or []):
        made.append_packed(in_eight_bits(part))
    return made


@pytest.mark.usefixtures("soon_large")
@pytest.mark.parametrize("width", [100, 192, 384, 640])
def test_signs_choose_most_of_the_nearest(width: int) -> None:
    made, mask, found = large(told_apart(4700, width)), np.arange(4700) % 5 != 0, 0
    behind = np.concatenate([np.zeros(3, np.bool_), mask])
    for query in told_apart(20, width, seed=8):
        ((rows, cosines),) = made.nearest(query, [(behind, 20)], np.arange(4700) + 3)
        exact = made.scan(query)
        assert mask[rows].all()
        assert cosines == pytest.approx(exact[rows], abs=1e-5)
        assert (np.diff(cosines) <= 0).all()
        nearest = np.argsort(np.where(mask, -exact, np.inf))[:20]
        found += len(set(rows.tolist()) & set(nearest.tolist()))
    assert found >= 0.85 * 20 * 20


@pytest.mark.usefixtures("soon_large")
@pytest.mark.parametrize("cuts", [[1], [2047], [2048, 2049], [500, 500, 4600]])
def test_the_nearest_are_the_same_however_rows_arrive(cuts: list[int]) -> None:
    rows, mask = told_apart(4700, 100), np.ones(4700, np.bool_)
    apart, whole = (
        made.nearest(rows[5], [(mask, 30)], np.arange(4700)) for made in (large(rows, cuts), large(rows))
    )
    assert apart[0][0].tolist() == whole[0][0].tolist()
    assert whole[0][0][0] == 5


@pytest.mark.usefixtures("soon_large")
def test_each_mask_has_its_own_nearest() -> None:
    rows = told_apart(3000, 100)
    first, none = np.arange(3000) < 2100, np.zeros(3000, np.bool_)
    made = large(rows)
    found = made.nearest(rows[2500], [(first, 7), (none, 7), (~first, 4000)], np.arange(3000))
    assert [len(places) for places, _ in found] == [7, 0, 900]
    assert found[0][0].tolist() == made.nearest(rows[2500], [(first, 7)], np.arange(3000))[0][0].tolist()
    assert found[2][0][0] == 2500


def test_the_nearest_of_few_rows_are_those_of_a_scan() -> None:
    made, query = matrix(unit(300)), unit(1, seed=9)[0]
    ((rows, cosines),) = made.nearest(query, [(np.ones(300, np.bool_), 10)], np.arange(300))
    assert rows.tolist() == np.argsort(-made.scan(query), kind="stable")[:10].tolist()
    assert cosines.tobytes() == made.scan(query)[rows].tobytes()
