"""Signing keys in SQLite."""

from __future__ import annotations

import apsw

from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.signing_keys import SealedKey
from lamina.store.rows import Row
from lamina.store.rules.refusals import key_exists
from lamina.store.sqlite.connection import Readers, Writer

__all__ = ["SqliteSealedKeys"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteSealedKeys:
    """``SealedKeys`` over their table."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def find(self, tenant_id: str, key_id: str) -> SealedKey | None:
        """Mirrors ``SealedKeys.find``."""
        row = self._readers.row(_SQL["find_signing_key"], (tenant_id, key_id))
        return None if row is None else _key(row)

    def listed(self, tenant_id: str) -> list[SealedKey]:
        """Mirrors ``SealedKeys.listed``."""
        return [_key(row) for row in self._readers.rows(_SQL["signing_keys"], (tenant_id,))]

    def with_secrets(self) -> list[SealedKey]:
        """Mirrors ``SealedKeys.with_secrets``."""
        return [_key(row) for row in self._readers.rows(_SQL["sealed_keys"])]

    def add(self, key: SealedKey, *, before_until: Instant) -> None:
        """Mirrors ``SealedKeys.add``."""
        times = (key.created_at, key.activated_at, key.verifies_until)
        row = (key.tenant_id, key.key_id, key.algorithm, *times, key.sealed)

        def work(connection: apsw.Connection) -> None:
            if key.is_active:
                connection.execute(_SQL["end_active_key"], (key.tenant_id, before_until))
            try:
                connection.execute(_SQL["insert_signing_key"], row)
            except apsw.ConstraintError as error:
                raise key_exists(key.key_id) from error
            connection.execute(_SQL["empty_signing_keys"], (key.tenant_id, key.created_at))

        self._writer.write(work)

    def activate(self, tenant_id: str, key_id: str, at: Instant, *, before_until: Instant) -> bool:
        """Mirrors ``SealedKeys.activate``."""

        def work(connection: apsw.Connection) -> bool:
            row = connection.execute(_SQL["find_signing_key"], (tenant_id, key_id)).fetchone()
            if row is None or _key(row).activated_at is not None:
                return False
            connection.execute(_SQL["end_active_key"], (tenant_id, before_until))
            connection.execute(_SQL["activate_signing_key"], (tenant_id, key_id, at))
            connection.execute(_SQL["empty_signing_keys"], (tenant_id, at))
            return True

        return self._writer.write(work)


def _key(row: Row) -> SealedKey:
    tenant_id, key_id, algorithm, created_at, activated_at, verifies_until, sealed = row
    return SealedKey(
        tenant_id=tenant_id,
        key_id=key_id,
        algorithm=algorithm,
        created_at=created_at,
        activated_at=activated_at,
        verifies_until=verifies_until,
        sealed=sealed,
    )
