"""The bytes of a backup: compressed chunks, sealed with a key where there is one, and a sum of everything at the end.

A file is a line that names the format, a line of JSON that names the seal (authenticated, where there is a key), chunks and
a SHA-256. A chunk is its length, whether it is the last, and its bytes. A seal is the STREAM construction (Hoang,
Reyhanitabar, Rogaway, Vizár: Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, 2015) over
ChaCha20-Poly1305, as age has it: the nonce of a chunk is its number and whether it is the last, the key is of this file alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
import unicodedata
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lamina import limits
from lamina.errors import Invalid

if TYPE_CHECKING:
    # Loaded with the first secret: every server knows how to back up, and few seal what they write.
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

__all__ = ["ChunkReader", "ChunkWriter", "KeyFile", "Passphrase", "RandomBytes", "Secret", "damaged"]

_MAGIC: Final = b"lamina-backup 1\n"
_HEADER_BYTES_MAX: Final = 512
_FRAME: Final = struct.Struct(">IB")
_SUM_BYTES: Final = 32
_TAG_BYTES: Final = 16
_LEVEL: Final = 1  # of deflating: two thirds of what the best level saves, at a tenth of its time
_SEALED_BYTES_MAX: Final = limits.BACKUP_CHUNK_BYTES + limits.BACKUP_CHUNK_BYTES // 256 + 64 + _TAG_BYTES

RandomBytes = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Passphrase:
    """What somebody remembers; its letters count in Unicode's NFC."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyFile:
    """The bytes of a key file, as they are."""

    data: bytes = field(repr=False)

    def __post_init__(self) -> None:
        least, most = limits.BACKUP_KEY_BYTES_MIN, limits.BACKUP_KEY_BYTES_MAX
        if not least <= len(self.data) <= most:
            raise Invalid(
                "INVALID_BACKUP_KEY",
                f"the key file has {len(self.data)} bytes; accepted: {least} to {most}",
                hint="make one with: head -c 32 /dev/urandom > backup.key",
            )


Secret = Passphrase | KeyFile


