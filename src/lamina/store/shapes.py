"""What every engine does in the same words: the lifecycle row of a capture, the check of a repeated key."""

from __future__ import annotations

from lamina.errors import Conflict
from lamina.kernel.events import Event
from lamina.store.ports import LifecycleDraft, Remembered

__all__ = ["captured_row", "check_same"]


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


def check_same(known: Remembered, body_hash: str) -> None:
    """Nothing when the body is the one that the key was first used with; ``Conflict`` otherwise."""
    if known.body_hash != body_hash:
        raise Conflict(
            "IDEMPOTENCY_CONFLICT",
            "this idempotency key was used with another body",
            hint="use a new key for a new request; repeat the old request unchanged to replay it",
            details={"idempotency_key": known.key.key},
        )
