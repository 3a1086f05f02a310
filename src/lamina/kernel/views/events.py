"""Events as the contract shows them (seed 002, 7.1 and 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from lamina.kernel.events import Event, Party
from lamina.kernel.local import offset_text_or_none
from lamina.kernel.views.parts import DerivedId, Stamp
from lamina.kernel.wire import Result

__all__ = ["EventContextView", "EventView", "OriginView", "PartyView", "event_fields", "event_view"]


class PartyView(Result):
    """An identity of an event: who did it, or whom it is about."""

    id: str
    type: str
    name: str | None = None
    session: str | None = None


class EventContextView(Result):
    """When and around what it happened. ``observed_at`` is the world's time, ``recorded_at`` the log's. ``observed_offset`` is the
    offset from UTC that the first was sent with, ``+05:30``; null where it was sent as ``Z``."""

    observed_at: Stamp
    observed_offset: str | None = None
    recorded_at: Stamp
    source_recorded_at: Stamp | None
    preceded_by: list[str]
    intent: str | None
    labels: list[str]
    location: Any = None  # Any: as submitted, a string or an object of the caller's own


class OriginView(Result):
    """Through which door the event came and how far it is believed; set by the server alone."""

    channel: str
    trust: str


class EventView(Result):
    """An entry of the log.

    ``caller`` was authenticated, ``observed_actor`` did it (``actor`` is its id), ``subject`` is whom it is
    about. ``content`` is as submitted. ``derives`` names what rests on the event, directly or through other
    records.
    """

    id: str
    scope: str
    tenant_id: str
    actor: str
    caller: str
    observed_actor: PartyView
    subject: PartyView
    modality: str
    content: dict[str, Any] | None  # Any: as submitted; null where a reader asked for no content
    context: EventContextView
    derives: list[DerivedId]
    wal_offset: int
    origin: OriginView
    batch_id: str | None = None
    excluded_from_recall: bool = False
    expired: bool = False
    """Whether it is over by its time to live: out of recall and lists, and not erased."""
    quarantined: list[str] = Field(default_factory=list)
    """Why recall keeps it out unless it is asked for what is quarantined: ``secret:<kind>`` and ``instructions:<sign>``."""
    partial: bool = Field(default=False, validation_alias="_partial", serialization_alias="_partial")


def event_view(event: Event, derives: Sequence[str] = (), quarantined: Sequence[str] = ()) -> EventView:
    """The view of an event, with the ids of what rests on it, and why it is quarantined where it is."""
    return EventView(**event_fields(event, derives, quarantined))


def event_fields(
    event: Event, derives: Sequence[str] = (), quarantined: Sequence[str] = ()
) -> dict[str, Any]:
    """The fields of ``event_view``."""
    context = event.context
    return {
        "id": event.id,
        "scope": event.scope,
        "tenant_id": event.tenant_id,
        "actor": event.observed_actor.id,
        "caller": event.caller,
        "observed_actor": _party(event.observed_actor, event.session),
        "subject": _party(event.subject, None),
        "modality": event.modality,
        "content": dict(event.content),
        "context": {
            "observed_at": context.observed_at,
            "observed_offset": offset_text_or_none(context.observed_offset),
            "recorded_at": event.recorded_at,
            "source_recorded_at": context.source_recorded_at,
            "preceded_by": list(context.preceded_by),
            "intent": context.intent,
            "labels": list(context.labels),
            "location": context.location,
        },
        "derives": list(derives),
        "wal_offset": event.position,
        "origin": {"channel": event.origin.channel, "trust": event.origin.trust.value},
        "batch_id": event.batch_id,
        "excluded_from_recall": event.excluded,
        "expired": event.is_expired,
        "quarantined": list(quarantined),
    }


def _party(party: Party, session: str | None) -> dict[str, Any]:
    return {"id": party.id, "type": party.type, "name": party.name, "session": session}
