"""Bounds of checks of what agents wrote. The times are enough for the tests of a small project."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CHECK_CPU_S",
    "CHECK_FILES_OPEN_MAX",
    "CHECK_FILE_BYTES_MAX",
    "CHECK_MEMORY_BYTES_MAX",
    "CHECK_OUTPUT_BYTES_MAX",
    "CHECK_OUTPUT_SHOWN_MAX",
    "CHECK_PROBE_WAIT_S",
    "CHECK_PROCESSES_MAX",
    "CHECK_RETRY_S",
    "CHECK_TREE_BYTES_MAX",
    "CHECK_TREE_FILES_MAX",
    "CHECK_WAIT_S",
]

CHECK_WAIT_S: Final = 60.0
CHECK_CPU_S: Final = 60
CHECK_MEMORY_BYTES_MAX: Final = 1024 * 1024 * 1024
CHECK_FILE_BYTES_MAX: Final = 16 * 1024 * 1024  # of a file that a check writes
CHECK_FILES_OPEN_MAX: Final = 256
CHECK_PROCESSES_MAX: Final = 256
CHECK_OUTPUT_BYTES_MAX: Final = 1024 * 1024  # a check that says more is ended
CHECK_OUTPUT_SHOWN_MAX: Final = 12_000  # of the contract
CHECK_TREE_BYTES_MAX: Final = 64 * 1024 * 1024
CHECK_TREE_FILES_MAX: Final = 10_000
CHECK_PROBE_WAIT_S: Final = 5.0
CHECK_RETRY_S: Final = 10
