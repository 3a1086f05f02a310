"""Messages between peers in SQLite."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import apsw

from lamina import limits
from lamina.store.blocks import load_blocks
from lamina.store.ports.messages import (
    Acknowledging,
    Delivery,
    DeliveryState,
    NewMessage,
    PendingPage,
    PendingQuery,
    Post,
    SeenNonce,
    StoredAck,
    StoredMessage,
    TrackedMessage,
)
from lamina.store.rows import Row
from lamina.store.rules.messages import message_moved, nonce_reused
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers, Writer

__all__ = ["SqliteMessages", "erase_messages", "put_post"]

_SQL = load_blocks("lamina.store.sqlite")
_MESSAGE_COLUMNS = 11


class SqliteMessages:
    """``Messages`` over their tables."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def find(self, tenant_id: str, message_id: str) -> StoredMessage | None:
        """Mirrors ``Messages.find``."""
        row = self._readers.row(_SQL["find_message"], (tenant_id, message_id))
        return None if row is None else _message(row)

    def find_keyed(self, tenant_id: str, sender: str, recipient: str, key: str) -> StoredMessage | None:
        """Mirrors ``Messages.find_keyed``."""
        row = self._readers.row(_SQL["find_keyed_message"], (tenant_id, sender, recipient, key))
        return None if row is None else _message(row)

    def tracked(self, tenant_id: str, message_id: str) -> TrackedMessage | None:
        """Mirrors ``Messages.tracked``. A message never changes, so that it may be read by itself."""
        row = self._readers.row(_SQL["find_delivery"], (tenant_id, message_id))
        message = None if row is None else self.find(tenant_id, message_id)
        if row is None or message is None:
            return None
        acks = self._acks(tenant_id, [message_id])
        return TrackedMessage(message, _delivery(row), tuple(acks.get(message_id, ())))

    def inbox(self, tenant_id: str, recipient: str, *, after: int | None, limit: int) -> list[StoredMessage]:
        """Mirrors ``Messages.inbox``."""
        if after is not None:
            rows = self._readers.rows(_SQL["inbox_after"], (tenant_id, recipient, after, limit))
            return [_message(row) for row in rows]
        rows = self._readers.rows(_SQL["inbox_last"], (tenant_id, recipient, limit))
        return [_message(row) for row in reversed(rows)]

    def thread(self, tenant_id: str, thread_id: str, *, peer: str | None, limit: int) -> list[StoredMessage]:
        """Mirrors ``Messages.thread``."""
        rows = self._readers.rows(_SQL["thread_last"], (tenant_id, thread_id, peer, limit))
        return [_message(row) for row in reversed(rows)]

    def pending(self, query: PendingQuery) -> PendingPage:
        """Mirrors ``Messages.pending``."""
        statuses = None if query.statuses is None else json_list(query.statuses)
        asked = (query.tenant_id, statuses, query.now, query.peer, query.recipient, query.limit)
        rows = self._readers.rows(_SQL["pending_deliveries"], asked)
        acks = self._acks(query.tenant_id, [row[1] for row in rows])
        found = [
            TrackedMessage(
                _message(row[:_MESSAGE_COLUMNS]),
                _delivery(row[_MESSAGE_COLUMNS:]),
                tuple(acks.get(row[1], ())),
            )
            for row in rows
        ]
        counted = self._readers.rows(_SQL["count_deliveries"], (query.tenant_id, query.now, query.peer))
        return PendingPage(tuple(found), dict(counted))

    def _acks(self, tenant_id: str, message_ids: Sequence[str]) -> dict[str, list[StoredAck]]:
        found: dict[str, list[StoredAck]] = {}
        for row in self._readers.rows(_SQL["acks_of"], (tenant_id, json_list(message_ids))):
            ack = StoredAck(tenant_id=row[0], message_id=row[1], ack_id=row[2], path=row[3], record=row[4])
            found.setdefault(ack.message_id, []).append(ack)
        return found

    def seen(self, tenant_id: str, nonce: SeenNonce) -> bool:
        """Mirrors ``Messages.seen``."""
        return self._readers.row(_SQL["find_nonce"], (tenant_id, nonce.hash, nonce.seen_at)) is not None

    def use(self, tenant_id: str, nonce: SeenNonce) -> bool:
        """Mirrors ``Messages.use``."""
        return self._writer.write(lambda connection: _use(connection, tenant_id, nonce))

    def paths_naming(self, tenant_id: str, peers: Collection[str]) -> list[str]:
        """Mirrors ``Messages.paths_naming``."""
        rows = self._readers.rows(_SQL["paths_naming"], (tenant_id, json_list(sorted(peers))))
        return [path for (path,) in rows]

    def restore(self, tenant_id: str, posts: Sequence[Post]) -> int:
        """Mirrors ``Messages.restore``."""

        def work(connection: apsw.Connection) -> int:
            new = [post for post in posts if not _is_known(connection, tenant_id, post)]
            for post in new:
                put_post(connection, post)
            return len(new)

        return self._writer.write(work)


