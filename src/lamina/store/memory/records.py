"""Derived records and the why graph in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from lamina.kernel.heads import RecordHead
from lamina.kernel.records import (
    LOOPS_OPEN,
    Entity,
    Fact,
    Horizon,
    Layer,
    Loop,
    LoopStatus,
    Mention,
    Record,
    Support,
    is_event,
    layer_of,
    order_of,
)
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import FOREVER, Axes, Instant
from lamina.kernel.understanding import FactState
from lamina.store.memory.exclusion import exclude_unsupported, readmit
from lamina.store.memory.index import put_text, put_vector
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.records import Attestation, InputState, NamedAs, NewerFact, RecordQuery, Touched
from lamina.store.ports.writes import EventOffset, Inquiry, Writes
from lamina.store.rules.records import as_stood, wanted

__all__ = ["MemoryRecords", "put_inquiries", "put_writes"]


def put_writes(tables: Tables, writes: Writes) -> None:
    """Land what a stage derived. What is there already stays as it is."""
    for record in writes.records:
        versions = (tables.records[key] for key in tables.records if key[:2] == (record.tenant_id, record.id))
        excluded = record.excluded or (record.version > 1 and any(held.excluded for held in versions))
        place = (record.tenant_id, record.id, record.version)
        tables.records.setdefault(place, replace(record, excluded=excluded))
    for closing in writes.closings:
        key = (closing.tenant_id, closing.id, closing.version)
        held = tables.records.get(key)
        if held is not None and held.recorded_to is None:
            tables.records[key] = replace(
                held,
                recorded_to=closing.recorded_to,
                closed_by=closing.closed_by,
            )
    for edge in writes.supports:
        tables.supports.setdefault((edge.tenant_id, edge.record_id, edge.source_id, edge.relation), edge)
    readmit(tables, writes.supports)
    exclude_unsupported(tables, writes.supports)
    for entity in writes.entities:
        names = {(known.tenant_id, known.normalised_name) for known in tables.entities.values()}
        if (entity.tenant_id, entity.normalised_name) not in names:
            tables.entities.setdefault((entity.tenant_id, entity.id), entity)
    for mention in writes.mentions:
        key_of_mention = (
            mention.tenant_id, mention.entity_id, mention.scope, mention.event_id, mention.surface
        )  # fmt: skip
        tables.mentions.setdefault(key_of_mention, mention)
    for mention in writes.mentions:
        _type_by_first(tables, mention)
    for text in writes.texts:
        put_text(tables, text)
    for vector in writes.vectors:
        put_vector(tables, vector)
    for clock in writes.offsets:
        _put_zone_offset(tables, clock)
    put_inquiries(tables, writes.inquiries)


def _type_by_first(tables: Tables, mention: Mention) -> None:
    """An entity is of the type that it was named with first, whichever scope lands first."""
    key = (mention.tenant_id, mention.entity_id)
    held = tables.entities.get(key)
    if held is None or mention.type in (None, held.type):
        return
    named = (m for m in tables.mentions.values() if (m.tenant_id, m.entity_id) == key)
    if all((m.position, m.event_id) >= (mention.position, mention.event_id) for m in named):
        tables.entities[key] = replace(held, type=mention.type)


def put_inquiries(tables: Tables, inquiries: Iterable[Inquiry]) -> None:
    """Put down what is to be asked; what is asked of an event already is asked once."""
    for inquiry in inquiries:
        asked = (inquiry.tenant_id, inquiry.event_id, inquiry.task)
        if all((held.tenant_id, held.event_id, held.task) != asked for held in tables.inquiries.values()):
            tables.last_inquiry += 1
            tables.inquiries[tables.last_inquiry] = replace(inquiry, id=tables.last_inquiry)


def _put_zone_offset(tables: Tables, clock: EventOffset) -> None:
    place = (clock.tenant_id, clock.event_id)
    event = tables.events.get(place)
    if event is None or event.offset is not None:
        return
    tables.events[place] = replace(event, zone_offset=clock.offset)
    if place in tables.jobs:
        tables.jobs[place] = replace(tables.jobs[place], event=tables.events[place])


class MemoryRecords:
    """``Records`` over dictionaries."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def get(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, Record]:
        """Mirrors ``Records.get``."""
        found = {
            record_id: [
                version
                for version in self.versions(tenant_id, record_id)
                if seen_at is None or version.recorded_from <= seen_at
            ]
            for record_id in ids
        }
        return {
            record_id: as_stood(versions[-1], seen_at) for record_id, versions in found.items() if versions
        }

    def heads(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, RecordHead]:
        """Mirrors ``Records.heads``."""
        found = self.get(tenant_id, ids, seen_at=seen_at)
        return {i: RecordHead.of(each) for i, each in found.items()}

    def input_states(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, InputState]:
        """Mirrors ``Records.input_states``."""
        found = self.get(tenant_id, ids, seen_at=seen_at)
        return {
            i: InputState(each.excluded, FactState.of(each) if isinstance(each, Fact) else None)
            for i, each in found.items()
        }

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
        query = RecordQuery(
            tenant_id=tenant_id,
            layer=Layer.FACTS,
            scopes=[scope],
            axes=Axes(seen_at=seen_at),
            subject=entity_id if named_as == "subject" else None,
            object_key=entity_id if named_as == "object" else None,
            newer_than=newer_than,
            limit=limit,
        )
        facts = [each for each in self.query(query) if isinstance(each, Fact)]
        return [NewerFact(each.recorded_from, FactState.of(each)) for each in facts]

    def versions(self, tenant_id: str, record_id: str) -> list[Record]:
        """Mirrors ``Records.versions``."""
        records = self._memory.tables.records.values()
        found = [record for record in records if (record.tenant_id, record.id) == (tenant_id, record_id)]
        return sorted(found, key=lambda record: record.version)

    def query(self, query: RecordQuery) -> list[Record]:
        """Mirrors ``Records.query``."""
        found = [record for record in self._memory.tables.records.values() if wanted(record, query)]
        found.sort(key=lambda record: (record.recorded_from, record.id, record.version), reverse=True)
        return [as_stood(record, query.axes.seen_at) for record in found[: query.limit]]

    def query_heads(self, query: RecordQuery) -> list[RecordHead]:
        """Mirrors ``Records.query_heads``."""
        return [RecordHead.of(each) for each in self.query(query)]

    def ended_since(
        self, tenant_id: str, scopes: Collection[Scope], layer: Layer, seen_at: Instant, limit: int
    ) -> list[Record]:
        """Mirrors ``Records.ended_since``."""
        query = RecordQuery(
            tenant_id=tenant_id, layer=layer, scopes=scopes, axes=Axes(seen_at=seen_at), limit=limit
        )
        records = self._memory.tables.records.values()
        ended = [each for each in records if each.recorded_to is not None and wanted(each, query)]
        ended.sort(key=lambda record: (record.recorded_from, record.id), reverse=True)
        return [as_stood(record, seen_at) for record in ended[:limit]]

    def in_slots(
        self, tenant_id: str, scope: Scope, slots: Collection[str], *, limit: int
    ) -> dict[str, list[Record]]:
        """Mirrors ``Records.in_slots``."""
        found = {slot: self.query(_now(tenant_id, scope, limit, slot=slot)) for slot in slots}
        return {slot: held for slot, held in found.items() if held}

    def heads_in_slots(
        self, tenant_id: str, scope: Scope, slots: Collection[str], *, limit: int
    ) -> list[RecordHead]:
        """Mirrors ``Records.heads_in_slots``."""
        held = self.in_slots(tenant_id, scope, slots, limit=limit).values()
        found = [each for of_slot in held for each in of_slot]
        found.sort(key=lambda each: (each.recorded_from, each.id, each.version), reverse=True)
        return [RecordHead.of(each) for each in found]

    def statements(self, tenant_id: str, fact_ids: Collection[str]) -> dict[str, list[Attestation]]:
        """Mirrors ``Records.statements``."""
        events = self._memory.tables.events
        told = [
            (events[tenant_id, each.source_id], each)
            for found in self.supports_of(tenant_id, fact_ids).values()
            for each in found
            if (tenant_id, each.source_id) in events and events[tenant_id, each.source_id].counts
        ]
        told.sort(key=lambda item: (item[0].position, item[1].record_id, item[1].relation))
        statements: dict[str, list[Attestation]] = defaultdict(list)
        for event, each in told:
            statements[each.record_id].append(
                Attestation(
                    each.record_id,
                    event.id,
                    each.relation,
                    each.actor,
                    each.at or 0,
                    event.context.observed_at,
                    event.recorded_at,
                )
            )
        return dict(statements)

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
        found = [
            loop
            for loop in self.query(_now(tenant_id, scope, read, topic=LOOPS_OPEN))
            if isinstance(loop, Loop)
            and loop.status is LoopStatus.ACTIVE
            and loop.last_at >= since.get(loop.horizon, loop.last_at)
        ]
        pressing = [loop for loop in found if loop.due_at is not None and due[0] <= loop.due_at <= due[1]]
        days = {loop.id: loop.due_at or 0 for loop in pressing}
        return sorted(
            found,
            key=lambda loop: (
                loop.id not in days,
                days.get(loop.id, 0),
                -loop.seen_at,
                -loop.salience,
                loop.id,
            ),
        )[:limit]

    def scopes_of(self, tenant_id: str, ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.scopes_of``."""
        records = self._memory.tables.records.values()
        return {each.id: each.scope for each in records if each.tenant_id == tenant_id and each.id in ids}

    def redacted_among(self, tenant_id: str, event_ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.redacted_among``."""
        events = (self._memory.tables.events.get((tenant_id, each)) for each in event_ids)
        return {each.id: each.scope for each in events if each is not None and each.redacted_by is not None}

    def touched(self, tenant_id: str, after: int) -> Touched:  # noqa: ARG002 - whoever's change it was
        """Mirrors ``Records.touched``: any change may be one."""
        commits = self._memory.tables.commits
        return Touched(commits, () if commits == after else None)

    def supports_of(
        self, tenant_id: str, record_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_of``."""
        found: dict[str, list[Support]] = defaultdict(list)
        asked = set(record_ids)
        edges = [
            edge
            for edge in self._memory.tables.supports.values()
            if edge.record_id in asked
            and edge.tenant_id == tenant_id
            and (seen_at is None or edge.recorded_at <= seen_at)
        ]
        for edge in sorted(edges, key=order_of):
            found[edge.record_id].append(edge)
        return dict(found)

    def sources_of(
        self, tenant_id: str, record_ids: Collection[str], relation: Tie, *, seen_at: Instant
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.sources_of``."""
        found: dict[str, list[str]] = {}
        for record_id, supports in self.supports_of(tenant_id, record_ids, seen_at=seen_at).items():
            if sources := sorted(each.source_id for each in supports if each.relation == relation):
                found[record_id] = sources
        return found

    def episodes_of(
        self, tenant_id: str, event_ids: Collection[str], *, seen_at: Instant
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.episodes_of``."""
        found: dict[str, list[str]] = {}
        for event_id, record_ids in self.resting_on(tenant_id, event_ids, seen_at=seen_at).items():
            if episodes := sorted(each for each in record_ids if layer_of(each) is Layer.EPISODES):
                found[event_id] = episodes
        return found

    def dependants_of(self, tenant_id: str, source_ids: Collection[str]) -> dict[str, list[Support]]:
        """Mirrors ``Records.dependants_of``."""
        found: dict[str, list[Support]] = defaultdict(list)
        asked = set(source_ids)
        edges = [
            edge
            for edge in self._memory.tables.supports.values()
            if edge.source_id in asked and edge.tenant_id == tenant_id
        ]
        for edge in sorted(edges, key=lambda edge: edge.record_id):
            found[edge.source_id].append(edge)
        return dict(found)

    def resting_on(
        self, tenant_id: str, source_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.resting_on``."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for source_id, supports in self.dependants_of(tenant_id, source_ids).items():
            for each in supports:
                if seen_at is None or each.recorded_at <= seen_at:
                    found[source_id][each.record_id] = None
        return {source_id: list(ids) for source_id, ids in found.items()}

    def supports_related(
        self,
        tenant_id: str,
        record_ids: Collection[str],
        relation: Tie,
        *,
        seen_at: Instant | None = None,
    ) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_related``."""
        found = self.supports_of(tenant_id, record_ids, seen_at=seen_at)
        return {
            record_id: supports
            for record_id, supports in found.items()
            if any(each.relation == relation for each in supports)
        }

    def ended_by(
        self, tenant_id: str, last: Mapping[str, Instant | None]
    ) -> dict[str, Mapping[str, Instant]]:
        """Mirrors ``Records.ended_by``."""
        found: dict[str, Mapping[str, Instant]] = {}
        for record_id, supports in self.supports_of(tenant_id, last).items():
            ending: dict[str, Instant] = {}
            for each in sorted(supports, key=lambda each: (each.source_id, each.recorded_at)):
                told = each.polarity == "against" or (each.at is not None and each.at == last[record_id])
                if told and each.relation != Tie.MAY_CHANGE:
                    ending.setdefault(each.source_id, each.recorded_at)
            if ending:
                found[record_id] = ending
        return found

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
        found: dict[str, list[str]] = {}
        front: Collection[str] = record_ids
        for _ in range(steps):
            supports = self.supports_of(tenant_id, front, seen_at=seen_at)
            below = {i: [each.source_id for each in of_record[:most]] for i, of_record in supports.items()}
            found |= below
            sources = {each for ids in below.values() for each in ids[:width]}
            front = {each for each in sources if not is_event(each) and each not in found}
        return found

    def sources_among(
        self, tenant_id: str, wanted: Mapping[str, Sequence[str]], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.sources_among``."""
        found = self.supports_of(tenant_id, wanted, seen_at=seen_at)
        among = {
            i: [s.source_id for s in supports if s.source_id in wanted[i]] for i, supports in found.items()
        }
        return {i: sources for i, sources in among.items() if sources}

    def entities(self, tenant_id: str, normalised_names: Collection[str]) -> dict[str, Entity]:
        """Mirrors ``Records.entities``."""
        return {
            entity.normalised_name: entity
            for entity in self._memory.tables.entities.values()
            if entity.tenant_id == tenant_id and entity.normalised_name in normalised_names
        }

    def entity_types(self, tenant_id: str, scope: Scope, entity_ids: Collection[str]) -> dict[str, str]:
        """Mirrors ``Records.entity_types``."""
        tables = self._memory.tables
        found: dict[str, str] = {}
        for mention in sorted(tables.mentions.values(), key=lambda each: (each.event_id, each.surface)):
            event = tables.events.get((tenant_id, mention.event_id))
            if (
                (mention.tenant_id, mention.scope) == (tenant_id, scope)
                and mention.entity_id in entity_ids
                and mention.type is not None
                and not (event is not None and not event.counts)
            ):
                found.setdefault(mention.entity_id, mention.type)
        return found

    def mentions(
        self, tenant_id: str, entity_ids: Collection[str], scopes: Collection[Scope], limit: int
    ) -> list[Mention]:
        """Mirrors ``Records.mentions``."""
        found = [
            mention
            for mention in self._memory.tables.mentions.values()
            if mention.tenant_id == tenant_id and mention.entity_id in entity_ids and mention.scope in scopes
        ]
        found.sort(key=lambda mention: (-mention.position, mention.entity_id, mention.surface))
        return found[:limit]


def _now(
    tenant_id: str, scope: Scope, limit: int, *, slot: str | None = None, topic: str | None = None
) -> RecordQuery:
    """A query for the facts that are held now, whatever the clock says."""
    return RecordQuery(
        tenant_id=tenant_id,
        layer=Layer.FACTS,
        scopes=[scope],
        axes=Axes(seen_at=FOREVER),
        slot=slot,
        topic=topic,
        limit=limit,
    )
