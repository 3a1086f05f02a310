"""Messages of a clone: what their documents say is enough to have inboxes, threads and deliveries again.

Their documents stand already. Who wrote one is what its commit says: where that is not the sender, the sender counts as claimed from
then on, since nothing of an envelope comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from lamina.coordination.messages.answering import after_ack, after_replay
from lamina.coordination.messages.names import INBOX, RECEIPTS, ack_path, inbox_folder
from lamina.coordination.messages.records import (
    AckRecord,
    AnyMessage,
    ForwardedMessage,
    SentMessage,
    stored_json,
)
from lamina.coordination.messages.requests import DeliveryTerms, SendMessage
from lamina.coordination.messages.sending import first_delivery
from lamina.errors import Invalid
from lamina.kernel.canonical import digest
from lamina.kernel.time import instant
from lamina.store.ports.documents import Document, Documents
from lamina.store.ports.messages import (
    Acknowledging,
    Delivery,
    DeliveryState,
    NewMessage,
    Post,
    StoredAck,
    StoredMessage,
)

__all__ = ["restored_posts"]

_PAGE: Final = 100  # with their content: some megabytes


def restored_posts(documents: Documents, tenant_id: str) -> list[Post]:
    """What stands of messages and answers, in the order in which it was written. What cannot be read is left out: it stays a file."""
    found = [*_below(documents, tenant_id, INBOX), *_below(documents, tenant_id, RECEIPTS)]
    restoring = _Restoring(documents, tenant_id)
    posts = (restoring.post_of(each) for each in sorted(found, key=lambda each: each.updated_at))
    return [post for post in posts if post is not None]


def _below(documents: Documents, tenant_id: str, folder: str) -> Iterator[Document]:
    page = documents.below(tenant_id, folder, limit=_PAGE, with_content=True)
    while page:
        yield from page
        page = documents.below(tenant_id, folder, after=page[-1].path, limit=_PAGE, with_content=True)


class _Restoring:
    """Goes through the documents of one tenant, and knows how far each delivery is by then."""

    def __init__(self, documents: Documents, tenant_id: str) -> None:
        self._documents = documents
        self._tenant_id = tenant_id
        self._deliveries: dict[str, Delivery] = {}
        self._taken: set[tuple[str, ...]] = set()

    def post_of(self, document: Document) -> Post | None:
        """What a document says; None where that is nothing."""
        try:
            if document.path.startswith(f"{RECEIPTS}/"):
                return self._ack(document)
            kind = ForwardedMessage if b'"via":' in document.content else SentMessage
            return self._message(document, kind.model_validate_json(document.content))
        except (ValidationError, Invalid):
            return None

    def _message(self, document: Document, record: AnyMessage) -> NewMessage | None:
        name = document.path.rpartition("/")[2].removesuffix(".json")
        if name != record.id or not document.path.startswith(f"{inbox_folder(record.to)}/"):
            return None
        record = record.model_copy(update={"sender_verified": self._is_verified(document, record)})
        stored = self._stored(document, record)
        if not self._takes(stored):
            return None
        if not isinstance(record, SentMessage):
            return NewMessage(stored)
        before = self._deliveries.get(record.replay_of or "")
        if not (record.idempotency_key or record.delivery.requires_ack or record.replay_of):
            return NewMessage(stored)
        first = first_delivery(
            record.delivery, stored.sent_at, retry_count=before.retry_count + 1 if before else 0
        )
        self._deliveries[record.id] = first
        if before is None or record.replay_of is None:
            return NewMessage(stored, first)
        after = self._deliveries[record.replay_of] = after_replay(before, record.id, stored.sent_at)
        return NewMessage(stored, first, replayed=DeliveryState(record.replay_of, after))

    def _takes(self, stored: StoredMessage) -> bool:
        """Whether nobody had the id and the key of a message before. Who may write files may have made another one like it: that stays a
        file."""
        names: set[tuple[str, ...]] = {(stored.id,)}
        if stored.idempotency_key is not None:
            names.add((stored.sender, stored.recipient, stored.idempotency_key))
        is_new = names.isdisjoint(self._taken)
        self._taken |= names if is_new else set()
        return is_new

    def _is_verified(self, document: Document, record: AnyMessage) -> bool:
        (newest,) = self._documents.history(self._tenant_id, document.path, limit=1)
        author = newest.commit.author.removeprefix("agent:")
        return record.sender_verified and author == record.sender

    def _stored(self, document: Document, record: AnyMessage) -> StoredMessage:
        key = record.idempotency_key if isinstance(record, SentMessage) else None
        return StoredMessage(
            tenant_id=self._tenant_id,
            id=record.id,
            thread_id=record.thread_id,
            sender=record.sender,
            recipient=record.to,
            path=document.path,
            idempotency_key=key,
            body_hash=_body_hash(record) if isinstance(record, SentMessage) else "",
            sent_at=instant(record.sent_at),
            record=stored_json(record),
        )

    def _ack(self, document: Document) -> Acknowledging | None:
        record = AckRecord.model_validate_json(document.content)
        before = self._deliveries.get(record.message_id)
        if before is None or document.path != ack_path(record.message_id, record.ack_id):
            return None
        after = after_ack(before, record.status, instant(record.ack_at))
        self._deliveries[record.message_id] = after
        stored = StoredAck(
            tenant_id=self._tenant_id,
            message_id=record.message_id,
            ack_id=record.ack_id,
            path=document.path,
            record=stored_json(record),
        )
        return Acknowledging(stored, DeliveryState(record.message_id, after))


def _body_hash(record: SentMessage) -> str:
    """The hash of what was asked for, by which a repetition under the same key is known."""
    sent = SendMessage(
        thread_id=record.thread_id,
        sender=record.sender,
        recipient=record.to,
        subject=record.subject,
        body_md=record.body_md,
        priority=record.priority,
        attachments=record.attachments,
        idempotency_key=record.idempotency_key,
        delivery=DeliveryTerms(**record.delivery.model_dump()),
    )
    return digest(sent.signed_payload())
