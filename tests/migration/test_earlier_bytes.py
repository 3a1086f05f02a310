"""What an earlier release wrote in another form is read beside what is written today."""

from __future__ import annotations

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
    name_id,
    vector_row,
)
from lamina.errors import Conflict
from lamina.kernel.audit import AuditDraft, chained
from lamina.kernel.canonical import compact, digest
from lamina.kernel.events import Party
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.records import Fact, Layer, ObjectValue
from lamina.kernel.time import Axes
from lamina.store.bodies import unpacked
from lamina.store.ports.audit import AuditQuery
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery
from lamina.store.ports.log import Appended, Capture, EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.writes import Writes
from lamina.store.rows import record_row
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.codec import event_row, read_event
from migrated import with_steps

OF_ID = "WHERE record = (SELECT number FROM identifier WHERE id = ?)"


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
