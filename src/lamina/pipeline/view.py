"""What was derived before, as it stood at an event's place in the log.

Stages run in batches, so the store may already hold what later events of the same batch made. Derivation reads through a
view: rows recorded after the event are not there. That is what makes a replay equal to live derivation.

What the earlier events of a batch derived may not have landed yet: a view has that on top of what the store holds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lamina.kernel.belief_rules import BELIEF_RULES, BeliefRules
from lamina.kernel.events import Event, Party
from lamina.kernel.expiry import expiry_of
from lamina.kernel.local import Offset
from lamina.kernel.records import Fact, Layer, Record, Support, layer_of, order_of
from lamina.kernel.sameness import Sameness, sameness_of, standing_for
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import ENDS_LOOP, OF_LOOPS, SAYS_AGAIN, Tie
from lamina.kernel.time import Axes, Instant
from lamina.kernel.vocabularies import ActiveTerms
from lamina.language.entities import entity_id, normalise_name
from lamina.pipeline.pending import Pending
from lamina.store.ports.log import EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import EventOffset, Writes
from lamina.store.rules.records import wanted
from lamina.store.vocabularies import active_terms

__all__ = [
    "TIES",
    "FactsRead",
    "IsolatedView",
    "View",
]

ScopeDecision = tuple[Scope, Sameness]
"""A decision, and the scope for which it was made."""

TIES = (Tie.EXTRACTED_FROM, Tie.TAKEN_BACK_BY, Tie.DONE_BY, Tie.MOVED_BY, Tie.CORRECTED_BY)
"""What says that an event spoke of a fact."""


class FactsRead:
    """The facts of a batch's events, read once: no stage after the one that extracts changes them."""

    def __init__(self, store: Store, events: Sequence[Event]) -> None:
        self._store = store
        self._events = {(event.tenant_id, event.id): event for event in events}
        self._supports: dict[tuple[str, str], list[Support]] = {}
        self._newest: dict[tuple[str, str], Record] = {}
        for tenant_id in dict.fromkeys(tenant for tenant, _ in self._events):
            ids = [event_id for tenant, event_id in self._events if tenant == tenant_id]
            dependants = store.records.dependants_of(tenant_id, ids)
            self._supports |= {(tenant_id, event_id): found for event_id, found in dependants.items()}
            of_facts = {*TIES, *OF_LOOPS}
            stated = {s.record_id for found in dependants.values() for s in found if s.relation in of_facts}
            newest = store.records.get(tenant_id, stated)
            self._newest |= {(tenant_id, record_id): record for record_id, record in newest.items()}

    def of(self, event: Event) -> list[Fact]:
        """The facts that rest on an event directly, as they stood then, in the order of their ids."""
        return self._tied(event, Tie.EXTRACTED_FROM, *SAYS_AGAIN, Tie.AFFIRMED_BY)

    def taken_back(self, event: Event) -> list[Fact]:
        """The facts that an event took back, did, moved or corrected, as they stood then, in the order of their ids."""
        return self._tied(event, Tie.TAKEN_BACK_BY, Tie.DONE_BY, Tie.MOVED_BY, Tie.CORRECTED_BY, *ENDS_LOOP)

    def _tied(self, event: Event, *relations: Tie) -> list[Fact]:
        supports = _before(event, self._supports.get((event.tenant_id, event.id), ()))
        ids = {support.record_id for support in supports if support.relation in relations}
        found = (self._seen(event, record_id) for record_id in ids)
        stated = (fact for fact in found if isinstance(fact, Fact) and fact.is_stated)
        return sorted(stated, key=lambda fact: fact.id)

    def _seen(self, event: Event, record_id: str) -> Record | None:
        newest = self._newest.get((event.tenant_id, record_id))
        if newest is None or newest.recorded_from <= event.recorded_at:
            return newest
        found = self._store.records.get(event.tenant_id, [record_id], seen_at=event.recorded_at)
        return found.get(record_id)


