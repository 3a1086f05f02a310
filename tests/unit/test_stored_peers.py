"""The registry of peers as a document: what another server wrote is read, and what is none is nobody."""

from __future__ import annotations

import json

import pytest

from lamina.errors import Malformed
from lamina.store.memory.engine import MemoryStore
from lamina.store.peers import REGISTRY_PATH, DocumentPeers, registry_text
from lamina.store.ports.documents import Change, ChangeKind, Write
from tables import every_row


def peers_of(content: str) -> DocumentPeers:
    documents = MemoryStore().documents
    change = Change(REGISTRY_PATH, ChangeKind.PUT, content.encode())
    documents.write([Write(tenant_id="t", author="agent:a", message="m", changes=[change])])
    return DocumentPeers(documents)


def test_a_registry_that_changes_is_read_anew() -> None:
    documents = MemoryStore().documents
    peers = DocumentPeers(documents)
    seen = []
    for content in ('{"peers": {"bo": {}}}', "none", '{"peers": {"bo": {"trust_level": "trusted"}}}', None):
        kind = ChangeKind.REMOVE if content is None else ChangeKind.PUT
        change = Change(REGISTRY_PATH, kind, (content or "").encode())
        documents.write([Write(tenant_id="t", author="agent:a", message="m", changes=[change])])
        seen.append([peers.trust_of("t", "bo") for _ in range(2)])
    assert seen == [["restricted"] * 2, [None] * 2, ["trusted"] * 2, [None] * 2]


def test_a_registry_of_the_original_is_read_and_written_as_it_was() -> None:
    step = {"at": "2026-01-02T03:04:05Z", "from": None, "to": "trusted", "reason": None, "by": "owner"}
    bo = {
        "base_url": "http://127.0.0.1:8081", "public_key": "k", "public_key_fingerprint": "sha256:00",
        "capabilities_url": "/v1/manifest", "trust_level": "trusted", "allowed_scopes": ["search"],
        "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05.5Z", "trust_history": [step],
    }  # fmt: skip
    stored = {"schema_version": "1.0", "updated_at": "2026-01-02T03:04:05Z", "peers": {"bo": bo}}
    peers = peers_of(json.dumps(stored))
    assert peers.trust_of("t", "bo") == "trusted"
    assert peers.trust_of("t", "al") is None
    assert peers.trust_of("other", "bo") is None
    written = registry_text(peers.registry("t"))
    assert written["peers"]["bo"] == bo | {"updated_at": "2026-01-02T03:04:05.500Z"}


@every_row(
    ("peer", "trust"),
    [
        ({}, "restricted"),
        ({"trust_level": "best"}, "untrusted"),
        ({"trust_history": [{"to": 3}]}, "restricted"),
    ],
)
def test_what_is_missing_is_filled_in_and_an_unknown_level_is_no_trust(peer: object, trust: str) -> None:
    assert peers_of(json.dumps({"peers": {"bo": peer}})).trust_of("t", "bo") == trust


@every_row("content", ["", "[]", "{}", '{"peers": {"bo": 3}}', "\xff", '{"peers": ' + "[" * 5000])
def test_what_is_no_registry_knows_nobody_and_is_said_to_be_none(content: str) -> None:
    peers = peers_of(content)
    assert peers.trust_of("t", "bo") is None
    with pytest.raises(Malformed, match="STORED_REGISTRY_INVALID"):
        peers.registry("t")
