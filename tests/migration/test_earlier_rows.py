"""What the steps make of the rows that an earlier release wrote: the same, in the shape of today."""

from __future__ import annotations

import apsw
import pytest

from given import ALICE, BOB, ManualClock, concept, fact, loop
from lamina.kernel.local import LocalTime
from lamina.kernel.records import EpisodeRole, ObjectValue, Stance, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.rows import read_record, record_row
from lamina.store.sqlite.codec import read_event
from lamina.store.sqlite.lifecycle import LifecycleWriter
from lamina.store.sqlite.migrate import migrate, migrations
from migrated import migrated, with_steps


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


def test_a_scope_with_an_alias_that_rests_on_nothing_is_derived_anew() -> None:
    """Forgetting what it tells left it readable until then."""
    aliases = [
        concept("rests", scope=ALICE, stance=Stance.DEPRECATED),
        concept("alone", scope=BOB, stance=Stance.DEPRECATED),
        concept("stands", scope=Scope("ws:launch")),
    ]
    connection = with_steps(apsw.Connection(":memory:"), "0050")
    connection.executemany(f"INSERT INTO record VALUES ({', '.join('?' * 29)})", map(record_row, aliases))
    connection.execute(
        "INSERT INTO support VALUES ('acme', ?, 'evt_1', 'supported_by', 1.0, 'supports', 1, NULL, 10, NULL, NULL, NULL)",
        (aliases[0].id,),
    )
    migrate(connection)
    assert list(connection.execute("SELECT tenant_id, scope, events FROM stale_scope")) == [("acme", BOB, 0)]
