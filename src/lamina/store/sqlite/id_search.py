"""Looking for ids that should be nowhere any more: in every column of every table, in what is packed there, and in a repository.

The schema is read from the file itself, so that a table which nobody thought of is looked at, too.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from lamina.store.blocks import load_blocks
from lamina.store.bodies import texts_of
from lamina.store.documents.checking import opened
from lamina.store.documents.git import pygit2
from lamina.store.documents.repository import folder_name
from lamina.store.owners import TABLES, Holds
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import open_connection
from lamina.store.sqlite.digits import id_bytes
from lamina.store.sqlite.upkeep import REPOSITORIES

__all__ = ["rows_with"]

_SQL = load_blocks("lamina.store.sqlite")
_SCHEMA: Final = """
SELECT m.name, c.name, c.type, NOT c."notnull" FROM sqlite_schema AS m CROSS JOIN pragma_table_info(m.name) AS c
WHERE m.type = 'table' ORDER BY m.name, c.cid
"""
_FIGURES: Final = frozenset({"INTEGER", "REAL"})
_VECTORS: Final = frozenset({"vector_row.pooled", "vector_row.tokens", "token_piece.tokens"})
"""Numbers of a model: they name nothing, and their rows are found by what these are of."""
_BODIES: Final = {"record_row.body": "bodies_of_tenant", "frozen_record.body": "frozen_bodies_of_tenant"}
_LED_TO: Final = {
    "lifecycle_row": ("tenant", "tenant"),
    "mention_row": ("place", "place"),
    "record_row": ("shelf", "shelf"),
    "support_row": ("record", "identifier"),
    "text_row": ("place", "place"),
    "vector_row": ("place", "place"),
}
"""By table, the column that leads to whose a row is, and where to. A row that leads nowhere may be anybody's."""
_DIGITS: Final = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_DIGITS_CHARS: Final = 36
_ID_BYTES_MAX: Final = 64
_GZIP: Final = b"\x1f\x8b"
_GZIP_OR_ZLIB: Final = 47  # as zlib has it: its own window, whichever of the two it is
_PIECE_BYTES: Final = 1024 * 1024


class _Column(NamedTuple):
    name: str
    type: str
    is_nullable: bool


def rows_with(path: Path, tenant_id: str, ids: Collection[str]) -> dict[str, int]:
    """In how many rows of which table and column some ids stand: alone, as a text, as bytes or by their numbers, or inside of a text,
    packed or not; and in how many objects of the tenant's repository, by its path in the folder.

    Counted, too, is what may be of them: rows whose number names nothing any more, and bodies that cannot be read.
    """
    wanted, found = _Wanted(ids), Counter[str]()
    with contextlib.closing(open_connection(path, durable=False, read_only=True)) as connection:
        # One state of all tables: others write meanwhile.
        connection.execute("BEGIN")
        for table, columns in _tables(connection).items():
            if not (table in TABLES and TABLES[table].keeps_ids):
                found += _in_texts(connection, table, columns, tenant_id, wanted)
                found += _in_numbers(connection, table, columns, tenant_id, ids)
        for name, block in _BODIES.items():
            found[name] += _in_bodies(connection, block, tenant_id, wanted)
        for name, block in (
            ("lifecycle_row.position", "lifecycle_of_none"),
            ("token_piece.number", "pieces_of_none"),
        ):
            ((count,),) = connection.execute(_SQL[block], (tenant_id,))
            found[name] += count
    repository = Path(REPOSITORIES, folder_name(tenant_id))
    found[str(repository)] += _in_repository(path.parent / repository, wanted)
    return dict(sorted((+found).items()))


class _Wanted:
    """Ids, to be found in what is stored."""

    def __init__(self, ids: Collection[str]) -> None:
        self._namespaces = {id_[-_DIGITS_CHARS:].encode(): id_[:-_DIGITS_CHARS].encode() for id_ in ids}
        self._as_bytes = {
            id_bytes(id_) for id_ in ids if _DIGITS.fullmatch(id_[-_DIGITS_CHARS:].encode(errors="replace"))
        }

    def stand_in(self, stored: str | bytes) -> bool:
        """Whether one of them does."""
        if isinstance(stored, str):
            return self._are_among(stored.encode(errors="replace"))
        return stored in self._as_bytes or any(map(self._are_among, _pieces(stored)))

    def _are_among(self, said: bytes) -> bool:
        return any(
            (namespace := self._namespaces.get(digits[0])) is not None
            and said.endswith(namespace, 0, digits.start())
            for digits in _DIGITS.finditer(said)
        )


