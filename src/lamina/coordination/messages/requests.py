"""Request and result types of messages (contract 1.11). Bounds of the types are refused as 422, what an id may be made of as 400."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from lamina import limits
from lamina.coordination.messages import bounds
from lamina.coordination.messages.records import AckRecord, AckStatus, AnyMessage, DeliveryView
from lamina.kernel.signatures import SIGNATURE_ALGORITHM
from lamina.kernel.wire import Request, Result, Text
from lamina.store.ports.messages import DeliveryStatus

__all__ = [
    "AckMessage",
    "DeliveryTerms",
    "EnvelopeVerified",
    "ForwardMessage",
    "Inbox",
    "MessageAcked",
    "MessageForwarded",
    "MessageReplayed",
    "MessageSent",
    "PendingDeliveries",
    "PendingMessages",
    "ReadInbox",
    "ReadThread",
    "ReplayMessage",
    "SendMessage",
    "SignedEnvelope",
    "Thread",
    "Verification",
    "VerificationReason",
    "VerifyEnvelope",
]

_Name = Annotated[Text, Field(min_length=1, max_length=bounds.MESSAGE_NAME_LENGTH_MAX)]
_Subject = Annotated[Text, Field(max_length=bounds.MESSAGE_SUBJECT_LENGTH_MAX)]
_Body = Annotated[Text, Field(max_length=bounds.MESSAGE_BODY_LENGTH_MAX)]
_Reason = Annotated[Text, Field(max_length=bounds.MESSAGE_REASON_LENGTH_MAX)]
_Priority = Annotated[Text, Field(max_length=bounds.MESSAGE_PRIORITY_LENGTH_MAX)]
_Attachments = Annotated[
    tuple[Annotated[Text, Field(max_length=bounds.MESSAGE_ATTACHMENT_LENGTH_MAX)], ...],
    Field(max_length=bounds.MESSAGE_ATTACHMENTS_MAX),
]
_Timeout = Annotated[int, Field(ge=1, le=bounds.MESSAGE_ACK_TIMEOUT_S_MAX)]
_Token = Annotated[Text, Field(min_length=1, max_length=bounds.MESSAGE_KEY_LENGTH_MAX)]


class _Loose(Request):
    """A request whose unknown fields are dropped, as the contract has it."""

    model_config = ConfigDict(extra="ignore")


class DeliveryTerms(_Loose):
    """Whether the recipient is to answer, within how many seconds, and how often the message may be sent anew."""

    requires_ack: bool = False
    ack_timeout_seconds: _Timeout = bounds.MESSAGE_ACK_TIMEOUT_S
    max_retries: Annotated[int, Field(ge=0, le=bounds.MESSAGE_RETRIES_MAX)] = bounds.MESSAGE_RETRIES


class SignedEnvelope(_Loose):
    """A proof of who sent a message: HMAC-SHA256 in hex over the compact, key-sorted JSON of expires_at, key_id, nonce and payload.

    The nonce of a message that is sent is used up whatever ``consume_nonce`` says.
    """

    key_id: _Token
    nonce: _Token
    expires_at: Annotated[Text, Field(max_length=bounds.MESSAGE_TIME_LENGTH_MAX)] | None = None
    signature: Annotated[Text, Field(min_length=1, max_length=limits.SIGNATURE_LENGTH_MAX)]
    algorithm: Annotated[Text, Field(max_length=bounds.MESSAGE_KEY_LENGTH_MAX)] = SIGNATURE_ALGORITHM
    consume_nonce: bool = True


class _Content(_Loose):
    thread_id: _Name
    sender: _Name
    subject: _Subject
    body_md: _Body
    priority: _Priority = "normal"
    attachments: _Attachments = ()


class SendMessage(_Content):
    """A message to a peer. Its delivery is followed where an answer is wanted, or an idempotency key is there.

    The same key to the same recipient again is the same message, or a 409 where that says something else. A ``sender`` that is
    not the caller is proved by ``signed_envelope``, whose payload has every other field.
    """

    recipient: _Name
    idempotency_key: _Token | None = None
    delivery: DeliveryTerms = DeliveryTerms()
    signed_envelope: SignedEnvelope | None = None

    def signed_payload(self) -> dict[str, Any]:  # Any: JSON
        """What is signed, and what has to be the same under one key."""
        return self.model_dump(mode="json", exclude={"signed_envelope"})


class ForwardMessage(_Content):
    """A message that a relay passes on. Its sender is as the relay claims it, unless ``signed_envelope`` proves it."""

    relay_id: _Name = "relay-local"
    target_recipient: _Name
    envelope: dict[str, Any] = Field(default_factory=dict)  # Any: whatever the relay says
    signed_envelope: SignedEnvelope | None = None

    def signed_payload(self) -> dict[str, Any]:  # Any: JSON
        """What is signed."""
        return self.model_dump(mode="json", exclude={"signed_envelope"})


class AckMessage(_Loose):
    """What the recipient makes of a message. The same ``ack_id`` again is the same answer."""

    message_id: _Name
    status: AckStatus
    reason: _Reason | None = None
    ack_id: _Name | None = None


class ReplayMessage(_Loose):
    """Send a dead letter anew; with ``force`` whatever became of the message, and however often it was sent."""

    message_id: _Name
    reason: _Reason | None = None
    force: bool = False
    ack_timeout_seconds: _Timeout = bounds.MESSAGE_ACK_TIMEOUT_S
    requires_ack: bool = True


class PendingMessages(_Loose):
    """Deliveries that the caller sent or receives, the newest first; every peer's for who administers peers."""

    recipient: _Name | None = None
    status: DeliveryStatus | None = None
    include_terminal: bool = False
    limit: Annotated[int, Field(ge=1, le=bounds.MESSAGE_PENDING_MAX)] = 50


