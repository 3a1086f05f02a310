"""For readers of facts and beliefs: what of the evidence behind one has been redacted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lamina.kernel.records import Belief, Fact, Record, Support, is_event
from lamina.store.ports.store import Store
from lamina.store.rules.redacting import leaves_of, redacted_share

__all__ = ["Redactions", "redactions_behind"]


@dataclass(frozen=True, slots=True)
class Redactions:
    """``events`` are those behind facts whose words were redacted. ``shares`` has by the id of a belief the share of its events of which
    that is so, 0 to 1; a belief that is not in it has lost none."""

    events: Collection[str] = frozenset()
    shares: Mapping[str, float] = field(default_factory=dict)


def redactions_behind(
    store: Store, tenant_id: str, records: Sequence[Record], supports: Mapping[str, Sequence[Support]]
) -> Redactions:
    """What of the events behind the facts and beliefs among ``records`` was redacted; nothing where the tenant never redacted any.

    ``supports`` has what each fact rests on; of a belief it is looked up.
    """
    facts = [each for each in records if isinstance(each, Fact)]
    beliefs = [each for each in records if isinstance(each, Belief)]
    if not (facts or beliefs) or not store.erasing.has_frozen(tenant_id):
        return Redactions()
    said = {s.source_id for fact in facts for s in supports.get(fact.id, ()) if is_event(s.source_id)}
    return Redactions(
        frozenset(store.records.redacted_among(tenant_id, said)) if said else frozenset(),
        _shares(store, tenant_id, beliefs) if beliefs else {},
    )


def _shares(store: Store, tenant_id: str, beliefs: Sequence[Belief]) -> dict[str, float]:
    facts = {each.source_id for belief in beliefs for each in belief.evidence}
    supports = store.records.supports_of(tenant_id, facts)
    leaves = {belief.id: leaves_of(belief, supports) for belief in beliefs}
    events = store.log.get(tenant_id, {each for said in leaves.values() for each in said if is_event(each)})
    return {each.id: redacted_share(each.scope, leaves[each.id], events.get) for each in beliefs}
