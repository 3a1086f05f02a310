"""Index rows in SQLite: what is searched as texts, vectors as blobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

import apsw

from lamina import limits
from lamina.kernel.events import Event, Stage
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.index import TextRow, Tip, VectorRow
from lamina.store.rows import read_text, text_row
from lamina.store.sqlite.codec import STAGE_NUMBERS, json_list, read_event
from lamina.store.sqlite.connection import Readers, Writer

__all__ = [
    "SqliteIndexRows",
    "divide_some",
    "drop_text",
    "put_texts",
    "put_vectors",
]

_SQL = load_blocks("lamina.store.sqlite")
_STAGES: Final = json_list([STAGE_NUMBERS[stage] for stage in Stage if stage is not Stage.CAPTURED])
_UNINDEXED: Final = json_list([STAGE_NUMBERS[stage] for stage in (Stage.EXTRACTED, Stage.INDEXED)])
_PIECES_MAX: Final = 256
"""As the schema has it: pieces are numbered from so many times the number of their row on."""
_PIECE_BYTES: Final = 500
"""Eight to a page, of which a twentieth stays empty; whole, two rows stand in one, and a quarter does."""


def put_texts(connection: apsw.Connection, texts: Sequence[TextRow]) -> None:
    """Make records findable; one that is already there is replaced, and stays findable from when it first was.

    What is kept out of recall, a cancelled event too, stays unfindable however often its words change.
    """
    for row in texts:
        known = list(connection.execute(_SQL["find_text"], (row.tenant_id, row.record_id)))
        for number, recorded_at, scope in known:
            drop_text(connection, row.tenant_id, number)
            row = row._replace(recorded_at=min(row.recorded_at, recorded_at))  # noqa: PLW2901 - as it lands
            if scope != row.scope:
                connection.execute(_SQL["note_index_change"], (row.tenant_id, scope))
        connection.execute(_SQL["insert_text"], text_row(row))
        if any(connection.execute(_SQL["is_kept_out"], (row.tenant_id, row.record_id))):
            hide_text(connection, row.tenant_id, row.record_id)


def drop_text(connection: apsw.Connection, tenant_id: str, number: int) -> None:
    """Take away the row of a number."""
    connection.execute(_SQL["delete_text"], (tenant_id, number))


def hide_text(connection: apsw.Connection, tenant_id: str, record_id: str) -> None:
    """Take a record out of search and of the rows that followers see; the row itself stays."""
    for number, *_ in list(connection.execute(_SQL["find_text"], (tenant_id, record_id))):
        connection.execute(_SQL["exclude_text"], (tenant_id, number))


def show_text(connection: apsw.Connection, tenant_id: str, record_id: str) -> None:
    """Undo ``hide_text``. Followers have read past the row, so that it counts as a change."""
    for number, _, scope in list(connection.execute(_SQL["find_text"], (tenant_id, record_id))):
        connection.execute(_SQL["show_text"], (tenant_id, number))
        if connection.changes():
            connection.execute(_SQL["note_index_change"], (tenant_id, scope))


def put_vectors(connection: apsw.Connection, vectors: Sequence[VectorRow]) -> None:
    """Keep vectors beside their records."""
    pieces: list[tuple[int, bytes]] = []
    for v in vectors:
        place = (v.tenant_id, v.record_id, v.model)
        if any(connection.execute(_SQL["find_vector"], place)):
            continue
        kept = b"" if _is_divided(v.tokens) else v.tokens
        connection.execute(_SQL["insert_vector"], (*place[:2], v.scope, v.model, v.pooled, kept))
        for (number,) in connection.execute(_SQL["find_vector"], place):
            pieces += _pieces(number, v.tokens)
    connection.executemany(_SQL["insert_piece"], pieces)
    connection.executemany(_SQL["mark_embedded"], [(v.tenant_id, v.record_id) for v in vectors])


def _of_what_is_there(connection: apsw.Connection, vectors: Sequence[VectorRow]) -> list[VectorRow]:
    """Those of records that search has: words may be erased while vectors are made of them."""
    return [v for v in vectors if any(connection.execute(_SQL["find_text"], (v.tenant_id, v.record_id)))]


def _is_divided(tokens: bytes) -> bool:
    return len(tokens) <= _PIECES_MAX * _PIECE_BYTES


def _pieces(number: int, tokens: bytes) -> list[tuple[int, bytes]]:
    """The pieces of a row's token vectors, each with its number; none where the row has them itself."""
    starts = range(0, len(tokens), _PIECE_BYTES) if _is_divided(tokens) else ()
    return [
        (_PIECES_MAX * number + at, tokens[start : start + _PIECE_BYTES]) for at, start in enumerate(starts)
    ]


