"""The embedded engine's schema: one shape by both ways, and no database opened that is not understood."""

from __future__ import annotations

import re
import stat
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw
import pytest

from given import (
    ALICE,
    NOON,
    TENANT,
    ManualClock,
    append,
    audit_draft,
    claim,
    concept,
    draft,
    episode,
    fact,
    land,
    loop,
    name_id,
    vector_row,
)
from lamina.errors import Conflict, Fault
from lamina.kernel.audit import AuditDraft, chained
from lamina.kernel.canonical import compact, digest
from lamina.kernel.events import Party
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.local import LocalTime
from lamina.kernel.records import EpisodeRole, Fact, Layer, ObjectValue, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Axes
from lamina.store.bodies import unpacked
from lamina.store.ports.audit import AuditQuery
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery
from lamina.store.ports.log import Appended, Capture, EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.writes import Writes
from lamina.store.rows import read_record, record_row
from lamina.store.sqlite import SqliteStore, engine
from lamina.store.sqlite.codec import event_row, read_event
from lamina.store.sqlite.lifecycle import LifecycleWriter
from lamina.store.sqlite.migrate import migrate, migrations, schema_number_of

SCHEMA = files("lamina.store.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def normalised(sql: str | None) -> str:
    without_comments = re.sub(r"--[^\n]*", " ", sql or "")
    return re.sub(r"\s+", " ", without_comments).strip()


def shape(connection: apsw.Connection) -> dict[str, object]:
    found: dict[str, object] = {}
    for kind, name, sql in connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE name <> 'migration'"
    ):
        found[f"{kind} {name}"] = normalised(sql)
        if kind == "table":
            columns = connection.execute("SELECT * FROM pragma_table_info(?)", (name,))
            found[f"columns of {name}"] = list(columns)
    return found


def with_steps(connection: apsw.Connection, until: str) -> apsw.Connection:
    """A database as it was before a step, which ``migrate`` takes next."""
    connection.execute(
        "CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)"
    )
    for step in migrations():
        if step.name >= until:
            break
        connection.execute(step.sql)
        connection.execute("INSERT INTO migration VALUES (?, ?, ?)", (step.number, step.name, step.checksum))
    return connection


def migrated() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    migrate(connection)
    return connection


def test_the_schema_and_the_migrations_build_the_same_shape() -> None:
    fresh = apsw.Connection(":memory:")
    fresh.execute(SCHEMA)
    assert shape(migrated()) == shape(fresh)
    assert len(shape(fresh)) > 20


def test_steps_are_numbered_from_one_without_gaps() -> None:
    steps = migrations()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z0-9_]+\.sql", step.name) for step in steps)


def test_migrating_again_takes_no_step() -> None:
    connection = migrated()
    before = shape(connection)
    assert migrate(connection) == []
    assert shape(connection) == before


def test_a_store_opened_again_holds_what_it_held(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path)
    events = append(first, "a", "b")
    first.close()
    again = SqliteStore(tmp_path)
    assert again.log.walk(TENANT, 0, 10) == events
    assert append(again, "c")[0].position == 3
    again.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("INSERT INTO migration VALUES (9999, '9999_later.sql', 'sha256:0')", "newer Lamina"),
        ("UPDATE migration SET checksum = 'sha256:0' WHERE number = 1", "differs"),
    ],
    ids=["newer", "edited"],
)
def test_a_database_that_is_not_understood_is_refused_untouched(change: str, reason: str) -> None:
    connection = migrated()
    connection.execute(change)
    before = connection.serialize("main")
    with pytest.raises(Fault, match=reason) as caught:
        migrate(connection)
    assert caught.value.code == "MIGRATION_REFUSED"
    assert connection.serialize("main") == before
    assert not connection.in_transaction


def test_a_step_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.store.sqlite import migrate as module

    broken = module.Migration(2, "0002_broken.sql", "CREATE TABLE half (n); SELECT no_such_function();")
    monkeypatch.setattr(module, "migrations", lambda: [*migrations(), broken])
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.SQLError):
        migrate(connection)
    assert list(connection.execute("SELECT name FROM sqlite_schema WHERE name IN ('half', 'event')")) == []
    assert list(connection.execute("SELECT * FROM migration")) == []


def test_the_shape_does_not_change_under_somebody_who_has_the_database_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_HANDOVER_S", 0.0)
    older = with_steps(apsw.Connection(str(tmp_path / "lamina.db")), "0047")
    older.execute("PRAGMA journal_mode = wal")
    assert schema_number_of(older) == 46
    with pytest.raises(Conflict) as refused:
        SqliteStore(tmp_path)
    assert refused.value.code == "FOLDER_IN_USE"
    assert schema_number_of(older) == 46
    older.close()
    SqliteStore(tmp_path).close()
    todays = SqliteStore(tmp_path)
    SqliteStore(tmp_path).close()  # beside others where the shape is today's
    todays.close()


