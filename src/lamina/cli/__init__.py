"""The command line: ``lamina serve``, ``worker``, ``remember``, ``recall`` and their kin."""

import os

# Before numpy loads: one thread for its products. They take a millisecond or less here, and threads that wait for
# each other on a busy machine make that thirty or a hundred. A process that serves has its calls to run in parallel.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from lamina.cli.main import main  # noqa: E402 - after the lines above

__all__ = ["main"]
