"""Messages between peers: what was sent, what became of those that wait for an answer, and the nonces of signed envelopes.

A message and an acknowledgement are never changed: what moves is the state of a delivery. Each lands with the document and
the event that tell of it (``Write.post``), so that none is there without the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lamina.kernel.time import Instant

__all__ = [
    "Acknowledging",
    "Delivery",
    "DeliveryState",
    "DeliveryStatus",
    "Messages",
    "NewMessage",
    "PendingPage",
    "PendingQuery",
    "Post",
    "SeenNonce",
    "StoredAck",
    "StoredMessage",
    "TrackedMessage",
]

DeliveryStatus = Literal["pending_ack", "delivered", "acked", "dead_letter", "replayed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message as it was sent. ``record`` is its JSON; ``path`` is where its document stands.

    ``number`` orders messages: one that landed later has a higher one, and none is given twice. It is 0 before it lands.
    ``body_hash`` tells a repetition under the same ``idempotency_key`` from another message.
    """

    tenant_id: str
    id: str
    thread_id: str
    sender: str
    recipient: str
    path: str
    idempotency_key: str | None
    body_hash: str
    sent_at: Instant
    record: str
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How far the delivery of a message is. ``version`` rises with each change, from 1.

    ``ack_deadline`` is None where nobody has to answer; ``replayed_to`` is the message that took this one's place.
    """

    status: DeliveryStatus
    requires_ack: bool
    ack_timeout_s: int
    max_retries: int
    retry_count: int
    ack_deadline: Instant | None
    updated_at: Instant
    replayed_to: str | None = None
    version: int = 1

    def status_at(self, now: Instant) -> DeliveryStatus:
        """The status as of an instant: a deadline that has passed makes a dead letter, and nobody writes that down."""
        passed = self.ack_deadline is not None and self.ack_deadline <= now
        return "dead_letter" if self.status == "pending_ack" and passed else self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAck:
    """What a recipient answered. ``record`` is its JSON; ``path`` is where its document stands."""

    tenant_id: str
    message_id: str
    ack_id: str
    path: str
    record: str


@dataclass(frozen=True, slots=True)
class TrackedMessage:
    """A message whose delivery is followed, with its acknowledgements in their order."""

    message: StoredMessage
    delivery: Delivery
    acks: tuple[StoredAck, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenNonce:
    """The use of a nonce, by the hash of key and nonce. None of ``expires_at`` is for ever."""

    hash: str
    seen_at: Instant
    expires_at: Instant | None


@dataclass(frozen=True, slots=True)
class DeliveryState:
    """The delivery of a message after a change; it was at the version before."""

    message_id: str
    after: Delivery


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A new message. ``delivery`` is None where nobody follows it; ``replayed`` is the state of the one that it takes the place of."""

    message: StoredMessage
    delivery: Delivery | None = None
    nonce: SeenNonce | None = None
    replayed: DeliveryState | None = None


@dataclass(frozen=True, slots=True)
class Acknowledging:
    """An acknowledgement, and the delivery after it."""

    ack: StoredAck
    state: DeliveryState


Post = NewMessage | Acknowledging
"""What lands with a write of documents. Raises for the whole write: ``Conflict`` (MESSAGE_CHANGED) where an id or a key is taken or a
delivery moved on, ``Unauthenticated`` (NONCE_REUSED)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingQuery:
    """Which deliveries are wanted, by their status as of ``now``. None of ``statuses`` means any.

    ``peer`` is who sent or receives them, ``recipient`` who receives them; None means anybody.
    """

    tenant_id: str
    now: Instant
    statuses: Sequence[DeliveryStatus] | None = None
    peer: str | None = None
    recipient: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class PendingPage:
    """Deliveries, the newest first, and how many there are of each status, of all that ``peer`` has to do with."""

    found: tuple[TrackedMessage, ...]
    summary: Mapping[str, int]


class Messages(Protocol):
    """The messages of each tenant."""

    def find(self, tenant_id: str, message_id: str) -> StoredMessage | None:
        """A message by its id."""
        ...

    def find_keyed(self, tenant_id: str, sender: str, recipient: str, key: str) -> StoredMessage | None:
        """The message that a sender sent a recipient under an idempotency key."""
        ...

    def tracked(self, tenant_id: str, message_id: str) -> TrackedMessage | None:
        """A message whose delivery is followed; None for every other."""
        ...

    def inbox(self, tenant_id: str, recipient: str, *, after: int | None, limit: int) -> list[StoredMessage]:
        """Messages to a peer in their order: the first past the number ``after``, or the last of all where that is None."""
        ...

    def thread(self, tenant_id: str, thread_id: str, *, peer: str | None, limit: int) -> list[StoredMessage]:
        """The last messages of a thread in their order; ``peer`` is who sent or receives them, None anybody."""
        ...

    def pending(self, query: PendingQuery) -> PendingPage:
        """A page of deliveries."""
        ...

    def seen(self, tenant_id: str, nonce: SeenNonce) -> bool:
        """Whether a nonce was used before, as of its ``seen_at``."""
        ...

    def use(self, tenant_id: str, nonce: SeenNonce) -> bool:
        """Use a nonce, durably; False where it was used before. Some of those that have expired are forgotten."""
        ...

    def paths_naming(self, tenant_id: str, peers: Collection[str]) -> list[str]:
        """The documents of messages that peers sent or received, and of what was answered to these, by path."""
        ...

    def restore(self, tenant_id: str, posts: Sequence[Post]) -> int:
        """Land what documents that came back tell of, in this order, without writing anything else; how many were new."""
        ...
