"""Relay tokens in memory."""

from __future__ import annotations

from dataclasses import replace

from lamina.kernel.time import Instant
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.relay_tokens import RelayToken
from lamina.store.rules.refusals import token_exists

__all__ = ["MemoryRelayTokens"]


class MemoryRelayTokens:
    """``RelayTokens`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def add(self, token: RelayToken) -> None:
        """Mirrors ``RelayTokens.add``."""
        with self._memory.change() as tables:
            _insert(tables, token)

    def find(self, sha256: str) -> RelayToken | None:
        """Mirrors ``RelayTokens.find``."""
        tokens = self._memory.tables.relay_tokens.values()
        return next((token for token in tokens if token.sha256 == sha256), None)

    def listed(self, tenant_id: str) -> list[RelayToken]:
        """Mirrors ``RelayTokens.listed``."""
        tokens = [
            token for (tenant, _), token in self._memory.tables.relay_tokens.items() if tenant == tenant_id
        ]
        return sorted(tokens, key=lambda token: (-token.issued_at, token.id))

    def revoke(self, tenant_id: str, token_id: str, at: Instant, reason: str | None) -> bool:
        """Mirrors ``RelayTokens.revoke``."""
        with self._memory.change() as tables:
            known = tables.relay_tokens.get((tenant_id, token_id))
            if known is None or known.revoked_at is not None:
                return False
            tables.relay_tokens[tenant_id, token_id] = replace(known, revoked_at=at, revoked_reason=reason)
            tables.access_version += 1
            return True

    def rotate(self, token_id: str, replacement: RelayToken, reason: str | None) -> bool:
        """Mirrors ``RelayTokens.rotate``."""
        at, place = replacement.issued_at, (replacement.tenant_id, token_id)
        with self._memory.change() as tables:
            known = tables.relay_tokens.get(place)
            if known is None or known.revoked_at is not None:
                return False
            tables.relay_tokens[place] = replace(
                known, revoked_at=at, revoked_reason=reason, rotated_at=at, rotated_to=replacement.id
            )
            _insert(tables, replacement)
            tables.access_version += 1
            return True


def _insert(tables: Tables, token: RelayToken) -> None:
    known = tables.relay_tokens
    if (token.tenant_id, token.id) in known or any(each.sha256 == token.sha256 for each in known.values()):
        raise token_exists(token.id)
    known[token.tenant_id, token.id] = token
