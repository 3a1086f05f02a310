"""What was asked under which idempotency key, and what it led to."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from lamina.kernel.time import Instant

__all__ = ["Idempotency", "IdempotencyEntry", "IdempotencyKey", "KeyLocks"]


class IdempotencyKey(NamedTuple):
    """A client's key, in its scope: (tenant, caller, endpoint family, key); seed 002, 18.2 item 9."""

    tenant_id: str
    caller: str
    family: str
    key: str


@dataclass(frozen=True, slots=True)
class IdempotencyEntry:
    """What an idempotency key was used for: the request's hash, and the event or the answer it led to."""

    key: IdempotencyKey
    body_hash: str
    created_at: Instant
    event_id: str | None = None
    response: Mapping[str, Any] | None = None


class KeyLocks(Protocol):
    """What keeps two calls with one key from running at once, in whichever processes."""

    def held(self, tenant_id: str, name: str) -> AbstractContextManager[None]:
        """A tenant's name for the length of a block; raises ``Unavailable`` (WAL_UNAVAILABLE) when it does not come free."""
        ...


class Idempotency(Protocol):
    """What was answered to a key within the last 24 hours."""

    def alone(self, key: IdempotencyKey) -> AbstractContextManager[None]:
        """A block in which nobody else is inside one for the same key, in any process; others wait for its end.

        Raises ``Unavailable`` (WAL_UNAVAILABLE) for who has waited ``limits.WAIT_S_MAX``, and at once for who would wait
        while ``limits.KEY_WAITS_OF_TENANT_MAX`` others of the tenant do, or ``limits.KEY_WAITS_MAX`` in all. Calls with
        other keys are not waited for.
        """
        ...

    def find(self, key: IdempotencyKey, now: Instant) -> IdempotencyEntry | None:
        """What the key was used for, or None when it is new or has expired."""
        ...

    def remember(self, entry: IdempotencyEntry, *, erases: bool = False) -> IdempotencyEntry:
        """Keep an answer under its key; returns the entry that stands, the older one if there is one.

        What was begun (``created_at``) before ``Traces.erase_beside`` cleared is not kept, since it may tell of what was erased meanwhile,
        unless it is the answer of what ``erases``.
        """
        ...

    def prune(self, before: Instant) -> int:
        """Forget the keys used before an instant; returns how many."""
        ...
