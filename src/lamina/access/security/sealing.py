"""The seal of signing keys: ChaCha20-Poly1305 under a key of a file that only its owner may read.

The file is in no backup, no repository and no answer. What it sealed is a row like others: without the file it is noise. Each
secret is bound to its tenant and its id, so that a row which is put in another's place does not open.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lamina.errors import Unavailable
from lamina.kernel.canonical import canonical
from lamina.store.flushing import sync_folder
from lamina.store.ports.signing_keys import SealedKey

if TYPE_CHECKING:
    # Loaded with the first secret: few servers have any.
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

__all__ = ["KeySeal", "RandomSource", "lost_keys"]

RandomSource = Callable[[int], bytes]

_FORM: Final = re.compile(rb"lamina-keys 1\n([0-9a-f]{64})\n")
_FILE_BYTES_MAX: Final = 128
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_OTHERS: Final = 0o077


class KeySeal:
    """Seals secrets, and opens them. The file is made when the first secret is sealed, with mode 0600."""

    def __init__(self, path: Path, random_bytes: RandomSource) -> None:
        self._path = path
        self._random = random_bytes

    def seal(self, tenant_id: str, key_id: str, secret: bytes) -> bytes:
        """A secret as it is kept; raises ``Unavailable`` (KEY_FILE_UNUSABLE)."""
        nonce = self._random(_NONCE_BYTES)
        return nonce + self._cipher(make=True).encrypt(nonce, secret, _bound_to(tenant_id, key_id))

    def opened(self, tenant_id: str, key_id: str, sealed: bytes) -> bytes:
        """The secret; raises ``Unavailable``: KEY_FILE_UNUSABLE, or KEY_UNREADABLE where another file sealed it."""
        from cryptography.exceptions import InvalidTag

        nonce, content = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return self._cipher(make=False).decrypt(nonce, content, _bound_to(tenant_id, key_id))
        except (InvalidTag, ValueError) as error:
            raise Unavailable(
                "KEY_UNREADABLE",
                f"the secret of the key {key_id} was sealed with another key file",
                details={"key_id": key_id},
            ) from error

    def _cipher(self, *, make: bool) -> ChaCha20Poly1305:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        try:
            if make and not self._path.exists():
                self._make()
            material = _read(self._path)
        except OSError as error:
            raise _unusable(self._path, error.strerror or type(error).__name__) from error
        info = b"lamina signing keys"
        return ChaCha20Poly1305(HKDF(hashes.SHA256(), length=32, salt=None, info=info).derive(material))

    def _make(self) -> None:
        """Make the file whole, or leave the one that another process made meanwhile."""
        folder = self._path.parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = folder / f".{self._path.name}.{self._random(8).hex()}"
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(b"lamina-keys 1\n" + self._random(_KEY_BYTES).hex().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(aside, self._path)
        finally:
            aside.unlink()
        sync_folder(folder)


def lost_keys(seal: KeySeal, keys: Iterable[SealedKey]) -> list[SealedKey]:
    """Those keys whose secrets cannot be opened here."""
    lost: list[SealedKey] = []
    for key in keys:
        try:
            seal.opened(key.tenant_id, key.key_id, key.sealed)
        except Unavailable:
            lost.append(key)
    return lost


def _read(path: Path) -> bytes:
    """The key in a file; raises ``Unavailable`` (KEY_FILE_UNUSABLE) for one that others could have read or written."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise _unusable(path, "it is no plain file")
        if about.st_mode & _OTHERS:
            raise _unusable(
                path, f"others than its owner may use it (mode {stat.S_IMODE(about.st_mode):04o})"
            )
        if about.st_uid != os.geteuid():
            raise _unusable(path, "it belongs to somebody else")
        form = _FORM.fullmatch(file.read(_FILE_BYTES_MAX))
    if form is None:
        raise _unusable(path, "it is not a key file of this server")
    return bytes.fromhex(form[1].decode())


def _bound_to(tenant_id: str, key_id: str) -> bytes:
    return canonical([tenant_id, key_id])


def _unusable(path: Path, reason: str) -> Unavailable:
    return Unavailable("KEY_FILE_UNUSABLE", f"the key file {path} cannot be used: {reason}")
