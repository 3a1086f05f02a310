"""However many threads a server has, they share two heaps, no product of matrices takes more than one of them, and what is free goes back."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_HEAPS = """
import ctypes, sys, threading
from lamina.cli.process import share_heaps

if sys.argv[1] == "shared":
    share_heaps()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
all_there = threading.Barrier(12)

def take():
    libc.malloc(ctypes.c_size_t(100))
    all_there.wait(300)

threads = [threading.Thread(target=take) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
out = ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, out)
libc.fclose(out)
"""

_TRIMMED = """
import ctypes, time
from lamina.cli.process import share_heaps
from lamina.cli.trim import RegularTrim
from lamina.observe.rounds import Failures

def own():
    return next(int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.startswith("Anonymous"))

share_heaps()
kept = [[bytes(60_000), bytes(600)] for _ in range(1_000)]
for each in kept:
    each[0] = None  # holes between what stays
full, trim = own(), RegularTrim(Failures(), every_s=0.01)
trim.start()
until = time.monotonic() + 30
while own() > full - 40_000 and time.monotonic() < until:
    time.sleep(0.01)
trim.stop()
print(full - own() > 40_000)
"""

_CORES = """
import numpy
from threadpoolctl import threadpool_info
from lamina.cli.process import use_one_core_a_product

use_one_core_a_product()
print([pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"])
"""


def test_a_product_of_matrices_takes_one_core() -> None:
    found = subprocess.run([sys.executable, "-c", _CORES], capture_output=True, text=True, check=True).stdout
    assert found.strip() in ("[1]", "[]")  # none where numpy multiplies with Apple's library


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has a heap for each thread")
def test_threads_share_two_heaps() -> None:
    heaps = {
        how: subprocess.run(
            [sys.executable, "-c", _HEAPS, how], capture_output=True, text=True, check=True
        ).stdout.count("<heap nr=")
        for how in ("shared", "apart")
    }
    assert heaps["shared"] <= 2 < heaps["apart"]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries are not asked")
def test_what_is_free_between_what_stays_goes_back_to_the_system() -> None:
    found = subprocess.run(
        [sys.executable, "-c", _TRIMMED], capture_output=True, text=True, check=True
    ).stdout
    assert found.strip() == "True"
