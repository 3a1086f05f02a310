"""Which entity an entity is in a scope, for readers: what was decided by an instant of the log (decision 0031)."""

from __future__ import annotations

from lamina.kernel.events import Event
from lamina.kernel.sameness import Sameness, sameness_of, standing_for
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.store.ports.store import Store

__all__ = ["deciding_entries", "standing_entity"]


def deciding_entries(
    store: Store, tenant_id: str, scope: Scope, entity: str, *, seen_at: Instant | None = None
) -> list[Event]:
    """The entries of the log that decided something of an entity in a scope and are derived, in their order; without those that lost
    their content."""
    supports = store.records.dependants_of(tenant_id, [entity]).get(entity, ())
    ids = {
        each.record_id
        for each in supports
        if each.relation == Tie.DECIDES and (seen_at is None or each.recorded_at <= seen_at)
    }
    entries = store.log.get(tenant_id, ids).values()
    here = (each for each in entries if each.scope == scope and sameness_of(each) is not None)
    return sorted(here, key=lambda each: each.position)


def standing_entity(
    store: Store, tenant_id: str, scope: Scope, entity: str, *, seen_at: Instant | None = None
) -> str:
    """The entity as which a scope knows one: itself, or the one that it was found to be."""

    def decisions(about: str) -> list[Sameness]:
        entries = deciding_entries(store, tenant_id, scope, about, seen_at=seen_at)
        return [each for each in map(sameness_of, entries) if each is not None]

    return standing_for(entity, None, decisions)
