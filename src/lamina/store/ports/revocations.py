"""Tokens that were revoked, until they would hold no more anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lamina.kernel.time import Instant

__all__ = ["Revocation", "Revocations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """A token that holds no more, kept until ``expires_at``, when it would hold no more anyway.

    ``issuer`` None stands for every issuer of the tenant: whoever revokes a token may not know who issued it.
    """

    tenant_id: str
    issuer: str | None
    jti: str
    id: str
    expires_at: Instant
    reason: str | None
    revoked_by: str
    revoked_at: Instant


class Revocations(Protocol):
    """The revoked tokens of each tenant, at most ``limits.REVOCATIONS_MAX``."""

    def add(self, revocation: Revocation) -> None:
        """Revoke a token, durably and for every process; forgets what had expired by then.

        A token that was revoked before stays so, until the later of the two instants. Raises ``TooLarge``
        (REVOCATION_LIST_FULL).
        """
        ...

    def is_revoked(self, tenant_id: str, issuer: str, jti: str) -> bool:
        """Whether the issuer's token is on the list."""
        ...

    def prune(self, before: Instant) -> None:
        """Forget tokens that expired before an instant."""
        ...
