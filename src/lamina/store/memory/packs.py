"""Packs in memory."""

from __future__ import annotations

from dataclasses import replace

from lamina import limits
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.packs import PackKind, StoredPack

__all__ = ["MemoryPacks"]


class MemoryPacks:
    """``Packs`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def keep(self, pack: StoredPack) -> None:
        """Mirrors ``Packs.keep``."""
        with self._memory.change() as tables:
            if pack.made_at >= tables.packs_cleared.get(pack.tenant_id, pack.made_at):
                tables.packs[pack.tenant_id, pack.kind, pack.caller, pack.id] = pack
            _empty(tables, pack.made_at)
            own = [key for key in tables.packs if key[0] == pack.tenant_id]
            newest = sorted(own, key=lambda key: -tables.packs[key].made_at)
            for key in newest[limits.PACKS_STORED_MAX :]:
                del tables.packs[key]

    def find(self, tenant_id: str, kind: PackKind, caller: str, id_: str) -> StoredPack | None:
        """Mirrors ``Packs.find``."""
        return self._memory.tables.packs.get((tenant_id, kind, caller, id_))

    def prune(self, now: Instant) -> None:
        """Mirrors ``Packs.prune``."""
        with self._memory.change() as tables:
            _empty(tables, now)
            oldest = now - limits.PACK_REMEMBERED_S * SECOND_US
            for key in [key for key, pack in tables.packs.items() if pack.made_at < oldest]:
                del tables.packs[key]


def _empty(tables: Tables, now: Instant) -> None:
    for key, pack in tables.packs.items():
        if pack.made_at < now - limits.PACK_TTL_S * SECOND_US:
            tables.packs[key] = replace(pack, content=b"")
