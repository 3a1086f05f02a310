"""What leaves recall with a cancelled event, and what comes back with a new one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from lamina.kernel.events import Event
from lamina.kernel.records import Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.store.memory.tables import Tables
from lamina.store.rules.records import has_words_of

__all__ = ["exclude_dependants", "exclude_unsupported", "hide_event", "readmit"]


def hide_event(tables: Tables, event: Event) -> None:
    """Keep an event out of recall, on which what was derived from it goes on to rest."""
    _hide_text(tables, event.tenant_id, event.id)
    tables.note_index_change(event.tenant_id, event.scope)


def exclude_dependants(tables: Tables, event: Event) -> None:
    """Keep a cancelled event, and what rests on no other event, out of recall and lists."""
    tenant_id = event.tenant_id
    _hide_text(tables, tenant_id, event.id)
    graph = _Graph(tables, tenant_id)
    touched = _keep_out(tables, graph, graph.above(event.id))
    for scope in {event.scope, *touched}:
        tables.note_index_change(tenant_id, scope)


def exclude_unsupported(tables: Tables, supports: Iterable[Support]) -> None:
    """Keep out what lands on cancelled events alone, such as a claim of one that a later event moved."""
    held = [support for support in supports if support.polarity != "against"]
    for tenant_id in sorted({support.tenant_id for support in held}):
        gone = {
            key
            for tenant, key in tables.events
            if tenant == tenant_id and not tables.events[tenant, key].counts
        }
        gone |= {key[1] for key, record in tables.records.items() if key[0] == tenant_id and record.excluded}
        landed = {each.record_id for each in held if each.tenant_id == tenant_id and each.source_id in gone}
        graph = _Graph(tables, tenant_id) if landed else None
        touched: set[Scope] = set()
        for record_id in sorted(landed):
            assert graph is not None
            touched |= _keep_out(tables, graph, {record_id, *graph.above(record_id)})
        for scope in touched:
            tables.note_index_change(tenant_id, scope)


def readmit(tables: Tables, supports: Iterable[Support]) -> None:
    """Bring back excluded records that rest on a living event again, with what rests on them in turn."""
    for tenant_id, record_id in sorted({(support.tenant_id, support.record_id) for support in supports}):
        if not any(tables.records[key].excluded for key in _versions(tables, tenant_id, record_id)):
            continue
        graph = _Graph(tables, tenant_id)
        for other in (record_id, *graph.above(record_id)):
            if graph.rests_on_events(other):
                for key in _versions(tables, tenant_id, other):
                    tables.records[key] = replace(tables.records[key], excluded=False)
                _show_text(tables, tenant_id, other)


def _keep_out(tables: Tables, graph: _Graph, record_ids: Iterable[str]) -> set[Scope]:
    """Exclude those records that rest on no living event; the scopes that it touches."""
    touched: set[Scope] = set()
    for record_id in record_ids:
        if not graph.rests_on_events(record_id):
            touched |= _hide_record(tables, graph.tenant_id, record_id)
    return touched


class _Graph:
    """The why graph of a tenant by both ends of its edges; what is kept out meanwhile changes neither edges nor events."""

    def __init__(self, tables: Tables, tenant_id: str) -> None:
        self.tenant_id = tenant_id
        self._events = tables.events
        self._by_source: dict[str, list[Support]] = defaultdict(list)
        self._by_record: dict[str, list[Support]] = defaultdict(list)
        for edge in tables.supports.values():
            if edge.tenant_id == tenant_id:
                self._by_source[edge.source_id].append(edge)
                self._by_record[edge.record_id].append(edge)

    def above(self, start: str) -> set[str]:
        """Every id that hangs on ``start``."""
        return _reached(start, lambda each: (edge.record_id for edge in self._by_source.get(each, ())))

    def rests_on_events(self, record_id: str) -> bool:
        """Whether a living event is among what it rests on."""
        sources = {record_id, *_reached(record_id, self._sources_of)}
        events = (self._events.get((self.tenant_id, each)) for each in sources)
        return any(event is not None and event.counts for event in events)

    def _sources_of(self, record_id: str) -> list[str]:
        """What a record rests on by itself."""
        edges = self._by_record.get(record_id, ())
        yes = [
            each.accepted_in
            for each in edges
            if each.relation == Tie.OFFERED_IN
            and each.accepted_in is not None
            and self._is_cancelled(each.source_id)
        ]
        return [edge.source_id for edge in edges if has_words_of(edge, yes)]

    def _is_cancelled(self, event_id: str) -> bool:
        event = self._events.get((self.tenant_id, event_id))
        return event is not None and not event.counts


def _reached(start: str, beyond: Callable[[str], Iterable[str]]) -> set[str]:
    """Every id that steps lead to, with ``start`` where they come back to it."""
    found: set[str] = set()
    front = {start}
    while front:
        front = {each for known in front for each in beyond(known)} - found
        found |= front
    return found


def _hide_text(tables: Tables, tenant_id: str, record_id: str) -> None:
    if (tenant_id, record_id) in tables.texts:
        tables.hidden_texts.add((tenant_id, record_id))


def _show_text(tables: Tables, tenant_id: str, record_id: str) -> None:
    if (tenant_id, record_id) in tables.hidden_texts:
        tables.hidden_texts.discard((tenant_id, record_id))
        tables.note_index_change(tenant_id, tables.texts[tenant_id, record_id].scope)


def _versions(tables: Tables, tenant_id: str, record_id: str) -> list[tuple[str, str, int]]:
    return [key for key in tables.records if key[:2] == (tenant_id, record_id)]


def _hide_record(tables: Tables, tenant_id: str, record_id: str) -> set[Scope]:
    _hide_text(tables, tenant_id, record_id)
    versions = _versions(tables, tenant_id, record_id)
    for key in versions:
        tables.records[key] = replace(tables.records[key], excluded=True)
    return {tables.records[key].scope for key in versions}