def test_lifecycle_rows_from_before_keep_their_numbers_and_the_next_is_one_higher() -> None:
    connection = apsw.Connection(":memory:")
    for step in migrations()[:18]:
        connection.execute(step.sql)
    for sequence, tenant_id in enumerate(("acme", "other", "acme", "other", "other"), 1):
        row = (sequence, tenant_id, f"lce_{sequence}", "captured", "org:a", sequence, "{}")
        connection.execute(
            "INSERT INTO lifecycle (sequence, tenant_id, id, name, scope, number, arrived_at, payload)"
            " VALUES (?, ?, ?, ?, ?, 1, ?, ?)",
            row,
        )
    for step in migrations()[18:]:
        connection.execute(step.sql)
    draft = LifecycleDraft(tenant_id="acme", name="extracted", scope=ALICE, payload={})
    LifecycleWriter(ManualClock()).put(connection, [draft])
    rows = connection.execute("SELECT tenant_id, sequence, name FROM lifecycle ORDER BY tenant_id, sequence")
    assert list(rows) == [
        ("acme", 1, "captured"),
        ("acme", 3, "captured"),
        ("acme", 4, "extracted"),
        *(("other", sequence, "captured") for sequence in (2, 4, 5)),
    ]


def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = SqliteStore(tmp_path)
    append(store, "a")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}
    store.close()


def test_documents_from_before_are_told_of_by_their_events_until_they_were_replaced() -> None:
    connection = apsw.Connection(":memory:")
    for step in migrations()[:9]:
        connection.execute(step.sql)
    told = [("a", 10, "put"), ("b", 20, "put"), ("a", 30, "append"), ("a", 40, "put"), ("b", 50, "remove")]
    for number, (path, at, kind) in enumerate(told, 1):
        place = ("acme", path, number, kind, number, 1, number, at, b"x")
        connection.execute(
            "INSERT INTO document_version (tenant_id, path, version, kind, base, size, number, recorded_at, content)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            place,
        )
        content = f'{{"kind":"text","text":"t","path":"{path}"}}'
        row = ("acme", number, f"evt_{number}", "app:relay", "a", "a", "a", "document", content, "documents")
        connection.execute(
            "INSERT INTO event (tenant_id, position, id, scope, caller, observed_actor, subject, modality, content,"
            " origin_channel, origin_trust, observed_at, recorded_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'external', ?, ?)",
            (*row, at, at + 1),
        )
    connection.execute("UPDATE event SET origin_channel = 'http' WHERE position = 3")
    connection.execute(migrations()[9].sql)
    found = connection.execute(
        "SELECT event_id, path, ended_number, ended_at FROM document_event ORDER BY event_id"
    )
    assert list(found) == [
        ("evt_1", "a", 4, 40),
        ("evt_2", "b", 5, 50),
        ("evt_4", "a", 0, None),
        ("evt_5", "b", 0, None),
    ]


def test_what_an_entity_is_goes_to_the_one_scope_that_names_it() -> None:
    connection = apsw.Connection(":memory:")
    for step in migrations()[:12]:
        connection.execute(step.sql)
    for name in ("own", "shared"):
        connection.execute(
            "INSERT INTO entity (tenant_id, id, normalised_name, type) VALUES ('acme', ?1, ?1, 'place')",
            (name,),
        )
    named = [("own", "a", "evt_1"), ("own", "a", "evt_2"), ("shared", "a", "evt_1"), ("shared", "b", "evt_3")]
    connection.executemany(
        "INSERT INTO mention (tenant_id, entity_id, scope, event_id, position, surface)"
        " VALUES ('acme', ?, ?, ?, 1, 'x')",
        named,
    )
    connection.execute(migrations()[12].sql)
    found = list(
        connection.execute("SELECT entity_id, scope, type FROM mention ORDER BY entity_id, scope, event_id")
    )
    assert found == [("own", "a", "place")] * 2 + [("shared", "a", None), ("shared", "b", None)]


def test_a_scope_that_was_pruned_before_is_its_first_writers() -> None:
    connection = apsw.Connection(":memory:")
    for step in migrations()[:14]:
        connection.execute(step.sql)
    written = [
        ("acme", 1, "s", "alice"),
        ("acme", 2, "s", "eve"),
        ("acme", 3, "kept", "eve"),
        ("b", 1, "s", "bob"),
    ]
    for tenant_id, position, scope, caller in written:
        connection.execute(
            "INSERT INTO event (tenant_id, position, id, scope, caller, observed_actor, subject, modality, content,"
            " origin_channel, origin_trust, observed_at, recorded_at)"
            " VALUES (?1, ?2, 'evt_' || ?2, ?3, ?4, 'a', 'a', 'x', '{}', 'http', 'external', 0, 10 * ?2)",
            (tenant_id, position, scope, caller),
        )
    connection.execute(
        "INSERT INTO scope (tenant_id, path, auto_provisioned, created_by, created_at) VALUES ('acme', 'kept', 0, 'alice', 5)"
    )
    connection.execute(migrations()[14].sql)
    found = connection.execute("SELECT * FROM scope ORDER BY tenant_id, path")
    assert list(found) == [
        ("acme", "kept", 0, "alice", 5, 0),
        ("acme", "s", 1, "alice", 10, 1),
        ("b", "s", 1, "bob", 10, 1),
    ]


