"""Revoked tokens in SQLite."""

from __future__ import annotations

import apsw

from lamina import limits
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.revocations import Revocation
from lamina.store.rules.refusals import list_is_full
from lamina.store.sqlite.connection import Readers, Writer

__all__ = ["SqliteRevocations"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteRevocations:
    """``Revocations`` over its table."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def add(self, revocation: Revocation) -> None:
        """Mirrors ``Revocations.add``."""
        self._writer.write(lambda connection: _add(connection, revocation))

    def is_revoked(self, tenant_id: str, issuer: str, jti: str) -> bool:
        """Mirrors ``Revocations.is_revoked``."""
        return self._readers.row(_SQL["find_revocation"], (tenant_id, jti, issuer)) is not None

    def prune(self, before: Instant) -> None:
        """Mirrors ``Revocations.prune``."""

        def work(connection: apsw.Connection) -> None:
            connection.execute(_SQL["prune_revocations"], (before,))

        self._writer.write(work)


def _add(connection: apsw.Connection, given: Revocation) -> None:
    connection.execute(_SQL["prune_revocations"], (given.revoked_at,))
    row = (given.id, given.expires_at, given.reason, given.revoked_by, given.revoked_at)
    connection.execute(_SQL["insert_revocation"], (given.tenant_id, given.issuer or "", given.jti, *row))
    for (count,) in connection.execute(_SQL["count_revocations"], (given.tenant_id,)):
        if count > limits.REVOCATIONS_MAX:
            raise list_is_full(given.tenant_id)
    connection.execute(_SQL["note_access_change"])
