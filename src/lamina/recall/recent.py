"""Packs by idempotency key: the same question with the same key within a minute gets the same pack."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from lamina import limits
from lamina.errors import Conflict
from lamina.kernel.time import SECOND_US, Instant
from lamina.recall.requests import Pack

__all__ = ["PackKey", "RecentPacks"]


@dataclass(frozen=True, slots=True)
class PackKey:
    """A caller's key. ``removals`` is the sum of ``IndexRows.changes`` over the searched scopes: a pack from before
    something was cancelled or removed there is not given out again."""

    tenant_id: str
    caller: str
    key: str
    removals: int


class RecentPacks:
    """A bounded memory of this process; the oldest packs go first."""

    def __init__(self) -> None:
        self._packs: OrderedDict[PackKey, tuple[Instant, str, Pack]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: PackKey, body_hash: str, now: Instant) -> Pack | None:
        """The pack that the key led to within the last minute; ``Conflict`` when it was for another request."""
        with self._lock:
            made_at, known_hash, pack = self._packs.get(key, (0, "", None))
        if pack is None or now - made_at > limits.PACK_TTL_S * SECOND_US:
            return None
        if known_hash != body_hash:
            raise Conflict(
                "IDEMPOTENCY_CONFLICT",
                "this idempotency key was used for another recall within the last minute",
                hint="use a new key for a new question",
                details={"idempotency_key": key.key},
            )
        return pack

    def keep(self, key: PackKey, body_hash: str, now: Instant, pack: Pack) -> None:
        """Remember a pack under its key."""
        with self._lock:
            self._packs[key] = (now, body_hash, pack)
            self._packs.move_to_end(key)
            while len(self._packs) > limits.PACKS_KEPT_MAX:
                self._packs.popitem(last=False)