def put_post(connection: apsw.Connection, post: Post) -> None:
    """Land a post in the transaction of its documents; raises as ``Post`` says."""
    if isinstance(post, Acknowledging):
        ack = post.ack
        _insert(
            connection,
            "insert_ack",
            (ack.tenant_id, ack.message_id, ack.ack_id, ack.path, ack.record),
            ack.message_id,
        )
        _put_state(connection, ack.tenant_id, post.state)
        return
    _put_message(connection, post)


def _put_message(connection: apsw.Connection, post: NewMessage) -> None:
    message = post.message
    tenant_id = message.tenant_id
    if post.nonce is not None and not _use(connection, tenant_id, post.nonce):
        raise nonce_reused()
    columns = (
        tenant_id,
        message.id,
        message.thread_id,
        message.sender,
        message.recipient,
        message.path,
        message.idempotency_key,
        message.body_hash,
        message.sent_at,
        message.record,
    )
    _insert(connection, "insert_message", columns, message.id)
    if post.delivery is not None:
        _put_state(connection, tenant_id, DeliveryState(message.id, post.delivery))
    if post.replayed is not None:
        _put_state(connection, tenant_id, post.replayed)


def _insert(connection: apsw.Connection, block: str, columns: Row, message_id: str) -> None:
    try:
        connection.execute(_SQL[block], columns)
    except apsw.ConstraintError as error:  # its id or its key is taken
        raise message_moved(message_id) from error


def _put_state(connection: apsw.Connection, tenant_id: str, state: DeliveryState) -> None:
    after = state.after
    columns = (
        tenant_id,
        state.message_id,
        after.status,
        int(after.requires_ack),
        after.ack_timeout_s,
        after.max_retries,
        after.retry_count,
        after.ack_deadline,
        after.updated_at,
        after.replayed_to,
        after.version,
    )
    before = connection.execute(_SQL["find_delivery"], (tenant_id, state.message_id)).fetchall()
    version = before[0][-1] if before else 0
    if version != after.version - 1:
        raise message_moved(state.message_id)
    connection.execute(_SQL["put_delivery"], columns)


def _use(connection: apsw.Connection, tenant_id: str, nonce: SeenNonce) -> bool:
    connection.execute(_SQL["prune_nonces"], (tenant_id, nonce.seen_at, limits.NONCES_PRUNED))
    for _ in connection.execute(_SQL["find_nonce"], (tenant_id, nonce.hash, nonce.seen_at)):
        return False
    connection.execute(_SQL["put_nonce"], (tenant_id, nonce.hash, nonce.seen_at, nonce.expires_at))
    return True


def _is_known(connection: apsw.Connection, tenant_id: str, post: Post) -> bool:
    if isinstance(post, Acknowledging):
        rows = connection.execute(_SQL["acks_of"], (tenant_id, json_list([post.ack.message_id])))
        return any(row[2] == post.ack.ack_id for row in rows)
    return bool(connection.execute(_SQL["find_message"], (tenant_id, post.message.id)).fetchall())


def erase_messages(connection: apsw.Connection, tenant_id: str, paths: str) -> None:
    """Delete what is kept of messages and acknowledgements whose documents stood at paths, a JSON list."""
    for block in ("delete_acks_at", "delete_deliveries_at", "delete_messages_at"):
        connection.execute(_SQL[block], (tenant_id, paths))


def _message(row: Row) -> StoredMessage:
    return StoredMessage(
        tenant_id=row[0],
        id=row[1],
        thread_id=row[2],
        sender=row[3],
        recipient=row[4],
        path=row[5],
        idempotency_key=row[6],
        body_hash=row[7],
        sent_at=row[8],
        record=row[9],
        number=row[10],
    )


def _delivery(row: Row) -> Delivery:
    return Delivery(
        status=row[0],
        requires_ack=bool(row[1]),
        ack_timeout_s=row[2],
        max_retries=row[3],
        retry_count=row[4],
        ack_deadline=row[5],
        updated_at=row[6],
        replayed_to=row[7],
        version=row[8],
    )
