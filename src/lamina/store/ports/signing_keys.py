"""Keys that peers sign with, their secrets sealed: a store never holds one in the clear."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from lamina.kernel.time import Instant

__all__ = ["SealedKey", "SealedKeys"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedKey:
    """A key. One that is staged has no ``activated_at``; ``verifies_until`` is None until another one takes its place.

    ``sealed`` is empty once it verifies nothing any more.
    """

    tenant_id: str
    key_id: str
    algorithm: str
    created_at: Instant
    activated_at: Instant | None = None
    verifies_until: Instant | None = None
    sealed: bytes = field(default=b"", repr=False)

    @property
    def is_active(self) -> bool:
        """Whether it is the one to sign with."""
        return self.activated_at is not None and self.verifies_until is None

    def verifies(self, now: Instant) -> bool:
        """Whether a signature made with it counts: of the active key, a staged one, and one within its time of grace."""
        return self.verifies_until is None or now < self.verifies_until


class SealedKeys(Protocol):
    """The signing keys of each tenant; at most one of them is active."""

    def find(self, tenant_id: str, key_id: str) -> SealedKey | None:
        """The key of an id, whatever its state."""
        ...

    def listed(self, tenant_id: str) -> list[SealedKey]:
        """A tenant's keys, newest first."""
        ...

    def with_secrets(self) -> list[SealedKey]:
        """The keys of every tenant that still hold a secret, by tenant and id: which of them a key file opens is asked at a restore."""
        ...

    def add(self, key: SealedKey, *, before_until: Instant) -> None:
        """Keep a new key, durably; raises ``Conflict`` (KEY_EXISTS).

        Where it is active, the one that was verifies until ``before_until`` from now on. Secrets that verify nothing
        at ``created_at`` any more are forgotten.
        """
        ...

    def activate(self, tenant_id: str, key_id: str, at: Instant, *, before_until: Instant) -> bool:
        """Make a staged key the active one, durably, as ``add`` does; False when it was not staged."""
        ...
