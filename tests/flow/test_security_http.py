"""Tokens and signing keys of peers over HTTP: who gets one, what ends one, and where no secret may ever be seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lamina import limits
from lamina.errors import NotFound
from lamina.kernel.signatures import signed_bytes
from lamina.kernel.time import SECOND_US, rfc3339

OWNER = {"X-Cortex-Actor": "user:local"}
READS = {"scopes": ["read:files"], "read_namespaces": ["*"]}


@pytest.fixture
def world(make_world: Any, tmp_path: Path) -> Any:
    return make_world(data=tmp_path / "keys")


def asked(world: Any, path: str, body: dict[str, Any], token: str | None = None) -> Any:
    headers = OWNER if token is None else {"Authorization": f"Bearer {token}"}
    response = world.call("POST", f"/v1/security/{path}", body=body, headers=headers)
    return response.json() | {"status_code": response.status_code}


def code(world: Any, path: str, body: dict[str, Any], token: str | None = None) -> tuple[int, str]:
    said = asked(world, path, body, token)
    return said["status_code"], said.get("error_code", "")


def reads(world: Any, token: str) -> int:
    shown = {"Authorization": f"Bearer {token}"}
    status: int = world.call("GET", "/v1/peers", headers=shown).status_code
    return status


def test_a_token_is_issued_used_rotated_and_revoked(world: Any) -> None:
    made = asked(
        world, "tokens/issue", {"peer_id": "bo", **READS, "ttl_seconds": 60, "description": "for tests"}
    )
    assert reads(world, made["token"]) == 200
    meta = made["token_meta"]
    assert (meta["effective_status"], meta["expires_at"]) == ("active", "2026-05-13T12:01:00Z")
    world.clock.at += SECOND_US
    rotated = asked(
        world, "tokens/rotate", {"token_sha256": f"sha256:{meta['token_sha256']}", "reason": "due"}
    )
    assert (reads(world, made["token"]), reads(world, rotated["token"])) == (401, 200)
    old, new = rotated["from_token"], rotated["token_meta"]
    assert (old["status"], old["revoked_reason"], old["rotated_to_token_id"]) == (
        "revoked",
        "due",
        new["token_id"],
    )
    kept = ("peer_id", "scopes", "read_namespaces", "expires_at", "description")
    assert [new[name] for name in kept] == [meta[name] for name in kept]
    assert (new["rotated_from_token_id"], new["issued_at"]) == (old["token_id"], old["rotated_at"])
    ended = asked(world, "tokens/revoke", {"peer_id": "bo", "revoke_all_for_peer": True, "reason": "gone"})
    assert (ended["matched"], ended["revoked"], ended["committed"]) == (2, 1, True)
    again = asked(world, "tokens/revoke", {"token_id": new["token_id"]})
    assert (again["matched"], again["revoked"], again["committed"]) == (1, 0, False)
    assert reads(world, rotated["token"]) == 401


def test_an_empty_grant_is_not_issued_and_never_means_everything(world: Any) -> None:
    for body in (
        {},
        {"scopes": ["read:files"]},
        {"scopes": ["write:projects"], "read_namespaces": ["*"]},
        {"scopes": [], "read_namespaces": ["*"], "write_namespaces": ["*"]},
        {**READS, "scopes": ["read:files", "be:root"]},
        {**READS, "read_namespaces": ["../etc"]},
        {**READS, "peer_id": "a/../b"},
        {**READS, "expires_at": "2027-01-01T00:00:00Z", "ttl_seconds": 5},
        {**READS, "expires_at": "tomorrow"},
        {**READS, "expires_at": "2026-05-13T12:00:00Z"},
    ):
        assert code(world, "tokens/issue", {"peer_id": "bo", **body}) == (400, "INVALID_GRANT"), body
    for body in ({"ttl_seconds": 0}, {"ttl_seconds": 31_536_001}, {"token_id": "../x"}, {"expires": "soon"}):
        assert code(world, "tokens/issue", {"peer_id": "bo", **READS, **body})[0] == 422
    rotated = asked(world, "tokens/issue", {"peer_id": "bo", **READS, "token_id": "t1"})
    assert code(world, "tokens/rotate", {"token_id": "t1", "read_namespaces": []}) == (400, "INVALID_GRANT")
    assert reads(world, rotated["token"]) == 200
    assert code(world, "tokens/issue", {"peer_id": "bo", **READS, "token_id": "t1"}) == (409, "TOKEN_EXISTS")


def test_what_does_not_hold_any_more_is_not_made_to_hold_again(world: Any) -> None:
    asked(world, "tokens/issue", {"peer_id": "bo", **READS, "token_id": "short", "ttl_seconds": 5})
    asked(world, "tokens/issue", {"peer_id": "bo", **READS, "token_id": "long"})
    asked(world, "tokens/revoke", {"token_id": "long"})
    world.clock.at += 5 * SECOND_US
    for token_id in ("short", "long"):
        body = {"token_id": token_id, "ttl_seconds": 500}
        assert code(world, "tokens/rotate", body) == (409, "TOKEN_INACTIVE")
    for body in ({}, {"peer_id": "bo"}, {"revoke_all_for_peer": True}):
        assert code(world, "tokens/revoke", body) == (400, "INVALID_GRANT")
    assert code(world, "tokens/rotate", {"new_token_id": "x"}) == (400, "INVALID_GRANT")
    assert code(world, "tokens/revoke", {"token_id": "none"}) == (404, "TOKEN_NOT_FOUND")
    assert code(world, "tokens/revoke", {"token_id": "long", "peer_id": "al"}) == (404, "TOKEN_NOT_FOUND")
    assert code(world, "tokens/rotate", {"token_sha256": "0" * 64}) == (404, "TOKEN_NOT_FOUND")


def test_the_list_tells_of_tokens_and_never_their_texts(world: Any) -> None:
    made = asked(world, "tokens/issue", {"peer_id": "bo", **READS, "token_id": "t1", "ttl_seconds": 5})
    world.clock.at += 5 * SECOND_US
    asked(world, "tokens/issue", {"peer_id": "al", **READS, "token_id": "t2"})
    asked(world, "tokens/issue", {"peer_id": "al", **READS, "token_id": "t3"})
    asked(world, "tokens/revoke", {"token_id": "t3"})

    def ids(**query: Any) -> list[str]:
        page = world.get("/v1/security/tokens", **query)
        assert page["count"] == page["total"] == len(page["tokens"])
        return [token["token_id"] for token in page["tokens"]]

    assert ids() == ["t2"]
    assert ids(include_inactive="true") == ["t2", "t3", "t1"]
    assert ids(status="expired") == ["t1"]
    assert ids(peer_id="al", include_inactive="true") == ["t2", "t3"]
    assert made["token"] not in world.call("GET", "/v1/security/tokens?include_inactive=true").text


def test_only_who_administers_peers_makes_tokens_and_keys(world: Any) -> None:
    every = ["read:files", "search", "write:projects", "write:messages"]
    grant = {"scopes": every, "read_namespaces": ["*"], "write_namespaces": ["*"]}
    narrow = asked(world, "tokens/issue", {"peer_id": "bo", **grant})["token"]
    admin = asked(world, "tokens/issue", {"peer_id": "al", "scopes": ["admin:peers"]})["token"]
    for path, body in (("tokens/issue", {"peer_id": "bo", **READS}), ("keys/rotate", {})):
        assert code(world, path, body, narrow) == (403, "MISSING_SCOPE")
        assert asked(world, path, body, admin)["status_code"] == 200
    shown = {"Authorization": f"Bearer {narrow}"}
    assert world.call("GET", "/v1/security/tokens", headers=shown).status_code == 403


def test_a_secret_is_kept_in_no_answer_that_a_key_brings_back(world: Any) -> None:
    for path, body in (
        ("tokens/issue", {"peer_id": "bo", **READS}),
        ("tokens/rotate", {"token_id": "t"}),
        ("keys/rotate", {"return_secret": True}),
    ):
        keyed = {**body, "idempotency_key": "again"}
        assert code(world, path, keyed) == (400, "SECRET_SHOWN_ONCE")
    assert world.get("/v1/security/tokens")["count"] == 0


def test_a_bucket_and_a_payload_cap_hold_for_what_is_about_security(make_world: Any, tmp_path: Path) -> None:
    world = make_world(data=tmp_path, relay_token_rate_per_min=2, relay_payload_bytes_max=1024)
    wide = {
        "peer_id": "bo",
        "scopes": ["read:files"],
        "read_namespaces": [f"memory/{n:0200}" for n in range(9)],
    }
    assert code(world, "tokens/issue", wide) == (413, "PAYLOAD_TOO_LARGE")
    assert code(world, "tokens/issue", {"peer_id": "bo"}) == (400, "INVALID_GRANT")
    said = asked(world, "tokens/issue", {"peer_id": "bo"})
    assert (said["status_code"], said["detail"]) == (
        429,
        "Rate limit exceeded for bucket security_tokens_issue",
    )
    assert code(world, "tokens/revoke", {}) == (400, "INVALID_GRANT")


# ---- keys


def test_a_rotated_key_counts_for_its_grace_and_a_retired_one_no_more(world: Any) -> None:
    keyring = world.server.signatures
    given = "a secret of our own"
    first = asked(world, "keys/rotate", {"key_id": "k1", "secret": given, "return_secret": True})
    assert (first["active_key_id"], first["key"]["secret"], first["key"]["status"]) == ("k1", given, "active")
    text = signed_bytes({"b": 1, "a": "é"}, key_id="k1", nonce="n", expires_at=None)
    assert text.decode() == '{"expires_at":null,"key_id":"k1","nonce":"n","payload":{"a":"é","b":1}}'
    # What any other program makes of it: echo -n … | openssl dgst -sha256 -hmac 'a secret of our own'
    signature = keyring.sign("acme", "k1", text, world.clock.at)
    assert signature == "fd1768c9c84709754de5dcd4676e7b952ce2443598fb37bed90fed1e98d1c6de"

    def holds(key_id: str = "k1", made: str = signature, tenant: str = "acme") -> bool:
        held: bool = keyring.holds(tenant, key_id, text, made, world.clock.at)
        return held

    assert holds()
    assert holds(made=signature.upper())
    for wrong in ("", "0" * 64, signature[:-1], signature + "0", "é" * 64, "\ud800"):
        assert not holds(made=wrong)
    second = asked(world, "keys/rotate", {})
    assert "secret" not in second["key"]
    assert second["key"]["key_id"].startswith("key_20260513T120000Z_")
    assert holds()
    world.clock.at += limits.SIGNING_KEY_GRACE_S * SECOND_US
    for key_id, tenant in (("k1", "acme"), ("none", "acme"), ("k1", "other")):
        with pytest.raises(NotFound, match="KEY_NOT_FOUND"):
            holds(key_id=key_id, tenant=tenant)
    third = asked(world, "keys/rotate", {"retire_previous": True})
    with pytest.raises(NotFound):
        holds(key_id=second["key"]["key_id"])
    assert not holds(key_id=third["key"]["key_id"])


def test_a_key_is_staged_and_then_activated_and_never_changes_its_secret(world: Any) -> None:
    one = asked(world, "keys/rotate", {"key_id": "one"})
    staged = asked(world, "keys/rotate", {"key_id": "two", "activate": False, "return_secret": True})
    assert (staged["active_key_id"], staged["key"]["status"]) == (one["active_key_id"], "staged")
    assert world.server.signatures.sign("acme", "two", b"x", world.clock.at)
    world.clock.at += SECOND_US
    active = asked(world, "keys/rotate", {"key_id": "two", "return_secret": True})
    assert (active["active_key_id"], active["key"]["secret"]) == ("two", staged["key"]["secret"])
    assert (active["key"]["created_at"], active["key"]["rotated_at"]) == (
        rfc3339(world.clock.at - SECOND_US),
        rfc3339(world.clock.at),
    )
    for body in (
        {"key_id": "two"},
        {"key_id": "one", "secret": "x" * 16},
        {"key_id": "one", "activate": False},
    ):
        assert code(world, "keys/rotate", body) == (409, "KEY_EXISTS")
    for body in ({"secret": "short"}, {"secret": "x" * 513}, {"key_id": "../x"}):
        assert code(world, "keys/rotate", body)[0] == 422


def test_no_secret_stands_in_the_folder_but_in_the_key_file(world: Any, tmp_path: Path) -> None:
    secret = asked(world, "keys/rotate", {"return_secret": True})["key"]["secret"]
    token = asked(world, "tokens/issue", {"peer_id": "bo", **READS})["token"]
    key_file = tmp_path / "keys" / "relay.key"
    assert key_file.stat().st_mode & 0o777 == 0o600
    for path in tmp_path.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert secret.encode() not in held, path
            assert token.encode() not in held, path
    assert world.get("/v1/audit")["items"]


def test_a_key_file_that_is_lost_or_open_to_others_is_said_to_be_so(world: Any, tmp_path: Path) -> None:
    asked(world, "keys/rotate", {"key_id": "old"})
    key_file = tmp_path / "keys" / "relay.key"
    key_file.chmod(0o640)
    assert code(world, "keys/rotate", {}) == (503, "KEY_FILE_UNUSABLE")
    key_file.unlink()
    assert asked(world, "keys/rotate", {"key_id": "new"})["active_key_id"] == "new"
    with pytest.raises(Exception, match="KEY_UNREADABLE"):
        world.server.signatures.sign("acme", "old", b"x", world.clock.at)
    assert world.server.signatures.sign("acme", "new", b"x", world.clock.at)


def test_the_same_is_done_over_the_contracts_mcp(world: Any) -> None:
    admin = asked(world, "tokens/issue", {"peer_id": "al", "scopes": ["admin:peers"]})["token"]

    def said(method: str, token: str = admin, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return world.call("POST", "/v1/mcp", body=body, headers={"Authorization": f"Bearer {token}"}).json()

    client = {"name": "test", "version": "1"}
    said("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
    made = said("tools/call", name="security.tokens_issue", arguments={"peer_id": "bo", **READS})["result"]
    token = made["structuredContent"]["token"]
    assert reads(world, token) == 200
    bo = {"peer_id": "bo", "base_url": ""}
    peer = said("tools/call", name="peers.register", arguments=bo)["result"]["structuredContent"]
    assert (peer["created"], peer["peer"]["trust_history"][0]["by"]) == (True, "al")
    assert (
        said("tools/call", name="security.tokens_issue", arguments={"peer_id": "bo"})["error"]["code"]
        == -32003
    )
    said("initialize", token, protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
    refused = said("tools/call", token, name="security.keys_rotate", arguments={})
    assert (refused["error"]["code"], refused["error"]["data"]["error_code"]) == (-32002, "MISSING_SCOPE")
