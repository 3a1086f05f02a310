"""Relay tokens, by the hash of their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lamina.kernel.relay import RelayGrant
from lamina.kernel.time import Instant

__all__ = ["RelayToken", "RelayTokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayToken:
    """A token by the SHA-256 of its text, in hex: the text itself is kept nowhere.

    ``trust`` is what the operator thinks of the peer; a token of an ``untrusted`` one holds nothing. ``rotated_to`` is the id of
    the token that took its place at ``rotated_at``, ``rotated_from`` of the one whose place it took.
    """

    tenant_id: str
    id: str
    sha256: str
    peer_id: str
    grant: RelayGrant
    issued_at: Instant
    expires_at: Instant | None = None
    revoked_at: Instant | None = None
    revoked_reason: str | None = None
    trust: str = "trusted"
    description: str = ""
    rotated_at: Instant | None = None
    rotated_to: str | None = None
    rotated_from: str | None = None


class RelayTokens(Protocol):
    """The opaque tokens of Relay peers."""

    def add(self, token: RelayToken) -> None:
        """Keep a token, durably; raises ``Conflict`` (TOKEN_EXISTS) when its id or its hash is known."""
        ...

    def find(self, sha256: str) -> RelayToken | None:
        """The token of a hash, whatever its state; the hash says of which tenant it is."""
        ...

    def listed(self, tenant_id: str) -> list[RelayToken]:
        """A tenant's tokens, newest first."""
        ...

    def revoke(self, tenant_id: str, token_id: str, at: Instant, reason: str | None) -> bool:
        """Take a token back, durably and for every process; False when it was not held."""
        ...

    def rotate(self, token_id: str, replacement: RelayToken, reason: str | None) -> bool:
        """Put a token in the place of one of the same tenant, durably: the other is taken back as of its replacement's issue.

        False, and nothing is done, when the other was not held. Raises ``Conflict`` (TOKEN_EXISTS) as ``add`` does.
        """
        ...
