"""Messages between peers in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.messages import (
    Acknowledging,
    DeliveryState,
    NewMessage,
    PendingPage,
    PendingQuery,
    Post,
    SeenNonce,
    StoredMessage,
    TrackedMessage,
)
from lamina.store.rules.messages import message_moved, nonce_reused

__all__ = ["MemoryMessages", "erase_messages", "put_post"]


class MemoryMessages:
    """``Messages`` over dictionaries."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def find(self, tenant_id: str, message_id: str) -> StoredMessage | None:
        """Mirrors ``Messages.find``."""
        return self._memory.tables.messages.get((tenant_id, message_id))

    def find_keyed(self, tenant_id: str, sender: str, recipient: str, key: str) -> StoredMessage | None:
        """Mirrors ``Messages.find_keyed``."""
        return _keyed(self._memory.tables, tenant_id, sender, recipient, key)

    def tracked(self, tenant_id: str, message_id: str) -> TrackedMessage | None:
        """Mirrors ``Messages.tracked``."""
        return _tracked(self._memory.tables, tenant_id, message_id)

    def inbox(self, tenant_id: str, recipient: str, *, after: int | None, limit: int) -> list[StoredMessage]:
        """Mirrors ``Messages.inbox``."""
        found = [each for each in self._all(tenant_id) if each.recipient == recipient]
        return found[-limit:] if after is None else [each for each in found if each.number > after][:limit]

    def thread(self, tenant_id: str, thread_id: str, *, peer: str | None, limit: int) -> list[StoredMessage]:
        """Mirrors ``Messages.thread``."""
        named = (each for each in self._all(tenant_id) if each.thread_id == thread_id)
        return [each for each in named if peer in (None, each.sender, each.recipient)][-limit:]

    def pending(self, query: PendingQuery) -> PendingPage:
        """Mirrors ``Messages.pending``."""
        tables = self._memory.tables
        every = (_tracked(tables, query.tenant_id, each.id) for each in self._all(query.tenant_id))
        named = [
            each
            for each in every
            if each and query.peer in (None, each.message.sender, each.message.recipient)
        ]
        summary = Counter(each.delivery.status_at(query.now) for each in named)
        found = [
            each
            for each in reversed(named)
            if query.recipient in (None, each.message.recipient)
            and (query.statuses is None or each.delivery.status_at(query.now) in query.statuses)
        ]
        return PendingPage(tuple(found[: query.limit]), dict(sorted(summary.items())))

    def _all(self, tenant_id: str) -> Iterator[StoredMessage]:
        return (each for (tenant, _), each in self._memory.tables.messages.items() if tenant == tenant_id)

    def seen(self, tenant_id: str, nonce: SeenNonce) -> bool:
        """Mirrors ``Messages.seen``."""
        return _is_seen(self._memory.tables, tenant_id, nonce)

    def use(self, tenant_id: str, nonce: SeenNonce) -> bool:
        """Mirrors ``Messages.use``."""
        with self._memory.change() as tables:
            return _use(tables, tenant_id, nonce)

    def paths_naming(self, tenant_id: str, peers: Collection[str]) -> list[str]:
        """Mirrors ``Messages.paths_naming``."""
        named = {m.id: m.path for m in self._all(tenant_id) if m.sender in peers or m.recipient in peers}
        acks = self._memory.tables.message_acks.values()
        of_these = {ack.path for ack in acks if ack.tenant_id == tenant_id and ack.message_id in named}
        return sorted({*named.values(), *of_these})

    def restore(self, tenant_id: str, posts: Sequence[Post]) -> int:
        """Mirrors ``Messages.restore``."""
        with self._memory.change() as tables:
            new = [post for post in posts if not _is_known(tables, tenant_id, post)]
            for post in new:
                put_post(tables, post)
            return len(new)


def put_post(tables: Tables, post: Post) -> None:
    """Land a post in the change of its documents; raises as ``Post`` says."""
    if isinstance(post, Acknowledging):
        ack = post.ack
        if (ack.tenant_id, ack.message_id, ack.ack_id) in tables.message_acks:
            raise message_moved(ack.message_id)
        tables.message_acks[ack.tenant_id, ack.message_id, ack.ack_id] = ack
        _put_state(tables, ack.tenant_id, post.state)
        return
    _put_message(tables, post)


def _put_message(tables: Tables, post: NewMessage) -> None:
    message, tenant_id = post.message, post.message.tenant_id
    if post.nonce is not None and not _use(tables, tenant_id, post.nonce):
        raise nonce_reused()
    key = message.idempotency_key
    if (tenant_id, message.id) in tables.messages or (
        key is not None and _keyed(tables, tenant_id, message.sender, message.recipient, key)
    ):
        raise message_moved(message.id)
    tables.last_message += 1
    tables.messages[tenant_id, message.id] = replace(message, number=tables.last_message)
    if post.delivery is not None:
        _put_state(tables, tenant_id, DeliveryState(message.id, post.delivery))
    if post.replayed is not None:
        _put_state(tables, tenant_id, post.replayed)


def _put_state(tables: Tables, tenant_id: str, state: DeliveryState) -> None:
    before = tables.deliveries.get((tenant_id, state.message_id))
    if (before.version if before else 0) != state.after.version - 1:
        raise message_moved(state.message_id)
    tables.deliveries[tenant_id, state.message_id] = state.after


def _keyed(tables: Tables, tenant_id: str, sender: str, recipient: str, key: str) -> StoredMessage | None:
    wanted = (tenant_id, sender, recipient, key)
    every = tables.messages.values()
    return next((m for m in every if (m.tenant_id, m.sender, m.recipient, m.idempotency_key) == wanted), None)


def _tracked(tables: Tables, tenant_id: str, message_id: str) -> TrackedMessage | None:
    delivery = tables.deliveries.get((tenant_id, message_id))
    if delivery is None:
        return None
    acks = (ack for key, ack in tables.message_acks.items() if key[:2] == (tenant_id, message_id))
    return TrackedMessage(tables.messages[tenant_id, message_id], delivery, tuple(acks))


def _is_seen(tables: Tables, tenant_id: str, nonce: SeenNonce) -> bool:
    known = tables.nonces.get((tenant_id, nonce.hash))
    return known is not None and (known.expires_at is None or known.expires_at > nonce.seen_at)


def _use(tables: Tables, tenant_id: str, nonce: SeenNonce) -> bool:
    if _is_seen(tables, tenant_id, nonce):
        return False
    tables.nonces[tenant_id, nonce.hash] = nonce
    return True


def _is_known(tables: Tables, tenant_id: str, post: Post) -> bool:
    if isinstance(post, Acknowledging):
        return (tenant_id, post.ack.message_id, post.ack.ack_id) in tables.message_acks
    return (tenant_id, post.message.id) in tables.messages


def erase_messages(tables: Tables, tenant_id: str, paths: Collection[str]) -> None:
    """Delete what is kept of messages and acknowledgements whose documents stood at paths."""
    gone = [key for key, each in tables.messages.items() if key[0] == tenant_id and each.path in paths]
    for key, ack in list(tables.message_acks.items()):
        if key[0] == tenant_id and (ack.path in paths or key[:2] in gone):
            del tables.message_acks[key]
    for message in gone:
        del tables.messages[message]
        tables.deliveries.pop(message, None)
