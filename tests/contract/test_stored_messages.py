"""What every engine promises about messages between peers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from given import NOON, TENANT
from lamina.errors import Conflict, Unauthenticated
from lamina.kernel.time import SECOND_US
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.messages import (
    Acknowledging,
    Delivery,
    DeliveryState,
    NewMessage,
    PendingQuery,
    Post,
    SeenNonce,
    StoredAck,
    StoredMessage,
    TrackedMessage,
)
from lamina.store.ports.store import Store

LATER = NOON + 300 * SECOND_US


def message(name: str, **more: Any) -> StoredMessage:
    given = {
        "tenant_id": TENANT,
        "id": f"msg_{name}",
        "thread_id": "t",
        "sender": "bo",
        "recipient": "cy",
        "path": f"messages/inbox/cy/{name}.json",
        "idempotency_key": None,
        "body_hash": "sha256:1",
        "sent_at": NOON,
        "record": f'{{"id":"msg_{name}"}}',
    }
    return StoredMessage(**{**given, **more})


def waiting(**more: Any) -> Delivery:
    given: dict[str, Any] = {
        "status": "pending_ack",
        "requires_ack": True,
        "ack_timeout_s": 300,
        "max_retries": 5,
        "retry_count": 0,
        "ack_deadline": LATER,
        "updated_at": NOON,
    }
    return Delivery(**{**given, **more})


def post(store: Store, *posts: Post) -> None:
    for each in posts:
        path = each.ack.path if isinstance(each, Acknowledging) else each.message.path
        change = Change(path, ChangeKind.PUT, b"{}", expected_version=0)
        store.documents.write(
            [Write(tenant_id=TENANT, author="agent:bo", message="m", changes=[change], post=each)]
        )


def send(store: Store, *names: str, **more: Any) -> None:
    post(store, *(NewMessage(message(name, **more)) for name in names))


def ids(found: Any) -> list[str]:
    return [each.id.removeprefix("msg_") for each in found]


def answer(name: str, ack_id: str, after: Delivery) -> Acknowledging:
    message_id = f"msg_{name}"
    ack = StoredAck(
        tenant_id=TENANT, message_id=message_id, ack_id=ack_id, path=f"a/{name}/{ack_id}", record="{}"
    )
    return Acknowledging(ack, DeliveryState(message_id, after))


def test_a_message_is_found_as_it_was_sent_in_its_place(store: Store) -> None:
    sent = message("a", idempotency_key="k")
    post(store, NewMessage(sent))
    found = store.messages.find(TENANT, "msg_a")
    assert found is not None
    assert found.number > 0
    assert replace(found, number=0) == sent
    assert store.messages.find_keyed(TENANT, "bo", "cy", "k") == found
    assert store.messages.find_keyed(TENANT, "bo", "dee", "k") is None
    assert store.messages.find("other", "msg_a") is None
    assert store.messages.tracked(TENANT, "msg_a") is None, "nobody follows it"


def test_an_inbox_is_read_from_its_end_or_past_a_place(store: Store) -> None:
    send(store, *"abcd")
    send(store, "elsewhere", recipient="dee")
    last = store.messages.inbox(TENANT, "cy", after=None, limit=2)
    assert ids(last) == ["c", "d"]
    first = store.messages.inbox(TENANT, "cy", after=0, limit=3)
    assert ids(first) == ["a", "b", "c"]
    assert ids(store.messages.inbox(TENANT, "cy", after=first[-1].number, limit=3)) == ["d"]
    assert store.messages.inbox(TENANT, "cy", after=last[-1].number, limit=3) == []
    assert store.messages.inbox("other", "cy", after=None, limit=9) == []


def test_a_thread_has_what_names_a_peer_in_its_order(store: Store) -> None:
    send(store, *"ab")
    send(store, "c", sender="cy", recipient="bo")
    send(store, "d", sender="dee", recipient="fay")
    send(store, "e", thread_id="another")
    thread = store.messages.thread
    assert ids(thread(TENANT, "t", peer=None, limit=3)) == ["b", "c", "d"]
    assert ids(thread(TENANT, "t", peer="cy", limit=9)) == ["a", "b", "c"]
    assert ids(thread(TENANT, "t", peer="fay", limit=9)) == ["d"]
    assert thread(TENANT, "t", peer="kim", limit=9) == []


def test_an_id_and_a_key_are_taken_once_and_nothing_of_the_second_lands(store: Store) -> None:
    send(store, "a", idempotency_key="k")
    for taken in (
        message("b", idempotency_key="k"),
        message("a", path="messages/inbox/cy/another.json"),
    ):
        with pytest.raises(Conflict, match="MESSAGE_CHANGED"):
            post(store, NewMessage(taken, waiting(), SeenNonce("n", NOON, None)))
        assert store.documents.read(TENANT, taken.path) is None
    assert store.messages.tracked(TENANT, "msg_b") is None
    assert not store.messages.seen(TENANT, SeenNonce("n", NOON, None))
    send(store, "c", idempotency_key="k", recipient="dee")


def test_a_delivery_moves_on_from_the_version_that_was_seen(store: Store) -> None:
    post(store, NewMessage(message("a"), waiting()))
    acked = waiting(status="acked", version=2)
    post(store, answer("a", "one", acked))
    for late in (
        answer("a", "two", waiting(version=2)),
        answer("a", "one", waiting(version=3)),
        answer("a", "two", waiting(version=4)),
    ):
        with pytest.raises(Conflict, match="MESSAGE_CHANGED"):
            post(store, late)
    found = store.messages.tracked(TENANT, "msg_a")
    assert found is not None
    assert (found.delivery, [ack.ack_id for ack in found.acks]) == (acked, ["one"])
    replayed = DeliveryState("msg_a", waiting(status="replayed", replayed_to="msg_b", version=3))
    post(store, NewMessage(message("b"), waiting(retry_count=1), replayed=replayed))
    before = store.messages.tracked(TENANT, "msg_a")
    assert before is not None
    assert before.delivery == replayed.after


def test_pending_is_by_status_as_of_now_the_newest_first(store: Store) -> None:
    post(store, NewMessage(message("a"), waiting()), NewMessage(message("b", recipient="dee"), waiting()))
    post(store, NewMessage(message("c", sender="dee"), waiting(status="delivered", ack_deadline=None)))
    post(store, NewMessage(message("late"), waiting(ack_deadline=NOON)))
    send(store, "unfollowed")

    def pending(**more: Any) -> tuple[list[str], dict[str, int]]:
        page = store.messages.pending(PendingQuery(tenant_id=TENANT, now=NOON, **more))
        return ids(each.message for each in page.found), dict(page.summary)

    whole = {"dead_letter": 1, "delivered": 1, "pending_ack": 2}
    assert pending() == (["late", "c", "b", "a"], whole)
    assert pending(limit=2) == (["late", "c"], whole)
    assert pending(statuses=["pending_ack"]) == (["b", "a"], whole)
    assert pending(statuses=["dead_letter"], recipient="cy") == (["late"], whole)
    assert pending(peer="dee") == (["c", "b"], {"delivered": 1, "pending_ack": 1})
    assert pending(peer="kim") == ([], {})
    post(store, answer("a", "one", waiting(version=2)), answer("a", "two", waiting(version=3)))
    (found,) = store.messages.pending(
        PendingQuery(tenant_id=TENANT, now=LATER, statuses=["dead_letter"], peer="bo", limit=1)
    ).found
    assert isinstance(found, TrackedMessage)
    page = store.messages.pending(PendingQuery(tenant_id=TENANT, now=NOON, recipient="cy"))
    acks = {each.message.id: [ack.ack_id for ack in each.acks] for each in page.found}
    assert acks["msg_a"] == ["one", "two"]


def test_a_nonce_is_used_once_until_it_has_expired(store: Store) -> None:
    use, seen = store.messages.use, store.messages.seen
    ends, never = SeenNonce("ends", NOON, LATER), SeenNonce("never", NOON, None)
    assert (use(TENANT, ends), use(TENANT, never), use("other", ends)) == (True, True, True)
    assert (use(TENANT, ends), use(TENANT, never)) == (False, False)
    assert seen(TENANT, replace(ends, seen_at=LATER - 1))
    assert not seen(TENANT, replace(ends, seen_at=LATER))
    with pytest.raises(Unauthenticated, match="NONCE_REUSED"):
        post(store, NewMessage(message("a"), None, never))
    assert store.documents.read(TENANT, message("a").path) is None
    assert use(TENANT, replace(ends, seen_at=LATER, expires_at=LATER + 1))
    assert seen(TENANT, replace(never, seen_at=LATER * 2))


def test_what_stood_in_erased_documents_is_gone_and_its_number_is_not_given_again(store: Store) -> None:
    post(store, NewMessage(message("a"), waiting()), NewMessage(message("b"), waiting()))
    post(store, answer("a", "one", waiting(version=2)), answer("b", "two", waiting(version=2)))
    numbers = [each.number for each in store.messages.inbox(TENANT, "cy", after=0, limit=9)]
    store.traces.erase_documents(TENANT, ["messages/inbox/cy/b.json", "a/a/one"])
    assert store.messages.tracked(TENANT, "msg_b") is None
    left = store.messages.tracked(TENANT, "msg_a")
    assert left is not None
    assert (left.acks, left.delivery.status) == ((), "pending_ack")
    send(store, "c")
    (new,) = store.messages.inbox(TENANT, "cy", after=numbers[-1], limit=9)
    assert new.id == "msg_c"


def test_what_names_a_peer_is_found_with_what_was_answered(store: Store) -> None:
    post(store, NewMessage(message("a"), waiting()), NewMessage(message("b", sender="dee", recipient="fay")))
    post(store, answer("a", "one", waiting(version=2)))
    whole = ["a/a/one", "messages/inbox/cy/a.json"]
    assert store.messages.paths_naming(TENANT, ["bo"]) == store.messages.paths_naming(TENANT, ["cy"]) == whole
    assert store.messages.paths_naming(TENANT, ["fay", "kim"]) == ["messages/inbox/cy/b.json"]
    assert store.messages.paths_naming("other", ["bo"]) == []


def test_what_comes_back_lands_once_and_in_order(store: Store) -> None:
    posts: list[Post] = [
        NewMessage(message("a"), waiting()),
        NewMessage(message("b")),
        answer("a", "one", waiting(status="acked", version=2)),
    ]
    assert store.messages.restore(TENANT, posts) == 3
    assert store.messages.restore(TENANT, posts) == 0
    assert ids(store.messages.inbox(TENANT, "cy", after=0, limit=9)) == ["a", "b"]
    found = store.messages.tracked(TENANT, "msg_a")
    assert found is not None
    assert found.delivery.status == "acked"