def test_events_from_before_keep_their_place_and_have_no_offset() -> None:
    connection = apsw.Connection(":memory:")
    steps = migrations()
    offsets = next(step for step in steps if step.name.endswith("_offsets.sql"))
    for step in steps[: steps.index(offsets)]:
        connection.execute(step.sql)
    row = (
        "acme",
        1,
        "evt_1",
        "user:ana",
        "a",
        "a",
        "a",
        "conversation",
        '{"kind":"text","text":"t"}',
        "http",
    )
    connection.execute(
        "INSERT INTO event (tenant_id, position, id, scope, caller, observed_actor, subject, modality, content,"
        " origin_channel, origin_trust, observed_at, recorded_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'principal', 10, 11)",
        row,
    )
    for step in steps[steps.index(offsets) :]:
        connection.execute(step.sql)
    (event,) = map(read_event, connection.execute("SELECT * FROM event"))
    assert (event.id, event.told_at, event.context.observed_offset) == ("evt_1", LocalTime(10), None)


@pytest.mark.parametrize("prefix", ["", "frozen_"])
def test_edges_and_loops_from_before_say_what_they_mean(prefix: str) -> None:
    connection = apsw.Connection(":memory:")
    steps = migrations()
    ties = next(step for step in steps if step.name.endswith("_ties_and_loops.sql"))
    for step in steps[: steps.index(ties)]:
        connection.execute(step.sql)
    edges = [
        ("eps_1", "evt_1", "contains", 3, "outcome"),
        ("fct_1", "evt_1", "extracted_from", 70, "user:ana"),
        ("fct_1", "evt_2", "cancelled_by", 0, None),
        ("fct_2", "evt_1", "offered_in", 80, "evt_2"),
    ]
    for edge in edges:
        connection.execute(
            f"INSERT INTO {prefix}support VALUES ('acme', ?, ?, ?, 1.0, 'supports', ?, ?, 90)",
            edge,
        )
    held = loop("dentist", due_at=70, due_offset=60, seen_at=50, salience=4)
    *columns, body = record_row(held)[:23]
    state = '"loop":["active",4,"ongoing",70,50,60],'
    for row in ((*columns, body.replace("{", "{" + state, 1)), record_row(fact("tea"))[:23]):
        connection.execute(f"INSERT INTO {prefix}record VALUES ({', '.join('?' * 23)})", row)
    for step in steps[steps.index(ties) :]:
        connection.execute(step.sql)
    rows = connection.execute(f"SELECT * FROM {prefix}support ORDER BY record_id, source_id")
    found = map(Support._make, rows)
    assert [
        (each.relation, each.place, each.at, each.actor, each.part, each.accepted_in) for each in found
    ] == [
        (Tie.CONTAINS, 3, None, None, EpisodeRole.OUTCOME, None),
        (Tie.EXTRACTED_FROM, 0, 70, "user:ana", None, None),
        (Tie.CANCELLED_BY, 0, None, None, None, None),
        (Tie.OFFERED_IN, 0, 80, None, None, "evt_2"),
    ]
    records = list(connection.execute(f"SELECT * FROM {prefix}record"))
    assert {read_record(row) for row in records} == {held, fact("tea")}
    assert set(records) == {record_row(held), record_row(fact("tea"))}


EDGES = [
    ("acme", "fact_1", "evt_1", "extracted_from", 0.5, "supports", 0, "user:ana", 90, 70, None, None),
    ("acme", "fact_1", "evt_2", "contradicted_by", 1.0, "against", 0, None, 95, None, None, None),
    ("acme", "fact_2", "evt_1", "offered_in", 1.0, "supports", 0, None, 90, 80, None, "evt_2"),
    ("other", "fact_1", "evt_1", "extracted_from", 0.5, "supports", 0, "user:bob", 91, 70, None, None),
]
MENTIONS = [
    ("acme", "ent_1", "user:ana", "evt_1", 1, "Lisbon", "place"),
    ("acme", "ent_1", "user:ana", "evt_2", 2, "Lisbon", None),
    ("other", "ent_1", "user:ana", "evt_1", 1, "Lisboa", "place"),
]


OF_ID = "WHERE record = (SELECT number FROM identifier WHERE id = ?)"


RECORDS = [
    ("acme", "belief_1", 1, "beliefs", "user:ana", "user:ana", "lives_in"),
    ("acme", "ep_1", 1, "episodes", "user:ana", None, None),
    ("acme", "ep_1", 2, "episodes", "user:ana", None, None),
    ("acme", "fact_1", 1, "facts", "user:ana", "ent_1", "lives_in"),
    ("other", "fact_1", 1, "facts", "user:ana", "ent_1", "lives_in"),
]


def with_records(connection: apsw.Connection) -> apsw.Connection:
    connection.executemany(
        "INSERT INTO record (tenant_id, id, version, layer, scope, subject, predicate, position, confidence, valid_from,"
        " recorded_from, recorded_to, superseded_by, excluded, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 3, 0.5, 10, 11, 12, 'fact_2', 1, '{}')",
        RECORDS,
    )
    return connection


def records(connection: apsw.Connection) -> list[tuple[object, ...]]:
    return list(connection.execute("SELECT * FROM record ORDER BY tenant_id, id, version"))


