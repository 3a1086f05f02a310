"""Bounds of messages between peers. Where the Relay contract names one, it is that."""

from __future__ import annotations

from typing import Final

__all__ = [
    "MESSAGE_ACKS_MAX",
    "MESSAGE_ACK_TIMEOUT_S",
    "MESSAGE_ACK_TIMEOUT_S_MAX",
    "MESSAGE_ATTACHMENTS_MAX",
    "MESSAGE_ATTACHMENT_LENGTH_MAX",
    "MESSAGE_BODY_LENGTH_MAX",
    "MESSAGE_INBOX_MAX",
    "MESSAGE_KEY_LENGTH_MAX",
    "MESSAGE_NAME_LENGTH_MAX",
    "MESSAGE_NUMBER_MAX",
    "MESSAGE_PENDING_MAX",
    "MESSAGE_PRIORITY_LENGTH_MAX",
    "MESSAGE_REASON_LENGTH_MAX",
    "MESSAGE_RETRIES",
    "MESSAGE_RETRIES_MAX",
    "MESSAGE_SUBJECT_LENGTH_MAX",
    "MESSAGE_THREAD_MAX",
    "MESSAGE_TIME_LENGTH_MAX",
]

MESSAGE_NAME_LENGTH_MAX: Final = 128  # of ids, as of peers' tokens; with the folders above it fits a path
MESSAGE_SUBJECT_LENGTH_MAX: Final = 1000
MESSAGE_BODY_LENGTH_MAX: Final = 262_144  # characters; relay_payload_bytes_max bounds the whole in bytes
MESSAGE_REASON_LENGTH_MAX: Final = 2000
MESSAGE_PRIORITY_LENGTH_MAX: Final = 32
MESSAGE_ATTACHMENTS_MAX: Final = 64
MESSAGE_ATTACHMENT_LENGTH_MAX: Final = 2048  # as long as an address may be
MESSAGE_KEY_LENGTH_MAX: Final = 200  # of idempotency keys, nonces and ids of keys
MESSAGE_TIME_LENGTH_MAX: Final = 64
MESSAGE_ACK_TIMEOUT_S: Final = 300
MESSAGE_ACK_TIMEOUT_S_MAX: Final = 86_400
MESSAGE_RETRIES: Final = 5
MESSAGE_RETRIES_MAX: Final = 100
MESSAGE_ACKS_MAX: Final = 100  # each delivery shows all of them
MESSAGE_INBOX_MAX: Final = 200
MESSAGE_THREAD_MAX: Final = 1000
MESSAGE_PENDING_MAX: Final = 500
MESSAGE_NUMBER_MAX: Final = 2**53 - 1  # what a number in JSON holds everywhere
