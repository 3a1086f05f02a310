"""Beliefs that fall below the floor are deleted, and the audit log has a row of each (seed 002, 18.2 item 16)."""

from __future__ import annotations

from lamina.kernel.audit import AuditDraft, own_row
from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Belief

__all__ = ["deletion_of"]


def deletion_of(event: Event, belief: Belief, floor: float) -> AuditDraft:
    """The row of a deletion by an event. It is the same in a replay, its id too, and holds no word of the belief."""
    what = {"belief_id": belief.id, "version": belief.version, "confidence_floor": floor}
    seed = (belief.id, str(belief.version))
    return own_row(
        tenant_id=event.tenant_id,
        id=derived_id(Prefix.AUDIT, event.recorded_at, event.id, *seed),
        at=event.recorded_at,
        actor="system:derivation",
        scope=belief.scope,
        endpoint="belief deletion",
        capability="belief.delete",
        tier="tenant",
        what=what,
        event_id=event.id,
        request_id=derived_id(Prefix.REQUEST, event.recorded_at, event.id, *seed),
    )
