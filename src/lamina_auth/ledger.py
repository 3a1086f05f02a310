"""What an issuer remembers: its name, its keys' public halves, and the tokens it gave out, never the tokens themselves.

Private keys are files of their own beside the ledger, readable by their owner only: a copy of the ledger opens nothing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pyseto.versions.v4 import V4Public

from lamina.errors import Conflict, NotFound

__all__ = ["IssuedToken", "Ledger", "SigningKey"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS issuer (id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS key (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, public TEXT NOT NULL, created_at INTEGER NOT NULL,
  retired_at INTEGER
);
CREATE TABLE IF NOT EXISTS token (
  jti TEXT PRIMARY KEY, key_id TEXT NOT NULL, sub TEXT NOT NULL, tenant TEXT NOT NULL, caps TEXT, scopes TEXT,
  issued_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, revoked_at INTEGER, reason TEXT
);
"""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key pair as the ledger knows it: ``id`` is the PASERK ``k4.pid``, ``public`` the PASERK ``k4.public``."""

    id: str
    public: str
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A token that was given out. Instants are Unix seconds; None for ``caps`` and ``scopes`` is no narrowing."""

    jti: str
    key_id: str
    sub: str
    tenant: str
    caps: str | None
    scopes: str | None
    issued_at: int
    expires_at: int
    revoked_at: int | None = None
    reason: str | None = None

    def state(self, now: int) -> str:
        """``active``, ``revoked`` or ``expired``."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if self.expires_at > now else "expired"


class Ledger:
    """An issuer in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        path = folder / "auth.db"
        path.touch(mode=0o600)
        path.chmod(0o600)
        self._connection = sqlite3.connect(path)
        with self._change() as connection:
            connection.executescript(_SCHEMA)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        with self._connection:
            yield self._connection

    # ---- the issuer and its keys

    @property
    def issuer(self) -> str:
        """Its ``iss``; raises ``NotFound`` before the first key."""
        row = self._connection.execute("SELECT id FROM issuer").fetchone()
        if row is None:
            raise NotFound(
                "NO_ISSUER", f"{self._folder} has no key yet", hint="lamina-auth keygen --issuer URL"
            )
        return str(row[0])

    def add_key(self, issuer: str | None, now: int) -> SigningKey:
        """Make a key pair, which signs from now on. The first one needs the name of the issuer."""
        known = self._connection.execute("SELECT id FROM issuer").fetchone()
        if known is None and issuer is None:
            raise NotFound(
                "NO_ISSUER", "the first key needs the name of the issuer", hint="give --issuer URL"
            )
        if known is not None and issuer not in (None, known[0]):
            raise Conflict(
                "ISSUER_NAMED", f"{self._folder} belongs to the issuer {known[0]}", hint="use another folder"
            )
        pair = Ed25519PrivateKey.generate()
        public = V4Public(pair.public_key())
        key = SigningKey(public.to_paserk_id(), public.to_paserk(), now)
        self._write_secret(key.id, V4Public(pair).to_paserk())
        with self._change() as connection:
            if known is None:
                connection.execute("INSERT INTO issuer VALUES (?)", (issuer,))
            connection.execute(
                "INSERT INTO key (id, public, created_at) VALUES (?, ?, ?)", (key.id, key.public, now)
            )
        return key

    def _write_secret(self, key_id: str, secret: str) -> None:
        folder = self._folder / "keys"
        folder.mkdir(exist_ok=True, mode=0o700)
        # Never readable by others, not even between making and filling it; never over an older key.
        descriptor = os.open(folder / f"{key_id}.secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())

    def published(self) -> list[SigningKey]:
        """The keys that are not retired, newest first: the first one signs, the others still verify."""
        rows = self._connection.execute(
            "SELECT id, public, created_at FROM key WHERE retired_at IS NULL ORDER BY number DESC"
        )
        return [SigningKey(*row) for row in rows]

    def signing_key(self) -> tuple[SigningKey, V4Public]:
        """The newest key with its private half."""
        keys = self.published()
        if not keys:
            raise NotFound("NO_KEY", f"{self._folder} has no key that signs", hint="lamina-auth keygen")
        path = self._folder / "keys" / f"{keys[0].id}.secret"
        if path.stat().st_mode & 0o077:
            raise Conflict(
                "KEY_EXPOSED", f"{path} can be read by others", hint=f"chmod 600 {path}, or make a new key"
            )
        return keys[0], V4Public.from_paserk(path.read_text())  # type: ignore[return-value] # it is typed by its base

    def retire(self, key_id: str, now: int) -> None:
        """Leave a key out of what is exported, and delete its private half; its tokens end with the next export."""
        with self._change() as connection:
            done = connection.execute(
                "UPDATE key SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (now, key_id)
            )
            if done.rowcount == 0:
                raise NotFound("NO_KEY", f"there is no key {key_id}", hint="lamina-auth export lists them")
        (self._folder / "keys" / f"{key_id}.secret").unlink(missing_ok=True)

    # ---- tokens

    def remember(self, token: IssuedToken) -> None:
        """Note a token that is about to be given out."""
        with self._change() as connection:
            connection.execute(
                "INSERT INTO token (jti, key_id, sub, tenant, caps, scopes, issued_at, expires_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    token.jti,
                    token.key_id,
                    token.sub,
                    token.tenant,
                    token.caps,
                    token.scopes,
                    token.issued_at,
                    token.expires_at,
                ),
            )

    def tokens(self) -> list[IssuedToken]:
        """Every token that was given out, newest first."""
        names = "jti, key_id, sub, tenant, caps, scopes, issued_at, expires_at, revoked_at, reason"
        rows = self._connection.execute(f"SELECT {names} FROM token ORDER BY issued_at DESC, jti")  # noqa: S608 - our own names
        return [IssuedToken(**dict(zip(names.split(", "), row, strict=True))) for row in rows]

    def revoke(self, jti: str, reason: str | None, now: int) -> IssuedToken:
        """Note that a token was taken back; the servers have to be told. Raises ``NotFound``."""
        with self._change() as connection:
            connection.execute(
                "UPDATE token SET revoked_at = ?, reason = ? WHERE jti = ? AND revoked_at IS NULL",
                (now, reason, jti),
            )
        for token in self.tokens():
            if token.jti == jti:
                return token
        raise NotFound("NO_TOKEN", f"no token {jti} was issued here", hint="lamina-auth list")
