"""Handlers that send: from one peer to another, on behalf of one, and on behalf of a relay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lamina.coordination.messages.names import check_name, message_path, new_id
from lamina.coordination.messages.post_office import PostOffice, retried
from lamina.coordination.messages.proving import Proof, Proving
from lamina.coordination.messages.records import (
    ForwardedMessage,
    PromisedDelivery,
    SentMessage,
    message_of,
    stored_json,
)
from lamina.coordination.messages.requests import (
    ForwardMessage,
    MessageForwarded,
    MessageSent,
    SendMessage,
)
from lamina.errors import Conflict, NotFound
from lamina.kernel.canonical import digest
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.store.keyed import entry_of, run_once
from lamina.store.ports.idempotency import Idempotency, IdempotencyEntry
from lamina.store.ports.messages import Delivery, NewMessage, StoredMessage

__all__ = ["Sending", "first_delivery", "message_in_words"]

_Sent = MessageSent | MessageForwarded


class Sending:
    """Send and forward."""

    def __init__(self, office: PostOffice, proving: Proving, idempotency: Idempotency, ids: IdSource) -> None:
        self._office = office
        self._proving = proving
        self._idempotency = idempotency
        self._ids = ids

    def send(self, request: SendMessage, call: Call) -> Answer:
        """Send a message, once under one key. A sender that is not the caller is proved by an envelope."""
        for field in ("thread_id", "sender", "recipient"):
            check_name(field, getattr(request, field))
        return self._once(call, partial(self._sent_once, request, call))

    def forward(self, request: ForwardMessage, call: Call) -> Answer:
        """Pass a message on. Who sent it is as the relay claims it, and is marked so unless an envelope proves it."""
        for field in ("relay_id", "thread_id", "sender", "target_recipient"):
            check_name(field, getattr(request, field))
        return self._once(call, lambda once: retried(lambda: self._forwarded(request, call, once)))

    def _once(self, call: Call, run: Callable[[IdempotencyEntry | None], _Sent]) -> Answer:
        """Run a call, under the idempotency key of its header where it has one."""
        return run_once(self._idempotency, entry_of(call), call.now, run, partial(self._led_to, call))

    def _led_to(self, call: Call, known: IdempotencyEntry) -> _Sent:
        """The answer to the message that a key led to."""
        message_id = (known.response or {}).get("message_id", "")
        stored = self._office.messages.find(call.principal.tenant_id, message_id)
        if stored is None:
            raise NotFound("MESSAGE_NOT_FOUND", "the message that this key led to was erased")
        return self._earlier(stored, call)

    def _earlier(self, stored: StoredMessage, call: Call, proof: Proof | None = None) -> _Sent:
        """The answer to a message that was sent before."""
        record, head = message_of(stored), self._office.head(call)
        shown = None if proof is None else proof.shown(used=False)
        if isinstance(record, ForwardedMessage):
            return MessageForwarded(
                message=record, signature_verification=shown, committed_files=(), latest_commit=head
            )
        return MessageSent(
            idempotent_replay=True,
            message=record,
            delivery_state=self._office.delivery(call, stored.id),
            signature_verification=shown,
            committed_files=(),
            latest_commit=head,
        )

    def _sent_once(self, request: SendMessage, call: Call, once: IdempotencyEntry | None) -> _Sent:
        return retried(lambda: self._sent(request, call, once))

    def _sent(self, request: SendMessage, call: Call, once: IdempotencyEntry | None) -> _Sent:
        payload, key, known = request.signed_payload(), request.idempotency_key, None
        if key is not None:
            known = self._office.messages.find_keyed(
                call.principal.tenant_id, request.sender, request.recipient, key
            )
        body_hash = digest(payload)
        same = known is not None and known.body_hash == body_hash
        proof = self._proving.of_sender(call, request.sender, payload, request.signed_envelope, repeated=same)
        if known is not None:
            if not same:
                raise Conflict(
                    "IDEMPOTENCY_CONFLICT",
                    "this idempotency key was used with another message to the same recipient",
                    hint="use a new key for a new message; repeat the old one unchanged to see what became of it",
                    details={"message_id": known.id},
                )
            if once is not None:
                self._idempotency.remember(_to_message(once, known.id))
            return self._earlier(known, call, proof)
        return self._posted(_sent_record(request, call, self._ids), request, call, proof, body_hash, once)

    def _posted(
        self,
        record: SentMessage,
        request: SendMessage,
        call: Call,
        proof: Proof,
        body_hash: str,
        once: IdempotencyEntry | None,
    ) -> MessageSent:
        followed = request.idempotency_key is not None or request.delivery.requires_ack
        delivery = first_delivery(record.delivery, call.now) if followed else None
        posting = NewMessage(_stored(record, call, body_hash), delivery, proof.nonce)
        landed = self._office.land(
            call,
            record,
            posting,
            f"messages: send {record.id}",
            message_in_words(record),
            None if once is None else _to_message(once, record.id),
        )
        return MessageSent(
            message=record,
            delivery_state=self._office.delivery(call, record.id) if followed else None,
            signature_verification=proof.shown(used=True),
            committed_files=(landed.path,),
            latest_commit=landed.latest_commit,
            event_id=landed.event_id,
        )

    def _forwarded(
        self, request: ForwardMessage, call: Call, once: IdempotencyEntry | None
    ) -> MessageForwarded:
        payload = request.signed_payload()
        proof = self._proving.if_signed(call, request.sender, payload, request.signed_envelope)
        record = ForwardedMessage(
            id=new_id("msg", self._ids, call.now),
            thread_id=request.thread_id,
            sender=request.sender,
            to=request.target_recipient,
            sent_at=rfc3339(call.now),
            subject=request.subject,
            body_md=request.body_md,
            priority=request.priority,
            attachments=request.attachments,
            sender_verified=proof.verified,
            via=request.relay_id,
            envelope=request.envelope,
        )
        landed = self._office.land(
            call,
            record,
            NewMessage(_stored(record, call, digest(payload)), None, proof.nonce),
            f"relay: forward {record.id}",
            message_in_words(record),
            None if once is None else _to_message(once, record.id),
        )
        return MessageForwarded(
            message=record,
            signature_verification=proof.shown(used=True),
            committed_files=(landed.path,),
            latest_commit=landed.latest_commit,
            event_id=landed.event_id,
        )


def _to_message(once: IdempotencyEntry, message_id: str) -> IdempotencyEntry:
    return replace(once, response={"message_id": message_id})


def first_delivery(promised: PromisedDelivery, now: int, *, retry_count: int = 0) -> Delivery:
    """The delivery of a message that was just sent."""
    deadline = now + promised.ack_timeout_seconds * SECOND_US
    return Delivery(
        status="pending_ack" if promised.requires_ack else "delivered",
        requires_ack=promised.requires_ack,
        ack_timeout_s=promised.ack_timeout_seconds,
        max_retries=promised.max_retries,
        retry_count=retry_count,
        ack_deadline=deadline if promised.requires_ack else None,
        updated_at=now,
    )


def message_in_words(record: SentMessage | ForwardedMessage) -> str:
    """A message as its event tells it: whose word it is stands first, and whether that is only claimed."""
    by_whom = record.sender if record.sender_verified else f"{record.sender} (unverified)"
    via = f" by way of {record.via}" if isinstance(record, ForwardedMessage) else ""
    head = f"Message from {by_whom} to {record.to}{via}, in the thread {record.thread_id}: {record.subject}"
    return f"{head}\n{record.body_md}"


def _sent_record(request: SendMessage, call: Call, ids: IdSource) -> SentMessage:
    return SentMessage(
        id=new_id("msg", ids, call.now),
        thread_id=request.thread_id,
        sender=request.sender,
        to=request.recipient,
        sent_at=rfc3339(call.now),
        subject=request.subject,
        body_md=request.body_md,
        priority=request.priority,
        attachments=request.attachments,
        sender_verified=True,
        idempotency_key=request.idempotency_key,
        delivery=PromisedDelivery(**request.delivery.model_dump()),
    )


def _stored(record: SentMessage | ForwardedMessage, call: Call, body_hash: str) -> StoredMessage:
    key = record.idempotency_key if isinstance(record, SentMessage) else None
    return StoredMessage(
        tenant_id=call.principal.tenant_id,
        id=record.id,
        thread_id=record.thread_id,
        sender=record.sender,
        recipient=record.to,
        path=message_path(record.to, call.now, record.id),
        idempotency_key=key,
        body_hash=body_hash,
        sent_at=call.now,
        record=stored_json(record),
    )
