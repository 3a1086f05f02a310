"""Forgetting what models answered about turns: the rules' reading of these comes back."""

from __future__ import annotations

from collections.abc import Collection

from lamina.store.ports.store import Store

__all__ = ["forget_answers"]


def forget_answers(store: Store, tenant_id: str, event_ids: Collection[str]) -> int:
    """Delete every answer that was made from any of these events, and have their scopes derived anew, behind the calls, without them; how
    many answers. Until a scope is through, readers see what was derived before."""
    scopes = {event.scope for event in store.log.get(tenant_id, event_ids).values()}
    gone = store.model_outputs.forget(tenant_id, event_ids)
    if gone and scopes:
        store.rederivation.ask(tenant_id, sorted(scopes))
    return gone
