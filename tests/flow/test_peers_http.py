"""The registry of peers over HTTP: who is registered, how trust moves, and which servers are asked for a manifest."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from lamina import limits
from lamina.errors import Unavailable
from lamina.kernel.hosts import PeerHosts
from lamina.remote.peers import fetch_from_peer
from lamina.settings import Settings
from lamina.store.ports.documents import Change, ChangeKind, Write
from tables import every_row

READS = {"scopes": ["read:files"], "read_namespaces": ["*"]}
WRITES = {"scopes": ["write:projects"], "write_namespaces": ["*"]}


def sent(world: Any, path: str, body: dict[str, Any], **more: Any) -> tuple[int, Any]:
    response = world.call("POST", path, body=body, **more)
    said = response.json()
    return response.status_code, said.get("error_code") or said


def register(world: Any, peer_id: str = "bo", **more: Any) -> tuple[int, Any]:
    return sent(world, "/v1/peers/register", {"peer_id": peer_id, "base_url": "", **more})


def trust(world: Any, level: str, peer_id: str = "bo", **more: Any) -> tuple[int, Any]:
    body = {"trust_level": level, "reason": "because", **more}
    return sent(world, f"/v1/peers/{peer_id}/trust", body)


def token(world: Any, peer_id: str = "bo", **grant: Any) -> dict[str, str]:
    made = sent(world, "/v1/security/tokens/issue", {"peer_id": peer_id, **grant})[1]
    return {"Authorization": f"Bearer {made['token']}"}


def test_peers_are_registered_as_commits_and_listed_by_id(world: Any) -> None:
    assert world.get("/v1/peers") == {"ok": True, "count": 0, "peers": [], "updated_at": None}
    status, made = register(world, "bo", base_url="https://bo.example/relay", allowed_scopes=["search"])
    assert (status, made["created"], made["committed"]) == (200, True, True)
    assert register(world, "al")[1]["created"] is True
    again = register(world, "bo", base_url="https://bo.example")[1]
    assert (again["created"], again["peer"]["base_url"], again["peer"]["trust_history"]) == (
        False,
        "https://bo.example",
        made["peer"]["trust_history"],
    )
    assert [peer["peer_id"] for peer in world.get("/v1/peers")["peers"]] == ["al", "bo"]
    head = world.store.documents.head("acme")
    assert (head.message, head.sha) == ("peers: register bo", again["latest_commit"])
    read = world.get("/v1/read?path=peers/registry.json")["content"]
    assert json.loads(read)["peers"]["bo"]["base_url"] == "https://bo.example"
    # Who is trusted is nobody's memory.
    assert world.store.log.walk("acme", 0, 10) == []


def test_trust_moves_as_the_policy_says_and_for_a_reason(world: Any) -> None:
    register(world)
    assert trust(world, "trusted")[0] == 200
    assert trust(world, "untrusted") == (409, "PEER_TRANSITION_DENIED")
    assert trust(world, "restricted")[0] == 200
    assert trust(world, "restricted")[0] == 200
    assert trust(world, "untrusted")[0] == 200
    assert trust(world, "trusted") == (409, "PEER_TRANSITION_DENIED")
    assert trust(world, "trusted", "nobody") == (404, "PEER_NOT_FOUND")
    assert trust(world, "restricted", reason="no")[0] == 422
    history = world.get("/v1/peers")["peers"][0]["trust_history"]
    levels = [None, "restricted", "trusted", "restricted", "restricted", "untrusted"]
    assert [(step["from"], step["to"]) for step in history] == list(itertools.pairwise(levels))
    assert register(world, trust_level="restricted") == (400, "INVALID_PEER")
    status, made = register(world, trust_level="restricted", transition_reason="mended")
    assert (status, made["peer"]["trust_history"][-1]["reason"]) == (200, "mended")
    policy = json.loads(world.get("/v1/read?path=peers/trust_policies.json")["content"])
    assert policy["allowed_transitions"]["trusted"] == ["restricted"]


def test_a_new_fingerprint_replaces_the_old_one(world: Any) -> None:
    assert register(world, trust_level="trusted") == (400, "INVALID_PEER")
    one = register(world, trust_level="trusted", public_key="one")[1]["peer"]
    assert (
        one["public_key_fingerprint"]
        == "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    )
    assert trust(world, "trusted", expected_public_key_fingerprint="sha256:00") == (
        409,
        "FINGERPRINT_MISMATCH",
    )
    wrong = {"public_key": "two", "expected_public_key_fingerprint": one["public_key_fingerprint"]}
    assert register(world, trust_level="trusted", **wrong) == (409, "FINGERPRINT_MISMATCH")
    two = register(world, trust_level="trusted", public_key="two")[1]["peer"]
    assert (two["public_key"], two["public_key_fingerprint"] != one["public_key_fingerprint"]) == (
        "two",
        True,
    )
    kept = register(world, trust_level="trusted")[1]["peer"]
    assert (kept["public_key"], kept["public_key_fingerprint"]) == ("two", two["public_key_fingerprint"])
    assert trust(world, "trusted", expected_public_key_fingerprint=two["public_key_fingerprint"])[0] == 200


@every_row(
    "more",
    [
        {"base_url": "ftp://bo.example"},
        {"base_url": "http://user:secret@bo.example"},
        {"base_url": "http://bo.example?x=1"},
        {"base_url": "http://[::1"},
        {"base_url": "http://bo.example:99999"},
        {"base_url": "http:///x"},
        {"base_url": "http://bo.example/\u202e"},
        {"base_url": "http://bo.example\\@127.0.0.1"},
        {"capabilities_url": "//evil.example/x"},
        {"base_url": "http://bo.example", "capabilities_url": "http://evil.example/v1/manifest"},
        {"base_url": "http://bo.example", "capabilities_url": "http://bo.example:8080/v1/manifest"},
        {"allowed_scopes": ["be:root"]},
    ],
)
def test_what_is_no_peer_is_not_registered(world: Any, more: dict[str, Any]) -> None:
    assert register(world, **more) == (400, "INVALID_PEER")
    assert world.get("/v1/peers")["count"] == 0


def test_a_token_of_an_untrusted_peer_holds_nothing(world: Any) -> None:
    register(world)
    shown = token(world, **READS)
    assert world.call("GET", "/v1/peers", headers=shown).status_code == 200
    trust(world, "untrusted")
    refused = world.call("GET", "/v1/peers", headers=shown)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "MISSING_SCOPE")
    trust(world, "restricted")
    assert world.call("GET", "/v1/peers", headers=shown).status_code == 200


def test_the_registry_is_changed_by_who_administers_peers_alone(world: Any) -> None:
    shown = token(world, **WRITES)
    for path in (
        "peers/registry.json",
        "Peers/Registry.json",
        "peers/trust_policies.json",
        "config/governance_policy.json",
    ):
        said = sent(world, "/v1/write", {"path": path, "content": "{}"}, headers=shown)
        assert said in ((403, "MISSING_SCOPE"), (400, "INVALID_FILE_PATH")), path
    body = {"peer_id": "bo", "base_url": "", "trust_level": "untrusted"}
    assert sent(world, "/v1/peers/register", body, headers=shown) == (403, "MISSING_SCOPE")
    for path in ("config/peer_tokens.json", "config/security_keys.json", "config/Peer_Tokens.json"):
        for verb, more in (("write", {"content": "{}"}), ("append", {"record": {}})):
            assert sent(world, f"/v1/{verb}", {"path": path, **more}) == (403, "SECRET_FILE")


def test_a_tenants_own_governance_is_shown_over_the_servers(world: Any) -> None:
    before = world.get("/v1/governance/policy")["policy"]
    assert before["scope_templates"]["collaboration_peer"]["scopes"] == [
        "read:files", "search", "write:messages", "write:projects",
    ]  # fmt: skip
    assert (
        len(before["incident_response"]["token_compromise"]),
        before["audit_retention"]["api_audit_days"],
    ) == (4, 90)
    own = {"audit_retention": {"api_audit_days": 7}, "motto": "ask first"}
    path = "config/governance_policy.json"
    world.post("/v1/write", {"path": path, "content": json.dumps(own)})
    assert world.get("/v1/governance/policy")["policy"] == {**before, **own}
    for content in ("[]", "{", '{"a": NaN}', '{"a": "' + "x" * limits.GOVERNANCE_BYTES_MAX):
        world.store.documents.write([_put(path, content)])
        assert world.get("/v1/governance/policy")["policy"] == before


def test_a_registry_that_is_none_is_said_to_be_so_and_kept(world: Any) -> None:
    world.store.documents.write([_put("peers/registry.json", "not json")])
    assert world.refused("/v1/peers") == (400, "STORED_REGISTRY_INVALID")
    assert register(world) == (400, "STORED_REGISTRY_INVALID")
    assert world.get("/v1/read?path=peers/registry.json")["content"] == "not json"


def _put(path: str, content: str) -> Any:
    change = Change(path, ChangeKind.PUT, content.encode())
    return Write(tenant_id="acme", author="agent:al", message="m", changes=[change])


# ---- manifests


class _Manifests(BaseHTTPRequestHandler):
    """What a peer's server answers, by its path."""

    answers: ClassVar[dict[str, tuple[int, dict[str, str], bytes]]] = {
        "/v1/manifest": (200, {}, b'{"service": "lamina", "secret": "\xc3\xa9"}'),
        "/away/v1/manifest": (302, {"Location": "http://169.254.169.254/latest"}, b""),
        "/list/v1/manifest": (200, {}, b"[]"),
        "/text/v1/manifest": (200, {}, b"<html>"),
        "/large/v1/manifest": (200, {}, b'{"a": "' + b"x" * 2000 + b'"}'),
        "/gone/v1/manifest": (500, {}, b"{}"),
        "/packed/v1/manifest": (200, {"Content-Encoding": "gzip"}, b"{}"),
    }
    hosts: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.hosts.append(self.headers["Host"])
        status, headers, body = self.answers[self.path]
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def peer_port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Manifests)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def manifest(world: Any, base_url: str) -> tuple[int, Any]:
    register(world, base_url=base_url)
    response = world.call("GET", "/v1/peers/bo/manifest")
    return response.status_code, response.json().get("error_code") or response.json()


