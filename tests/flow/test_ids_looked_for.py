"""An id that an erasure took is found wherever it may be left: in every table, in every packed format and in repositories."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from given import TENANT, CountedIds, ManualClock, append
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.records import Layer
from lamina.store.bodies import folded, packed
from lamina.store.owners import TABLES, Holds
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.connection import open_connection
from lamina.store.sqlite.id_search import rows_with
from lamina.store.sqlite.migrate import migrate

GONE = RandomIds().stamped(Prefix.EVENT, 1)
BARE = {"": None, "TEXT": "", "BLOB": b"", "INTEGER": 0, "REAL": 0.0}
LEADING = {"record", "source", "entity", "event", "shelf", "tenant"}
"""To the one row of ``identifier``, ``shelf`` or ``tenant`` that is there, or of ``place``."""
PLAIN = {"tenant_id": TENANT, "window_events": "[]", "directives": None}
BESIDES: dict[str, dict[str, object]] = {
    "lifecycle_row": {"place": 1, "position": None},
    "mention_row": {"place": 1},
    "text_row": {"place": 1},
    "vector_row": {"place": 1},
    "identifier": {"number": 9},
    "record_row": {"row": 1 << 24, "subject": None, "object": None, "body": "{}"},
    "frozen_record": {"body": "{}"},
}
VECTORS = {"vector_row.pooled", "vector_row.tokens", "token_piece.tokens"}
"""Numbers of a model, which name nothing: these rows are found by the record that they are of."""


def schema() -> dict[str, dict[str, str]]:
    """The type of every column of every table."""
    connection = apsw.Connection(":memory:")
    migrate(connection)
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    return {
        name: {row[1]: row[2] for row in connection.execute("SELECT * FROM pragma_table_info(?)", (name,))}
        for (name,) in tables.fetchall()
    }


SCHEMA = schema()
COLUMNS = [
    (table, column)
    for table, columns in SCHEMA.items()
    for column, type_ in columns.items()
    if not (table in TABLES and TABLES[table].keeps_ids)
    and column != "tenant_id"
    and f"{table}.{column}" not in VECTORS
    and (type_ not in ("INTEGER", "REAL") or TABLES[table].columns[column] is Holds.IDS)
]


@pytest.fixture(name="path", scope="module")
def _path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("data") / "lamina.db"
    connection = open_connection(path, durable=False)
    migrate(connection)
    connection.execute("INSERT INTO identifier VALUES (1, ?, 'evt_of_another')", (TENANT,))
    for table in ("tenant", "shelf", "place"):
        rest = {"tenant": (), "shelf": ("org:acme", "facts"), "place": ("org:acme",)}[table]
        marks = ", ".join("?" * len(rest))
        connection.execute(f"INSERT INTO {table} VALUES (1, ?{', ' if rest else ''}{marks})", (TENANT, *rest))
    connection.close()
    return path


@pytest.fixture(name="database")
def _database(path: Path) -> Iterator[apsw.Connection]:
    """One whose rows are taken back afterwards."""
    kept = path.read_bytes()
    connection = open_connection(path, durable=False)
    connection.execute("PRAGMA ignore_check_constraints = on")
    yield connection
    connection.close()
    path.with_name("lamina.db-wal").unlink(missing_ok=True)
    path.write_bytes(kept)


def put(connection: apsw.Connection, table: str, **values: object) -> None:
    """A row of which only these columns say anything."""
    types = SCHEMA[table]
    row = {name: BARE[type_] for name, type_ in types.items()}
    row |= {name: 1 for name in LEADING & types.keys() if types[name] == "INTEGER"}
    row |= {name: value for name, value in PLAIN.items() if name in row} | BESIDES.get(table, {}) | values
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" * len(row))
    connection.execute(f'INSERT OR REPLACE INTO "{table}" ({names}) VALUES ({marks})', tuple(row.values()))


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_an_id_is_found_in_every_column_of_every_table(
    path: Path, database: apsw.Connection, table: str, column: str
) -> None:
    if SCHEMA[table][column] == "INTEGER":
        put(database, "identifier", number=7, id=GONE)
    left = {"INTEGER": 7, "BLOB": GONE.encode()}.get(SCHEMA[table][column], f'"{GONE}"')
    put(database, table, **{column: left})
    assert rows_with(path, TENANT, [GONE]).get(f"{table}.{column}") == 1
    assert f"{table}.{column}" not in rows_with(path, TENANT, [RandomIds().stamped(Prefix.EVENT, 2)])


def test_every_table_that_keeps_no_ids_is_looked_at() -> None:
    bare = sorted(
        table
        for table in SCHEMA.keys() - {table for table, _ in COLUMNS}
        if not (table in TABLES and TABLES[table].keeps_ids)
    )
    figures = ["access_version", "lease_counter", "log_end", "rewriting", "scrubbing"]
    assert bare == sorted([*figures, "tenant", "token_piece"])


def test_a_row_whose_number_names_nothing_is_found(path: Path, database: apsw.Connection) -> None:
    put(database, "text_row", record=8)
    put(database, "vector_row", id=3, record=8)
    put(database, "token_piece", number=3 * 256 + 5)
    put(database, "token_piece", number=4 * 256)
    put(database, "lifecycle_row", position=5)
    put(database, "support_row", record=8, source=8)
    assert rows_with(path, TENANT, [GONE]) == {
        "lifecycle_row.position": 1,
        "support_row.record": 1,
        "support_row.source": 1,
        "text_row.record": 1,
        "token_piece.number": 1,
        "vector_row.record": 1,
    }


def test_what_another_tenant_has_is_not_counted(path: Path, database: apsw.Connection) -> None:
    database.execute("INSERT INTO shelf VALUES (2, 'other', 'org:other', 'beliefs')")
    put(database, "record_row", shelf=2, topic=GONE)
    put(database, "outbox", tenant_id="other", event_id=GONE)
    assert rows_with(path, TENANT, [GONE]) == {}
    assert rows_with(path, "other", [GONE]) == {"outbox.event_id": 1, "record_row.topic": 1}


WORDS = f'{{"edges":[["{GONE}","part_of",0.5]]}}'
PACKED = {
    "belief": ("record_row", "body", packed(Layer.BELIEFS, WORDS)),
    "concept": ("record_row", "body", packed(Layer.UNDERSTANDING, WORDS)),
    "frozen": ("frozen_record", "body", packed(Layer.EPISODES, WORDS)),
    "unreadable": ("frozen_record", "body", b"\x01\xff\xff"),
    "fact": ("record_row", "body", f'{{"told":["{GONE}"]}}'),
    "pack": ("pack", "content", zlib.compress(WORDS.encode(), 1)),
    "archive": ("document_version", "content", gzip.compress(WORDS.encode())),
    "document": ("document_version", "content", b"\xff\x00 of " + GONE.encode()),
    "bytes": ("idempotency", "event_id", bytes.fromhex(GONE[4:].replace("-", ""))),
    "path": ("document", "path", f"memory/of_{GONE}.md"),
}


@pytest.mark.parametrize("name", PACKED)
def test_an_id_is_found_in_every_format(path: Path, database: apsw.Connection, name: str) -> None:
    table, column, stored = PACKED[name]
    put(database, table, **{column: stored})
    assert rows_with(path, TENANT, [GONE]) == {f"{table}.{column}": 1}


def test_an_id_is_found_in_versions_that_are_folded(path: Path, database: apsw.Connection) -> None:
    filler = ", ".join(f'"concept {number}"' for number in range(200))
    texts = [f"{WORDS} {filler}", f"{{}} {filler}", f"{WORDS} {{}} {filler}"]
    bodies = [folded(texts[0], texts[1]), folded(texts[1], texts[2]), packed(Layer.UNDERSTANDING, texts[2])]
    for version, body in enumerate(bodies, 1):
        put(database, "record_row", row=1 << 24 | version, version=version, body=body)
    assert rows_with(path, TENANT, [GONE]) == {"record_row.body": 2}
    put(database, "record_row", row=1 << 24 | 4, version=4, body=folded("{}", "{}"))
    assert rows_with(path, TENANT, [GONE]) == {"record_row.body": 3}, "the version after it is not there"


def test_an_id_is_found_in_the_repository(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, clock=ManualClock(), ids=CountedIds(), durable=False)
    append(store, "tea")
    for path, text in ((f"of/{GONE}.md", "tea"), ("b.md", f"tea of {GONE}" * 99)):
        change = Change(path, ChangeKind.PUT, text.encode())
        store.documents.write([Write(tenant_id=TENANT, author="user:alice", message="m", changes=(change,))])
    store.close()
    found = rows_with(tmp_path / "lamina.db", TENANT, [GONE])
    assert found["relay/acme.git"] >= 2
    assert rows_with(tmp_path / "lamina.db", "other", [GONE]) == {}
    assert rows_with(tmp_path / "lamina.db", TENANT, [RandomIds().stamped(Prefix.EVENT, 2)]) == {}
