"""What lands with an event, and what the log says of a cancelled one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from lamina.kernel.events import (
    CANCELLATION,
    DEPRECATION,
    ERASURE,
    EXPIRY,
    READING,
    WORDING,
    Context,
    Directives,
    Event,
    EventDraft,
    Origin,
    Party,
    Trust,
)
from lamina.kernel.expiry import Expiry
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.rules.redacting import wordless_directives

__all__ = [
    "cancellation_of",
    "captured_row",
    "deprecation_of",
    "erasure_of",
    "expired_row",
    "expiry_entry",
    "reading_of",
    "wording_of",
]

_ERASER: Final = "system:erasure"
_EXPIRER: Final = "system:expiry"


def captured_row(event: Event) -> LifecycleDraft:
    """The lifecycle row that lands with an event (seed 002, 13)."""
    return LifecycleDraft(
        tenant_id=event.tenant_id,
        name="captured",
        scope=event.scope,
        event_id=event.id,
        job_id=event.batch_id,
        position=event.position,
        payload={"actor": event.observed_actor.id, "modality": event.modality, "wal_offset": event.position},
    )


def cancellation_of(event: Event) -> EventDraft:
    """The entry of the log that says that an event was cancelled: in its scope, in a session of its own, and without its words."""
    return EventDraft(
        tenant_id=event.tenant_id,
        scope=event.scope,
        caller=event.caller,
        observed_actor=event.observed_actor._replace(name=None),
        subject=event.subject._replace(name=None),
        session=f"{CANCELLATION} of {event.id}",
        modality=CANCELLATION,
        content={"kind": CANCELLATION, "event_id": event.id},
        context=Context(observed_at=event.context.observed_at, observed_offset=event.context.observed_offset),
        directives=wordless_directives(event.directives),
        origin=event.origin._replace(channel=CANCELLATION),
    )


def reading_of(turn: Event, task: str, input_hash: str) -> EventDraft:
    """The entry of the log from which on a turn is read by the answer to an input: in its scope, and in a session of its own."""
    return replace(
        cancellation_of(turn),
        session=f"{READING} of {turn.id}",
        modality=READING,
        content={"kind": READING, "event_id": turn.id, "task": task, "input_hash": input_hash},
        origin=turn.origin._replace(channel=READING),
    )


def wording_of(event: Event, task: str, input_hash: str) -> EventDraft:
    """The entry of the log from which on the concepts that an event changed are worded by the answer to an input: in its scope, and in a session of its
    own."""
    return replace(
        reading_of(event, task, input_hash),
        session=f"{WORDING} of {event.id}",
        modality=WORDING,
        content={"kind": WORDING, "event_id": event.id, "task": task, "input_hash": input_hash},
        directives=Directives(embed="none"),
        origin=event.origin._replace(channel=WORDING),
    )


def deprecation_of(
    change: EventDraft, scope: Scope, vocabulary: str, predicates: Sequence[str]
) -> EventDraft:
    """The entry of the log that says in a scope that a change of a vocabulary left it without some terms: in a session of its own."""
    return replace(
        change,
        scope=scope,
        session=f"{DEPRECATION} by {vocabulary}",
        content={"kind": DEPRECATION, "vocabulary": vocabulary, "predicates": sorted(predicates)},
        directives=Directives(embed="none"),
    )


def erasure_of(tenant_id: str, erasure_id: str, scope: Scope, kept: int, at: Instant) -> EventDraft:
    """The entry of the log that says in a scope that words were erased on which ``kept`` of its records rest, and no word of them."""
    eraser = Party.of(_ERASER)
    return EventDraft(
        tenant_id=tenant_id,
        scope=scope,
        caller=_ERASER,
        observed_actor=eraser,
        subject=eraser,
        session=f"{ERASURE} {erasure_id}",
        modality=ERASURE,
        content={"kind": ERASURE, "erasure_id": erasure_id, "kept": kept},
        context=Context(observed_at=at),
        directives=Directives(embed="none"),
        origin=Origin(_ERASER, ERASURE, Trust.PRINCIPAL),
    )


def expiry_entry(
    tenant_id: str, scope: Scope, into: Scope | None, expiry: Expiry, now: Instant
) -> EventDraft:
    """The entry of the log that says in a scope that something is over: ids alone. ``into`` is where the claims of these are consolidated."""
    expirer = Party.of(_EXPIRER)
    return EventDraft(
        tenant_id=tenant_id,
        scope=scope,
        caller=_EXPIRER,
        observed_actor=expirer,
        subject=expirer,
        session=EXPIRY,
        modality=EXPIRY,
        content=expiry.content(),
        context=Context(observed_at=now),
        directives=Directives(consolidate_into=into, embed="none"),
        origin=Origin(_EXPIRER, EXPIRY, Trust.PRINCIPAL),
    )


def expired_row(entry: Event, expiry: Expiry) -> LifecycleDraft:
    """The lifecycle row that lands with such an entry."""
    return LifecycleDraft(
        tenant_id=entry.tenant_id,
        name="expired",
        scope=entry.scope,
        event_id=entry.id,
        payload={"layer": expiry.layer.value, "count": len(expiry.ids)},
    )