class View:
    """The derived layers and the log, up to and including one event."""

    def __init__(
        self,
        store: Store,
        event: Event,
        pending: Pending,
        *,
        named_in: Scope | None = None,
        decided_before: int | None = None,
    ) -> None:
        self._store = store
        self._pending = pending
        self.event = event
        self.naming = event.scope if named_in is None else named_in
        """The scope by whose decisions names stand for entities."""
        self._decided_before = decided_before
        self._terms: ActiveTerms | None = None
        self._decided: dict[str, Sequence[ScopeDecision]] = {}
        self.saw_excluded = False
        """Whether something was read that rests on cancelled events alone."""

    @property
    def terms(self) -> ActiveTerms:
        """The vocabulary that was active for the event's scope at its place in the log."""
        if self._terms is None:
            event, definitions = self.event, self._store.definitions
            self._terms = active_terms(definitions, event.tenant_id, event.scope, seen_at=event.recorded_at)
        return self._terms

    def read_by(self, offset: Offset) -> EventOffset:
        """Read the event by a clock from here on; what is to land of that."""
        self.event = replace(self.event, zone_offset=offset)
        return EventOffset(self.event.tenant_id, self.event.id, offset)

    def entity(self, key: str, told_by: Event | None = None) -> str:
        """The id of the entity that a normalised name stands for in the words of an event, the view's own where none is given."""
        event = self.event if told_by is None else told_by
        return standing_for(entity_id(event.tenant_id, key), event.id, self.samenesses)

    def entity_of(self, party: Party, told_by: Event | None = None) -> str:
        """The id of the entity that an actor is."""
        return self.entity(normalise_name(party.display_name), told_by)

    def samenesses(self, entity: str) -> Sequence[Sameness]:
        """What had been decided of which entity an entity is, in the order of the log, in the scope by which names stand."""
        until = self._decided_before
        return [
            each
            for scope, each in self.decided([entity])[entity]
            if scope == self.naming and (until is None or each.position < until)
        ]

    def decided(self, entities: Collection[str]) -> Mapping[str, Sequence[ScopeDecision]]:
        """What had been decided in any scope of which entity each is, in the order of the log."""
        unknown = [each for each in dict.fromkeys(entities) if each not in self._decided]
        if unknown:
            tenant_id = self.event.tenant_id
            stored = self._store.records.dependants_of(tenant_id, unknown)
            behind: dict[str, set[str]] = {}
            for entity in unknown:
                supports = [*stored.get(entity, ()), *self._pending.deciding(tenant_id, entity)]
                before = _before(self.event, supports)
                behind[entity] = {each.record_id for each in before if each.relation == Tie.DECIDES}
            entries = self._store.log.get(tenant_id, set().union(*behind.values()))
            for entity, ids in behind.items():
                found = [(e.scope, said) for i in ids if (e := entries.get(i)) and (said := sameness_of(e))]
                self._decided[entity] = sorted(found, key=lambda each: each[1].position)
        return {each: self._decided[each] for each in entities}

    def named_in(self, scope: Scope, *, decided_before: int | None = None) -> View:
        """The same view with names standing for entities as another scope has it, with ``decided_before`` as it had it before a position."""
        if scope == self.naming and decided_before is None:
            return self
        view = View(self._store, self.event, self._pending, named_in=scope, decided_before=decided_before)
        view._decided = self._decided
        return view

    def before(self, record_id: str) -> Record | None:
        """The version that stood right before the event, of what has landed."""
        at = self.event.recorded_at - 1  # recorded instants rise strictly
        return self._store.records.get(self.event.tenant_id, [record_id], seen_at=at).get(record_id)

    def began(self, record_id: str) -> Instant:
        """When the first version of a record that is there was recorded."""
        first = self.first(record_id)
        assert first is not None, "it is there"
        return first.recorded_from

    def after(self, writes: Writes, event: Event) -> View:
        """The view of an event that comes directly after this one's, which derived ``writes``."""
        return View(self._store, event, self._pending.with_added(writes))

    def belief_rules(self) -> BeliefRules:
        """What the tenant had laid down for beliefs."""
        kind, name = BELIEF_RULES
        held = self._store.definitions.held(self.event.tenant_id, kind, seen_at=self.event.recorded_at)
        return next((BeliefRules.of(each.body) for each in held if each.name == name), BeliefRules())

    def whole(self) -> View:
        """The view of everything that was told before the event."""
        return self

    def record(self, record_id: str) -> Record | None:
        """The version that stood then."""
        event = self.event
        later = [
            version
            for version in self._pending.versions(event.tenant_id, record_id)
            if version.recorded_from <= event.recorded_at
        ]
        if later:
            return self._noted(later[-1])
        found = self._store.records.get(event.tenant_id, [record_id], seen_at=event.recorded_at)
        return self._noted(self._pending.as_ended(found[record_id])) if record_id in found else None

    def first(self, record_id: str) -> Record | None:
        """The version by which a record began."""
        event = self.event
        stored = self._store.records.versions(event.tenant_id, record_id)
        pending = self._pending.versions(event.tenant_id, record_id)
        return min((*stored, *pending), key=lambda each: each.version, default=None)

    def versions(self, record_id: str) -> list[Record]:
        """The versions that a record had had by then, first to last."""
        tenant_id, at = self.event.tenant_id, self.event.recorded_at
        stored = self._store.records.versions(tenant_id, record_id)
        found = {each.version: each for each in (*stored, *self._pending.versions(tenant_id, record_id))}
        return [each for _, each in sorted(found.items()) if each.recorded_from <= at]

    def senders(self, into: Scope) -> list[Scope]:
        """The other scopes with events that are consolidated into one."""
        return self._store.log.senders_into(self.event.tenant_id, into)

    def query(self, layer: Layer, *, scope: Scope | None = None, limit: int, **where: Any) -> list[Record]:
        """Versions current then, in the event's scope or another; ``where`` are fields of ``RecordQuery``."""
        query = RecordQuery(
            tenant_id=self.event.tenant_id,
            layer=layer,
            scopes=[scope or self.event.scope],
            axes=Axes(seen_at=self.event.recorded_at),
            with_excluded=True,
            limit=limit + self._pending.ended,
            **where,
        )
        # The store gives what is wanted, in this order: only what is pending is to be looked at again.
        stored = self._stored(query)
        ended = [self._pending.as_ended(record) for record in stored] if self._pending.ended else stored
        found = [
            now for now, before in zip(ended, stored, strict=True) if now is before or wanted(now, query)
        ]
        pending = [record for record in self._pending.records(layer) if wanted(record, query)]
        if pending:
            found += pending
            found.sort(key=lambda record: (record.recorded_from, record.id, record.version), reverse=True)
        return [self._noted(record) for record in found[:limit]]

    def supports_of(self, record_ids: Collection[str]) -> dict[str, list[Support]]:
        """What records rested on then."""
        event = self.event
        stored = self._store.records.supports_of(event.tenant_id, record_ids)
        found: dict[str, list[Support]] = {}
        for record_id in record_ids:
            known = {(s.source_id, s.relation): s for s in stored.get(record_id, ())}
            for support in self._pending.supports_of(event.tenant_id, record_id):
                known.setdefault((support.source_id, support.relation), support)
            if before := _before(event, list(known.values())):
                found[record_id] = sorted(before, key=order_of)
        return found

    def sources_of(self, record_ids: Collection[str], relation: Tie) -> dict[str, set[str]]:
        """The ids of what records rested on by a relation then."""
        event = self.event
        stored = self._sources(record_ids, relation)
        found = {record_id: set(sources) for record_id, sources in stored.items()}
        for record_id in record_ids:
            for each in self._pending.supports_of(event.tenant_id, record_id):
                if each.relation == relation and each.recorded_at <= event.recorded_at:
                    found.setdefault(record_id, set()).add(each.source_id)
        return found

    def episodes_of(self, event_ids: Collection[str]) -> dict[str, set[str]]:
        """The ids of the episodes that held events then."""
        event = self.event
        stored = self._store.records.episodes_of(event.tenant_id, event_ids, seen_at=event.recorded_at)
        found = {event_id: set(episodes) for event_id, episodes in stored.items()}
        for each in self._pending.resting_on(event.tenant_id, event_ids):
            if layer_of(each.record_id) is Layer.EPISODES and each.recorded_at <= event.recorded_at:
                found.setdefault(each.source_id, set()).add(each.record_id)
        return found

    def resting_on(self, event_ids: Collection[str]) -> list[Support]:
        """What rested on events directly then, in the order of the records' ids."""
        stored = self._store.records.dependants_of(self.event.tenant_id, event_ids)
        known = {(s.record_id, s.source_id, s.relation): s for found in stored.values() for s in found}
        for support in self._pending.resting_on(self.event.tenant_id, event_ids):
            known.setdefault((support.record_id, support.source_id, support.relation), support)
        return sorted(_before(self.event, list(known.values())), key=lambda s: (s.record_id, s.source_id))

    def since(self, position: int, limit: int) -> list[Event]:
        """The events of the scope after a position, up to this one's, oldest first."""
        query = EventQuery(
            tenant_id=self.event.tenant_id,
            scopes=[self.event.scope],
            after=position,
            ascending=True,
            with_excluded=True,
            limit=limit,
        )
        found = self._store.log.query(query)
        return [self._pending.read_by(event) for event in found if event.position <= self.event.position]

    def dependants_of(self, source_ids: Collection[str]) -> list[Support]:
        """What rested on events or records then."""
        tenant_id = self.event.tenant_id
        stored = self._store.records.dependants_of(tenant_id, source_ids)
        found = [support for supports in stored.values() for support in supports]
        return _before(self.event, [*found, *self._pending.resting_on(tenant_id, source_ids)])

    def standing_supports(self, fact_ids: Collection[str]) -> dict[str, list[Support]]:
        """What facts rested on that were held then, without statements that had been cancelled."""
        supports = self.supports_of(fact_ids)
        gone = self.cancelled({each.source_id for found in supports.values() for each in found})
        held = self._held(supports)
        return {
            record_id: [each for each in found if each.source_id not in gone]
            for record_id, found in supports.items()
            if record_id in held
        }

    def cancelled(self, event_ids: Collection[str]) -> set[str]:
        """Which of some events had been cancelled."""
        supports = self.supports_of(event_ids)
        return {key for key, found in supports.items() if any(s.relation == Tie.CANCELLED_BY for s in found)}

    def expired(self, ids: Collection[str], layer: Layer | None = None) -> set[str]:
        """Which of some events or records were over; with ``layer`` which events were over for the records of that, too."""
        supports = self.supports_of(ids)
        said = {
            key: {s.source_id for s in found if s.relation == Tie.EXPIRED_BY}
            for key, found in supports.items()
        }
        if layer is not None:
            entries = self._store.log.get(self.event.tenant_id, set().union(*said.values()))
            over = {key for key, entry in entries.items() if (e := expiry_of(entry)) and layer in e.follows}
            said = {key: found & over for key, found in said.items()}
        return {key for key, found in said.items() if found}

    def _held(self, record_ids: Collection[str]) -> set[str]:
        """Those records whose last version then had not ended."""
        event = self.event
        stored = self._store.records.get(event.tenant_id, record_ids, seen_at=event.recorded_at)
        last = {key: self._pending.as_ended(found) for key, found in stored.items()}
        for record_id in record_ids:
            for version in self._pending.versions(event.tenant_id, record_id):
                if version.recorded_from <= event.recorded_at:
                    last[record_id] = version
        return {
            key
            for key, found in last.items()
            if found.recorded_to is None or found.recorded_to > event.recorded_at
        }

    def events(self, event_ids: Collection[str]) -> dict[str, Event]:
        """Events by id."""
        found = self._store.log.get(self.event.tenant_id, event_ids)
        return {event_id: self._pending.read_by(event) for event_id, event in found.items()}

    def previous(self, limit: int) -> list[Event]:
        """The session's events before this one, oldest first."""
        return self.preceding(self.event, limit)

    def preceding(self, event: Event, limit: int) -> list[Event]:
        """The events of another one's session before it, oldest first."""
        return [self._pending.read_by(each) for each in self._store.log.previous(event, limit)]

    def _stored(self, query: RecordQuery) -> list[Record]:
        """What the store has of a query, beside what is pending."""
        return self._store.records.query(query)

    def _sources(self, record_ids: Collection[str], relation: Tie) -> Mapping[str, Collection[str]]:
        """What the store has of ``sources_of``."""
        event = self.event
        return self._store.records.sources_of(
            event.tenant_id, record_ids, relation, seen_at=event.recorded_at
        )

    def _noted(self, record: Record) -> Record:
        self.saw_excluded = self.saw_excluded or record.excluded
        return record


