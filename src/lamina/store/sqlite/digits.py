"""Hashes and ids as the bytes that their digits say. Earlier releases kept the texts, and what is no hash or id still is one."""

from __future__ import annotations

from typing import Final, overload

from lamina.kernel.ids import Prefix, is_uuid7

__all__ = ["hash_of", "id_bytes", "id_of", "stored_hash", "stored_id"]

_HASH_CHARS: Final = len("sha256:") + 64
_HASH_BYTES: Final = 32
_ID_BYTES: Final = 16
_UUID_CHARS: Final = 36


def stored_hash(text: str) -> str | bytes:
    """``sha256:`` and 64 digits as 32 bytes; any other text as it is."""
    if len(text) != _HASH_CHARS or not text.startswith("sha256:"):
        return text
    try:
        digest = bytes.fromhex(text[7:])
    except ValueError:
        return text
    # Digits may be written in other ways, which would come back as these.
    return digest if digest.hex() == text[7:] else text


def hash_of(stored: str | bytes) -> str:
    """A hash as it was made; of a damaged file it need not be one."""
    if not isinstance(stored, bytes):
        return stored
    return f"sha256:{stored.hex()}" if len(stored) == _HASH_BYTES else stored.decode(errors="replace")


def stored_id(text: str, prefix: Prefix) -> str | bytes:
    """An id of a namespace, which the column names, as 16 bytes; any other text as it is."""
    name, _, rest = text.rpartition("_")
    return id_bytes(text) if name == prefix and is_uuid7(rest) else text


def id_bytes(id_: str) -> bytes:
    """The 16 bytes of an id of ours, of whatever namespace."""
    return bytes.fromhex(id_[-_UUID_CHARS:].replace("-", ""))


@overload
def id_of(stored: str | bytes, prefix: Prefix) -> str: ...
@overload
def id_of(stored: None, prefix: Prefix) -> None: ...
def id_of(stored: str | bytes | None, prefix: Prefix) -> str | None:
    """An id as it was made, None where there is none; of a damaged file it need not be one."""
    if not isinstance(stored, bytes):
        return stored
    if len(stored) != _ID_BYTES:
        return stored.decode(errors="replace")
    digits = stored.hex()
    return f"{prefix}_{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