def test_records_from_before_are_the_same_in_numbers() -> None:
    connection = apsw.Connection(":memory:")
    steps = migrations()
    numbers = next(step for step in steps if step.name.endswith("_records_in_numbers.sql"))
    for step in steps[: steps.index(numbers)]:
        connection.execute(step.sql)
    before = records(with_records(connection))
    connection.execute(numbers.sql)
    assert records(connection) == before == records(with_records(migrated()))
    assert [row[:5] for row in before] == [row[:5] for row in RECORDS]


def test_the_id_of_a_record_and_of_what_it_is_about_go_with_its_last_version() -> None:
    connection = with_records(migrated())
    ids = "SELECT id FROM identifier WHERE tenant_id = 'acme' ORDER BY id"
    connection.execute("DELETE FROM record WHERE tenant_id = 'acme' AND (version = 2 OR id = 'fact_1')")
    assert list(connection.execute(ids)) == [("belief_1",), ("ep_1",), ("user:ana",)]
    connection.execute("DELETE FROM record WHERE tenant_id = 'acme'")
    assert list(connection.execute(ids)) == []
    assert [row[:2] for row in records(connection)] == [("other", "fact_1")]


def with_rows_of_search(connection: apsw.Connection, prefix: str) -> apsw.Connection:
    texts, vectors = (f"text{prefix}", f"vector{prefix}")
    for tenant_id, record_id, scope in (
        ("acme", "evt_1", "a"),
        ("acme", "evt_2", "b"),
        ("other", "evt_1", "a"),
    ):
        connection.execute(
            f"INSERT INTO {texts} (tenant_id, record_id, layer, scope, recorded_at, observed_at, characters,"
            " question_share, self_share, terms, keys, wants_vector) VALUES (?, ?, 'events', ?, 1, 2, 3, 0.5, 0, 'tea', '', 1)",
            (tenant_id, record_id, scope),
        )
        connection.execute(
            f"INSERT INTO {vectors} (tenant_id, record_id, scope, model, pooled, tokens) VALUES (?, ?, ?, 'm/1', x'01', x'')",
            (tenant_id, record_id, scope),
        )
    connection.execute("INSERT INTO token_piece (number, tokens) SELECT 256 * id, x'02' FROM vector_row")
    return connection


def rows_of_search(connection: apsw.Connection, prefix: str) -> list[object]:
    texts = "id, tenant_id, record_id, layer, scope, recorded_at, observed_at, terms, wants_vector, excluded, days"
    return [
        *connection.execute(f"SELECT {texts} FROM text{prefix} ORDER BY id"),
        *connection.execute(
            f"SELECT id, tenant_id, record_id, scope, model, pooled FROM vector{prefix} ORDER BY id"
        ),
    ]


def test_rows_of_search_from_before_keep_their_numbers_and_none_is_given_again() -> None:
    connection = apsw.Connection(":memory:")
    steps = migrations()
    numbers = next(step for step in steps if step.name.endswith("_search_in_numbers.sql"))
    for step in steps[: steps.index(numbers)]:
        connection.execute(step.sql)
    with_rows_of_search(connection, "_row")
    for table in ("text_row", "vector_row"):
        connection.execute(f"DELETE FROM {table} WHERE id = 3")
    before = rows_of_search(connection, "_row")
    connection.execute(numbers.sql)
    assert rows_of_search(connection, "") == before
    assert list(connection.execute("SELECT number FROM token_piece ORDER BY number")) == [(256,), (512,)]
    given = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('text_row', 'vector_row') ORDER BY name"
    assert list(connection.execute(given)) == [("text_row", 3), ("vector_row", 3)]


HAPPENED = [
    (7, "acme", 1, b"\x01" * 8, "captured", "org:a", None, None, 1, 10, "{}", 1),
    (8, "other", 1, "lce_2", "captured", "org:a", "evt_1", None, 1, 11, "{}", None),
    (9, "acme", 2, b"\x02" * 8, "extracted", "org:a", None, "job_1", 2, 12, "[2,1,0,0,0]", 1),
    (11, "acme", 4, b"\x03" * 8, "captured", "org:b", None, None, 1, 13, "{}", 2),
]


def test_what_happened_before_is_the_same_in_numbers_and_follows_its_rows() -> None:
    connection = apsw.Connection(":memory:")
    steps = migrations()
    numbers = next(step for step in steps if step.name.endswith("_lifecycle_in_numbers.sql"))
    for step in steps[: steps.index(numbers)]:
        connection.execute(step.sql)
    columns = "tenant_id, sequence, id, name, scope, event_id, job_id, number, arrived_at, payload, position"
    connection.executemany(
        f"INSERT INTO lifecycle (rowid, {columns}) VALUES ({', '.join('?' * 12)})", HAPPENED
    )
    connection.execute(numbers.sql)
    rows = f"SELECT {columns} FROM lifecycle ORDER BY arrived_at"
    assert list(connection.execute(rows)) == [row[1:] for row in HAPPENED]
    assert list(connection.execute("SELECT row FROM lifecycle_row ORDER BY row")) == [(7,), (8,), (9,), (11,)]
    said = [LifecycleDraft(tenant_id="acme", name=name, scope=Scope(scope), payload={}) for name, scope in
            (("captured", "org:a"), ("captured", "org:c"), ("failed", "org:a"))]  # fmt: skip
    LifecycleWriter(ManualClock()).put(connection, [*said, *said])
    newest = "SELECT tenant_id, sequence, name, scope FROM lifecycle WHERE arrived_at > 13 ORDER BY sequence"
    assert list(connection.execute(newest)) == [
        ("acme", sequence, each.name, each.scope) for sequence, each in enumerate([*said, *said], 5)
    ]
    assert list(connection.execute("SELECT count(*) FROM place WHERE scope IN ('org:a', 'org:c')")) == [(3,)]


