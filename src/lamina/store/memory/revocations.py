"""Revoked tokens in memory."""

from __future__ import annotations

from dataclasses import replace

from lamina import limits
from lamina.kernel.time import Instant
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.revocations import Revocation
from lamina.store.rules.refusals import list_is_full

__all__ = ["MemoryRevocations"]


class MemoryRevocations:
    """``Revocations`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def add(self, revocation: Revocation) -> None:
        """Mirrors ``Revocations.add``."""
        key = (revocation.tenant_id, revocation.issuer or "", revocation.jti)
        with self._memory.change() as tables:
            _prune(tables, revocation.revoked_at)
            known = tables.revocations.get(key, revocation)
            tables.revocations[key] = replace(known, expires_at=max(known.expires_at, revocation.expires_at))
            if (
                sum(tenant == revocation.tenant_id for tenant, *_ in tables.revocations)
                > limits.REVOCATIONS_MAX
            ):
                raise list_is_full(revocation.tenant_id)
            tables.access_version += 1

    def is_revoked(self, tenant_id: str, issuer: str, jti: str) -> bool:
        """Mirrors ``Revocations.is_revoked``."""
        revocations = self._memory.tables.revocations
        return (tenant_id, issuer, jti) in revocations or (tenant_id, "", jti) in revocations

    def prune(self, before: Instant) -> None:
        """Mirrors ``Revocations.prune``."""
        with self._memory.change() as tables:
            _prune(tables, before)


def _prune(tables: Tables, before: Instant) -> None:
    for key in [key for key, row in tables.revocations.items() if row.expires_at < before]:
        del tables.revocations[key]
