"""What every engine does in the same words: the lifecycle row of a capture, the check of a repeated key, errors."""

from __future__ import annotations

from lamina.errors import Conflict, NotFound
from lamina.kernel.events import Event
from lamina.store.ports import LifecycleDraft, Remembered

__all__ = ["captured_row", "check_same", "not_registered", "registration_exists"]


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


def registration_exists(path: str) -> Conflict:
    """The error of registering a scope again."""
    return Conflict(
        "SCOPE_REGISTRATION_EXISTS",
        f"{path[:200]} is registered already",
        hint="change its members with PUT /v1/scopes/members, its policy with PUT /v1/policy/scope",
        details={"scope": path},
    )


def not_registered(path: str) -> NotFound:
    """The error of changing the members of a scope that has none."""
    return NotFound(
        "NOT_FOUND",
        f"{path[:200]} is not registered",
        hint="register it with POST /v1/scopes",
        details={"scope": path},
    )
