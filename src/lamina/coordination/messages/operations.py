"""The operations over messages. Names are those of the contract's audit rows; three count in a rate bucket of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from lamina.continuity.declaring import reads, writes
from lamina.coordination.messages import requests
from lamina.coordination.messages.answering import MessageAnswering
from lamina.coordination.messages.names import DELIVERY_INDEX, INBOX
from lamina.coordination.messages.post_office import PostOffice
from lamina.coordination.messages.proving import FailureBounds, Proving, VerificationFailures
from lamina.coordination.messages.reading import MessageReading
from lamina.coordination.messages.sending import Sending
from lamina.coordination.messages.verifying import Verifying
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayNeed, RelayRight
from lamina.kernel.signatures import Signatures
from lamina.store.ports.documents import Documents
from lamina.store.ports.idempotency import Idempotency
from lamina.store.ports.messages import Messages
from lamina.store.tallies import Buckets

__all__ = ["MessageParts", "message_operations"]

_SENDS: Final = RelayNeed(RelayRight.WRITE_MESSAGES)
_TO_INBOX: Final = RelayNeed(RelayRight.WRITE_MESSAGES, "write", INBOX)
_TO_STATE: Final = RelayNeed(RelayRight.WRITE_MESSAGES, "write", DELIVERY_INDEX)
_READS: Final = RelayNeed(RelayRight.READ_FILES)
_WRITTEN: Final = (
    "INVALID_MESSAGE", "MESSAGE_CHANGED", "DOCUMENT_CHANGED", "PATH_COLLISION", "REPOSITORY_UNAVAILABLE",
)  # fmt: skip
_JUDGED: Final = ("KEY_NOT_FOUND", "KEY_UNREADABLE", "KEY_FILE_UNUSABLE")
_PROVED: Final = (*_JUDGED, "SIGNATURE_REQUIRED", "ENVELOPE_REFUSED", "NONCE_REUSED", "PAYLOAD_TOO_LARGE")
_FOLLOWED: Final = (*_WRITTEN, "MESSAGE_NOT_FOUND", "MESSAGE_NOT_YOURS")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageParts:
    """What the operations stand on. ``strict`` takes no message without a signed envelope."""

    messages: Messages
    documents: Documents
    idempotency: Idempotency
    signatures: Signatures
    tallies: Buckets
    failures: FailureBounds
    ids: IdSource
    strict: bool = False


def message_operations(parts: MessageParts) -> list[Operation[Any]]:
    """Every operation over messages."""
    office = PostOffice(parts.messages, parts.documents)
    failures = VerificationFailures(parts.tallies, parts.failures)
    proving = Proving(parts.messages, parts.signatures, failures, strict=parts.strict)
    sending = Sending(office, proving, parts.idempotency, parts.ids)
    answering, reading = MessageAnswering(office, parts.ids), MessageReading(parts.messages)
    return [
        *_sending(sending, Verifying(office, proving)),
        writes(
            _TO_STATE, "messages_ack", requests.AckMessage, requests.MessageAcked, answering.ack,
            "Answer a message to you: accept, reject or defer it.", fails=(*_FOLLOWED, "ACK_EXISTS", "ACKS_FULL")),
        writes(
            _TO_STATE, "messages_replay", requests.ReplayMessage, requests.MessageReplayed, answering.replay,
            "Send a dead letter of yours anew.", fails=(*_FOLLOWED, "MESSAGE_NOT_DEAD", "RETRIES_USED_UP")),
        reads(
            _READS, "messages_pending", requests.PendingMessages, requests.PendingDeliveries, reading.pending,
            "List deliveries that wait for an answer, to you and from you.", fails=("INVALID_MESSAGE",)),
        reads(
            _READS, "messages_inbox", requests.ReadInbox, requests.Inbox, reading.inbox,
            "Read the messages to you, the last ones or those past a place.",
            fails=("INVALID_MESSAGE", "MESSAGE_NOT_YOURS")),
        reads(
            _READS, "messages_thread", requests.ReadThread, requests.Thread, reading.thread,
            "Read the messages of a thread that name you.", fails=("INVALID_MESSAGE",)),
    ]  # fmt: skip


def _sending(sending: Sending, verifying: Verifying) -> list[Operation[Any]]:
    send = writes(
        _TO_INBOX, "messages_send", requests.SendMessage, requests.MessageSent, sending.send,
        "Send a message to a peer, once under one key.", bucket="messages_send", keeps_keys=True,
        fails=(*_WRITTEN, *_PROVED, "SENDER_NOT_PROVEN", "IDEMPOTENCY_CONFLICT", "MESSAGE_NOT_FOUND"))  # fmt: skip
    return [
        replace(send, relay=(*send.relay, _TO_STATE)),
        writes(
            _SENDS, "relay_forward", requests.ForwardMessage, requests.MessageForwarded, sending.forward,
            "Pass a message on for a peer elsewhere; its sender counts as claimed.", bucket="relay_forward",
            keeps_keys=True, fails=(*_WRITTEN, *_PROVED, "IDEMPOTENCY_CONFLICT", "MESSAGE_NOT_FOUND")),
        writes(
            _SENDS, "messages_verify", requests.VerifyEnvelope, requests.EnvelopeVerified, verifying.verify,
            "Tell whether a signed envelope proves a payload.", bucket="messages_verify",
            fails=("INVALID_MESSAGE", *_JUDGED, "PAYLOAD_TOO_LARGE")),
    ]  # fmt: skip
