"""Signing keys in use: made and rotated, and asked whether a signature holds."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from lamina import limits
from lamina.access.security.sealing import KeySeal, RandomSource
from lamina.errors import Conflict, NotFound
from lamina.kernel.signatures import SIGNATURE_ALGORITHM
from lamina.kernel.time import SECOND_US, Instant, to_datetime
from lamina.store.ports.signing_keys import SealedKey, SealedKeys
from lamina.store.rules.refusals import key_exists

__all__ = ["Keyring"]

_SECRET_BYTES: Final = 32


class Keyring:
    """``Signatures``, and what makes the keys."""

    def __init__(self, keys: SealedKeys, seal: KeySeal, random_bytes: RandomSource) -> None:
        self._keys = keys
        self._seal = seal
        self._random = random_bytes

    def make(
        self,
        tenant_id: str,
        now: Instant,
        *,
        key_id: str | None,
        secret: str | None,
        activate: bool,
        grace_s: int,
    ) -> tuple[SealedKey, str]:
        """A new key and its secret: kept, and active or staged. The active one before counts for ``grace_s`` seconds more.

        Raises ``Conflict`` (KEY_EXISTS), ``Unavailable`` (KEY_FILE_UNUSABLE).
        """
        key_id = key_id or f"key_{to_datetime(now):%Y%m%dT%H%M%SZ}_{self._random(4).hex()}"
        if self._keys.find(tenant_id, key_id) is not None:
            raise key_exists(key_id)
        secret = secret or self._random(_SECRET_BYTES).hex()
        key = SealedKey(
            tenant_id=tenant_id,
            key_id=key_id,
            algorithm=SIGNATURE_ALGORITHM,
            created_at=now,
            activated_at=now if activate else None,
            sealed=self._seal.seal(tenant_id, key_id, secret.encode()),
        )
        self._keys.add(key, before_until=now + grace_s * SECOND_US)
        return key, secret

    def activated(self, tenant_id: str, key_id: str, now: Instant, *, grace_s: int) -> SealedKey | None:
        """A staged key that is the active one from now on; None where there is no key of this id. Raises ``Conflict`` (KEY_EXISTS)
        for one that is not staged any more."""
        known = self._keys.find(tenant_id, key_id)
        if known is None:
            return None
        if not self._keys.activate(tenant_id, key_id, now, before_until=now + grace_s * SECOND_US):
            raise key_exists(key_id)
        found = self._keys.find(tenant_id, key_id)
        if found is None:
            raise Conflict("KEY_EXISTS", f"the key {key_id} was taken away meanwhile")
        return found

    def active(self, tenant_id: str) -> SealedKey | None:
        """The key to sign with; None before the first."""
        return next((key for key in self._keys.listed(tenant_id) if key.is_active), None)

    def secret_of(self, key: SealedKey) -> str:
        """A key's secret; raises ``Unavailable`` (KEY_UNREADABLE, KEY_FILE_UNUSABLE)."""
        return self._seal.opened(key.tenant_id, key.key_id, key.sealed).decode()

    def holds(self, tenant_id: str, key_id: str, signed: bytes, signature: str, now: Instant) -> bool:
        """Mirrors ``Signatures.holds``."""
        wanted = self.sign(tenant_id, key_id, signed, now)
        offered = signature[: limits.SIGNATURE_LENGTH_MAX].lower().encode("utf-8", "replace")
        return hmac.compare_digest(wanted.encode(), offered) and len(signature) == len(wanted)

    def sign(self, tenant_id: str, key_id: str, signed: bytes, now: Instant) -> str:
        """Mirrors ``Signatures.sign``."""
        key = self._keys.find(tenant_id, key_id)
        if key is None or not key.verifies(now) or not key.sealed:
            raise NotFound(
                "KEY_NOT_FOUND",
                f"there is no signing key {key_id[:64]!r} that counts",
                details={"key_id": key_id[:64]},
            )
        return hmac.new(self.secret_of(key).encode(), signed, hashlib.sha256).hexdigest()