class IsolatedView(View):
    """What earlier events would have derived had nothing else been told: only what is pending is there, and what names stand for
    where ``seen_from`` stands."""

    def __init__(self, store: Store, event: Event, pending: Pending, seen_from: View) -> None:
        super().__init__(store, event, pending)
        self._seen_from = seen_from

    def samenesses(self, entity: str) -> Sequence[Sameness]:
        """Mirrors ``View.samenesses``."""
        return self._seen_from.samenesses(entity)

    def named_in(self, scope: Scope, *, decided_before: int | None = None) -> View:  # noqa: ARG002 - the shape of View's
        """Mirrors ``View.named_in``: names stand as they do where ``seen_from`` stands."""
        return self

    def first(self, record_id: str) -> Record | None:
        """Mirrors ``View.first``."""
        return next(iter(self._pending.versions(self.event.tenant_id, record_id)), None)

    def whole(self) -> View:
        """Mirrors ``View.whole``."""
        return View(self._store, self.event, self._seen_from._pending)

    def record(self, record_id: str) -> Record | None:
        """Mirrors ``View.record``."""
        found = self._pending.versions(self.event.tenant_id, record_id)
        return found[-1] if found else None

    def _held(self, record_ids: Collection[str]) -> set[str]:
        """Mirrors ``View._held``: nothing is cancelled here."""
        return set(record_ids)

    def _stored(self, query: RecordQuery) -> list[Record]:  # noqa: ARG002 - the shape of View's
        """Mirrors ``View._stored``: nothing else was told."""
        return []

    def _sources(self, record_ids: Collection[str], relation: Tie) -> Mapping[str, Collection[str]]:  # noqa: ARG002 - as above
        """Mirrors ``View._sources``: nothing else was told."""
        return {}

    def supports_of(self, record_ids: Collection[str]) -> dict[str, list[Support]]:
        """Mirrors ``View.supports_of``."""
        found: dict[str, list[Support]] = {}
        for record_id in record_ids:
            known: dict[tuple[str, str], Support] = {}
            for support in self._pending.supports_of(self.event.tenant_id, record_id):
                known.setdefault((support.source_id, support.relation), support)
            if known:
                found[record_id] = sorted(known.values(), key=order_of)
        return found


def _before(event: Event, supports: Sequence[Support]) -> list[Support]:
    return [support for support in supports if support.recorded_at <= event.recorded_at]
