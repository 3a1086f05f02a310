"""What a repetition brings back of the answer to the first."""

from __future__ import annotations

from given import ManualClock
from lamina.access.idempotency import Replays
from lamina.kernel.operations import Answer
from lamina.store.memory import MemoryStore
from lamina.store.ports.idempotency import IdempotencyKey


def test_a_repetition_warns_as_the_first_did() -> None:
    clock = ManualClock()
    replays = Replays(MemoryStore(clock=clock).idempotency)
    key = IdempotencyKey("acme", "user:alice", "/v1/forget", "k-1")
    answers = [
        replays.once(key, "hash", clock.now(), lambda: Answer(None, warnings=("pending",))) for _ in range(2)
    ]
    assert [(each.replayed, each.warnings) for each in answers] == [
        (False, ("pending",)),
        (True, ("pending",)),
    ]
