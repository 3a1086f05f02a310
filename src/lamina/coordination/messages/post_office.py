"""How a message or an answer lands: rows, document and event in one write; and how often that is tried where others come between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from lamina import limits
from lamina.continuity.landing import EventWords, draft_of
from lamina.coordination.messages.records import (
    AckRecord,
    DeliveryView,
    ForwardedMessage,
    SentMessage,
    delivery_of,
    stored_json,
)
from lamina.errors import Conflict, Forbidden, NotFound
from lamina.kernel.operations import Call
from lamina.store.ports.documents import Change, ChangeKind, Documents, Write
from lamina.store.ports.idempotency import IdempotencyEntry
from lamina.store.ports.log import Capture
from lamina.store.ports.messages import Acknowledging, Messages, Post, TrackedMessage

__all__ = ["LandedPost", "PostOffice", "only_for", "retried"]

T = TypeVar("T")
_LABEL = "message"


@dataclass(frozen=True, slots=True)
class LandedPost:
    """Where a post stands: its document, the hash of its commit, and the event that tells of it."""

    path: str
    latest_commit: str
    event_id: str


def retried(run: Callable[[], T]) -> T:
    """What ``run`` gives, tried again when somebody else changed the delivery, or sent the same, between its reading and its writing."""
    for _ in range(limits.DOCUMENT_TRIES_MAX - 1):
        try:
            return run()
        except Conflict as conflict:
            if conflict.code != "MESSAGE_CHANGED":
                raise
    return run()


class PostOffice:
    """The messages of a store, and its documents."""

    def __init__(self, messages: Messages, documents: Documents) -> None:
        self.messages = messages
        self._documents = documents

    def head(self, call: Call) -> str | None:
        """The hash of the newest commit."""
        commit = self._documents.head(call.principal.tenant_id)
        return None if commit is None else commit.sha

    def tracked(self, call: Call, message_id: str) -> TrackedMessage:
        """A message whose delivery is followed; raises ``NotFound`` (MESSAGE_NOT_FOUND)."""
        found = self.messages.tracked(call.principal.tenant_id, message_id)
        if found is None:
            raise NotFound(
                "MESSAGE_NOT_FOUND",
                f"nobody follows the delivery of a message {message_id[:64]!r}",
                hint="GET /v1/messages/pending lists what is followed: messages with delivery.requires_ack or an idempotency_key",
                details={"message_id": message_id[:64]},
            )
        return found

    def delivery(self, call: Call, message_id: str) -> DeliveryView | None:
        """How far a delivery is now; None where nobody follows it."""
        found = self.messages.tracked(call.principal.tenant_id, message_id)
        return None if found is None else delivery_of(found, call.now)

    def land(
        self,
        call: Call,
        record: SentMessage | ForwardedMessage | AckRecord,
        post: Post,
        message: str,
        words: str,
        once: IdempotencyEntry | None = None,
    ) -> LandedPost:
        """Write a post as one commit with the event that tells of it in words; raises as ``Post`` says."""
        caller = call.principal
        path = post.ack.path if isinstance(post, Acknowledging) else post.message.path
        told = draft_of(
            caller.tenant_id, caller.actor, call.now, EventWords(path, words, _LABEL), appended=False
        )
        write = Write(
            tenant_id=caller.tenant_id,
            author=caller.actor,
            message=message,
            changes=[Change(path, ChangeKind.PUT, stored_json(record).encode(), expected_version=0)],
            captures=[Capture(told)],
            once=once,
            post=post,
        )
        (done,) = self._documents.write([write])
        return LandedPost(path, done.commit.sha, done.event_ids[0])


def only_for(call: Call, peer: str, what: str) -> None:
    """Nothing for the peer itself and for who administers peers; ``Forbidden`` (MESSAGE_NOT_YOURS) for everybody else."""
    if not call.relay.admin and call.relay.peer_id != peer:
        raise Forbidden(
            "MESSAGE_NOT_YOURS",
            f"{what} is for {peer[:64]!r} alone, and for who administers peers",
            hint=f"you are {call.relay.peer_id[:64]!r}",
        )