def _pieces(stored: bytes) -> Iterator[bytes]:
    """Bytes as they are stored, then inflated where that can be done, piece by piece; each begins with the end of the one before."""
    yield stored
    if stored[:2] != _GZIP and (
        stored[:1] != b"x" or int.from_bytes(stored[:2], "big") % 31
    ):  # RFC 1950, 2.2
        return
    inflating, end = zlib.decompressobj(_GZIP_OR_ZLIB), b""
    with contextlib.suppress(zlib.error):
        while stored and not inflating.eof:
            piece = end + inflating.decompress(stored, _PIECE_BYTES)
            stored, end = inflating.unconsumed_tail, piece[-_ID_BYTES_MAX:]
            yield piece


def _tables(connection: apsw.Connection) -> dict[str, list[_Column]]:
    tables: dict[str, list[_Column]] = {}
    for table, *column in connection.execute(_SCHEMA):
        tables.setdefault(str(table), []).append(_Column(*column))
    return tables


def _in_texts(
    connection: apsw.Connection, table: str, columns: Sequence[_Column], tenant_id: str, wanted: _Wanted
) -> Counter[str]:
    found = Counter[str]()
    said = [each.name for each in columns if each.type not in _FIGURES and each.name != "tenant_id"]
    names = [name for name in said if f"{table}.{name}" not in _VECTORS | _BODIES.keys()]
    if names:
        listed = ", ".join(f'"{name}"' for name in names)
        sql = f'SELECT {listed} FROM "{table}" AS t WHERE {_whose(table, columns)}'  # noqa: S608 - names of the schema
        for row in connection.execute(sql, (tenant_id,)):
            for name, value in zip(names, row, strict=True):
                found[f"{table}.{name}"] += isinstance(value, str | bytes) and wanted.stand_in(value)
    return found


def _in_numbers(
    connection: apsw.Connection, table: str, columns: Sequence[_Column], tenant_id: str, ids: Collection[str]
) -> Counter[str]:
    found = Counter[str]()
    listed = TABLES[table].columns if table in TABLES else {}
    for name in [each.name for each in columns if each.type in _FIGURES]:
        if listed.get(name) is Holds.IDS:
            sql = f"""SELECT count(*) FROM "{table}" AS t WHERE {_whose(table, columns)} AND t."{name}" IS NOT NULL
                AND NOT EXISTS (
                    SELECT 1 FROM identifier AS n WHERE n.number = t."{name}"
                    AND NOT (n.tenant_id = ?1 AND n.id IN (SELECT value FROM json_each(?2))))"""  # noqa: S608
            ((count,),) = connection.execute(sql, (tenant_id, json_list(ids)))
            found[f"{table}.{name}"] += count
    return found


def _whose(table: str, columns: Sequence[_Column]) -> str:
    """Which rows may be the tenant's that is bound to ?1."""
    for each in columns:
        if each.name == "tenant_id":
            return "(t.tenant_id = ?1 OR t.tenant_id IS NULL)" if each.is_nullable else "t.tenant_id = ?1"
    if table not in _LED_TO:
        return "?1 = ?1"
    column, leads_to = _LED_TO[table]
    return f'NOT EXISTS (SELECT 1 FROM "{leads_to}" AS o WHERE o.number = t."{column}" AND o.tenant_id <> ?1)'  # noqa: S608


def _in_bodies(connection: apsw.Connection, block: str, tenant_id: str, wanted: _Wanted) -> int:
    """In how many of the bodies of versions, each after the one that was made after it."""
    count = 0
    newer: dict[tuple[str, str, int], str] = {}
    for row, body in connection.execute(_SQL[block], (tenant_id,)):
        try:
            newer = {("", "", row): texts_of(newer | {("", "", row): body})["", "", row]}
        except (zlib.error, KeyError, IndexError, UnicodeDecodeError):
            newer = {}
            count += 1
        else:
            count += wanted.stand_in(newer["", "", row])
    return count


def _in_repository(path: Path, wanted: _Wanted) -> int:
    """In how many of its objects. One that cannot be read counts, as does a repository that cannot."""
    if not path.exists():
        return 0
    try:
        git = opened(path)
        return sum(_stand_in_object(git, id_, wanted) for id_ in git)
    except pygit2.GitError:
        return 1


def _stand_in_object(git: pygit2.Repository, id_: pygit2.Oid, wanted: _Wanted) -> bool:
    try:
        return wanted.stand_in(git.odb.read(id_)[1])
    except (KeyError, pygit2.GitError):
        return True
