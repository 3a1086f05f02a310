"""Derived records and the why graph in SQLite."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import apsw

from lamina import limits
from lamina.kernel.canonical import compact
from lamina.kernel.heads import RecordHead
from lamina.kernel.ids import Prefix
from lamina.kernel.records import (
    Entity,
    Horizon,
    Layer,
    Loop,
    Mention,
    Record,
    Support,
    is_entity,
    value_slot,
)
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.kernel.understanding import FactState
from lamina.store.blocks import load_blocks
from lamina.store.bodies import packed
from lamina.store.claim_digests import claim_digest, matter_digest
from lamina.store.ports.records import Attestation, InputState, NamedAs, NewerFact, RecordQuery, Touched
from lamina.store.ports.writes import Writes
from lamina.store.rows import BODY, Row, packed_row, read_head, read_mention, read_record
from lamina.store.rules.records import as_stood
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers
from lamina.store.sqlite.exclusion import exclude_unsupported, readmit
from lamina.store.sqlite.folding import all_whole, fold, whole
from lamina.store.sqlite.index import put_texts, put_vectors

__all__ = ["SqliteRecords", "pack_some", "put_writes"]

_SQL = load_blocks("lamina.store.sqlite")
_ANY_SCOPE = "scope IN (SELECT value FROM json_each(:scopes))"
_OF_ONE_SCOPE = {
    name: _SQL[name].replace(_ANY_SCOPE, "scope = :scopes")
    for name in (
        "query_records",
        "query_records_of_matter",
        "query_records_of_subject",
        "query_records_of_object",
        "query_records_of_topic",
        "records_in_slot",
        "records_of_claim",
    )
}
"""Statements for a single scope, as most readers ask: its rows come in the order of the index, and reading ends at the limit. Of
several scopes all rows are read and sorted."""
_BEFORE_ALL = -(2**63)
_PAST_ALL = b"\xff" * 7
"""Follows whatever comes behind the digest of a matter."""
_SLOT = 9
"""A column of ``record``."""

_EPISODES = (f"{Prefix.EPISODE}_", f"{Prefix.EPISODE}`")
"""The bounds of the ids of episodes: the grave accent is the character after the underscore."""

_OF_MATTER = "query_records_of_matter"

_parsed = lru_cache(maxsize=limits.ROWS_PARSED_MAX)(read_record)


def _read(row: Row) -> Record:
    """The version of a row. The same rows come with every question about the same matter, and a row that has changed is another."""
    # Packed, it takes a third.
    most = limits.ROW_PARSED_CHARS_MAX if isinstance(row[BODY], str) else limits.ROW_PARSED_CHARS_MAX // 3
    return _parsed(row) if len(row[BODY]) <= most else read_record(row)


def put_writes(connection: apsw.Connection, writes: Writes) -> None:
    """Land what a stage derived, inside the transaction that ends its jobs: one may end a version of another."""
    connection.executemany(_SQL["insert_record"], map(packed_row, writes.records))
    fold(connection, writes.records)
    connection.executemany(
        _SQL["close_record"],
        [(c.tenant_id, c.id, c.version, c.recorded_to, c.closed_by) for c in writes.closings],
    )
    connection.executemany(_SQL["insert_support"], writes.supports)
    readmit(connection, writes.supports)
    exclude_unsupported(connection, writes.supports)
    connection.executemany(
        _SQL["insert_entity"], [(e.tenant_id, e.id, e.normalised_name, e.type) for e in writes.entities]
    )
    connection.executemany(
        _SQL["insert_mention"],
        [
            (m.tenant_id, m.entity_id, m.scope, m.event_id, m.position, m.surface, m.type)
            for m in writes.mentions
        ],
    )
    connection.executemany(
        _SQL["type_by_first_mention"],
        [
            (m.tenant_id, m.entity_id, m.type, m.position, m.event_id)
            for m in writes.mentions
            if m.type is not None
        ],
    )
    put_texts(connection, writes.texts)
    put_vectors(connection, writes.vectors)
    connection.executemany(
        _SQL["put_zone_offset"], [(o.tenant_id, o.event_id, o.offset) for o in writes.offsets]
    )
    connection.executemany(
        _SQL["insert_inquiry"],
        [(i.tenant_id, i.event_id, i.task, i.scope, i.position, i.created_at) for i in writes.inquiries],
    )


def pack_some(connection: apsw.Connection) -> bool:
    """Pack some of the bodies that an earlier release wrote as text; whether there were any."""
    rows = list(connection.execute(_SQL["unpacked_bodies"], (limits.ERASE_ROWS,)))
    connection.executemany(_SQL["pack_body"], [(*row[:3], packed(Layer(row[3]), row[4])) for row in rows])
    return bool(rows)


class SqliteRecords:
    """``Records`` over the ``record``, ``support``, ``entity`` and ``mention`` tables."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def get(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, Record]:
        """Mirrors ``Records.get``."""
        rows = self._latest(tenant_id, ids, seen_at)
        return {record.id: as_stood(record, seen_at) for record in map(_read, rows)}

    def heads(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, RecordHead]:
        """Mirrors ``Records.heads``."""
        rows = self._latest(tenant_id, ids, seen_at)
        return {head.id: head.as_stood(seen_at) for head in map(read_head, rows)}

    def _latest(self, tenant_id: str, ids: Collection[str], seen_at: Instant | None) -> list[Row]:
        if not ids:
            return []
        return self._rows(_SQL["latest_records"], (tenant_id, json_list(sorted(ids)), seen_at))

    def input_states(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, InputState]:
        """Mirrors ``Records.input_states``."""
        if not ids:
            return {}
        found = {}
        for row in self._readers.rows(_SQL["input_states"], (tenant_id, json_list(sorted(ids)), seen_at)):
            record_id, excluded, is_fact, subject, kind, valid_to, counts, is_own_word = row
            state = FactState(record_id, subject, kind, valid_to, bool(counts), bool(is_own_word))
            found[record_id] = InputState(bool(excluded), state if is_fact else None)
        return found

    def newer_facts(
        self,
        tenant_id: str,
        scope: Scope,
        entity_id: str,
        named_as: NamedAs,
        *,
        newer_than: Instant,
        seen_at: Instant,
        limit: int,
    ) -> list[NewerFact]:
        """Mirrors ``Records.newer_facts``."""
        block = "newer_facts_about" if named_as == "subject" else "newer_facts_naming"
        bindings = (tenant_id, scope, entity_id, newer_than, seen_at, limit)
        return [
            NewerFact(recorded_from, FactState(fact_id, subject, kind, valid_to, bool(counts), bool(own)))
            for fact_id, recorded_from, subject, kind, valid_to, counts, own in self._readers.rows(
                _SQL[block], bindings
            )
        ]

    def versions(self, tenant_id: str, record_id: str) -> list[Record]:
        """Mirrors ``Records.versions``."""
        return [
            read_record(row)
            for row in all_whole(self._readers.rows(_SQL["record_versions"], (tenant_id, record_id)))
        ]

    def query(self, query: RecordQuery) -> list[Record]:
        """Mirrors ``Records.query``."""
        return [as_stood(_read(row), query.axes.seen_at) for row in self._rows_of(query)]

    def query_heads(self, query: RecordQuery) -> list[RecordHead]:
        """Mirrors ``Records.query_heads``."""
        return [read_head(row).as_stood(query.axes.seen_at) for row in self._rows_of(query)]

    def _rows_of(self, query: RecordQuery) -> list[Row]:
        axes = query.axes
        (*scopes,) = set(query.scopes)
        statements = _OF_ONE_SCOPE if len(scopes) == 1 else _SQL
        common = {
            "tenant_id": query.tenant_id,
            "scopes": scopes[0] if len(scopes) == 1 else json_list(scopes),
            "layer": query.layer.value,
            "seen_at": axes.seen_at,
            "superseded": axes.superseded,
            "with_excluded": query.with_excluded,
            "limit": query.limit,
        }
        if query.slot is not None:
            return self._readers.rows(statements["records_in_slot"], {**common, "slot": query.slot})
        if query.claim_key is not None:
            keys = {"claim_key": query.claim_key, "claim_digest": claim_digest(query.claim_key)}
            return self._readers.rows(statements["records_of_claim"], {**common, **keys})
        during, recorded = axes.valid_during, axes.recorded_during
        bindings: dict[str, Any] = {
            **common,
            "recorded_start": recorded.start if recorded else None,
            "recorded_end": recorded.end if recorded else None,
            "newer_than": _BEFORE_ALL if query.newer_than is None else query.newer_than,
            "valid_at": None if during else axes.valid_at,
            "valid_start": during.start if during else None,
            "valid_end": during.end if during else None,
            "subject": query.subject,
            "predicate": query.predicate,
            "object_key": query.object_key,
            "session": query.session,
            "topic": query.topic,
            "min_confidence": query.min_confidence,
            "stances": None if query.stances is None else json_list(query.stances),
            "after_at": query.after[0] if query.after else None,
            "after_id": query.after[1] if query.after else None,
        }
        block = _narrowest(query)
        if block == _OF_MATTER:
            slot = value_slot(query.subject or "", query.predicate or "")
            matter = matter_digest(f"{slot}|")
            bindings |= {
                "matter": matter,
                "matter_end": matter + _PAST_ALL,
                "claims": f"{slot}|",
                "claims_end": f"{slot}}}",
            }  # the brace is the character after the bar
        return self._rows(statements[block], bindings)

    def _rows(self, sql: str, bindings: Row | Mapping[str, Any]) -> list[Row]:
        """Rows of versions, each read by itself."""
        return whole(self._readers.rows(sql, bindings), self._readers.rows)

    def ended_since(
        self, tenant_id: str, scopes: Collection[Scope], layer: Layer, seen_at: Instant, limit: int
    ) -> list[Record]:
        """Mirrors ``Records.ended_since``."""
        bindings = (tenant_id, json_list(scopes), layer.value, seen_at, limit)
        return [as_stood(_read(row), seen_at) for row in self._rows(_SQL["records_ended_since"], bindings)]

    def in_slots(
        self, tenant_id: str, scope: Scope, slots: Collection[str], *, limit: int
    ) -> dict[str, list[Record]]:
        """Mirrors ``Records.in_slots``."""
        found: dict[str, list[Record]] = defaultdict(list)
        for row in self._rows_in_slots(tenant_id, scope, slots, limit):
            found[row[_SLOT]].append(_read(row))
        return dict(found)

    def heads_in_slots(
        self, tenant_id: str, scope: Scope, slots: Collection[str], *, limit: int
    ) -> list[RecordHead]:
        """Mirrors ``Records.heads_in_slots``."""
        return [read_head(row) for row in self._rows_in_slots(tenant_id, scope, slots, limit)]

    def _rows_in_slots(self, tenant_id: str, scope: Scope, slots: Collection[str], limit: int) -> list[Row]:
        if not slots:
            return []
        bindings = (tenant_id, scope, Layer.FACTS.value, json_list(sorted(slots)), limit)
        return self._readers.rows(_SQL["records_in_slots"], bindings)

    def statements(self, tenant_id: str, fact_ids: Collection[str]) -> dict[str, list[Attestation]]:
        """Mirrors ``Records.statements``."""
        found: dict[str, list[Attestation]] = defaultdict(list)
        if fact_ids:
            rows = self._readers.rows(_SQL["statements"], (tenant_id, json_list(sorted(fact_ids))))
            for statement in map(Attestation._make, rows):
                found[statement.fact_id].append(statement)
        return dict(found)

    def spoken_of(
        self,
        tenant_id: str,
        scope: Scope,
        since: Mapping[Horizon, Instant],
        *,
        due: tuple[Instant, Instant],
        read: int,
        limit: int,
    ) -> list[Loop]:
        """Mirrors ``Records.spoken_of``."""
        bindings = (tenant_id, scope, compact(dict(since)), read, limit, *due)
        found = map(read_record, self._readers.rows(_SQL["loops_spoken_of"], bindings))
        return [record for record in found if isinstance(record, Loop)]

    def scopes_of(self, tenant_id: str, ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.scopes_of``."""
        if not ids:
            return {}
        rows = self._readers.rows(_SQL["record_scopes"], (tenant_id, json_list(sorted(ids))))
        return {record_id: Scope(scope) for record_id, scope in rows if scope is not None}

    def redacted_among(self, tenant_id: str, event_ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.redacted_among``."""
        if not event_ids:
            return {}
        rows = self._readers.rows(_SQL["redacted_among"], (tenant_id, json_list(sorted(event_ids))))
        return {event_id: Scope(scope) for event_id, scope in rows}

    def touched(self, tenant_id: str, after: int) -> Touched:
        """Mirrors ``Records.touched``."""
        ((number, first, ids),) = self._readers.rows(_SQL["touched_since"], (tenant_id, after))
        number = number or 0
        known = after == number or (after < number and first is not None and first <= after + 1)
        return Touched(number, json.loads(ids) if known else None)

    def supports_of(
        self, tenant_id: str, record_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_of``."""
        found: dict[str, list[Support]] = defaultdict(list)
        if record_ids:
            rows = self._readers.rows(_SQL["supports_of"], (tenant_id, json_list(record_ids), seen_at))
            for support in map(Support._make, rows):
                found[support.record_id].append(support)
        return dict(found)

    def sources_of(
        self, tenant_id: str, record_ids: Collection[str], relation: Tie, *, seen_at: Instant
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.sources_of``."""
        bindings = (tenant_id, json_list(record_ids), relation, seen_at)
        return self._grouped("sources_of", bindings) if record_ids else {}

    def episodes_of(
        self, tenant_id: str, event_ids: Collection[str], *, seen_at: Instant
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.episodes_of``."""
        bindings = (tenant_id, json_list(event_ids), *_EPISODES, seen_at)
        return self._grouped("episodes_of", bindings) if event_ids else {}

    def _grouped(self, block: str, bindings: Row) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for key, other in self._readers.rows(_SQL[block], bindings):
            found[key].append(other)
        return dict(found)

    def dependants_of(self, tenant_id: str, source_ids: Collection[str]) -> dict[str, list[Support]]:
        """Mirrors ``Records.dependants_of``."""
        found: dict[str, list[Support]] = defaultdict(list)
        if source_ids:
            rows = self._readers.rows(_SQL["dependants_of"], (tenant_id, json_list(source_ids)))
            for support in map(Support._make, rows):
                found[support.source_id].append(support)
        return dict(found)

    def resting_on(
        self, tenant_id: str, source_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.resting_on``."""
        if not source_ids:
            return {}
        bindings = (tenant_id, json_list(source_ids))
        block = ("resting_on", bindings) if seen_at is None else ("resting_on_by", (*bindings, seen_at))
        # Put in order here: a recall asks for hundreds, and the engine would sort all rows at once.
        return {source: sorted(set(ids)) for source, ids in self._grouped(*block).items()}

    def supports_related(
        self,
        tenant_id: str,
        record_ids: Collection[str],
        relation: Tie,
        *,
        seen_at: Instant | None = None,
    ) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_related``."""
        found: dict[str, list[Support]] = defaultdict(list)
        if record_ids:
            bindings = (tenant_id, json_list(record_ids), seen_at, relation)
            for support in map(Support._make, self._readers.rows(_SQL["supports_related"], bindings)):
                found[support.record_id].append(support)
        return dict(found)

    def ended_by(
        self, tenant_id: str, last: Mapping[str, Instant | None]
    ) -> dict[str, Mapping[str, Instant]]:
        """Mirrors ``Records.ended_by``."""
        found: dict[str, dict[str, Instant]] = defaultdict(dict)
        if last:
            bindings = (tenant_id, compact(dict(last)), Tie.MAY_CHANGE)
            for record_id, source_id, recorded_at in self._readers.rows(_SQL["ended_by"], bindings):
                found[record_id][source_id] = recorded_at
        return {**found}

    def sources_below(
        self,
        tenant_id: str,
        record_ids: Collection[str],
        steps: int,
        width: int,
        *,
        most: int | None = None,
        seen_at: Instant | None = None,
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.sources_below``."""
        if not record_ids:
            return {}
        bindings = (tenant_id, json_list(record_ids), seen_at, steps, width, -1 if most is None else most)
        rows = self._readers.rows(_SQL["sources_below"], bindings)
        return {record_id: json.loads(sources) for record_id, sources in rows if sources != "[]"}

    def sources_among(
        self, tenant_id: str, wanted: Mapping[str, Sequence[str]], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.sources_among``."""
        bindings = (tenant_id, compact({each: sorted(set(ids)) for each, ids in wanted.items()}), seen_at)
        return self._grouped("sources_among", bindings) if wanted else {}

    def entities(self, tenant_id: str, normalised_names: Collection[str]) -> dict[str, Entity]:
        """Mirrors ``Records.entities``."""
        if not normalised_names:
            return {}
        rows = self._readers.rows(_SQL["entities_by_name"], (tenant_id, json_list(normalised_names)))
        return {
            name: Entity(tenant_id=tenant, id=entity_id, normalised_name=name, type=kind)
            for tenant, entity_id, name, kind in rows
        }

    def entity_types(self, tenant_id: str, scope: Scope, entity_ids: Collection[str]) -> dict[str, str]:
        """Mirrors ``Records.entity_types``."""
        if not entity_ids:
            return {}
        rows = self._readers.rows(_SQL["entity_types"], (tenant_id, scope, json_list(sorted(entity_ids))))
        return {entity_id: kind for entity_id, kind in rows if kind is not None}

    def mentions(
        self, tenant_id: str, entity_ids: Collection[str], scopes: Collection[Scope], limit: int
    ) -> list[Mention]:
        """Mirrors ``Records.mentions``."""
        bindings = (tenant_id, json_list(sorted(set(entity_ids))), json_list(sorted(set(scopes))), limit)
        return list(map(read_mention, self._readers.rows(_SQL["mentions_in_scopes"], bindings)))


def _narrowest(query: RecordQuery) -> str:
    """The statement whose index leaves the fewest rows to look through."""
    if query.subject is not None:
        is_of_matter = query.predicate is not None and query.layer in (Layer.FACTS, Layer.BELIEFS)
        return _OF_MATTER if is_of_matter else "query_records_of_subject"
    if query.object_key is not None and is_entity(query.object_key):
        return "query_records_of_object"
    if query.topic is not None and not query.axes.superseded:
        return "query_records_of_topic"
    return "query_records"
