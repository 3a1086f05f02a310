"""Signed envelopes: what they prove, once, and until when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lamina.coordination.messages.proving import FailureBounds
from lamina.errors import LaminaError
from mailing import FAILURES, KEY, Mail
from shelves import TENANT
from tables import every_row


@pytest.fixture(name="mail")
def _mail(tmp_path: Path) -> Mail:
    mail = Mail(tmp_path)
    mail.make_key()
    return mail


def refused(mail: Mail, by: str, name: str, /, **sent: Any) -> tuple[str, Any]:
    with pytest.raises(LaminaError) as error:
        mail.call(by, name, **sent)
    return error.value.code, error.value.details.get("reason")


def verify(mail: Mail, payload: Any, by: str = "cy", **envelope: Any) -> dict[str, Any]:
    return mail.call(by, "messages_verify", payload=payload, **envelope)


def test_an_envelope_proves_a_sender_who_does_not_call(mail: Mail) -> None:
    done = mail.call("dee", "messages_send", **mail.signed())
    assert (done["message"]["from"], done["message"]["sender_verified"]) == ("bo", True)
    shown = done["signature_verification"]
    assert (shown["valid"], shown["reason"], shown["nonce_consumed"]) == (True, "ok", True)
    assert mail.inbox("cy") == [done["message"]["id"]]


def test_a_nonce_is_used_once(mail: Mail) -> None:
    sent = mail.signed()
    mail.call("dee", "messages_send", **sent)
    for again in (sent, sent | {"signed_envelope": sent["signed_envelope"] | {"consume_nonce": False}}):
        assert refused(mail, "dee", "messages_send", **again) == ("ENVELOPE_REFUSED", "replay_detected")
    assert len(mail.inbox("cy")) == 1


def test_an_envelope_that_expired_proves_nothing_and_one_without_end_is_used_once_for_ever(
    mail: Mail,
) -> None:
    brief, endless = mail.signed("brief", ends_in_s=5), mail.signed("endless", ends_in_s=None)
    mail.call("dee", "messages_send", **endless)
    mail.clock.at += 10**12
    assert refused(mail, "dee", "messages_send", **brief) == ("ENVELOPE_REFUSED", "expired")
    assert refused(mail, "dee", "messages_send", **endless) == ("ENVELOPE_REFUSED", "replay_detected")


@every_row(
    "change",
    [
        {"body_md": "No."},
        {"recipient": "dee"},
        {"sender": "cy"},
        {"thread_id": "u"},
        {"subject": "x"},
        {"priority": "high"},
        {"attachments": ["x"]},
        {"idempotency_key": "k"},
        {"delivery": {"requires_ack": True}},
    ],
)
def test_every_field_is_signed(change: dict[str, Any], tmp_path: Path) -> None:
    mail = Mail(tmp_path)
    if mail.keyring.active(TENANT) is None:
        mail.make_key()
    sent = mail.signed() | change
    assert refused(mail, "kim", "messages_send", **sent) == ("ENVELOPE_REFUSED", "invalid_signature")
    assert mail.store.documents.head(TENANT) is None


@every_row(
    "change, code",
    [
        ({"signature": "0" * 64}, "ENVELOPE_REFUSED"),
        ({"nonce": "another"}, "ENVELOPE_REFUSED"),
        ({"expires_at": None}, "ENVELOPE_REFUSED"),
        ({"expires_at": "soon"}, "INVALID_MESSAGE"),
        ({"key_id": "key_two"}, "KEY_NOT_FOUND"),
        ({"algorithm": "none"}, "INVALID_MESSAGE"),
    ],
)
def test_an_envelope_that_was_changed_is_refused(change: Any, code: str, tmp_path: Path) -> None:
    mail = Mail(tmp_path)
    mail.make_key()
    sent = mail.signed()
    sent["signed_envelope"] |= change
    # Also of who needs none: what is offered as a proof has to be one.
    assert refused(mail, "bo", "messages_send", **sent)[0] == code


def test_a_retry_with_its_envelope_finds_its_message(mail: Mail) -> None:
    sent = mail.signed(idempotency_key="k")
    first = mail.call("dee", "messages_send", **sent)
    again = mail.call("dee", "messages_send", **sent)
    assert (again["idempotent_replay"], again["message"]) == (True, first["message"])
    assert not again["signature_verification"]["nonce_consumed"]
    bare = {name: value for name, value in sent.items() if name != "signed_envelope"}
    assert refused(mail, "dee", "messages_send", **bare)[0] == "SENDER_NOT_PROVEN", "a key is no proof"


def test_a_strict_server_takes_signed_messages_only(tmp_path: Path) -> None:
    mail = Mail(tmp_path, strict=True)
    mail.make_key()
    assert refused(mail, "bo", "messages_send", **mail.message())[0] == "SIGNATURE_REQUIRED"
    relayed = {"sender": "zed", "target_recipient": "cy", "thread_id": "t", "subject": "", "body_md": ""}
    assert refused(mail, "bo", "relay_forward", **relayed)[0] == "SIGNATURE_REQUIRED"
    mail.call("bo", "messages_send", **mail.signed())


def test_a_relay_that_proves_its_sender_is_believed(mail: Mail) -> None:
    payload = {
        "relay_id": "relay-local",
        "target_recipient": "cy",
        "thread_id": "t",
        "sender": "zed",
        "subject": "Hi",
        "body_md": "ho",
        "priority": "normal",
        "attachments": [],
        "envelope": {"hops": 1},
    }
    sent = payload | {"signed_envelope": mail.envelope(payload)}
    assert mail.call("bo", "relay_forward", **sent)["message"]["sender_verified"]
    changed = sent | {"envelope": {"hops": 2}, "signed_envelope": mail.envelope(payload, "n-2")}
    assert refused(mail, "bo", "relay_forward", **changed)[1] == "invalid_signature"


# ---- asking


def test_verifying_uses_the_nonce_up_unless_it_says_not_to(mail: Mail) -> None:
    payload = {"ä": [1, None, {"b": 2.5}]}
    envelope = mail.envelope(payload)
    looked = verify(mail, payload, **envelope, consume_nonce=False)
    assert (looked["ok"], looked["valid"], looked["consume_nonce"], looked["nonce_consumed"]) == (
        True,
        True,
        False,
        False,
    )
    used = verify(mail, payload, **envelope)
    assert (used["valid"], used["nonce_consumed"], used["failure_count"]) == (True, True, 0)
    again = verify(mail, payload, **envelope)
    assert (again["valid"], again["reason"], again["replay_detected"]) == (False, "replay_detected", True)
    assert (again["signature_valid"], again["failure_count"], again["key_id"]) == (True, 1, KEY)
    wrong = verify(mail, payload | {"more": 1}, **mail.envelope(payload, "n-2"))
    assert (wrong["reason"], wrong["signature_valid"], wrong["failure_count"]) == (
        "invalid_signature",
        False,
        2,
    )


@pytest.mark.parametrize("chosen", [FAILURES, FailureBounds(3, 60)])
def test_who_had_too_many_refused_is_not_listened_to_for_a_while(
    tmp_path: Path, chosen: FailureBounds
) -> None:
    mail = Mail(tmp_path, failures=chosen)
    mail.make_key()
    envelope = mail.envelope({})
    for _ in range(chosen.most):
        mail.clock.at -= 1_000_000
        assert verify(mail, {"x": 1}, **envelope)["reason"] == "invalid_signature"
    throttled = verify(mail, {}, **envelope)
    assert (throttled["valid"], throttled["reason"]) == (False, "verification_throttled")
    assert not throttled["signature_valid"], "not even looked at"
    sent = mail.signed("n-2") | {"sender": "bo"}
    assert refused(mail, "cy", "messages_send", **sent) == ("ENVELOPE_REFUSED", "verification_throttled")
    assert verify(mail, {}, "dee", **envelope, consume_nonce=False)["valid"], "others are"
    mail.clock.at += chosen.window_s * 1_000_000
    assert verify(mail, {}, **mail.envelope({}, "n-3"))["valid"]