def divide_some(readers: Readers, writer: Writer, after: int) -> int | None:
    """Put token vectors that an earlier release wrote into pieces, of some rows past a number: the last of these; None at the end."""
    numbers = [row[0] for row in readers.rows(_SQL["undivided_tokens"], (after, limits.DIVIDED_ROWS))]

    def work(connection: apsw.Connection) -> None:
        for number, tokens in list(connection.execute(_SQL["tokens_undivided"], (json_list(numbers),))):
            if _is_divided(tokens):
                connection.execute(_SQL["divide_tokens"], (number,))
                connection.executemany(_SQL["insert_piece"], _pieces(number, tokens))

    if not numbers:
        return None
    writer.write(work)
    return int(numbers[-1])


class SqliteIndexRows:
    """``IndexRows`` over ``text_row``, ``vector_row`` and ``token_piece``."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def tip(self, tenant_id: str, scope: Scope, model: str) -> Tip:
        """Mirrors ``IndexRows.tip``."""
        (figures,) = self._readers.rows(_SQL["index_tip"], (tenant_id, scope, model, _STAGES))
        changes, text, vector, end, log, waiting_since = figures
        return Tip(changes or 0, text or 0, vector or 0, end or 0, log or 0, waiting_since)

    def waiting(self, tenant_id: str, scope: Scope, after: int, limit: int) -> list[Event]:
        """Mirrors ``IndexRows.waiting``."""
        rows = self._readers.rows(_SQL["waiting_events"], (tenant_id, scope, _UNINDEXED, after, limit))
        return [read_event(row) for row in rows]

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

    def tokens(self, tenant_id: str, rows: Collection[int]) -> dict[int, bytes]:
        """Mirrors ``IndexRows.tokens``."""
        pieces: dict[int, list[bytes]] = defaultdict(list)
        # Sorted by their numbers: bytes are never compared.
        for row, _, piece in sorted(
            self._readers.rows(_SQL["tokens_by_row"], (tenant_id, json_list(sorted(rows))))
        ):
            pieces[row].append(piece)
        return {row: b"".join(of_row) for row, of_row in pieces.items()}

    def unembedded(self, limit: int) -> list[tuple[str, str]]:
        """Mirrors ``IndexRows.unembedded``."""
        return [
            (tenant_id, record_id)
            for tenant_id, record_id in self._readers.rows(_SQL["unembedded"], (limit,))
        ]

    def embed(self, vectors: Sequence[VectorRow]) -> None:
        """Mirrors ``IndexRows.embed``."""
        self._writer.write(lambda connection: put_vectors(connection, _of_what_is_there(connection, vectors)))

    def ends_after(self, tenant_id: str, scope: Scope, after: int) -> list[tuple[int, str, Instant]]:
        """Mirrors ``IndexRows.ends_after``."""
        rows = self._readers.rows(_SQL["ends_after"], (tenant_id, scope, after))
        return [(number, event_id, at) for number, event_id, at in rows]

    def last_end(self, tenant_id: str, scope: Scope) -> int:
        """Mirrors ``IndexRows.last_end``."""
        row = self._readers.row(_SQL["last_end"], (tenant_id, scope))
        return int(row[0]) if row else 0

    def changes(self, tenant_id: str, scope: Scope) -> int:
        """Mirrors ``IndexRows.changes``."""
        row = self._readers.row(_SQL["index_changes"], (tenant_id, scope))
        return int(row[0]) if row else 0
