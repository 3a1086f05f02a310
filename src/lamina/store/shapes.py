"""What every engine does in the same words: the lifecycle row of a capture, the check of a repeated key,
what a query wants, errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lamina.errors import Conflict, NotFound
from lamina.kernel.events import CANCELLATION, Context, Event, EventDraft
from lamina.kernel.records import Belief, Fact, Record
from lamina.kernel.time import Axes
from lamina.store.ports.idempotency import Remembered
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.records import RecordQuery

__all__ = ["cancellation_of", "captured_row", "check_same", "not_registered", "registration_exists", "wanted"]


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


def cancellation_of(event: Event) -> EventDraft:
    """The entry of the log that says that an event was cancelled: in its scope, and in a session of its own."""
    return EventDraft(
        tenant_id=event.tenant_id,
        scope=event.scope,
        caller=event.caller,
        observed_actor=event.observed_actor,
        subject=event.subject,
        session=f"{CANCELLATION} of {event.id}",
        modality=CANCELLATION,
        content={"kind": CANCELLATION, "event_id": event.id},
        context=Context(observed_at=event.context.observed_at),
        directives=event.directives,
        origin=replace(event.origin, channel=CANCELLATION),
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


def wanted(record: Record, query: RecordQuery) -> bool:
    """Whether a query wants a version, but for its limit."""
    seen_at, superseded = query.axes.seen_at, query.axes.superseded
    return (
        (record.tenant_id, record.layer) == (query.tenant_id, query.layer)
        and record.scope in query.scopes
        and (query.with_excluded or not record.excluded)
        and Axes(seen_at=seen_at, superseded=superseded).sees_recorded(
            record.recorded_from, record.recorded_to
        )
        and (
            _looked_up(record, query)
            if query.slot is not None or query.claim_key is not None
            else _filtered(record, query)
        )
    )


def _looked_up(record: Record, query: RecordQuery) -> bool:
    if query.slot is not None:
        return bool(_field(record, "slot") == query.slot)
    return bool(_field(record, "claim_key") == query.claim_key)


def _filtered(record: Record, query: RecordQuery) -> bool:
    return (
        query.axes.sees_recorded(record.recorded_from, record.recorded_to)
        and query.axes.sees_valid(record.valid_from, record.valid_to)
        and record.confidence >= query.min_confidence
        and all(_field(record, name) == wanted for name, wanted in _named(query).items())
        and (query.stances is None or _field(record, "stance") in query.stances)
        and (query.after is None or (record.recorded_from, record.id) < query.after)
    )


def _named(query: RecordQuery) -> dict[str, str]:
    names = ("subject", "predicate", "object_key", "session", "topic")
    return {name: getattr(query, name) for name in names if getattr(query, name) is not None}


def _field(record: Record, name: str) -> Any:  # Any: None, a text, or a stance, which is a text
    """What a query compares under a name; None for records that have no such thing."""
    if isinstance(record, Fact | Belief):
        claim = (record.subject.id, record.predicate, record.object.key, int(record.negated))
        match name:
            case "subject":
                return record.subject.id
            case "object_key":
                return record.object.key
            case "claim_key":
                return "|".join(map(str, claim))
    return getattr(record, name, None)
