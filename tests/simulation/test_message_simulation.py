"""Messages under keys from eight senders, whose process is killed again and again: none lost, none doubled, each sender's in order."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

import posting
from forks import begin
from lamina.store.sqlite import SqliteStore
from shelves import TENANT

MESSAGES = int(os.environ.get("MESSAGES", "160"))
KILLS = int(os.environ.get("MESSAGE_KILLS", "2"))


def landed_until(data: Path, chance: random.Random, most: int | None) -> set[int]:
    """The messages that a process said have landed; it is killed once there are so many."""
    reads, writes = os.pipe()
    with open(os.devnull, "r+b") as nowhere, open(writes, "wb") as told:
        files = [nowhere.fileno(), told.fileno(), nowhere.fileno()]
        process = begin([posting.__file__, str(data), str(MESSAGES)], files=files)
    landed: set[int] = set()
    with open(reads, encoding="utf-8") as stdout:
        for line in stdout:
            if line.endswith("\n"):
                landed.add(int(line))
            if most is not None and len(landed) == most:
                process.send_signal(signal.SIGKILL)
                break
    assert process.wait(300) == (0 if most is None else -signal.SIGKILL)
    return landed


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
