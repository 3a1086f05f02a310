"""What a selector means: the records and events of one scope that fit it (seed 002, 11.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from lamina import limits
from lamina.forget.counting import resting_alone
from lamina.kernel.events import Event, Party
from lamina.kernel.ids import name_or_entity
from lamina.kernel.records import Claim, Concept, Episode, Layer, Record, is_entity, is_event, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant, Interval
from lamina.language.entities import entity_id, normalise_name
from lamina.store.entities import standing_entity
from lamina.store.ports.log import EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.rules.redacting import is_worded_entry
from lamina.types.forgetting import Forget

__all__ = ["Selected", "derived_alone", "selected"]

_LATEST: Final = 1 << 60
_DERIVED: Final = (Layer.EPISODES, Layer.FACTS, Layer.BELIEFS, Layer.UNDERSTANDING)
_MENTIONS_MAX: Final = 100_000


@dataclass(frozen=True, slots=True)
class Selected:
    """Ids of what is to be forgotten: events lose their words, records go. ``fitting`` are the events and records that the selector fits
    itself, also those named events whose words are gone by now; ``events`` are also those behind the records. ``decisions`` are entries that lose
    the words of who made them: where everything is selected."""

    events: frozenset[str]
    records: frozenset[str]
    fitting: frozenset[str]
    decisions: frozenset[str]


def selected(store: Store, tenant_id: str, request: Forget) -> Selected:
    """What of a scope a request selects. With ``redact_events`` the events from which the records came are among it."""
    scope, chosen = Scope(request.scope), request.selector
    layers = [Layer(each) for each in request.layers] or list(Layer)
    events, records, decisions = set[str](), set[str](), set[str]()
    if chosen.filters or not chosen.memory_ids:
        fits = _Fits(store, tenant_id, scope, request)
        for layer in _DERIVED:
            if layer in layers:
                records |= {
                    each.id for each in _versions(store, tenant_id, scope, layer) if fits.record(each)
                }
        if Layer.EVENTS in layers and request.cascade == "redact_events":
            for each in _log(store, tenant_id, scope):
                if not each.is_entry:
                    if fits.event(each):
                        events.add(each.id)
                elif not chosen.filters and is_worded_entry(each):
                    decisions.add(each.id)
    named_events = {each for each in chosen.memory_ids if is_event(each)}
    named = {each for each in chosen.memory_ids if layer_of(each) in _DERIVED}
    records |= {key for key, held in store.records.scopes_of(tenant_id, named).items() if held == scope}
    here = _here(store, tenant_id, scope, named_events)
    events |= {key for key, each in here.items() if each.redacted_by is None}
    fitting = frozenset({*events, *here, *records})
    if request.cascade == "redact_events":
        behind = _here(store, tenant_id, scope, _behind(store, tenant_id, records))
        events |= {key for key, each in behind.items() if each.redacted_by is None}
    return Selected(frozenset(events), frozenset(records), fitting, frozenset(decisions))


def derived_alone(store: Store, tenant_id: str, request: Forget, fitting: Collection[str]) -> frozenset[str]:
    """The records of a request's layers and scope for which nothing speaks but what fits, through any number of records of that scope.

    Words that are gone speak for nothing.
    """
    layers = [Layer(each) for each in request.layers] or list(_DERIVED)
    edges = [
        edge
        for edge in store.citations.above(tenant_id, fitting)
        if edge.scope == request.scope and edge.record_id not in fitting
    ]
    told = store.log.get(tenant_id, {edge.source_id for edge in edges if is_event(edge.source_id)})
    wordless = {key for key, event in told.items() if event.redacted_by is not None}
    alone = resting_alone({*fitting, *wordless}, edges)
    return frozenset(key for key in alone if layer_of(key) in layers)


class _Fits:
    """Whether something fits every field of a selector that is given."""

    def __init__(self, store: Store, tenant_id: str, scope: Scope, request: Forget) -> None:
        chosen = request.selector
        self._subject_said, self._predicate = chosen.about_subject, chosen.predicate
        self._valid, self._recorded = chosen.valid_during, chosen.recorded_during
        self._subject = _entity(store, tenant_id, scope, chosen.about_subject)
        self._entity = _entity(store, tenant_id, scope, chosen.about_entity)
        self._naming = frozenset[str]()
        self._contained: Callable[[str], frozenset[str]] = lambda _: frozenset()
        if self._entity is not None:
            mentions = store.records.mentions(tenant_id, [self._entity], [scope], _MENTIONS_MAX)
            self._naming = frozenset(each.event_id for each in mentions)
            self._contained = lambda key: frozenset(
                each.source_id for each in store.records.supports_of(tenant_id, [key]).get(key, ())
            )

    def record(self, record: Record) -> bool:
        """Of a version of a derived record."""
        if self._subject is not None and self._about(record) != self._subject:
            return False
        if self._entity is not None and not self._names(record):
            return False
        if self._predicate and not (isinstance(record, Claim) and record.predicate == self._predicate):
            return False
        held = self._valid is None or self._valid.overlaps(record.valid_from, record.valid_to)
        return held and _within(self._recorded, record.recorded_from)

    def event(self, event: Event) -> bool:
        """Of an event: it happened when it is valid."""
        if self._predicate or (
            self._subject is not None
            and event.subject.id != self._subject_said
            and entity_id(event.tenant_id, normalise_name(event.subject.display_name)) != self._subject
        ):
            return False
        if self._entity is not None and event.id not in self._naming:
            return False
        return _within(self._valid, event.context.observed_at) and _within(self._recorded, event.recorded_at)

    def _about(self, record: Record) -> str | None:
        if isinstance(record, Claim):
            return record.subject.id
        return record.about if isinstance(record, Concept) else None

    def _names(self, record: Record) -> bool:
        if isinstance(record, Claim):
            return self._entity in (record.subject.id, record.object.id)
        if isinstance(record, Episode):
            return bool(self._naming & self._contained(record.id))
        return isinstance(record, Concept) and record.about == self._entity


def _entity(store: Store, tenant_id: str, scope: Scope, said: str | None) -> str | None:
    """The id of the entity behind what a caller wrote, an id, a name or an actor; None where nothing is written."""
    if not said:
        return None
    kind, colon, rest = name_or_entity(said).partition(":")
    is_actor = bool(colon and rest) and kind.isalpha() and " " not in said
    name = Party.of(said).display_name if is_actor else said
    found = (
        said if is_entity(said) or said.startswith("concept_") else entity_id(tenant_id, normalise_name(name))
    )
    return standing_entity(store, tenant_id, scope, found)


def _within(interval: Interval | None, at: Instant) -> bool:
    return interval is None or interval.overlaps(at, at + 1)


def _versions(store: Store, tenant_id: str, scope: Scope, layer: Layer) -> Iterator[Record]:
    """Every version of the records of a layer of a scope."""
    query = RecordQuery(
        tenant_id=tenant_id,
        layer=layer,
        scopes=[scope],
        axes=Axes(seen_at=_LATEST, superseded=True),
        with_excluded=True,
        limit=limits.FORGET_PAGE,
    )
    while found := store.records.query(query):
        yield from found
        query = replace(query, after=(found[-1].recorded_from, found[-1].id))


def _log(store: Store, tenant_id: str, scope: Scope) -> Iterator[Event]:
    """The events and entries of a scope that have their words, cancelled ones too."""
    query = EventQuery(
        tenant_id=tenant_id, scopes=[scope], ascending=True, with_excluded=True, limit=limits.FORGET_PAGE
    )
    while found := store.log.query(query):
        yield from (each for each in found if each.redacted_by is None)
        query = replace(query, after=found[-1].position)


def _here(store: Store, tenant_id: str, scope: Scope, ids: set[str]) -> dict[str, Event]:
    found = store.log.get(tenant_id, ids)
    return {key: each for key, each in found.items() if each.scope == scope and not each.is_entry}


def _behind(store: Store, tenant_id: str, record_ids: set[str]) -> set[str]:
    """The events on which records rest, through any number of others."""
    seen, front = set[str](), set(record_ids)
    while front:
        supports = store.records.supports_of(tenant_id, front)
        sources = {
            each.source_id for found in supports.values() for each in found if each.polarity != "against"
        }
        front = {each for each in sources if not is_event(each)} - seen
        seen |= sources
    return {each for each in seen if is_event(each)}