def test_the_manifest_of_a_peer_on_this_machine_is_fetched(world: Any, peer_port: int) -> None:
    status, said = manifest(world, f"http://localhost:{peer_port}/")
    assert (status, said["manifest"]) == (200, {"service": "lamina", "secret": "é"})
    assert said["source_url"] == f"http://localhost:{peer_port}/v1/manifest"
    assert _Manifests.hosts[-1] == f"localhost:{peer_port}"
    assert manifest(world, "") == (400, "INVALID_PEER")
    assert world.refused("/v1/peers/nobody/manifest") == (404, "PEER_NOT_FOUND")


def test_what_is_no_manifest_is_a_bad_gateway_and_no_redirect_is_followed(world: Any, peer_port: int) -> None:
    for path in ("away", "list", "text", "gone", "packed"):
        assert manifest(world, f"http://127.0.0.1:{peer_port}/{path}") == (502, "PEER_UNREACHABLE"), path
    assert manifest(world, "http://127.0.0.1:1") == (502, "PEER_UNREACHABLE")
    large = f"http://127.0.0.1:{peer_port}/large/v1/manifest"
    with pytest.raises(Unavailable, match="larger than 1000 bytes"):
        fetch_from_peer(large, PeerHosts.parse("loopback"), bytes_max=1000, timeout_s=5.0)