class ReadInbox(_Loose):
    """Messages to a peer: the last ones, or with ``after`` the first past a ``next_after`` of before; 0 begins at the first."""

    recipient: _Name
    limit: Annotated[int, Field(ge=1, le=bounds.MESSAGE_INBOX_MAX)] = 20
    after: Annotated[int, Field(ge=0, le=bounds.MESSAGE_NUMBER_MAX)] | None = None


class ReadThread(_Loose):
    """The last messages of a thread that name the caller."""

    thread_id: _Name
    limit: Annotated[int, Field(ge=1, le=bounds.MESSAGE_THREAD_MAX)] = 100


class VerifyEnvelope(SignedEnvelope):
    """Whether an envelope proves a payload. It can be asked once, unless ``consume_nonce`` is false."""

    payload: dict[str, Any]  # Any: whatever was signed


VerificationReason = Literal[
    "ok", "expired", "invalid_signature", "replay_detected", "verification_throttled"
]


class Verification(Result):
    """What an envelope proves. ``failure_count`` is how many were refused of the caller lately."""

    valid: bool
    reason: VerificationReason
    algorithm: str
    key_id: str
    nonce: str
    expires_at: str | None
    signature_valid: bool
    expired: bool
    replay_detected: bool
    consume_nonce: bool
    nonce_consumed: bool
    failure_count: int
    committed_files: tuple[str, ...] = ()


class EnvelopeVerified(Verification):
    """What an envelope proves: ``ok`` says that it was looked at."""

    ok: Literal[True] = True
    latest_commit: str | None


class _Landed(Result):
    ok: Literal[True] = True
    committed_files: tuple[str, ...]
    latest_commit: str | None


class MessageSent(_Landed):
    """The message as it stands. ``idempotent_replay`` where it was sent before; ``event_id`` is the event that tells of it."""

    idempotent_replay: bool = False
    message: AnyMessage
    delivery_state: DeliveryView | None
    signature_verification: Verification | None
    event_id: str | None = None


class MessageForwarded(_Landed):
    """The message as it was passed on."""

    message: AnyMessage
    signature_verification: Verification | None
    event_id: str | None = None


class MessageAcked(_Landed):
    """The answer, and the delivery after it."""

    message_id: str
    ack: AckRecord
    delivery_state: DeliveryView
    event_id: str | None = None


class MessageReplayed(_Landed):
    """The message that was sent anew."""

    message_id: str
    replayed_message_id: str
    delivery_state: DeliveryView
    event_id: str | None = None


class PendingDeliveries(Result):
    """Deliveries, and how many there are of each status, of all that the caller may see."""

    ok: Literal[True] = True
    count: int
    summary: Mapping[str, int]
    messages: tuple[DeliveryView, ...]


class Inbox(Result):
    """Messages to a peer in their order. ``next_after`` is what to ask past the next time."""

    ok: Literal[True] = True
    recipient: str
    count: int
    messages: tuple[AnyMessage, ...]
    next_after: int


class Thread(Result):
    """Messages of a thread in their order."""

    ok: Literal[True] = True
    thread_id: str
    count: int
    messages: tuple[AnyMessage, ...]
