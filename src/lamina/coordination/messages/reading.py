"""Handlers that read messages. Who may read an inbox is whom it is of; elsewhere a caller sees what they sent and what is to them."""

from __future__ import annotations

from typing import Final

from lamina.coordination.messages.names import DELIVERY_INDEX, check_name, inbox_folder, thread_file
from lamina.coordination.messages.post_office import only_for
from lamina.coordination.messages.records import delivery_of, message_of
from lamina.coordination.messages.requests import (
    Inbox,
    PendingDeliveries,
    PendingMessages,
    ReadInbox,
    ReadThread,
    Thread,
)
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight
from lamina.store.ports.messages import DeliveryStatus, Messages, PendingQuery

__all__ = ["MessageReading"]

_WAITING: Final[tuple[DeliveryStatus, ...]] = ("pending_ack", "replayed")
"""What a list of deliveries has unless it is asked for more (contract 1.11)."""


class MessageReading:
    """Inbox, thread and pending."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def inbox(self, request: ReadInbox, call: Call) -> Answer:
        """The messages to a peer, in their order."""
        recipient = request.recipient
        check_name("recipient", recipient)
        only_for(call, recipient, "an inbox")
        folder = inbox_folder(recipient)
        if not call.relay.allows(RelayRight.READ_FILES, "read", f"{folder}.jsonl"):  # as the original has it
            call.relay.require(RelayRight.READ_FILES, "read", folder)
        tenant_id = call.principal.tenant_id
        found = self._messages.inbox(tenant_id, recipient, after=request.after, limit=request.limit)
        return Answer(
            Inbox(
                recipient=recipient,
                count=len(found),
                messages=tuple(map(message_of, found)),
                next_after=found[-1].number if found else request.after or 0,
            )
        )

    def thread(self, request: ReadThread, call: Call) -> Answer:
        """The messages of a thread that name the caller, in their order."""
        check_name("thread_id", request.thread_id)
        call.relay.require(RelayRight.READ_FILES, "read", thread_file(request.thread_id))
        found = self._messages.thread(
            call.principal.tenant_id, request.thread_id, peer=_seen_by(call), limit=request.limit
        )
        return Answer(
            Thread(thread_id=request.thread_id, count=len(found), messages=tuple(map(message_of, found)))
        )

    def pending(self, request: PendingMessages, call: Call) -> Answer:
        """Deliveries, the newest first: those that wait, or those of one status, or with ``include_terminal`` all."""
        if request.recipient is not None:
            check_name("recipient", request.recipient)
        call.relay.require(RelayRight.READ_FILES, "read", DELIVERY_INDEX)
        statuses = _WAITING if not request.include_terminal else None
        query = PendingQuery(
            tenant_id=call.principal.tenant_id,
            now=call.now,
            statuses=statuses if request.status is None else (request.status,),
            peer=_seen_by(call),
            recipient=request.recipient,
            limit=request.limit,
        )
        page = self._messages.pending(query)
        return Answer(
            PendingDeliveries(
                count=len(page.found),
                summary=page.summary,
                messages=tuple(delivery_of(each, call.now) for each in page.found),
            )
        )


def _seen_by(call: Call) -> str | None:
    return None if call.relay.admin else call.relay.peer_id
