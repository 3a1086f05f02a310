"""The operator's key that signs receipts of erasures: the only thing that the server signs. It verifies no token."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from lamina.errors import Invalid

__all__ = ["ReceiptKey"]


class ReceiptKey:
    """An Ed25519 key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """The key of a file, in PEM; raises ``Invalid`` (INVALID_RECEIPT_KEY)."""
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            raise _no_key(path, error.strerror or "it cannot be read") from error
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise _no_key(path, "it is no private key in PEM without a passphrase") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise _no_key(path, "it is none of Ed25519")
        return cls(key)

    @property
    def public(self) -> str:
        """The 32 bytes of the public key, in base64."""
        return base64.b64encode(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()

    def signed(self, data: bytes) -> str:
        """The signature of some bytes, in base64."""
        return base64.b64encode(self._key.sign(data)).decode()


def _no_key(path: Path, reason: str) -> Invalid:
    return Invalid("INVALID_RECEIPT_KEY", f"the key {path} cannot sign receipts: {reason}")
