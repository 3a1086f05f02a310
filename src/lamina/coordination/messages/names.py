"""What an id of a message may be made of, and where messages stand: one document each, which nobody but its sender ever writes.

The original adds lines to a file of each peer and of each thread. Here a document has one author, so that a person's messages can be
erased, and nobody else's with them.
"""

from __future__ import annotations

import re
from typing import Final

from lamina.errors import Malformed
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.time import Instant, to_datetime

__all__ = [
    "DELIVERY_INDEX",
    "INBOX",
    "NONCE_INDEX",
    "RECEIPTS",
    "ack_path",
    "check_name",
    "inbox_folder",
    "message_path",
    "new_id",
    "refused",
    "thread_file",
]

INBOX: Final = "messages/inbox"
RECEIPTS: Final = "messages/acks"
DELIVERY_INDEX: Final = "messages/state/delivery_index.json"
NONCE_INDEX: Final = "messages/security/nonce_index.json"
"""Files of the original: here no documents, but what tokens are granted."""

_NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_\-.@+:]*[A-Za-z0-9_\-@+:])?")


def refused(field: str, reason: str, hint: str | None = None) -> Malformed:
    """The error of a request that the service refuses."""
    return Malformed("INVALID_MESSAGE", f"{field}: {reason}", hint=hint, details={"field": field})


def check_name(field: str, name: str) -> None:
    """Nothing for an id that can be part of a path everywhere."""
    if not _NAME.fullmatch(name):
        raise refused(
            field, "an id is made of A-Za-z0-9_-.@+: and neither begins nor ends with a dot", "choose another"
        )


def _part(name: str) -> str:
    """An id as a name of a file: some file systems take no colon, and no id has a percent sign."""
    return name.replace(":", "%3A")


def inbox_folder(recipient: str) -> str:
    """Where the messages to a peer stand."""
    return f"{INBOX}/{_part(recipient)}"


def thread_file(thread_id: str) -> str:
    """Where the original keeps a thread: what a token has to be granted to read it."""
    return f"messages/threads/{_part(thread_id)}.jsonl"


def message_path(recipient: str, sent_at: Instant, message_id: str) -> str:
    """The document of a message; a folder for each day, since git writes a folder anew with each of its files."""
    return f"{inbox_folder(recipient)}/{to_datetime(sent_at):%Y-%m-%d}/{message_id}.json"


def ack_path(message_id: str, ack_id: str) -> str:
    """The document of an answer."""
    return f"{RECEIPTS}/{_part(message_id)}/{_part(ack_id)}.json"


def new_id(prefix: str, ids: IdSource, now: Instant) -> str:
    """An id as the contract has them: 12 hexadecimal digits, of the random ones."""
    return f"{prefix}_{ids.stamped(Prefix.REQUEST, now).replace('-', '')[-12:]}"
