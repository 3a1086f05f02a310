"""Messages between peers: what is sent, who may see it, and what becomes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from lamina.coordination.messages import bounds
from lamina.errors import LaminaError
from lamina.kernel.events import Trust
from lamina.kernel.relay import RelayGrant, RelayRight, told_path
from mailing import Mail
from shelves import TENANT
from tables import every_row

ACK = {"requires_ack": True, "ack_timeout_seconds": 60, "max_retries": 1}


@pytest.fixture(name="mail")
def _mail(tmp_path: Path) -> Mail:
    return Mail(tmp_path)


def code(mail: Mail, by: str, name: str, /, **sent: Any) -> str:
    with pytest.raises(LaminaError) as refused:
        mail.call(by, name, **sent)
    return refused.value.code


def ack(mail: Mail, message_id: str, status: str = "accepted", by: str = "cy", **more: Any) -> dict[str, Any]:
    return mail.call(by, "messages_ack", message_id=message_id, status=status, **more)


def statuses(mail: Mail, by: str = "bo", **more: Any) -> dict[str, str]:
    found = mail.call(by, "messages_pending", **more)["messages"]
    return {each["message_id"]: each["effective_status"] for each in found}


# ---- sending


def test_a_message_is_a_row_a_document_and_an_event(mail: Mail) -> None:
    sent = mail.send(attachments=["projects/plan.md"])
    message = sent["message"]
    assert list(message.items()) == [
        ("id", message["id"]),
        ("thread_id", "t"),
        ("from", "bo"),
        ("to", "cy"),
        ("sent_at", "2026-05-13T12:00:00Z"),
        ("subject", "Launch"),
        ("body_md", "Shall we?"),
        ("priority", "normal"),
        ("attachments", ["projects/plan.md"]),
        ("sender_verified", True),
        ("idempotency_key", None),
        ("delivery", {"requires_ack": False, "ack_timeout_seconds": 300, "max_retries": 5}),
        ("replay_of", None),
        ("replay_reason", None),
    ]
    path = f"messages/inbox/cy/2026-05-13/{message['id']}.json"
    head = mail.store.documents.head(TENANT)
    assert sent | {"message": None} == {
        "ok": True,
        "idempotent_replay": False,
        "message": None,
        "delivery_state": None,
        "signature_verification": None,
        "committed_files": [path],
        "latest_commit": head.sha,
        "event_id": sent["event_id"],
    }
    assert head.message == f"messages: send {message['id']}"
    document = mail.store.documents.read(TENANT, path)
    assert json.loads(document.content) == message
    event = mail.store.log.get(TENANT, [sent["event_id"]])[sent["event_id"]]
    assert (told_path(event), event.origin.trust, event.directives.extract) == (path, Trust.EXTERNAL, ())
    assert event.content["text"] == "Message from bo to cy, in the thread t: Launch\nShall we?"


@every_row(
    "field, name",
    [
        (field, name)
        for field in ("thread_id", "sender", "recipient")
        for name in ("..", ".git", "a/b", "a.", "ä", "a b", "a\n", "%2e", "-a")
    ],
)
def test_an_id_that_could_be_no_name_of_a_file_is_refused(field: str, name: str) -> None:
    mail = Mail(Path("nowhere"))
    sent = mail.message() | {field: name}
    assert code(mail, "bo", "messages_send", **sent) == "INVALID_MESSAGE"
    assert mail.store.documents.below(TENANT, "") == []


def test_what_is_longer_than_its_bound_is_refused(mail: Mail) -> None:
    longest = {
        "thread_id": "t" * bounds.MESSAGE_NAME_LENGTH_MAX,
        "subject": "s" * bounds.MESSAGE_SUBJECT_LENGTH_MAX,
        "attachments": ["a"] * bounds.MESSAGE_ATTACHMENTS_MAX,
    }
    mail.send(**longest)
    for field, value in longest.items():
        with pytest.raises(ValidationError):
            mail.send(**{field: [*value, "a"] if isinstance(value, list) else f"{value}x"})


def test_who_sends_as_another_proves_it(mail: Mail) -> None:
    assert code(mail, "cy", "messages_send", **mail.message("bo", "dee")) == "SENDER_NOT_PROVEN"
    assert code(mail, "kim", "messages_send", **mail.message("bo", "dee")) == "SENDER_NOT_PROVEN"
    assert mail.store.documents.head(TENANT) is None


def test_sending_takes_the_right_and_the_folder(mail: Mail) -> None:
    mail.grants["bo"] = RelayGrant(frozenset({RelayRight.READ_FILES}), frozenset("*"), frozenset("*"))
    assert code(mail, "bo", "messages_send", **mail.message()) == "NAMESPACE_DENIED"
    inbox = frozenset({"messages/inbox"})
    mail.grants["bo"] = RelayGrant(frozenset({RelayRight.WRITE_MESSAGES}), frozenset(), inbox)
    assert code(mail, "bo", "messages_send", **mail.message()) == "NAMESPACE_DENIED"
    mail.grants["bo"] = RelayGrant(
        frozenset({RelayRight.WRITE_MESSAGES}), frozenset(), inbox | {"messages/state"}
    )
    mail.send()


# ---- one key, one message


def test_the_same_key_is_the_same_message_and_another_body_a_conflict(mail: Mail) -> None:
    first = mail.send(idempotency_key="k")
    assert first["delivery_state"]["status"] == "delivered"
    again = mail.send(idempotency_key="k")
    assert (again["idempotent_replay"], again["committed_files"]) == (True, [])
    assert again["message"] == first["message"]
    for other in ({"body_md": "No."}, {"thread_id": "u"}, {"delivery": ACK}, {"priority": "high"}):
        changed = mail.message(idempotency_key="k") | other
        assert code(mail, "bo", "messages_send", **changed) == "IDEMPOTENCY_CONFLICT"
    mail.send(to="dee", idempotency_key="k")
    assert len(mail.inbox("cy")) == 1


def test_the_key_of_a_header_lands_with_its_message(mail: Mail) -> None:
    first = mail.call("bo", "messages_send", "h", **mail.message())
    assert mail.call("bo", "messages_send", "h", **mail.message())["message"] == first["message"]
    with pytest.raises(LaminaError, match="IDEMPOTENCY_CONFLICT"):
        mail.call("bo", "messages_send", "h", **mail.message(body_md="No."))
    sent = {"sender": "zed", "target_recipient": "cy", "thread_id": "t", "subject": "", "body_md": "Hi"}
    passed = mail.call("bo", "relay_forward", "f", **sent)
    assert mail.call("bo", "relay_forward", "f", **sent)["message"] == passed["message"]
    assert len(mail.inbox("cy")) == 2


# ---- reading


def test_an_inbox_goes_on_where_it_was_left(mail: Mail) -> None:
    sent = [mail.send(body_md=str(number))["message"]["id"] for number in range(5)]
    mail.send(to="dee")
    assert mail.inbox("cy", limit=2) == sent[-2:]
    seen: list[str] = []
    after = 0
    while page := mail.call("cy", "messages_inbox", recipient="cy", after=after, limit=2)["messages"]:
        seen += [each["id"] for each in page]
        after = mail.call("cy", "messages_inbox", recipient="cy", after=after, limit=2)["next_after"]
    assert seen == sent
    empty = mail.call("cy", "messages_inbox", recipient="cy", after=after)
    assert (empty["count"], empty["next_after"]) == (0, after)


def test_an_inbox_is_for_whom_it_is_of(mail: Mail) -> None:
    mail.send()
    assert code(mail, "bo", "messages_inbox", recipient="cy") == "MESSAGE_NOT_YOURS"
    assert len(mail.inbox("kim", recipient="cy")) == 1
    read = frozenset({RelayRight.READ_FILES})
    for folder, opens in (("messages/inbox/cy", True), ("messages/inbox/cy.jsonl", True), ("memory", False)):
        mail.grants["cy"] = RelayGrant(read, frozenset({folder}), frozenset())
        if opens:
            assert len(mail.inbox("cy")) == 1
        else:
            assert code(mail, "cy", "messages_inbox", recipient="cy") == "NAMESPACE_DENIED"


def test_a_thread_shows_a_caller_what_names_them(mail: Mail) -> None:
    mine = [mail.send()["message"]["id"], mail.send("cy", "bo")["message"]["id"]]
    mail.send("dee", "fay")

    def thread(by: str) -> list[str]:
        found = mail.call(by, "messages_thread", thread_id="t")
        assert found["count"] == len(found["messages"])
        return [each["id"] for each in found["messages"]]

    assert thread("bo") == thread("cy") == mine
    assert len(thread("kim")) == 3
    assert thread("guy") == []


# ---- answers


def test_a_message_that_wants_an_answer_waits_for_it(mail: Mail) -> None:
    sent = mail.send(delivery=ACK)
    message_id, state = sent["message"]["id"], sent["delivery_state"]
    assert (state["status"], state["effective_status"]) == ("pending_ack", "pending_ack")
    assert state["ack_deadline"] == "2026-05-13T12:01:00Z"
    assert state["message"] == sent["message"]
    done = ack(mail, message_id, reason="fine")
    assert done["ack"] == {
        "ack_id": done["ack"]["ack_id"],
        "message_id": message_id,
        "status": "accepted",
        "reason": "fine",
        "ack_at": "2026-05-13T12:00:01Z",
        "by": "cy",
    }
    assert done["delivery_state"]["status"] == "acked"
    assert done["committed_files"] == [f"messages/acks/{message_id}/{done['ack']['ack_id']}.json"]
    assert mail.store.documents.head(TENANT).message == f"messages: ack {message_id}"
    assert statuses(mail) == {}
    assert statuses(mail, include_terminal=True) == {message_id: "acked"}


def test_an_answer_is_the_recipients(mail: Mail) -> None:
    message_id = mail.send(delivery=ACK)["message"]["id"]
    for by in ("bo", "dee"):
        assert code(mail, by, "messages_ack", message_id=message_id, status="accepted") == "MESSAGE_NOT_YOURS"
    ack(mail, message_id, by="kim")
    unfollowed = mail.send()["message"]["id"]
    for unknown in (unfollowed, "msg_none", "../x"):
        assert code(mail, "cy", "messages_ack", message_id=unknown, status="accepted") == "MESSAGE_NOT_FOUND"


def test_a_rejection_is_a_dead_letter_and_a_deferral_waits_as_long_again(mail: Mail) -> None:
    message_id = mail.send(delivery=ACK)["message"]["id"]
    later = ack(mail, message_id, "deferred")["delivery_state"]
    assert (later["status"], later["ack_deadline"]) == ("pending_ack", "2026-05-13T12:01:01Z")
    no = ack(mail, message_id, "rejected", reason="not now")["delivery_state"]
    assert (no["status"], no["last_error"]) == ("dead_letter", "not now")
    assert [each["status"] for each in no["acks"]] == ["deferred", "rejected"]
    yes = ack(mail, message_id)["delivery_state"]
    assert (yes["status"], yes["last_error"]) == ("acked", None)


def test_the_same_ack_id_is_the_same_answer(mail: Mail) -> None:
    message_id = mail.send(delivery=ACK)["message"]["id"]
    first = ack(mail, message_id, "rejected", ack_id="mine")
    again = ack(mail, message_id, "rejected", ack_id="mine")
    assert (again["ack"], again["committed_files"]) == (first["ack"], [])
    sent = {"message_id": message_id, "status": "accepted", "ack_id": "mine"}
    assert code(mail, "cy", "messages_ack", **sent) == "ACK_EXISTS"
    assert code(mail, "cy", "messages_ack", **sent | {"ack_id": "../x"}) == "INVALID_MESSAGE"


def test_a_message_takes_so_many_answers_and_no_more(mail: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.coordination.messages.bounds.MESSAGE_ACKS_MAX", 2)
    message_id = mail.send(delivery=ACK)["message"]["id"]
    ack(mail, message_id), ack(mail, message_id)
    assert code(mail, "cy", "messages_ack", message_id=message_id, status="accepted") == "ACKS_FULL"


# ---- deadlines and retries


def test_what_nobody_answers_in_time_is_a_dead_letter(mail: Mail) -> None:
    message_id = mail.send(delivery=ACK)["message"]["id"]
    assert statuses(mail, "cy") == {message_id: "pending_ack"}
    mail.clock.at += 60_000_000
    assert statuses(mail, "cy") == {}
    found = mail.call("cy", "messages_pending", status="dead_letter")
    (letter,) = found["messages"]
    assert (letter["status"], letter["effective_status"]) == ("pending_ack", "dead_letter")
    assert found["summary"] == {"dead_letter": 1}


def test_deliveries_are_seen_by_whom_they_name(mail: Mail) -> None:
    mine = mail.send(delivery=ACK)["message"]["id"]
    mail.send("dee", "cy", delivery=ACK)
    assert list(statuses(mail)) == list(statuses(mail, recipient="cy")) == [mine]
    assert mail.call("bo", "messages_pending")["summary"] == {"pending_ack": 1}
    assert statuses(mail, "guy", recipient="cy") == {}
    assert len(statuses(mail, "kim")) == len(statuses(mail, "cy")) == 2


def test_a_dead_letter_is_sent_anew_as_often_as_it_says(mail: Mail) -> None:
    message_id = mail.send(delivery=ACK, idempotency_key="k")["message"]["id"]

    def replay(of: str, by: str = "bo", **more: Any) -> dict[str, Any]:
        return mail.call(by, "messages_replay", message_id=of, **more)

    def refusal(of: str, by: str = "bo") -> str:
        return code(mail, by, "messages_replay", message_id=of)

    assert refusal(message_id) == "MESSAGE_NOT_DEAD"
    ack(mail, message_id, "rejected")
    assert refusal(message_id, "cy") == "MESSAGE_NOT_YOURS"
    assert refusal("msg_none") == "MESSAGE_NOT_FOUND"
    done = replay(message_id, reason="once more", ack_timeout_seconds=5)
    anew = done["replayed_message_id"]
    state = done["delivery_state"]
    assert (state["message_id"], state["retry_count"], state["status"]) == (anew, 1, "pending_ack")
    message = state["message"]
    assert (message["replay_of"], message["replay_reason"]) == (message_id, "once more")
    assert (message["body_md"], message["idempotency_key"]) == ("Shall we?", None)
    assert mail.inbox("cy") == [message_id, anew]
    before = mail.call("bo", "messages_pending", status="replayed")["messages"]
    assert [(each["message_id"], each["replayed_to"]) for each in before] == [(message_id, anew)]
    assert refusal(message_id) == "MESSAGE_NOT_DEAD"
    mail.clock.at += 5_000_000
    assert refusal(anew) == "RETRIES_USED_UP"
    forced = replay(anew, force=True, requires_ack=False)
    assert (forced["delivery_state"]["status"], forced["delivery_state"]["retry_count"]) == ("delivered", 2)


# ---- relays


def test_what_a_relay_passes_on_keeps_its_sender_as_claimed(mail: Mail) -> None:
    sent = {
        "relay_id": "relay-a",
        "target_recipient": "cy",
        "thread_id": "t",
        "sender": "zed",
        "subject": "Hello",
        "body_md": "From afar",
        "envelope": {"hops": 2},
    }
    done = mail.call("bo", "relay_forward", **sent)
    message = done["message"]
    assert (message["from"], message["sender_verified"]) == ("zed", False)
    assert (message["via"], message["envelope"]) == ("relay-a", {"hops": 2})
    assert not {"idempotency_key", "delivery"} & message.keys()
    assert mail.store.documents.head(TENANT).message == f"relay: forward {message['id']}"
    (shown,) = mail.call("cy", "messages_inbox", recipient="cy")["messages"]
    assert shown == message
    event = mail.store.log.get(TENANT, [done["event_id"]])[done["event_id"]]
    assert event.content["text"].startswith("Message from zed (unverified) to cy by way of relay-a")
    assert statuses(mail, "kim", include_terminal=True) == {}
    assert mail.call("zed", "relay_forward", **sent)["message"]["sender_verified"]
