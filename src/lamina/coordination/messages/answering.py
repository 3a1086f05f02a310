"""Handlers of what becomes of a message: its recipient's answer, and sending a dead letter anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lamina.coordination.messages import bounds
from lamina.coordination.messages.names import ack_path, check_name, message_path, new_id
from lamina.coordination.messages.post_office import PostOffice, only_for, retried
from lamina.coordination.messages.records import (
    AckRecord,
    AckStatus,
    PromisedDelivery,
    SentMessage,
    ack_of,
    delivery_of,
    stored_json,
)
from lamina.coordination.messages.requests import AckMessage, MessageAcked, MessageReplayed, ReplayMessage
from lamina.coordination.messages.sending import first_delivery, message_in_words
from lamina.errors import Conflict
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import SECOND_US, Instant, rfc3339
from lamina.store.ports.messages import (
    Acknowledging,
    Delivery,
    DeliveryState,
    DeliveryStatus,
    NewMessage,
    StoredAck,
    TrackedMessage,
)

__all__ = ["MessageAnswering", "after_ack", "after_replay"]

_LEADS_TO: Final[dict[AckStatus, DeliveryStatus]] = {
    "accepted": "acked",
    "rejected": "dead_letter",
    "deferred": "pending_ack",
}


def after_ack(state: Delivery, status: AckStatus, at: Instant) -> Delivery:
    """A delivery after an answer: one that is put off has as long again."""
    deadline = at + state.ack_timeout_s * SECOND_US if status == "deferred" else state.ack_deadline
    return replace(
        state, status=_LEADS_TO[status], ack_deadline=deadline, updated_at=at, version=state.version + 1
    )


def after_replay(state: Delivery, message_id: str, at: Instant) -> Delivery:
    """A delivery whose message was sent anew, as another one."""
    return replace(state, status="replayed", replayed_to=message_id, updated_at=at, version=state.version + 1)


class MessageAnswering:
    """Acknowledge and replay."""

    def __init__(self, office: PostOffice, ids: IdSource) -> None:
        self._office = office
        self._ids = ids

    def ack(self, request: AckMessage, call: Call) -> Answer:
        """Say what was made of a message. Its recipient may, as often as it changes its mind."""
        if request.ack_id is not None:
            check_name("ack_id", request.ack_id)
        return Answer(retried(lambda: self._acked(request, call)))

    def _acked(self, request: AckMessage, call: Call) -> MessageAcked:
        tracked = self._office.tracked(call, request.message_id)
        only_for(call, tracked.message.recipient, "answering")
        known = next((ack_of(each) for each in tracked.acks if each.ack_id == request.ack_id), None)
        if known is not None:
            return self._acked_before(known, request, call, tracked)
        if len(tracked.acks) >= bounds.MESSAGE_ACKS_MAX:
            raise Conflict(
                "ACKS_FULL",
                f"the message has {bounds.MESSAGE_ACKS_MAX} answers, and takes no more",
                hint="have its sender send it anew: POST /v1/replay/messages with force",
            )
        record = AckRecord(
            ack_id=request.ack_id or new_id("ack", self._ids, call.now),
            message_id=tracked.message.id,
            status=request.status,
            reason=request.reason,
            ack_at=rfc3339(call.now),
            by=call.relay.peer_id,
        )
        stored = StoredAck(
            tenant_id=call.principal.tenant_id,
            message_id=record.message_id,
            ack_id=record.ack_id,
            path=ack_path(record.message_id, record.ack_id),
            record=stored_json(record),
        )
        after = after_ack(tracked.delivery, request.status, call.now)
        landed = self._office.land(
            call,
            record,
            Acknowledging(stored, DeliveryState(record.message_id, after)),
            f"messages: ack {record.message_id}",
            _ack_in_words(record, tracked),
        )
        return MessageAcked(
            message_id=record.message_id,
            ack=record,
            delivery_state=delivery_of(
                TrackedMessage(tracked.message, after, (*tracked.acks, stored)), call.now
            ),
            committed_files=(landed.path,),
            latest_commit=landed.latest_commit,
            event_id=landed.event_id,
        )

    def _acked_before(
        self, known: AckRecord, request: AckMessage, call: Call, tracked: TrackedMessage
    ) -> MessageAcked:
        if (known.status, known.reason) != (request.status, request.reason):
            raise Conflict(
                "ACK_EXISTS",
                "the message has an answer of this id, and that says something else",
                hint="leave ack_id out, or send another",
                details={"status": known.status},
            )
        return MessageAcked(
            message_id=known.message_id,
            ack=known,
            delivery_state=delivery_of(tracked, call.now),
            committed_files=(),
            latest_commit=self._office.head(call),
        )

    def replay(self, request: ReplayMessage, call: Call) -> Answer:
        """Send a dead letter anew, as another message. Its sender may, as often as the message says; with ``force`` any message."""
        return Answer(retried(lambda: self._replayed(request, call)))

    def _replayed(self, request: ReplayMessage, call: Call) -> MessageReplayed:
        tracked = self._office.tracked(call, request.message_id)
        before, state = tracked.message, tracked.delivery
        only_for(call, before.sender, "sending it anew")
        if not request.force:
            _check_replayable(state, call.now)
        old = SentMessage.model_validate_json(before.record)
        promised = PromisedDelivery(
            requires_ack=request.requires_ack,
            ack_timeout_seconds=request.ack_timeout_seconds,
            max_retries=state.max_retries,
        )
        message_id = new_id("msg", self._ids, call.now)
        more = {
            "id": message_id,
            "sent_at": rfc3339(call.now),
            "idempotency_key": None,
            "delivery": promised,
            "replay_of": before.id,
            "replay_reason": request.reason,
        }
        record = old.model_copy(update=more)
        stored = replace(
            before,
            id=message_id,
            path=message_path(before.recipient, call.now, message_id),
            idempotency_key=None,
            sent_at=call.now,
            record=stored_json(record),
            number=0,
        )
        first = first_delivery(promised, call.now, retry_count=state.retry_count + 1)
        replayed = DeliveryState(before.id, after_replay(state, message_id, call.now))
        landed = self._office.land(
            call,
            record,
            NewMessage(stored, first, replayed=replayed),
            f"messages: replay {before.id} -> {message_id}",
            message_in_words(record),
        )
        return MessageReplayed(
            message_id=before.id,
            replayed_message_id=message_id,
            delivery_state=delivery_of(TrackedMessage(stored, first), call.now),
            committed_files=(landed.path,),
            latest_commit=landed.latest_commit,
            event_id=landed.event_id,
        )


def _check_replayable(state: Delivery, now: Instant) -> None:
    status = state.status_at(now)
    if status != "dead_letter":
        raise Conflict(
            "MESSAGE_NOT_DEAD",
            f"the message is no dead letter: it is {status}",
            hint="send force to send it anew nevertheless",
            details={"status": status},
        )
    if state.retry_count >= state.max_retries:
        raise Conflict(
            "RETRIES_USED_UP",
            f"the message was sent anew {state.retry_count} times, and {state.max_retries} are the most",
            hint="send force to send it anew nevertheless",
            details={"retry_count": state.retry_count, "max_retries": state.max_retries},
        )


def _ack_in_words(record: AckRecord, tracked: TrackedMessage) -> str:
    message = tracked.message
    because = f": {record.reason}" if record.reason else ""
    return f"{record.by} {record.status} the message {message.id} from {message.sender}, in the thread {message.thread_id}{because}"
