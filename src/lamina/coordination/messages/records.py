"""Messages, answers and deliveries as they are kept and shown: their keys and the order of these are a promise of the contract."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field

from lamina.kernel.canonical import canonical
from lamina.kernel.time import rfc3339, rfc3339_or_none
from lamina.kernel.wire import Result
from lamina.store.ports.messages import DeliveryStatus, StoredAck, StoredMessage, TrackedMessage

__all__ = [
    "AckRecord",
    "AckStatus",
    "AnyMessage",
    "DeliveryView",
    "ForwardedMessage",
    "MessageRecord",
    "PromisedDelivery",
    "SentMessage",
    "ack_of",
    "delivery_of",
    "message_of",
    "stored_json",
]

AckStatus = Literal["accepted", "rejected", "deferred"]


class PromisedDelivery(Result):
    """Whether the recipient is to answer, within how many seconds, and how often the message may be sent anew."""

    requires_ack: bool
    ack_timeout_seconds: int
    max_retries: int


class MessageRecord(Result):
    """A message. ``sender_verified`` is false where nobody has proved that ``from`` sent it: then that is only claimed."""

    id: str
    thread_id: str
    sender: str = Field(validation_alias="from", serialization_alias="from")
    to: str
    sent_at: str
    subject: str
    body_md: str
    priority: str
    attachments: tuple[str, ...]
    sender_verified: bool


class SentMessage(MessageRecord):
    """A message that was sent here; ``replay_of`` is the one in whose place it was sent anew."""

    idempotency_key: str | None
    delivery: PromisedDelivery
    replay_of: str | None = None
    replay_reason: str | None = None


class ForwardedMessage(MessageRecord):
    """A message that a relay passed on: by which one, and what that says of its way."""

    via: str
    envelope: dict[str, Any]  # Any: whatever the relay says


AnyMessage = SentMessage | ForwardedMessage


class AckRecord(Result):
    """What a recipient answered."""

    ack_id: str
    message_id: str
    status: AckStatus
    reason: str | None
    ack_at: str
    by: str


class DeliveryView(Result):
    """How far a delivery is. ``effective_status`` counts the deadline, ``status`` is what was said last; ``last_error`` is why the last
    answer was a rejection."""

    message_id: str
    thread_id: str
    sender: str = Field(validation_alias="from", serialization_alias="from")
    to: str
    subject: str
    idempotency_key: str | None
    status: DeliveryStatus
    effective_status: DeliveryStatus
    requires_ack: bool
    ack_timeout_seconds: int
    max_retries: int
    retry_count: int
    sent_at: str
    ack_deadline: str | None
    acks: tuple[AckRecord, ...]
    last_error: str | None
    message: SentMessage
    replay_of: str | None
    replay_reason: str | None
    replayed_to: str | None
    updated_at: str


def stored_json(record: Result) -> str:
    """A record as it is kept."""
    return canonical(record.model_dump(mode="json", by_alias=True)).decode()


def message_of(stored: StoredMessage) -> AnyMessage:
    """A message as it is shown."""
    kept = json.loads(stored.record)
    return (ForwardedMessage if "via" in kept else SentMessage).model_validate(kept)


def ack_of(stored: StoredAck) -> AckRecord:
    """An answer as it is shown."""
    return AckRecord.model_validate_json(stored.record)


def delivery_of(tracked: TrackedMessage, now: int) -> DeliveryView:
    """A delivery as of an instant."""
    stored, state = tracked.message, tracked.delivery
    message = SentMessage.model_validate_json(stored.record)
    acks = tuple(map(ack_of, tracked.acks))
    rejected = state.status == "dead_letter" and acks
    return DeliveryView(
        message_id=stored.id,
        thread_id=stored.thread_id,
        sender=stored.sender,
        to=stored.recipient,
        subject=message.subject,
        idempotency_key=stored.idempotency_key,
        status=state.status,
        effective_status=state.status_at(now),
        requires_ack=state.requires_ack,
        ack_timeout_seconds=state.ack_timeout_s,
        max_retries=state.max_retries,
        retry_count=state.retry_count,
        sent_at=message.sent_at,
        ack_deadline=rfc3339_or_none(state.ack_deadline),
        acks=acks,
        last_error=acks[-1].reason if rejected else None,
        message=message,
        replay_of=message.replay_of,
        replay_reason=message.replay_reason,
        replayed_to=state.replayed_to,
        updated_at=rfc3339(state.updated_at),
    )
