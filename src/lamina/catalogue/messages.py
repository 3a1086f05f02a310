"""The codes of messages between peers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CALLERS, REQUESTS, STATE, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "INVALID_MESSAGE": ErrorCode(
        "Malformed",
        REQUESTS,
        "A message or an envelope is refused: `details.field` names what, the message says why. Nothing was stored.",
        hint="docs/reference/messages.md has the fields and their bounds",
    ),
    "SIGNATURE_REQUIRED": ErrorCode(
        "Malformed",
        REQUESTS,
        "The server takes messages with a signed envelope only (`LAMINA_REQUIRE_SIGNED_INGRESS`), and this one has none.",
    ),
    "ENVELOPE_REFUSED": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "The signed envelope does not prove who sent the message: `details.reason` says why, such as an expiry that is over, or that too "
        "many were refused of the caller. Nothing was stored.",
        hint="sign the very fields that are sent, with a fresh nonce and an expiry ahead",
    ),
    "NONCE_REUSED": ErrorCode(
        "Unauthenticated",
        CALLERS,
        "Another call used the nonce of the signed envelope at the same moment. Nothing was stored.",
        hint="sign the message again, with a nonce of its own",
    ),
    "SENDER_NOT_PROVEN": ErrorCode(
        "Forbidden",
        CALLERS,
        "The message names a sender that is not the caller, and has no signed envelope that proves it. Nothing was stored.",
        hint="send as yourself, sign the message, or pass it on with POST /v1/relay/forward, where its sender counts as claimed",
    ),
    "MESSAGE_NOT_YOURS": ErrorCode(
        "Forbidden",
        CALLERS,
        "An inbox is read and a message answered by its recipient, and sent anew by its sender; who administers peers may all of it.",
    ),
    "MESSAGE_NOT_FOUND": ErrorCode(
        "NotFound",
        STATE,
        "Nobody follows the delivery of a message of this id, or it was erased.",
        hint="GET /v1/messages/pending lists what is followed: messages with delivery.requires_ack or an idempotency_key",
    ),
    "MESSAGE_CHANGED": ErrorCode(
        "Conflict",
        STATE,
        "Others changed the delivery of the message while this call did, again and again. Nothing was stored.",
        hint="send the request again",
    ),
    "MESSAGE_NOT_DEAD": ErrorCode(
        "Conflict",
        STATE,
        "Only a dead letter is sent anew: a message that was rejected, or that nobody answered in time. `details.status` is what it is.",
        hint="send force to send it anew nevertheless",
    ),
    "RETRIES_USED_UP": ErrorCode(
        "Conflict",
        STATE,
        "The message was sent anew as often as it says that it may be.",
        hint="send force to send it anew nevertheless",
    ),
    "ACK_EXISTS": ErrorCode(
        "Conflict",
        STATE,
        "The message has an answer of this `ack_id` that says something else. What was answered once stays.",
        hint="leave ack_id out, or send another",
    ),
    "ACKS_FULL": ErrorCode(
        "Conflict",
        STATE,
        "The message has as many answers as one may have.",
        hint="have its sender send it anew: POST /v1/replay/messages with force",
    ),
}
