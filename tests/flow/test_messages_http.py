"""Messages between peers over HTTP and over the contract's own MCP."""

from __future__ import annotations

import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from lamina.kernel.time import SECOND_US

OWNER = {"X-Cortex-Actor": "user:local"}
BO, CY = {"X-Cortex-Actor": "agent:bo"}, {"X-Cortex-Actor": "agent:cy"}
LETTER = {"thread_id": "t", "sender": "bo", "recipient": "cy", "subject": "Plan", "body_md": "Shall we?"}


@pytest.fixture
def world(make_world: Any, tmp_path: Path) -> Any:
    return make_world(data=tmp_path / "keys")


def asked(world: Any, verb: str, path: str, body: Any = None, headers: Any = BO) -> tuple[int, Any]:
    world.clock.at += SECOND_US
    answer = world.call(verb, path, headers=headers, body=body)
    return answer.status_code, answer.json()


def post(world: Any, path: str, body: Any, headers: Any = BO) -> Any:
    status, answer = asked(world, "POST", path, body, headers)
    assert status == 200, answer
    return answer


def refused(world: Any, path: str, body: Any, headers: Any = BO) -> tuple[int, str]:
    status, answer = asked(world, "POST", path, body, headers)
    return status, answer["error_code"]


def token_of(world: Any, peer_id: str) -> dict[str, str]:
    """What a peer shows whose token is for messages."""
    folders = {"read_namespaces": ["messages"], "write_namespaces": ["messages"]}
    granted = {"peer_id": peer_id, "scopes": ["read:files", "write:messages"], **folders}
    token = post(world, "/v1/security/tokens/issue", granted, OWNER)["token"]
    return {"Authorization": f"Bearer {token}"}


def tool(world: Any, name: str, arguments: Any, headers: Any) -> Any:
    for number, (method, params) in enumerate(
        (
            ("initialize", {"protocolVersion": "2025-11-25"}),
            ("tools/call", {"name": name, "arguments": arguments}),
        )
    ):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        answer = post(world, "/v1/mcp", message, headers)
    assert "result" in answer, answer
    return answer["result"]["structuredContent"]


def signed(key: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """A message with a proof, made as the contract says it is made."""
    whole = {
        "priority": "normal",
        "attachments": [],
        "idempotency_key": None,
        "delivery": {"requires_ack": False, "ack_timeout_seconds": 300, "max_retries": 5},
    } | sent
    envelope = {"key_id": key["active_key_id"], "nonce": "n-1", "expires_at": None}
    made = json.dumps(
        envelope | {"payload": whole}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    signature = hmac.new(key["key"]["secret"].encode(), made.encode(), "sha256").hexdigest()
    return sent | {"signed_envelope": envelope | {"signature": signature}}


def test_a_message_goes_from_peer_to_peer_and_back(world: Any) -> None:
    wanted = {"delivery": {"requires_ack": True}, "idempotency_key": "k"}
    sent = post(world, "/v1/messages/send", LETTER | wanted)
    message_id = sent["message"]["id"]
    assert (sent["message"]["from"], sent["delivery_state"]["status"]) == ("bo", "pending_ack")
    # The key of the header is the call's, and no part of what is sent.
    headed = BO | {"X-Cortex-Idempotency-Key": "h"}
    assert post(world, "/v1/messages/send", LETTER | wanted, headed)["idempotent_replay"]
    assert refused(world, "/v1/messages/send", LETTER, headed) == (409, "IDEMPOTENCY_CONFLICT")
    cy = token_of(world, "cy")
    inbox = tool(world, "messages.inbox", {"recipient": "cy", "after": 0}, cy)
    assert [each["id"] for each in inbox["messages"]] == [message_id]
    done = tool(world, "messages.ack", {"message_id": message_id, "status": "rejected"}, cy)
    assert done["delivery_state"]["effective_status"] == "dead_letter"
    anew = post(world, "/v1/replay/messages", {"message_id": message_id})
    status, thread = asked(world, "GET", "/v1/messages/thread?thread_id=t", headers=CY)
    assert (status, [each["id"] for each in thread["messages"]]) == (
        200,
        [message_id, anew["replayed_message_id"]],
    )
    _, pending = asked(world, "GET", "/v1/messages/pending?status=replayed")
    assert (pending["count"], pending["summary"]) == (1, {"pending_ack": 1, "replayed": 1})


def test_each_refusal_has_its_status(world: Any) -> None:
    send, ack = "/v1/messages/send", "/v1/messages/ack"
    assert refused(world, send, LETTER, CY) == (403, "SENDER_NOT_PROVEN")
    assert refused(world, send, LETTER | {"recipient": "../cy"}) == (400, "INVALID_MESSAGE")
    assert refused(world, send, LETTER | {"recipient": ""})[0] == 422
    assert refused(world, ack, {"message_id": "none", "status": "accepted"}) == (404, "MESSAGE_NOT_FOUND")
    dee = token_of(world, "dee")
    assert asked(world, "GET", "/v1/messages/inbox?recipient=cy", headers=dee)[0] == 403
    assert asked(world, "GET", "/v1/messages/inbox?recipient=dee", headers=dee)[0] == 200
    key = post(world, "/v1/security/keys/rotate", {"return_secret": True}, OWNER)
    envelope = {"key_id": key["active_key_id"], "nonce": "n", "signature": "0" * 64}
    wrong = LETTER | {"signed_envelope": envelope}
    assert refused(world, send, wrong, CY) == (401, "ENVELOPE_REFUSED")
    looked = post(world, "/v1/messages/verify", envelope | {"payload": {}})
    assert (looked["valid"], looked["reason"]) == (False, "invalid_signature")
    proved = signed(key, LETTER | {"body_md": "Wählt?"})
    assert post(world, send, proved, CY)["message"]["sender_verified"]
    assert refused(world, send, proved, CY) == (401, "ENVELOPE_REFUSED")
    reasons = [asked(world, "POST", send, body, CY)[1]["reason"] for body in (wrong, proved)]
    assert reasons == ["invalid_signature", "replay_detected"]


def test_a_strict_server_says_so(make_world: Any, tmp_path: Path) -> None:
    world = make_world(data=tmp_path / "strict", require_signed_ingress=True)
    assert asked(world, "GET", "/health")[1]["signed_ingress_required"]
    assert refused(world, "/v1/messages/send", LETTER) == (400, "SIGNATURE_REQUIRED")


def test_an_erasure_shows_the_messages_that_it_takes(world: Any) -> None:
    alice = {"X-Cortex-Actor": "user:alice"}
    post(world, "/v1/messages/send", LETTER | {"sender": "user:alice"}, alice)
    post(world, "/v1/messages/send", LETTER | {"recipient": "user:alice"})
    asking = {"scope": "org:acme/user:alice", "audit_note": "as she asked"}
    _, shown = asked(world, "POST", "/v1/erasures/preview", asking, alice)
    assert shown["refcount_breakdown"]["events_to_delete"] == 2
