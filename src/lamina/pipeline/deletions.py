"""Beliefs that fall below the floor are deleted, and the audit log has a row of each (seed 002, 18.2 item 16)."""

from __future__ import annotations

from lamina.kernel.audit import AuditDraft
from lamina.kernel.canonical import canonical, digest
from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Belief

__all__ = ["deletion_of"]


def deletion_of(event: Event, belief: Belief, floor: float) -> AuditDraft:
    """The row of a deletion by an event. It is the same in a replay, its id too, and holds no word of the belief."""
    what = {"belief_id": belief.id, "version": belief.version, "confidence_floor": floor}
    seed = (belief.id, str(belief.version))
    return AuditDraft(
        tenant_id=event.tenant_id,
        id=derived_id(Prefix.AUDIT, event.recorded_at, event.id, *seed),
        at=event.recorded_at,
        actor="system:derivation",
        token_jti=None,
        scope=belief.scope,
        endpoint="belief deletion",
        capability="belief.delete",
        decision="allow",
        decided_by_tier="tenant",
        method="",
        path="",
        body_hash=digest(what),
        headers_hash="",
        body_bytes=None,
        pepper_version=0,
        response_status=200,
        event_id=event.id,
        client_ip=None,
        user_agent=None,
        request_id=derived_id(Prefix.REQUEST, event.recorded_at, event.id, *seed),
        elapsed_ms=0,
        gdpr=0,
        detail=canonical(what).decode(),
    )
