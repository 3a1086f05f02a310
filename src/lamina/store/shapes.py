"""What every engine writes in the same words: lifecycle rows of capture and of stages."""

from __future__ import annotations

from lamina.kernel.events import Event
from lamina.store.ports import LifecycleDraft

__all__ = ["captured_row"]


def captured_row(event: Event) -> LifecycleDraft:
    """The lifecycle row that lands with an event (seed 002, 13)."""
    return LifecycleDraft(
        tenant_id=event.tenant_id,
        name="captured",
        scope=event.scope,
        event_id=event.id,
        job_id=event.batch_id,
        payload={"actor": event.observed_actor.id, "modality": event.modality, "wal_offset": event.position},
    )