@every_row(
    "url",
    [
        "http://10.0.0.5", "http://169.254.169.254", "http://[fe80::1]", "http://[::ffff:10.0.0.5]", "http://peer.example",
        "http://2130706433", "http://127.1", "http://0x7f.0.0.1", "http://8.8.8.8", "http://[64:ff9b::7f00:1]",
    ],
)  # fmt: skip
def test_other_hosts_are_not_asked(world: Any, url: str) -> None:
    assert manifest(world, url) == (403, "PEER_ADDRESS_DENIED")


def test_strangers_ask_this_machine_for_nothing_unless_an_operator_says_so() -> None:
    hosts = [
        Settings(preset="cloud_shared_saas", relay_peer_hosts=text).peer_hosts for text in ("", "loopback")
    ]
    assert [each.loopback for each in hosts] == [False, True]


def test_the_registry_keeps_as_many_steps_of_trust_as_an_operator_says(make_world: Any) -> None:
    world = make_world(relay_peer_trust_history_max_hot_entries=2)
    register(world)
    for level in ("trusted", "restricted"):
        assert trust(world, level)[0] == 200
    (peer,) = world.get("/v1/peers")["peers"]
    assert [step["to"] for step in peer["trust_history"]] == ["trusted", "restricted"]
    register(world, trust_level="untrusted", transition_reason="left")
    (peer,) = world.get("/v1/peers")["peers"]
    assert [step["to"] for step in peer["trust_history"]] == ["restricted", "untrusted"]
