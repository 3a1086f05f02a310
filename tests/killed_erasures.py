"""Carries out one erasure, or restores a backup from before it, in processes that are killed at random moments once they began to
erase, each in a folder of its own; prints how each ended.

    python tests/killed_erasures.py erase|restore DATA ROUNDS SEED

After each kill another process looks at the folder, and a third one carries the work to its end. `round-N` beside DATA is what is left
then, `whole` what is left where nobody interrupted. A restore reads the one backup in `backups` and `tombstones.jsonl`, both beside DATA.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from given import ALICE, BOB, TENANT
from killed import ended, forked
from lamina.access.presets import load_preset
from lamina.access.tiers import TieredPolicy
from lamina.cli.local_socket import lock_of
from lamina.continuity.owned import documents_about
from lamina.errors import Unavailable
from lamina.forget.reapplying import apply_again
from lamina.forget.runner import Eraser
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.time import Instant, SystemClock
from lamina.store.backups.tombstones import TombstoneFile
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.engine import FILE_NAME
from lamina.store.sqlite.restore import restore

Signal = Callable[[], object]
"""Called by a process once it begins to erase."""


def main(work: str, data: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    do = partial(erase, data) if work == "erase" else put_back
    process = _begun(partial(do, data.with_name("whole")))
    began = time.monotonic()
    assert ended(process) == 0
    whole_s = time.monotonic() - began
    for number in range(rounds):
        folder = data.with_name(f"round-{number}")
        process = _begun(partial(do, folder))
        after_s = chance.uniform(0.0, 1.1 * whole_s)
        time.sleep(after_s)
        os.kill(process, signal.SIGKILL)
        was_killed = ended(process) != 0
        said = f"after {after_s:.3f} of {whole_s:.3f} s: {'killed' if was_killed else 'done'}"
        print(said, flush=True)
        assert ended(forked(partial(look, folder))) == 0, said
        assert ended(forked(partial(do, folder, bool))) == 0, said


def _begun(work: Callable[[Signal], None]) -> int:
    """The id of a process that does a work and has begun to erase."""
    reads, writes = os.pipe()
    process = forked(lambda: work(lambda: os.write(writes, b"1")))
    os.close(writes)
    begins = os.read(reads, 1)
    os.close(reads)
    assert begins or ended(process) == 0
    return process


def erase(data: Path, folder: Path, begins: Signal) -> None:
    """What a worker does at its start, as far as erasures go."""
    if not folder.exists():
        shutil.copytree(data, folder)
    begins()
    store = SqliteStore(folder, durable=False)
    store.documents.recover()
    store.erasures.take_over()
    listed = TombstoneFile(folder.with_name(f"{folder.name}.jsonl"))
    eraser = Eraser(store, SystemClock(), "test", about=documents_about(store.traces), tombstones=listed)
    while eraser.step():
        pass
    store.close()


def put_back(folder: Path, begins: Signal) -> None:
    """What `lamina restore` does, where it was not done."""
    if (folder / FILE_NAME).exists():
        return
    (backup,) = folder.with_name("backups").glob("*.backup")
    listed = TombstoneFile(folder.with_name("tombstones.jsonl")).read()

    def before_served(store: Store, made_at: Instant) -> None:
        begins()
        apply_again(
            store,
            listed,
            SystemClock(),
            as_of=made_at,
            about=documents_about(store.traces),
            tombstones=TombstoneFile(folder.with_name(f"{folder.name}.jsonl")),
        )

    restore(
        folder,
        backup,
        lambda _: None,
        lock_of=lock_of,
        restoring=lambda manifest: lambda store: before_served(store, manifest.made_at),
    )


def look(folder: Path) -> None:
    """Nothing of Alice is to be read, and all of Bob is there; or there is nothing yet."""
    if not (folder / FILE_NAME).exists():
        try:
            SqliteStore(folder)
        except Unavailable:
            return
        raise AssertionError("a memory began where a backup is being restored")
    store = SqliteStore(folder, durable=False)
    policy = TieredPolicy(load_preset("dev_local"), store.registry, erasures=store.erasures)
    worded = [
        each for each in store.log.walk(TENANT, 0, 10_000) if not each.is_entry and each.redacted_by is None
    ]
    hers = [each for each in worded if each.scope == ALICE]
    asked = Grant(Capability.SCOPE_READ_LOCAL, ALICE)
    decided = policy.current().decide(Principal(TENANT, "user:alice", "http"), asked)
    assert not (hers and decided.allowed)
    assert sum(each.scope == BOB for each in worded) == int(folder.with_name("of_bob").read_text())
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
