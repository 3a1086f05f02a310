import struct

import numpy as np
import pytest

from lamina.models.maxsim import NO_TOKENS, Interaction
from lamina.models.ports import Float32Array, TokenMatrix, TokenRows, quantise


def matrix(count: int, seed: int, width: int = 16) -> TokenMatrix:
    vectors = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    return quantise(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def maxsim(query: TokenMatrix, documents: TokenRows) -> Float32Array:
    """(n,): the score of each document."""
    return Interaction(query, documents).best.mean(axis=1)


def naive(query: TokenMatrix, document: TokenMatrix) -> float:
    asked = query.rows.astype(np.float64) * query.scales[:, None]
    said = document.rows.astype(np.float64) * document.scales[:, None]
    return float(np.mean([max(float(one @ other) for other in said) for one in asked]))


def test_maxsim_equals_the_naive_loop() -> None:
    query, documents = matrix(5, 0), [matrix(count, count) for count in (1, 7, 3, 40)]
    assert maxsim(query, TokenRows.joined(documents)) == pytest.approx(
        [naive(query, one) for one in documents], abs=1e-5
    )


def test_documents_without_tokens_score_below_all_others() -> None:
    scores = maxsim(matrix(3, 0), TokenRows.joined([matrix(0, 0), matrix(4, 1), matrix(0, 0)]))
    assert scores[0] == scores[2] == NO_TOKENS
    assert scores[1] > NO_TOKENS


def test_question_without_tokens_tells_nothing_apart() -> None:
    two = TokenRows.joined([matrix(2, 1), matrix(3, 2)])
    assert maxsim(matrix(0, 0), two).tolist() == [NO_TOKENS, NO_TOKENS]
    assert maxsim(matrix(2, 0), TokenRows.joined([])).shape == (0,)


def test_maximum_over_texts_is_the_text_of_both() -> None:
    query, one, other = matrix(3, 0), matrix(4, 1), matrix(5, 2)
    both = TokenMatrix(np.concatenate([one.rows, other.rows]), np.concatenate([one.scales, other.scales]))
    apart = Interaction(query, TokenRows.joined([one, other])).best.max(axis=0)
    assert Interaction(query, TokenRows.joined([both])).best[0] == pytest.approx(apart, abs=1e-6)


def eight_bits(one: TokenMatrix) -> bytes:
    """As earlier releases stored them."""
    head = struct.pack("<BHH", 1, *one.rows.shape)
    return head + one.scales.astype("<f2").tobytes() + one.rows.tobytes()


def test_what_is_read_from_bytes_is_near_what_was_written() -> None:
    matrices = [matrix(4, 1), matrix(0, 0), matrix(40, 2), matrix(1, 3)]
    payloads = [None if not len(one.rows) else one.to_bytes() for one in matrices]
    read, joined = TokenRows.from_payloads(payloads), TokenRows.joined(matrices)
    assert read.counts.tolist() == joined.counts.tolist() == [4, 0, 40, 1]
    units, written = (each.rows * each.scales[:, None] for each in (read, joined))
    assert np.linalg.norm(units, axis=1) == pytest.approx(1.036, abs=2e-3)
    assert (units * written).sum(axis=1).min() > 0.8
    assert len(payloads[3] or b"") == 5 + 1 + 4, "a bit that it is kept, and two of each of 16 numbers"
    again = TokenMatrix(read.rows[:4], read.scales[:4])
    assert np.array_equal(TokenRows.from_payloads([again.to_bytes()]).rows, again.rows)
    assert TokenRows.from_payloads([None, matrix(0, 0).to_bytes()]).counts.tolist() == [0, 0]


def test_rows_of_an_earlier_release_are_read_beside_new_ones() -> None:
    matrices = [matrix(3, 1), matrix(2, 2), matrix(5, 3)]
    new = [one.to_bytes() for one in matrices]
    both = TokenRows.from_payloads([eight_bits(matrices[0]), new[1], eight_bits(matrices[2])])
    apart = [
        matrices[0].rows,
        TokenRows.from_payloads([new[1]]).rows,
        TokenRows.from_payloads([eight_bits(matrices[2])]).rows,
    ]
    assert np.array_equal(both.rows, np.concatenate(apart))
    assert np.array_equal(apart[2], matrices[2].rows)


def test_rows_of_a_few_large_numbers_keep_four_bits() -> None:
    few = quantise(np.eye(2, 16, dtype=np.float32))
    payload = few.to_bytes()
    assert len(payload) == 5 + 2 * (2 + 8)
    both = TokenRows.from_payloads(
        [payload, matrix(3, 5).to_bytes(), four_bits_of_a_row(), six_levels_of_a_row()]
    )
    assert both.rows[:2] * both.scales[:2, None] == pytest.approx(np.eye(2, 16), abs=1e-3)
    assert both.rows[5].tolist() == [-7, 7, 0, 1] * 4
    assert both.rows[6].tolist() == [-6, -3, -1, 1, 3, 6, -6, -3, -1, 1, 3, 6, -6, -3, -1, 1]
    assert both.scales[5:] == pytest.approx([0.05, 0.06], abs=1e-4)


def six_levels_of_a_row() -> bytes:
    """-6, -3, -1, 1, 3, 6 and so on, as an earlier release stored them."""
    numbers = [*range(6), *range(6), *range(4), 0, 0]
    packed = bytes(numbers[at] + 6 * numbers[at + 6] + 36 * numbers[at + 12] for at in range(6))
    return struct.pack("<BHH", 3, 1, 16) + np.float16(0.06).tobytes() + packed


def test_what_tells_nothing_is_left_out_and_its_place_is_known() -> None:
    whole = matrix(9, 4)
    some = TokenMatrix(
        whole.rows, whole.scales, np.array([True, False, True, True, False, False, True, True, True])
    )
    none = TokenMatrix(whole.rows, whole.scales, np.zeros(9, np.bool_))
    read = TokenRows.from_payloads([some.to_bytes(), whole.to_bytes(), none.to_bytes()])
    assert read.counts.tolist() == [6, 9, 9]
    assert read.masks == [0b111001101, None, None]
    assert np.array_equal(read.rows[:6], read.rows[6:15][some.telling])
    assert np.array_equal(read.rows[6:15], read.rows[15:])


def four_bits_of_a_row() -> bytes:
    """-7, 7, 0, 1 and so on, as an earlier release stored them."""
    return struct.pack("<BHH", 2, 1, 16) + np.float16(0.05).tobytes() + bytes([0xF1, 0x98] * 4)


def test_cut_bytes_are_refused() -> None:
    cut = matrix(3, 1).to_bytes()[:-1]
    with pytest.raises(AssertionError, match="cut short"):
        TokenRows.from_payloads([cut])


def test_quantised_rows_are_unit_vectors_close_to_the_original() -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 128)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kept = quantise(vectors)
    restored = kept.rows * kept.scales[:, None]
    assert np.linalg.norm(restored, axis=1) == pytest.approx(1.0, abs=1e-3)
    assert (restored * vectors).sum(axis=1).min() > 0.999
