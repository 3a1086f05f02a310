"""What leaves recall with a cancelled event, and what comes back with a new one."""

from __future__ import annotations

from collections.abc import Iterable
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
    touched = _keep_out(tables, tenant_id, _reached(tables, tenant_id, event.id, upward=True))
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
        touched: set[Scope] = set()
        for record_id in sorted(
            {each.record_id for each in held if each.tenant_id == tenant_id and each.source_id in gone}
        ):
            resting = {record_id, *_reached(tables, tenant_id, record_id, upward=True)}
            touched |= _keep_out(tables, tenant_id, resting)
        for scope in touched:
            tables.note_index_change(tenant_id, scope)


def readmit(tables: Tables, supports: Iterable[Support]) -> None:
    """Bring back excluded records that rest on a living event again, with what rests on them in turn."""
    for tenant_id, record_id in sorted({(support.tenant_id, support.record_id) for support in supports}):
        if not any(tables.records[key].excluded for key in _versions(tables, tenant_id, record_id)):
            continue
        for other in (record_id, *_reached(tables, tenant_id, record_id, upward=True)):
            if _rests_on_events(tables, tenant_id, other):
                for key in _versions(tables, tenant_id, other):
                    tables.records[key] = replace(tables.records[key], excluded=False)
                _show_text(tables, tenant_id, other)


def _keep_out(tables: Tables, tenant_id: str, record_ids: Iterable[str]) -> set[Scope]:
    """Exclude those records that rest on no living event; the scopes that it touches."""
    touched: set[Scope] = set()
    for record_id in record_ids:
        if not _rests_on_events(tables, tenant_id, record_id):
            touched |= _hide_record(tables, tenant_id, record_id)
    return touched


def _rests_on_events(tables: Tables, tenant_id: str, record_id: str) -> bool:
    sources = {record_id, *_reached(tables, tenant_id, record_id, upward=False)}
    events = [tables.events[tenant_id, key] for key in sources if (tenant_id, key) in tables.events]
    return any(event.counts for event in events)


def _reached(tables: Tables, tenant_id: str, start: str, *, upward: bool) -> set[str]:
    """Every id that the why graph leads to: what hangs on ``start``, or what ``start`` rests on."""
    found: set[str] = set()
    front = {start}
    while front:
        edges = [edge for edge in tables.supports.values() if edge.tenant_id == tenant_id]
        if upward:
            front = {edge.record_id for edge in edges if edge.source_id in front} - found
        else:
            below = [edge for edge in edges if edge.record_id in front]
            held = (edge for edge in below if has_words_of(edge, _yes_to_cancelled(tables, edge)))
            front = {edge.source_id for edge in held} - found
        found |= front
    return found


def _yes_to_cancelled(tables: Tables, edge: Support) -> list[str]:
    """The turns that said yes to an offer behind a record that is cancelled."""
    return [
        each.accepted_in
        for each in tables.supports.values()
        if (each.tenant_id, each.record_id, each.relation) == (edge.tenant_id, edge.record_id, Tie.OFFERED_IN)
        and each.accepted_in is not None
        and (event := tables.events.get((each.tenant_id, each.source_id))) is not None
        and not event.counts
    ]


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
