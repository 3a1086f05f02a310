"""Index rows in SQLite: full text with FTS5, vectors as blobs."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace

import apsw

from lamina.kernel.scopes import Scope
from lamina.store.blocks import load_blocks
from lamina.store.ports import TextRow, VectorRow
from lamina.store.sqlite.codec import json_list, read_text, text_row
from lamina.store.sqlite.connection import Readers, Writer

__all__ = ["SqliteIndexRows", "put_texts", "put_vectors", "scope_token"]

_SQL = load_blocks("lamina.store.sqlite")


def scope_token(tenant_id: str, scope: str) -> str:
    """The one word that stands for a scope inside the full-text index; 96 bits, so two never meet."""
    digest = hashlib.blake2b(f"{tenant_id}\x1f{scope}".encode(), digest_size=12).hexdigest()
    return f"scope{digest}"


def put_texts(connection: apsw.Connection, texts: Sequence[TextRow]) -> None:
    """Make records findable; one that is already there is replaced, and stays findable from when it first was."""
    for row in texts:
        known = list(connection.execute(_SQL["find_text"], (row.tenant_id, row.record_id)))
        for number, recorded_at in known:
            connection.execute(_SQL["delete_text"], (number,))
            connection.execute(_SQL["delete_terms"], (number,))
            row = replace(row, recorded_at=min(row.recorded_at, recorded_at))  # noqa: PLW2901 - as it lands
        for (number,) in connection.execute(_SQL["insert_text"], text_row(row)):
            terms = f"{scope_token(row.tenant_id, row.scope)} {row.terms} {row.keys}"
            connection.execute(_SQL["insert_terms"], (number, terms))


def put_vectors(connection: apsw.Connection, vectors: Sequence[VectorRow]) -> None:
    """Keep vectors beside their records."""
    connection.executemany(
        _SQL["insert_vector"],
        [(v.tenant_id, v.record_id, v.scope, v.model, v.pooled, v.tokens) for v in vectors],
    )
    connection.executemany(_SQL["mark_embedded"], [(v.tenant_id, v.record_id) for v in vectors])


class SqliteIndexRows:
    """``IndexRows`` over ``text_row``, ``text_index`` and ``vector_row``."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def texts_after(self, tenant_id: str, scope: Scope, after: int, limit: int) -> list[TextRow]:
        """Mirrors ``IndexRows.texts_after``."""
        return [
            read_text(row)
            for row in self._readers.rows(_SQL["texts_after"], (tenant_id, scope, after, limit))
        ]

    def vectors_after(
        self, tenant_id: str, scope: Scope, model: str, after: int, limit: int
    ) -> list[tuple[int, str, bytes]]:
        """Mirrors ``IndexRows.vectors_after``."""
        rows = self._readers.rows(_SQL["vectors_after"], (tenant_id, scope, model, after, limit))
        return [(number, record_id, pooled) for number, record_id, pooled in rows]

    def tokens(self, tenant_id: str, record_ids: Collection[str], model: str) -> dict[str, bytes]:
        """Mirrors ``IndexRows.tokens``."""
        return dict(self._readers.rows(_SQL["tokens_by_record"], (tenant_id, json_list(record_ids), model)))

    def unembedded(self, limit: int) -> list[tuple[str, str]]:
        """Mirrors ``IndexRows.unembedded``."""
        return [
            (tenant_id, record_id)
            for tenant_id, record_id in self._readers.rows(_SQL["unembedded"], (limit,))
        ]

    def embed(self, vectors: Sequence[VectorRow]) -> None:
        """Mirrors ``IndexRows.embed``."""
        self._writer.write(lambda connection: put_vectors(connection, vectors))

    def search(
        self, tenant_id: str, scopes: Collection[Scope], terms: Sequence[str], limit: int
    ) -> list[tuple[str, float]]:
        """Mirrors ``IndexRows.search``."""
        if not scopes or not terms:
            return []
        inside = " OR ".join(scope_token(tenant_id, scope) for scope in sorted(scopes))
        wanted = " OR ".join(f'"{term.replace(chr(34), "")}"' for term in dict.fromkeys(terms))
        expression = f"({inside}) AND ({wanted})"
        rows = self._readers.rows(_SQL["search_text"], (expression, tenant_id, json_list(scopes), limit))
        return [(record_id, float(score)) for record_id, score in rows]

    def changes(self, tenant_id: str, scope: Scope) -> int:
        """Mirrors ``IndexRows.changes``."""
        row = self._readers.row(_SQL["index_changes"], (tenant_id, scope))
        return int(row[0]) if row else 0
