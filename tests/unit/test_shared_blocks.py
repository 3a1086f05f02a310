"""Processes that hold the same full block of vectors hold it once, and its bytes go with the last of them."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lamina.index.blocks import SharedBlocks
from lamina.index.vectors import VectorMatrix, pack
from lamina.models.ports import Int8Array
from lamina.store.tallies import shared_memory

ROWS, WIDTH = 8_192, 384

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="processes are forked on Linux alone"
)


def block(seed: int) -> Int8Array:
    return np.random.default_rng(seed).integers(-127, 128, (ROWS, WIDTH), np.int8)


def taken(blocks: SharedBlocks) -> int:
    """Bytes of shared memory that hold something, beside the table."""
    return os.fstat(blocks._descriptor).st_blocks * 512 // (ROWS * WIDTH)


def in_a_fork(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.fixture
def blocks() -> SharedBlocks:
    return SharedBlocks(shared_memory("blocks", 0), 1)


def of_process(blocks: SharedBlocks, number: int) -> SharedBlocks:
    """Those of another process, which has the descriptor."""
    return SharedBlocks(blocks._descriptor, number)


def test_the_same_block_is_held_once_and_another_by_itself(blocks: SharedBlocks) -> None:
    kept = blocks.keep(block(1))

    def elsewhere() -> None:
        theirs = of_process(blocks, 2)
        again, other = theirs.keep(block(1)), theirs.keep(block(2))
        assert np.array_equal(again, block(1))
        assert np.array_equal(other, block(2))
        assert taken(blocks) == 2

    assert in_a_fork(elsewhere) == 0
    assert np.array_equal(kept, block(1))


def test_a_block_goes_with_the_last_that_holds_it(blocks: SharedBlocks) -> None:
    first = blocks.keep(block(1))
    second = blocks.keep(block(1))[5:]
    assert taken(blocks) == 1
    del first
    gc.collect()
    assert taken(blocks) == 1
    assert np.array_equal(second, block(1)[5:])
    del second
    gc.collect()
    assert taken(blocks) == 0
    assert not any(blocks._memory[-ROWS * WIDTH :])


def test_what_a_dead_process_held_goes_once_another_has_its_number(blocks: SharedBlocks) -> None:
    def dying() -> None:
        kept = of_process(blocks, 2).keep(block(3))
        assert kept.any()
        os._exit(0)

    assert in_a_fork(dying) == 0
    assert taken(blocks) == 1

    def of_its_number() -> None:
        assert taken(of_process(blocks, 2)) == 0

    assert in_a_fork(of_its_number) == 0
    assert taken(blocks) == 0


def test_a_block_of_another_size_stays_where_it_is(blocks: SharedBlocks) -> None:
    small = np.ones((10, WIDTH), np.int8)
    assert blocks.keep(small) is small


def test_a_matrix_gives_the_same_from_shared_blocks(blocks: SharedBlocks) -> None:
    made = np.random.default_rng(5).standard_normal((ROWS + 100, WIDTH)).astype(np.float32)
    packed = pack(made / np.linalg.norm(made, axis=1, keepdims=True))
    shared, own = VectorMatrix(WIDTH, blocks), VectorMatrix(WIDTH)
    for part in (packed[:5000], packed[5000:]):
        shared.append_packed(part)
        own.append_packed(part)
    places = np.array([8191, 3, 8192, 8291], np.intp)
    assert taken(blocks) == 1
    assert shared.scan(made[0]).tobytes() == own.scan(made[0]).tobytes()
    assert shared.rows(places).tobytes() == own.rows(places).tobytes()
