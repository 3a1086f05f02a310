"""Writes under an idempotency key that land the key in the transaction of what they write: a crash forgets neither without the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import Instant
from lamina.store.ports.idempotency import Idempotency, IdempotencyEntry, IdempotencyKey
from lamina.store.rules.refusals import check_same

__all__ = ["entry_of", "key_of", "run_once"]

T = TypeVar("T")


def key_of(call: Call) -> IdempotencyKey | None:
    """The key that came with a call, as its caller's and of its endpoint family; None where none came."""
    if call.key is None:
        return None
    return IdempotencyKey(call.principal.tenant_id, call.principal.actor, call.key.family, call.key.key)


def entry_of(call: Call) -> IdempotencyEntry | None:
    """What is to land with the write of a call that has a key; None where it has none."""
    key = key_of(call)
    return None if key is None else IdempotencyEntry(key, call.keyed_hash(), call.now)


def run_once(
    idempotency: Idempotency,
    entry: IdempotencyEntry | None,
    now: Instant,
    write: Callable[[IdempotencyEntry | None], T],
    earlier: Callable[[IdempotencyEntry], T],
) -> Answer:
    """What ``write`` gives, which lands ``entry``; where its key was used before, what ``earlier`` makes of what is known of it.

    Calls with one key run one after the other. Raises ``Conflict`` (IDEMPOTENCY_CONFLICT) where the key was used with another body.
    """
    if entry is None:
        return Answer(write(None))
    with idempotency.alone(entry.key):
        known = idempotency.find(entry.key, now)
        if known is None:
            return Answer(write(entry))
        check_same(known, entry.body_hash)
        return Answer(earlier(known), replayed=True)
