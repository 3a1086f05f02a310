"""For readers of beliefs: which share of the evidence behind one has been redacted."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.kernel.records import Belief, is_event
from lamina.store.ports.store import Store
from lamina.store.rules.redacting import leaves_of, redacted_share

__all__ = ["redacted_shares"]


def redacted_shares(store: Store, tenant_id: str, beliefs: Sequence[Belief]) -> dict[str, float]:
    """By the id of a belief, the share of its events whose words were redacted, 0 to 1; empty where the tenant never redacted any."""
    if not store.erasing.has_frozen(tenant_id):
        return {}
    facts = {each.source_id for belief in beliefs for each in belief.evidence}
    supports = store.records.supports_of(tenant_id, facts)
    leaves = {belief.id: leaves_of(belief, supports) for belief in beliefs}
    events = store.log.get(tenant_id, {each for said in leaves.values() for each in said if is_event(each)})
    return {each.id: redacted_share(each.scope, leaves[each.id], events.get) for each in beliefs}