def test_an_id_goes_with_the_last_row_of_search_that_has_it() -> None:
    connection = with_rows_of_search(migrated(), "")
    connection.execute("DELETE FROM text_row WHERE id < 3")
    connection.execute("DELETE FROM vector_row WHERE id = 1")
    held = list(connection.execute("SELECT tenant_id, id FROM identifier ORDER BY tenant_id, id"))
    assert held == [("acme", "evt_2"), ("other", "evt_1")]
    assert list(connection.execute("SELECT number FROM token_piece ORDER BY number")) == [(512,), (768,)]


def with_edges(connection: apsw.Connection) -> apsw.Connection:
    connection.executemany(f"INSERT INTO support VALUES ({', '.join('?' * 12)})", EDGES)
    connection.executemany(f"INSERT INTO mention VALUES ({', '.join('?' * 7)})", MENTIONS)
    return connection


def edges_and_mentions(connection: apsw.Connection) -> list[object]:
    edges = connection.execute("SELECT * FROM support ORDER BY tenant_id, record_id, source_id")
    return [*edges, *connection.execute("SELECT * FROM mention ORDER BY tenant_id, entity_id, position")]


def test_edges_and_mentions_from_before_are_the_same_in_numbers() -> None:
    before = apsw.Connection(":memory:")
    steps = migrations()
    numbers = next(step for step in steps if step.name.endswith("_numbers_for_ids.sql"))
    for step in steps[: steps.index(numbers)]:
        before.execute(step.sql)
    with_edges(before)
    before.execute(numbers.sql)
    assert edges_and_mentions(before) == [*EDGES, *MENTIONS]
    assert edges_and_mentions(with_edges(migrated())) == [*EDGES, *MENTIONS]


def test_an_edge_that_is_there_stays_or_is_put_anew_as_the_statement_says() -> None:
    connection = with_edges(migrated())
    (first, *others) = EDGES
    heavier = (*first[:4], 0.75, *first[5:])
    connection.execute(f"INSERT OR IGNORE INTO support VALUES ({', '.join('?' * 12)})", heavier)
    assert edges_and_mentions(connection) == [*EDGES, *MENTIONS]
    connection.execute(f"INSERT OR REPLACE INTO support VALUES ({', '.join('?' * 12)})", heavier)
    assert edges_and_mentions(connection) == [heavier, *others, *MENTIONS]


def test_an_id_goes_with_the_last_row_that_has_it() -> None:
    connection = with_edges(migrated())
    ids = "SELECT tenant_id, id FROM identifier ORDER BY tenant_id, id"
    connection.execute("DELETE FROM support WHERE tenant_id = 'acme' AND record_id = 'fact_1'")
    connection.execute("DELETE FROM mention WHERE tenant_id = 'acme' AND event_id = 'evt_1'")
    assert edges_and_mentions(connection) == [*EDGES[2:], *MENTIONS[1:]]
    acme = [("acme", each) for each in ("ent_1", "evt_1", "evt_2", "fact_2")]
    other = [("other", each) for each in ("ent_1", "evt_1", "fact_1")]
    assert list(connection.execute(ids)) == [*acme, *other]
    connection.execute("DELETE FROM mention WHERE tenant_id = 'acme'")
    connection.execute("DELETE FROM support WHERE tenant_id = 'acme'")
    assert list(connection.execute(ids)) == other


