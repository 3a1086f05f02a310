"""Signing keys in memory."""

from __future__ import annotations

from dataclasses import replace

from lamina.kernel.time import Instant
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.signing_keys import SealedKey
from lamina.store.rules.refusals import key_exists

__all__ = ["MemorySealedKeys"]


class MemorySealedKeys:
    """``SealedKeys`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def find(self, tenant_id: str, key_id: str) -> SealedKey | None:
        """Mirrors ``SealedKeys.find``."""
        return self._memory.tables.signing_keys.get((tenant_id, key_id))

    def listed(self, tenant_id: str) -> list[SealedKey]:
        """Mirrors ``SealedKeys.listed``."""
        keys = [key for (tenant, _), key in self._memory.tables.signing_keys.items() if tenant == tenant_id]
        return sorted(keys, key=lambda key: (-key.created_at, key.key_id))

    def with_secrets(self) -> list[SealedKey]:
        """Mirrors ``SealedKeys.with_secrets``."""
        return [key for _, key in sorted(self._memory.tables.signing_keys.items()) if key.sealed]

    def add(self, key: SealedKey, *, before_until: Instant) -> None:
        """Mirrors ``SealedKeys.add``."""
        with self._memory.change() as tables:
            if (key.tenant_id, key.key_id) in tables.signing_keys:
                raise key_exists(key.key_id)
            if key.is_active:
                _end_active(tables, key.tenant_id, before_until)
            tables.signing_keys[key.tenant_id, key.key_id] = key
            _empty(tables, key.tenant_id, key.created_at)

    def activate(self, tenant_id: str, key_id: str, at: Instant, *, before_until: Instant) -> bool:
        """Mirrors ``SealedKeys.activate``."""
        with self._memory.change() as tables:
            known = tables.signing_keys.get((tenant_id, key_id))
            if known is None or known.activated_at is not None:
                return False
            _end_active(tables, tenant_id, before_until)
            tables.signing_keys[tenant_id, key_id] = replace(known, activated_at=at)
            _empty(tables, tenant_id, at)
            return True


def _end_active(tables: Tables, tenant_id: str, until: Instant) -> None:
    for place, key in list(tables.signing_keys.items()):
        if key.tenant_id == tenant_id and key.is_active:
            tables.signing_keys[place] = replace(key, verifies_until=until)


def _empty(tables: Tables, tenant_id: str, now: Instant) -> None:
    for place, key in list(tables.signing_keys.items()):
        if key.tenant_id == tenant_id and not key.verifies(now):
            tables.signing_keys[place] = replace(key, sealed=b"")
