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

    whole_s = _timed(make)
    if work == "restore":
        whole_s = _timed(put_back)
        shutil.rmtree(into)
    for _ in range(rounds):
        after_s = chance.uniform(0.0, 1.1 * whole_s)
        killed = _killed(make if work == "backup" else put_back, after_s)
        print(f"after {after_s:.3f} of {whole_s:.3f} s:", "killed" if killed else "done", flush=True)
        if work == "backup":
            for path in folder.listed():
                verify(path, lambda _: None)
        elif (into / "lamina.db").exists():
            into.rename(into.with_name(f"restored-{len(list(data.parent.glob('restored-*')))}"))
    (make if work == "backup" else put_back)()


def _timed(work: Callable[[], None]) -> float:
    began = time.monotonic()
    _wait(_forked(work))
    return time.monotonic() - began


def _killed(work: Callable[[], None], after_s: float) -> bool:
    process = _forked(work)
    time.sleep(after_s)
    os.kill(process, signal.SIGKILL)
    return _wait(process) != 0


def _forked(work: Callable[[], None]) -> int:
    process = os.fork()
    if process == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return process


def _wait(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
