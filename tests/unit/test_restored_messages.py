"""Messages of a clone: inboxes and deliveries stand again as they stood, and what was forged is not believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lamina.coordination.messages.owned import with_messages
from lamina.coordination.messages.restoring import restored_posts
from lamina.errors import LaminaError
from lamina.store.ports.documents import Change, ChangeKind, PastWrite, Write
from mailing import Mail
from shelves import TENANT

ACK = {"requires_ack": True, "ack_timeout_seconds": 60, "max_retries": 3}


def cloned(mail: Mail, folder: Path) -> Mail:
    """The documents of a store in another one, with the times that git keeps."""
    again = Mail(folder)
    past = []
    for made in mail.store.documents.commits(TENANT, 0, 1000):
        changes = [Change(path, ChangeKind.PUT, content or b"") for path, content in made.contents.items()]
        commit = made.commit
        write = Write(tenant_id=TENANT, author=commit.author, message=commit.message, changes=changes)
        past.append(PastWrite(write, commit.committed_at // 1_000_000 * 1_000_000))
    again.store.documents.restore(TENANT, past, lambda step: None)
    again.store.messages.restore(TENANT, restored_posts(again.store.documents, TENANT))
    again.clock.at = mail.clock.at
    return again


def shown(mail: Mail, by: str = "kim") -> tuple[Any, ...]:
    asked = (
        ("messages_inbox", {"recipient": "cy", "limit": 200}),
        ("messages_thread", {"thread_id": "t"}),
        ("messages_pending", {"include_terminal": True}),
    )
    at = mail.clock.at
    answers = [mail.call(by, name, **sent) for name, sent in asked]
    mail.clock.at = at
    return tuple(answers)


def test_inboxes_threads_and_deliveries_stand_as_they_stood(tmp_path: Path) -> None:
    mail = Mail(tmp_path)
    dead = mail.send(delivery=ACK, idempotency_key="k")["message"]["id"]
    for number in range(5):
        mail.clock.at -= 900_000  # several in one second
        mail.send(body_md=str(number))
    for status in ("deferred", "rejected"):
        mail.call("cy", "messages_ack", message_id=dead, status=status, reason="no")
    anew = mail.call("bo", "messages_replay", message_id=dead, reason="once more")["replayed_message_id"]
    mail.call("cy", "messages_ack", message_id=anew, status="accepted", ack_id="mine")
    relayed = {"target_recipient": "cy", "thread_id": "t", "sender": "zed", "subject": "", "body_md": "Hi"}
    mail.call("bo", "relay_forward", **relayed)
    again = cloned(mail, tmp_path)
    assert shown(again) == shown(mail)
    assert again.store.messages.restore(TENANT, restored_posts(again.store.documents, TENANT)) == 0
    assert again.send(delivery=ACK, idempotency_key="k")["idempotent_replay"], "a key of then still counts"
    with pytest.raises(LaminaError, match="IDEMPOTENCY_CONFLICT"):
        again.send(idempotency_key="k")


def test_who_wrote_a_message_that_comes_back_is_what_its_commit_says(tmp_path: Path) -> None:
    mail = Mail(tmp_path)
    mail.make_key()
    true = mail.send()
    proved = mail.call("dee", "messages_send", **mail.signed())
    (path,) = true["committed_files"]
    content = mail.store.documents.read(TENANT, path).content
    forged = path.replace(true["message"]["id"], "msg_000000000000")
    for name, words in (
        (forged, content.replace(true["message"]["id"].encode(), b"msg_000000000000")),
        (f"{path}.json", content),
        ("messages/inbox/cy/2026-05-13/msg_1.json", b"{}"),
        ("messages/inbox/dee/2026-05-13/msg_2.json", content.replace(b'"msg_', b'"msg_2')),
        ("messages/acks/none/ack_1.json", b"\xff"),
    ):
        change = Change(name, ChangeKind.PUT, words)
        mail.store.documents.write(
            [Write(tenant_id=TENANT, author="agent:eve", message="m", changes=[change])]
        )
    found = cloned(mail, tmp_path).call("cy", "messages_inbox", recipient="cy")["messages"]
    assert {each["id"]: each["sender_verified"] for each in found} == {
        true["message"]["id"]: True,
        proved["message"]["id"]: False,
        "msg_000000000000": False,
    }


def test_a_file_that_has_the_id_or_the_key_of_a_message_keeps_none_from_coming_back(tmp_path: Path) -> None:
    mail = Mail(tmp_path)
    true = mail.send(delivery=ACK, idempotency_key="k")
    (path,) = true["committed_files"]
    content, id_ = mail.store.documents.read(TENANT, path).content, true["message"]["id"].encode()
    for name, words in (
        (path.replace("/cy/", "/dee/"), content.replace(b'"to":"cy"', b'"to":"dee"')),
        (path.replace(id_.decode(), "msg_000000000000"), content.replace(id_, b"msg_000000000000")),
    ):
        assert words != content
        change = Change(name, ChangeKind.PUT, words)
        mail.store.documents.write(
            [Write(tenant_id=TENANT, author="agent:eve", message="m", changes=[change])]
        )
    mail.call("cy", "messages_ack", message_id=true["message"]["id"], status="accepted")
    again = cloned(mail, tmp_path)
    assert shown(again) == shown(mail)
    assert again.call("dee", "messages_inbox", recipient="dee")["count"] == 0


def test_messages_go_with_whom_they_name(tmp_path: Path) -> None:
    mail = Mail(tmp_path)
    to_cy = mail.send(delivery=ACK)
    answered = mail.call("cy", "messages_ack", message_id=to_cy["message"]["id"], status="accepted")
    to_dee = mail.send(to="dee")
    about = with_messages(lambda tenant_id, actors: [f"{tenant_id}/{actors[0]}"], mail.store.messages)
    cys = {*to_cy["committed_files"], *answered["committed_files"], "acme/agent:cy"}
    assert set(about(TENANT, ["agent:cy"])) == cys
    assert set(about(TENANT, ["agent:bo"])) == cys - {"acme/agent:cy"} | {
        "acme/agent:bo",
        *to_dee["committed_files"],
    }
    assert about(TENANT, ["user:bo"]) == ["acme/user:bo"]
