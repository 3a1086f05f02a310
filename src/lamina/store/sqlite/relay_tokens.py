"""Relay tokens in SQLite."""

from __future__ import annotations

import json

import apsw

from lamina.kernel.relay import RelayGrant
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.relay_tokens import RelayToken
from lamina.store.rows import Row
from lamina.store.rules.refusals import token_exists
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers, Writer

__all__ = ["SqliteRelayTokens"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteRelayTokens:
    """``RelayTokens`` over its table."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def add(self, token: RelayToken) -> None:
        """Mirrors ``RelayTokens.add``."""
        self._writer.write(lambda connection: _insert(connection, token))

    def find(self, sha256: str) -> RelayToken | None:
        """Mirrors ``RelayTokens.find``."""
        row = self._readers.row(_SQL["find_relay_token"], (sha256,))
        return None if row is None else _token(row)

    def listed(self, tenant_id: str) -> list[RelayToken]:
        """Mirrors ``RelayTokens.listed``."""
        return [_token(row) for row in self._readers.rows(_SQL["relay_tokens"], (tenant_id,))]

    def revoke(self, tenant_id: str, token_id: str, at: Instant, reason: str | None) -> bool:
        """Mirrors ``RelayTokens.revoke``."""

        def work(connection: apsw.Connection) -> bool:
            connection.execute(_SQL["revoke_relay_token"], (tenant_id, token_id, at, reason))
            if connection.changes() == 0:
                return False
            connection.execute(_SQL["note_access_change"])
            return True

        return self._writer.write(work)

    def rotate(self, token_id: str, replacement: RelayToken, reason: str | None) -> bool:
        """Mirrors ``RelayTokens.rotate``."""
        old = (replacement.tenant_id, token_id, replacement.issued_at, reason, replacement.id)

        def work(connection: apsw.Connection) -> bool:
            connection.execute(_SQL["rotate_relay_token"], old)
            if connection.changes() == 0:
                return False
            _insert(connection, replacement)
            connection.execute(_SQL["note_access_change"])
            return True

        return self._writer.write(work)


def _insert(connection: apsw.Connection, token: RelayToken) -> None:
    grant = token.grant
    parts = (grant.rights, grant.read_namespaces, grant.write_namespaces)
    row = (
        token.tenant_id,
        token.id,
        token.sha256,
        token.peer_id,
        *(json_list(sorted(part)) for part in parts),
        token.issued_at,
        token.expires_at,
        token.revoked_at,
        token.revoked_reason,
        token.trust,
        token.description,
        token.rotated_at,
        token.rotated_to,
        token.rotated_from,
    )
    try:
        connection.execute(_SQL["insert_relay_token"], row)
    except apsw.ConstraintError as error:
        raise token_exists(token.id) from error


def _token(row: Row) -> RelayToken:
    tenant_id, id_, sha256, peer_id, rights, reads, writes, issued_at, *rest = row
    expires_at, revoked_at, revoked_reason, trust, description, *rotation = rest
    rotated_at, rotated_to, rotated_from = rotation
    return RelayToken(
        tenant_id=tenant_id,
        id=id_,
        sha256=sha256,
        peer_id=peer_id,
        grant=RelayGrant(*(frozenset(json.loads(part)) for part in (rights, reads, writes))),
        issued_at=issued_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
        revoked_reason=revoked_reason,
        trust=trust,
        description=description,
        rotated_at=rotated_at,
        rotated_to=rotated_to,
        rotated_from=rotated_from,
    )