class _Header(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    seal: Literal["none", "chacha20-poly1305"] = "none"
    key: Literal["none", "passphrase", "file"] = "none"
    salt: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    scrypt_log_n: int = Field(default=0, ge=0, le=limits.BACKUP_SCRYPT_LOG_N_MAX)

    def encoded(self) -> bytes:
        return _MAGIC + json.dumps(self.model_dump(), separators=(",", ":")).encode() + b"\n"

    def holds_together(self) -> bool:
        sealed = self.seal != "none"
        return (sealed, sealed, self.key == "passphrase") == (
            self.key != "none",
            self.salt != "",
            self.scrypt_log_n >= limits.BACKUP_SCRYPT_LOG_N_MIN,
        )


@dataclass(frozen=True, slots=True)
class _Keys:
    header: bytes
    content: ChaCha20Poly1305


def _keys(header: _Header, secret: Secret) -> _Keys:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    salt = bytes.fromhex(header.salt)
    if isinstance(secret, Passphrase):
        text = unicodedata.normalize("NFC", secret.text).encode("utf-8", "surrogateescape")
        material = Scrypt(salt, length=32, n=2**header.scrypt_log_n, r=8, p=1).derive(text)
    else:
        material = secret.data

    def derived(purpose: bytes) -> bytes:
        return HKDF(hashes.SHA256(), length=32, salt=salt, info=b"lamina backup: " + purpose).derive(material)

    return _Keys(derived(b"header"), ChaCha20Poly1305(derived(b"content")))


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


class ChunkWriter:
    """Writes a backup's bytes to a file, sealed where there is a secret. Whole once ``finish`` has returned."""

    def __init__(self, out: IO[bytes], secret: Secret | None, random_bytes: RandomBytes) -> None:
        self._out = out
        self._sum = hashlib.sha256()
        self._number = 0
        self._held = bytearray()
        self._keys: _Keys | None = None
        header = _Header()
        if secret is not None:
            by_passphrase = isinstance(secret, Passphrase)
            header = _Header(
                seal="chacha20-poly1305",
                key="passphrase" if by_passphrase else "file",
                salt=random_bytes(32).hex(),
                scrypt_log_n=limits.BACKUP_SCRYPT_LOG_N if by_passphrase else 0,
            )
            self._keys = _keys(header, secret)
        self._put(header.encoded())
        if self._keys is not None:
            self._put(hmac.digest(self._keys.header, header.encoded(), "sha256"))

    def write(self, data: bytes) -> None:
        """Take more of what is backed up."""
        self._held += data
        size = limits.BACKUP_CHUNK_BYTES
        while len(self._held) > size:  # what is left when all is taken is the last chunk
            self._chunk(bytes(self._held[:size]), last=False)
            del self._held[:size]

    def finish(self) -> None:
        """Write the last chunk and the sum."""
        self._chunk(bytes(self._held), last=True)
        self._out.write(self._sum.digest())

    def _chunk(self, data: bytes, *, last: bool) -> None:
        stored = zlib.compress(data, _LEVEL)
        if self._keys is not None:
            stored = self._keys.content.encrypt(_nonce(self._number, last), stored, None)
        self._number += 1
        self._put(_FRAME.pack(len(stored), last))
        self._put(stored)

    def _put(self, data: bytes) -> None:
        self._sum.update(data)
        self._out.write(data)


class ChunkReader:
    """Reads what a ``ChunkWriter`` wrote. What it gives out has been checked chunk by chunk; the whole, once ``finish`` returns.

    Raises ``Invalid``: INVALID_BACKUP where the file is damaged, cut off or none of ours, WRONG_BACKUP_KEY where it is sealed
    with another secret, or ``secret`` is given and it is not sealed at all.
    """

    def __init__(self, source: IO[bytes], secret: Callable[[str], Secret | None]) -> None:
        """``secret`` is asked once for the secret of a kind: ``passphrase``, ``file``, or ``none`` of what is not sealed."""
        self._source = source
        self._sum = hashlib.sha256()
        self._number = 0
        self._left = b""
        self._ended = False
        if self._read(len(_MAGIC)) != _MAGIC:
            raise damaged("it does not begin as a backup of this format does")
        header = self._header()
        self._keys = self._opened(header, secret(header.key))

    def read(self, size: int) -> bytes:
        """The next bytes, as many as asked for, fewer at the end."""
        parts: list[bytes] = []
        while size and (self._left or not self._ended):
            if not self._left:
                self._left = self._chunk()
            taken, self._left = self._left[:size], self._left[size:]
            parts.append(taken)
            size -= len(taken)
        return b"".join(parts)

    def finish(self) -> None:
        """Nothing when all was read, the sum is right and nothing follows it."""
        if self._left or not self._ended:
            raise damaged("it holds more than its manifest says")
        told = self._sum.digest()
        if self._source.read(_SUM_BYTES + 1) != told:
            raise damaged("its bytes are not those that its sum was made of")

    def _header(self) -> _Header:
        line = b""
        while not line.endswith(b"\n"):
            if len(line) > _HEADER_BYTES_MAX:
                raise damaged("its header is none")
            line += self._read(1)
        try:
            header = _Header.model_validate_json(line)
        except ValidationError as error:
            raise damaged("its header cannot be read") from error
        if header.encoded() != _MAGIC + line or not header.holds_together():
            raise damaged("its header contradicts itself")
        return header

    def _opened(self, header: _Header, secret: Secret | None) -> _Keys | None:
        if header.seal == "none":
            if secret is not None:
                raise Invalid(
                    "WRONG_BACKUP_KEY",
                    "a key was given, and the backup is not encrypted: anybody can have made it",
                    hint="leave the key out, if you know where the backup comes from",
                )
            return None
        if secret is None or isinstance(secret, Passphrase) != (header.key == "passphrase"):
            wanted = "a passphrase" if header.key == "passphrase" else "a key file"
            raise Invalid("WRONG_BACKUP_KEY", f"the backup is encrypted with {wanted}")
        keys = _keys(header, secret)
        told = self._read(_SUM_BYTES)
        if not hmac.compare_digest(hmac.digest(keys.header, header.encoded(), "sha256"), told):
            raise Invalid(
                "WRONG_BACKUP_KEY",
                "the key is another one than the backup was made with, or the file is damaged at its beginning",
            )
        return keys

    def _chunk(self) -> bytes:
        length, flag = _FRAME.unpack(self._read(_FRAME.size))
        if length > _SEALED_BYTES_MAX or flag > 1:
            raise damaged(f"chunk {self._number} is longer than chunks are")
        stored, last = self._read(length), bool(flag)
        if self._keys is not None:
            from cryptography.exceptions import InvalidTag

            try:
                stored = self._keys.content.decrypt(_nonce(self._number, last), stored, None)
            except InvalidTag as error:
                raise damaged(f"chunk {self._number} is not as it was written") from error
        data = self._inflated(stored)
        if not last and len(data) != limits.BACKUP_CHUNK_BYTES:
            raise damaged(f"chunk {self._number} is shorter than chunks are")
        self._number += 1
        self._ended = last
        return data

    def _inflated(self, stored: bytes) -> bytes:
        inflating = zlib.decompressobj()
        try:
            data = inflating.decompress(stored, limits.BACKUP_CHUNK_BYTES + 1)
        except zlib.error as error:
            raise damaged(f"chunk {self._number} cannot be inflated") from error
        if not inflating.eof or inflating.unused_data or len(data) > limits.BACKUP_CHUNK_BYTES:
            raise damaged(f"chunk {self._number} is not what chunks are")
        return data

    def _read(self, size: int) -> bytes:
        data = self._source.read(size)
        if len(data) != size:
            raise damaged("it ends too early")
        self._sum.update(data)
        return data


def damaged(reason: str) -> Invalid:
    """A backup that cannot be used, and why."""
    return Invalid("INVALID_BACKUP", f"the backup cannot be used: {reason}")
