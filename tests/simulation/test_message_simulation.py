"""Messages under keys from eight senders, whose process is killed again and again: none lost, none doubled, each sender's in order."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import posting
from lamina.store.sqlite import SqliteStore
from shelves import TENANT

MESSAGES = int(os.environ.get("MESSAGES", "160"))
KILLS = int(os.environ.get("MESSAGE_KILLS", "2"))


def landed_until(data: Path, chance: random.Random, most: int | None) -> set[int]:
    """The messages that a process said have landed; it is killed once there are so many."""
    command = [sys.executable, posting.__file__, str(data), str(MESSAGES)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | _paths())
    assert process.stdout is not None
    landed: set[int] = set()
    for line in process.stdout:
        if line.endswith("\n"):
            landed.add(int(line))
        if most is not None and len(landed) == most:
            process.send_signal(signal.SIGKILL)
            break
    process.stdout.close()
    assert process.wait(300) == (0 if most is None else -signal.SIGKILL)
    return landed


def _paths() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.slow
def test_messages_survive_kills_once_each_and_in_order(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("SIMULATION_SEED", "7")))
    for _ in range(KILLS):
        said = landed_until(tmp_path, chance, chance.randrange(MESSAGES // 8, MESSAGES // 2))
        store = SqliteStore(tmp_path)
        inbox = store.messages.inbox(TENANT, "cy", after=0, limit=MESSAGES)
        store.close()
        assert said <= {int(each.idempotency_key.removeprefix("key-")) for each in inbox}
    assert landed_until(tmp_path, chance, None) == set(range(MESSAGES))
    store = SqliteStore(tmp_path)
    inbox = store.messages.inbox(TENANT, "cy", after=0, limit=MESSAGES + 1)
    thread = store.messages.thread(TENANT, "t", peer=None, limit=MESSAGES + 1)
    documents = store.documents.below(TENANT, "messages/inbox")
    told = list(store.log.walk(TENANT, 0, MESSAGES * 2))
    store.close()
    keys = [each.idempotency_key for each in inbox]
    assert Counter(keys) == dict.fromkeys((f"key-{number}" for number in range(MESSAGES)), 1)
    assert thread == inbox
    assert {each.path for each in documents} == {each.path for each in inbox}
    assert Counter(each.content["path"] for each in told) == dict.fromkeys((each.path for each in inbox), 1)
    for sender in range(posting.SENDERS):
        mine = [each.idempotency_key for each in inbox if each.sender == f"peer-{sender}"]
        assert mine == [f"key-{number}" for number in range(sender, MESSAGES, posting.SENDERS)]
