"""Runs a work of backups in processes that are killed at random moments, one after another; prints how each ended.

    python tests/killed.py backup|restore DATA BACKUPS ROUNDS SEED

It imports what is needed once and forks from there, so that a round costs no start of an interpreter.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from lamina.cli.local_socket import lock_of
from lamina.store.backups.folder import BackupFolder
from lamina.store.sqlite.backup import BackupRequest, back_up
from lamina.store.sqlite.restore import restore, verify


def main(work: str, data: Path, backups: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    folder = BackupFolder(backups, data)

    def make() -> None:
        back_up(data, BackupRequest(folder, 1_778_673_600_000_000, os.urandom))

    into = data.with_name("restored")

    def put_back() -> None:
        restore(into, folder.listed()[0], lambda _: None, lock_of=lock_of)

    whole_s = timed(make)
    if work == "restore":
        whole_s = timed(put_back)
        shutil.rmtree(into)
    for _ in range(rounds):
        after_s = chance.uniform(0.0, 1.1 * whole_s)
        was_killed = killed_after(make if work == "backup" else put_back, after_s)
        print(f"after {after_s:.3f} of {whole_s:.3f} s:", "killed" if was_killed else "done", flush=True)
        if work == "backup":
            for path in folder.listed():
                verify(path, lambda _: None)
        elif (into / "lamina.db").exists():
            into.rename(into.with_name(f"restored-{len(list(data.parent.glob('restored-*')))}"))
    (make if work == "backup" else put_back)()


def timed(work: Callable[[], None]) -> float:
    """How long a work takes in a process of its own, in seconds."""
    began = time.monotonic()
    ended(forked(work))
    return time.monotonic() - began


def killed_after(work: Callable[[], None], after_s: float) -> bool:
    """Begin a work and kill it; whether it had not ended before."""
    process = forked(work)
    time.sleep(after_s)
    os.kill(process, signal.SIGKILL)
    return ended(process) != 0


def forked(work: Callable[[], None]) -> int:
    """The id of a process that does a work."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return process


def ended(process: int) -> int:
    """How a process ended, waited for."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