def test_bodies_that_an_earlier_release_wrote_are_read_and_packed_by_compacting(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    held = [concept("tea"), episode("talk"), fact("tea")]
    land(store, Writes(records=held))
    before = list(store.snapshot())
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    connection.create_scalar_function("text_of", unpacked, 1)
    connection.execute("UPDATE record_row SET body = text_of(body)")
    kinds = "SELECT layer, typeof(body) FROM record ORDER BY layer"
    assert {kind for _, kind in connection.execute(kinds)} == {"text"}
    assert list(store.snapshot()) == before
    store.upkeep.compact()
    assert list(connection.execute(kinds)) == [
        ("episodes", "blob"),
        ("facts", "text"),
        ("understanding", "blob"),
    ]
    assert list(store.snapshot()) == before
    assert store.records.get(TENANT, [each.id for each in held]) == {each.id: each for each in held}
    connection.close()
    store.close()


def test_token_vectors_of_before_are_read_divided_by_compacting_and_go_with_their_row(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    tokens = bytes(range(250)) * 5
    land(store, Writes(vectors=[vector_row(name, tokens=tokens) for name in ("fact_1", "fact_2", "fact_3")]))
    (one, *others) = (row for row, _, _ in store.index.vectors_after(TENANT, ALICE, "m", 0, 10))
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    connection.execute("DELETE FROM token_piece WHERE number / 256 <> ?", (one,))
    connection.execute("UPDATE vector_row SET tokens = ? WHERE id <> ?", (tokens, one))
    before = store.index.tokens(TENANT, [one, *others])
    assert before == dict.fromkeys([one, *others], tokens)
    store.upkeep.compact()
    whole = "SELECT sum(length(tokens)) FROM vector_row"
    assert next(connection.execute(whole)) == (0,)
    assert store.index.tokens(TENANT, [one, *others]) == before
    connection.execute("DELETE FROM vector_row WHERE id = ?", others[:1])
    left = connection.execute("SELECT DISTINCT number / 256 FROM token_piece ORDER BY 1")
    assert [row for (row,) in left] == [one, others[1]]
    connection.close()
    store.close()


def test_claims_of_before_are_found_beside_those_that_have_a_digest(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    old, new, other = (
        fact(name, object=ObjectValue("literal", value, "string"))
        for name, value in (("a", "tea"), ("b", "coffee"), ("c", "tea"))
    )
    land(store, Writes(records=[old, new, other, fact("d", predicate="left")]))
    before = list(store.snapshot())
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    connection.execute(f"UPDATE record_row SET claim_key = ? {OF_ID}", (old.claim_key, old.id))
    matter = {"subject": old.subject.id, "predicate": old.predicate}
    wanted: list[tuple[dict[str, Any], list[Fact]]] = [
        ({"claim_key": old.claim_key}, [old, other]),
        ({"claim_key": new.claim_key}, [new]),
        (matter, [old, new, other]),
    ]
    for narrowed_by, found in wanted:
        query = RecordQuery(
            tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=Axes(seen_at=NOON), **narrowed_by
        )
        assert {each.id for each in store.records.query(query)} == {each.id for each in found}
    connection.execute(f"UPDATE record_row SET claim_key = ? {OF_ID}", (record_row(old)[10], old.id))
    assert list(store.snapshot()) == before
    connection.close()
    store.close()


def test_ids_and_hashes_of_before_are_found_beside_those_in_bytes(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    noted = [
        audit_draft("1", event_id=name_id(Prefix.EVENT, "told"), request_id=name_id(Prefix.REQUEST, "asked")),
        audit_draft("2", event_id="evt_1", body_hash=digest("body")),
    ]
    for each in noted:
        store.audit.note(each)
    store.audit.flush()
    key = IdempotencyKey(TENANT, "user:alice", "experience", "k")
    capture = Capture(draft("a"), key, digest("body"))
    (first,) = store.log.append([capture])
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    kinds = "SELECT typeof(id), typeof(event_id), typeof(request_id), typeof(body_hash) FROM audit ORDER BY number"
    assert list(connection.execute(kinds)) == [
        ("blob", "blob", "blob", "text"),
        ("blob", "text", "text", "blob"),
    ]
    assert store.traces.look_for(TENANT, [first.event.id])["idempotency.event_id"] == 1
    rows = store.audit.walk(TENANT, 0, 9)
    assert [row.draft for row in rows] == noted
    assert [store.audit.get(TENANT, each.id) for each in noted] == rows
    connection.execute(
        "UPDATE audit SET id = ?, event_id = ?, request_id = ? WHERE number = 1",
        (noted[0].id, noted[0].event_id, noted[0].request_id),
    )
    connection.execute("UPDATE audit SET body_hash = ? WHERE number = 2", (noted[1].body_hash,))
    named = ", ".join((*AuditDraft._fields[:-1], "number", "previous", "hash", "detail"))
    for row in rows:
        columns = chained(row.draft, row.number, row.previous)
        told = ", ".join("?" * len(columns))
        connection.execute(f"UPDATE audit SET ({named}) = ({told}) WHERE number = ?", (*columns, row.number))
    asked = AuditQuery(tenant_id=TENANT, capability=noted[0].capability, decision=noted[0].decision, limit=9)
    assert sorted(store.audit.query(asked), key=lambda row: row.number) == rows
    (stored,) = connection.execute("SELECT body_hash, event_id FROM idempotency")
    assert [len(each) for each in stored] == [32, 16]
    for _ in range(2):
        assert store.log.append([capture]) == [Appended.of(first.event, replayed=True)]
        with pytest.raises(Conflict):
            store.log.append([Capture(draft("a"), key, digest("other"))])
        connection.execute(
            "UPDATE idempotency SET body_hash = ?, event_id = ?", (digest("body"), first.event.id)
        )
    assert store.audit.walk(TENANT, 0, 9) == rows
    assert [store.audit.get(TENANT, each.id) for each in noted] == rows
    connection.close()
    store.close()


def test_payloads_of_before_are_read_beside_those_without_names(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    told, other = append(store, "a", "b")
    said = [
        {"derived": {"facts": 1, "entities": 2, "beliefs": 3, "episodes": 4}},
        {"derived": {"facts": 1}},
        {"derived": {"facts": 1, "entities": 2, "beliefs": 3, "episodes": 4}, "quarantined": ["pasted"]},
        {"layers_indexed": ["events", "facts"]},
        {"beliefs_updated": 1, "conflicts_resolved": 2, "superseded_facts": ["fact_1"]},
        {"episode_id": None, "understanding_ids": []},
        {"understanding_ids": [], "episode_id": "ep_1"},
        {},
    ]
    common = {"tenant_id": TENANT, "name": "extracted", "scope": ALICE, "event_id": told.id}
    store.jobs.finish(
        [(claim(store)[0], Writes(lifecycle=[LifecycleDraft(**common, payload=each) for each in said]))]
    )
    rows = store.lifecycle.query(LifecycleQuery(tenant_id=TENANT))
    assert [compact(dict(row.payload)) for row in rows[2:]] == [compact(each) for each in said]
    assert list(rows[1].payload.items())[-1] == ("wal_offset", other.position)
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    stored = connection.execute("SELECT payload FROM lifecycle ORDER BY sequence")
    assert ["derived" in each or "wal_offset" in each for (each,) in stored] == [False] * 3 + [True] * 2 + [
        False
    ] * 5
    for row in rows:
        connection.execute(
            "UPDATE lifecycle_row SET payload = ? WHERE sequence = ?",
            (compact(dict(row.payload)), row.sequence),
        )
    assert store.lifecycle.query(LifecycleQuery(tenant_id=TENANT)) == rows
    connection.close()
    store.close()


def test_facts_of_before_that_say_what_is_usual_are_read_as_they_were(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    usual, denied = fact("a"), fact("b", negated=True, external=True, supersedes="fact_1")
    land(store, Writes(records=[usual, denied]))
    ids = [usual.id, denied.id]
    held = store.records.get(TENANT, ids), store.records.input_states(TENANT, ids)
    assert held[0] == {usual.id: usual, denied.id: denied}
    assert [state.fact.counts for state in map(held[1].get, ids) if state and state.fact] == [True, False]
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    said = "SELECT body -> '$.negated', body -> '$.supersedes' FROM record WHERE id = ?"
    assert list(connection.execute(said, ids[:1])) == [(None, None)]
    connection.execute(
        f"""UPDATE record_row SET body = json_set(body, '$.negated', json('false'), '$.external', json('false'),
           '$.supersedes', NULL) {OF_ID}""",
        ids[:1],
    )
    assert (store.records.get(TENANT, ids), store.records.input_states(TENANT, ids)) == held
    connection.close()
    store.close()


def test_lifecycle_rows_that_name_their_event_by_its_id_are_read_beside_those_that_do_not(
    tmp_path: Path,
) -> None:
    first = SqliteStore(tmp_path)
    told, other = append(first, "a", "b")
    before = first.lifecycle.query(LifecycleQuery(tenant_id=TENANT))
    first.close()
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    for row in before:
        connection.execute(
            "UPDATE lifecycle_row SET id = ?, event_id = ?, position = NULL WHERE sequence = ?",
            (row.id, row.event_id, row.sequence),
        )
    connection.close()
    again = SqliteStore(tmp_path)
    said = LifecycleDraft(tenant_id=TENANT, name="extracted", scope=ALICE, payload={}, event_id=told.id)
    again.jobs.finish([(claim(again)[0], Writes(lifecycle=[said]))])
    after, of_other = (
        again.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=each.id)) for each in (told, other)
    )
    assert [(row.name, row.number) for row in after] == [("captured", 1), ("extracted", 2)]
    assert after[0] == before[0]
    assert {row.event_id for row in after} == {told.id}
    assert [again.lifecycle.get(TENANT, row.id) for row in (*after, *of_other)] == [*after, *of_other]
    again.close()


def test_a_lifecycle_row_is_found_by_its_id_among_those_that_are_left(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, clock=ManualClock())
    append(store, *map(str, range(40)))
    rows = store.lifecycle.query(LifecycleQuery(tenant_id=TENANT))
    assert [store.lifecycle.get(TENANT, row.id) for row in rows] == rows
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    connection.execute("DELETE FROM lifecycle_row WHERE sequence % 3 = 1 OR sequence > 38")
    connection.close()
    left = [row if row.sequence % 3 != 1 and row.sequence <= 38 else None for row in rows]
    assert [store.lifecycle.get(TENANT, row.id) for row in rows] == left
    assert store.lifecycle.get(TENANT, RandomIds().stamped(Prefix.LIFECYCLE, rows[1].arrived_at)) is None
    store.close()


def test_a_turn_about_its_own_speaker_names_them_once_and_is_read_as_it_was_written_before() -> None:
    ana, ben = Party("user:ana", "user", "Ana"), Party("user:ben", "user", "Ben")
    for actor, subject in ((ana, ana), (ana, ben), (ana, Party.of("user:ben"))):
        row = event_row(1, 1, "evt_1", 10, draft(observed_actor=actor, subject=subject))
        stored = (*row[:19], None, row[19], None, None, 0)
        read = read_event(stored)
        assert (read.observed_actor, read.subject) == (actor, subject)
        assert row[8].count('"Ana"') == 1
    before = '{"actor":{"type":"user","name":"Ana"},"subject":{"type":"user","name":"Ana"}}'
    read = read_event((*stored[:6], "user:ana", "user:ana", before, *stored[9:]))
    assert (read.observed_actor, read.subject) == (ana, ana)


def test_what_changes_is_told_from_then_on_and_the_full_text_table_goes(tmp_path: Path) -> None:
    connection = with_steps(apsw.Connection(str(tmp_path / "lamina.db")), "0048")
    connection.execute(f"INSERT INTO record VALUES ({', '.join('?' * 29)})", record_row(fact("a")))
    connection.execute("INSERT INTO text_index (rowid, terms) VALUES (1, 'lisbon')")
    connection.close()
    again = SqliteStore(tmp_path)
    assert not apsw.Connection(str(tmp_path / "lamina.db")).table_exists("main", "text_index")
    before = again.records.touched(TENANT, 0)
    assert not before.ids
    land(again, Writes(records=[fact("b")]))
    after = again.records.touched(TENANT, before.number)
    assert after.ids is not None
    assert fact("b").id in after.ids
    assert after.number > before.number
    assert not again.records.touched("other", before.number).ids
    again.close()


CLAIMS = [
    fact("a", object=ObjectValue("entity", None, None, None, "ent_porto", "Porto")),
    fact("b", object=ObjectValue("literal", "tea", "string")),
    fact("c", object=ObjectValue("entity", None, None, None, "ent_nobody_names")),
    fact("d", object=ObjectValue("literal", "ent_ or so", "string")),
]
WEIGHTS = (0.0, 0.78, 0.8356, 0.83561, 1 / 3, 1.0)


def with_claims(connection: apsw.Connection) -> apsw.Connection:
    connection.executemany(f"INSERT INTO record VALUES ({', '.join('?' * 29)})", map(record_row, CLAIMS))
    connection.executemany(
        f"INSERT INTO support VALUES ({', '.join('?' * 12)})",
        [
            (
                "acme",
                "fact_1",
                f"evt_{at}",
                "supported_by",
                weight,
                "supports",
                at,
                None,
                10,
                None,
                None,
                None,
            )
            for at, weight in enumerate(WEIGHTS)
        ],
    )
    return connection


def test_objects_and_weights_from_before_are_the_same_in_numbers() -> None:
    before = with_claims(with_steps(apsw.Connection(":memory:"), "0049"))
    told = [*records(before), *edges_and_mentions(before)]
    migrate(before)
    now = with_claims(migrated())
    for connection in (before, now):
        assert [*records(connection), *edges_and_mentions(connection)] == told
        entities = connection.execute("SELECT object_key, object IS NULL FROM record_row ORDER BY object_key")
        assert list(entities) == [(None, 0)] * 3 + [("tea", 1)]
        weights = connection.execute("SELECT weight FROM support_row ORDER BY place")
        assert [weight for (weight,) in weights] == [0, 7800, 8356, 0.83561, 1 / 3, 10000]
    assert {row[8] for row in told[:4]} == {one.object.key for one in CLAIMS}


def test_the_id_of_an_object_goes_with_the_last_claim_that_names_it() -> None:
    connection = with_claims(migrated())
    named = "SELECT count(*) FROM identifier WHERE id = 'ent_porto'"
    connection.execute(
        f"INSERT INTO mention VALUES ({', '.join('?' * 7)})",
        (*MENTIONS[0][:1], "ent_porto", *MENTIONS[0][2:]),
    )
    connection.execute("DELETE FROM mention")
    assert list(connection.execute(named)) == [(1,)]
    connection.execute("DELETE FROM record WHERE id = ?", (CLAIMS[1].id,))
    assert list(connection.execute(named)) == [(1,)]
    connection.execute("DELETE FROM record WHERE id = ?", (CLAIMS[0].id,))
    assert list(connection.execute(named)) == [(0,)]


def test_a_usual_modality_from_before_is_found_beside_those_of_today(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    told = append(store, "a", "b", "c", modality="conversation")
    other = append(store, "d", modality="document")
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    connection.execute("UPDATE event SET modality = 'conversation' WHERE seq = 2")
    kinds = connection.execute("SELECT typeof(modality) FROM event ORDER BY seq")
    assert [kind for (kind,) in kinds] == ["blob", "text", "blob", "text"]
    for modality, found in (("conversation", told), ("document", other)):
        query = EventQuery(tenant_id=TENANT, scopes=[ALICE], modality=modality, ascending=True)
        assert store.log.query(query) == found
    connection.close()
    store.close()


def test_a_key_from_before_is_found_by_its_family(tmp_path: Path) -> None:
    connection = with_steps(apsw.Connection(str(tmp_path / "lamina.db")), "0049")
    for family in ("/v1/experience", "/v1/other"):
        connection.execute(
            "INSERT INTO idempotency (tenant_id, caller, family, key, body_hash, created_at) VALUES (?, 'ana', ?, 'k', 'h', 10)",
            (TENANT, family),
        )
    connection.close()
    store = SqliteStore(tmp_path)
    for family in ("/v1/experience", "/v1/other"):
        key = IdempotencyKey(TENANT, "ana", family, "k")
        assert store.idempotency.find(key, 11) == IdempotencyEntry(key, "h", 10)
        assert store.idempotency.remember(IdempotencyEntry(key, "other", 11)).body_hash == "h"
    assert store.idempotency.prune(12) == 2
    store.close()
