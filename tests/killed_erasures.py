"""Carries out one erasure in processes that are killed at random moments, each over its own copy of a folder; prints how each ended.

    python tests/killed_erasures.py DATA ROUNDS SEED

After each kill another process looks at the folder, and a third one carries the erasure to its end. `round-N` beside the folder is
what is left then, `whole` what an erasure leaves that nobody interrupted.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from given import ALICE, BOB, TENANT
from killed import ended, forked, killed_after, timed
from lamina.access.presets import load_preset
from lamina.access.tiers import TieredPolicy
from lamina.continuity.owned import documents_about
from lamina.forget.runner import Eraser
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.time import SystemClock
from lamina.store.backups.tombstones import TombstoneFile
from lamina.store.sqlite import SqliteStore


def main(data: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    whole = data.with_name("whole")
    shutil.copytree(data, whole)
    whole_s = timed(lambda: erase(whole))
    for number in range(rounds):
        folder = data.with_name(f"round-{number}")
        shutil.copytree(data, folder)
        after_s = chance.uniform(0.0, 1.1 * whole_s)
        was_killed = killed_after(_erasing(folder), after_s)
        said = f"after {after_s:.3f} of {whole_s:.3f} s: {'killed' if was_killed else 'done'}"
        print(said, flush=True)
        assert ended(forked(_looking(folder))) == 0, said
        assert ended(forked(_erasing(folder))) == 0, said


def erase(folder: Path) -> None:
    """What a worker does at its start, as far as erasures go."""
    store = SqliteStore(folder, durable=False)
    store.documents.recover()
    store.erasures.take_over()
    listed = TombstoneFile(folder.with_name(f"{folder.name}.jsonl"))
    eraser = Eraser(store, SystemClock(), "test", about=documents_about(store.traces), tombstones=listed)
    while eraser.step():
        pass
    store.close()


def look(folder: Path) -> None:
    """Nothing of Alice is to be read, and all of Bob is there."""
    store = SqliteStore(folder, durable=False)
    policy = TieredPolicy(load_preset("dev_local"), store.registry, erasures=store.erasures)
    worded = [
        each for each in store.log.walk(TENANT, 0, 10_000) if not each.is_entry and each.redacted_by is None
    ]
    hers = [each for each in worded if each.scope == ALICE]
    asked = Grant(Capability.SCOPE_READ_LOCAL, ALICE)
    decided = policy.current().decide(Principal(TENANT, "user:alice", "http"), asked)
    assert not (hers and decided.allowed)
    assert sum(each.scope == BOB for each in worded) == int((folder / "of_bob").read_text())
    store.close()


def _erasing(folder: Path) -> Callable[[], None]:
    return lambda: erase(folder)


def _looking(folder: Path) -> Callable[[], None]:
    return lambda: look(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
