"""Packs by idempotency key: the same question with the same key within a minute gets the same pack."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from dataclasses import dataclass

from lamina import limits
from lamina.errors import Conflict
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.shelf import Shelf
from lamina.types.recall import Pack

__all__ = ["PackKey", "RecentPacks"]


@dataclass(frozen=True, slots=True)
class PackKey:
    """A caller's key, whatever scope it asks."""

    tenant_id: str
    caller: str
    key: str


@dataclass(frozen=True, slots=True)
class _Kept:
    made_at: Instant
    body_hash: str
    removals: int
    pack: Pack


class RecentPacks:
    """A bounded memory of this process; the oldest packs go first. Several processes keep them for each other on a shelf."""

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf
        self._packs: OrderedDict[PackKey, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: PackKey, body_hash: str, removals: int, now: Instant) -> Pack | None:
        """The pack that the key led to within the last minute; ``Conflict`` when it was for another request.

        ``removals`` is the sum of ``IndexRows.changes`` and ``last_end`` over the searched scopes: a pack from before
        something was cancelled, removed or replaced there is not given out again.
        """
        kept = self._kept(key)
        if kept is None or now - kept.made_at > limits.PACK_TTL_S * SECOND_US:
            return None
        if kept.body_hash != body_hash:
            raise Conflict(
                "IDEMPOTENCY_CONFLICT",
                "this idempotency key was used for another recall within the last minute",
                hint="use a new key for a new question",
                details={"idempotency_key": key.key},
            )
        return kept.pack if kept.removals == removals else None

    def keep(self, key: PackKey, body_hash: str, removals: int, now: Instant, pack: Pack) -> None:
        """Remember a pack under its key."""
        kept = _Kept(now, body_hash, removals, pack)
        if self._shelf is not None:
            self._shelf.put(_name(key), pickle.dumps(kept))
        with self._lock:
            self._packs[key] = kept
            self._packs.move_to_end(key)
            while len(self._packs) > limits.PACKS_KEPT_MAX:
                self._packs.popitem(last=False)

    def _kept(self, key: PackKey) -> _Kept | None:
        """The newest, whichever process made it; one too long for the shelf is known to its own alone."""
        with self._lock:
            own = self._packs.get(key)
        if self._shelf is None or (data := self._shelf.get(_name(key))) is None:
            return own
        shared: _Kept = pickle.loads(data)  # noqa: S301 - a process of this server put it there
        return shared if own is None or shared.made_at >= own.made_at else own


def _name(key: PackKey) -> tuple[str, ...]:
    return key.tenant_id, key.caller, key.key
