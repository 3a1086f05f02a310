"""What is signed when one agent proves to another who sent something, and who says whether it holds (Relay contract 1.11).

HMAC-SHA256 in hex over compact, key-sorted JSON with non-ASCII text as it is.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from lamina.kernel.canonical import canonical
from lamina.kernel.time import Instant

__all__ = ["SIGNATURE_ALGORITHM", "Signatures", "signed_bytes"]

SIGNATURE_ALGORITHM: Final = "hmac-sha256"


def signed_bytes(payload: Any, *, key_id: str, nonce: str, expires_at: str | None) -> bytes:  # Any: JSON
    """The bytes that a signature is made over; raises ``ValueError`` for NaN and infinities."""
    return canonical({"expires_at": expires_at, "key_id": key_id, "nonce": nonce, "payload": payload})


class Signatures(Protocol):
    """The signing keys of each tenant, as far as others may use them."""

    def holds(self, tenant_id: str, key_id: str, signed: bytes, signature: str, now: Instant) -> bool:
        """Whether a signature was made over these bytes with a key: the active one, a staged one, or an older one within its grace.

        Raises ``NotFound`` (KEY_NOT_FOUND) where no such key counts, ``Unavailable`` (KEY_UNREADABLE) where its secret
        cannot be opened. Takes as long for a wrong signature as for a right one.
        """
        ...

    def sign(self, tenant_id: str, key_id: str, signed: bytes, now: Instant) -> str:
        """The signature, in hex; raises as ``holds`` does."""
        ...
