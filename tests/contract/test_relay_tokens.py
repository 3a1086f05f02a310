"""What every engine promises about Relay tokens."""

from __future__ import annotations

from typing import Any

import pytest

from given import NOON, TENANT
from lamina.errors import Conflict
from lamina.kernel.relay import RelayGrant
from lamina.store.ports.relay_tokens import RelayToken
from lamina.store.ports.store import Store

GRANT = RelayGrant(frozenset({"read:files", "search"}), frozenset({"memory/coordination", "ü"}), frozenset())


def token(name: str = "one", **more: Any) -> RelayToken:
    given = {
        "tenant_id": TENANT,
        "sha256": f"hash-{name}",
        "peer_id": "bo",
        "grant": GRANT,
        "issued_at": NOON,
    }
    return RelayToken(id=f"tok_{name}", **{**given, **more})


def test_a_token_is_found_by_its_hash_whole(store: Store) -> None:
    kept = token(expires_at=NOON + 5, trust="restricted", description="for tests")
    store.relay_tokens.add(kept)
    store.relay_tokens.add(token("two", tenant_id="other", grant=RelayGrant()))
    assert store.relay_tokens.find("hash-one") == kept
    found = store.relay_tokens.find("hash-two")
    assert found is not None
    assert (found.tenant_id, found.grant) == ("other", RelayGrant())
    assert store.relay_tokens.find("hash") is None


def test_neither_ids_nor_hashes_are_given_twice(store: Store) -> None:
    store.relay_tokens.add(token())
    for again in (token(sha256="hash-new"), token("new", sha256="hash-one", tenant_id="other")):
        with pytest.raises(Conflict, match="TOKEN_EXISTS"):
            store.relay_tokens.add(again)
    store.relay_tokens.add(token(tenant_id="other", sha256="hash-theirs"))


def test_tokens_are_listed_newest_first_in_their_tenant(store: Store) -> None:
    for number, name in enumerate(["a", "b", "c"]):
        store.relay_tokens.add(token(name, issued_at=NOON + number % 2))
    store.relay_tokens.add(token("x", tenant_id="other"))
    assert [each.id for each in store.relay_tokens.listed(TENANT)] == ["tok_b", "tok_a", "tok_c"]
    assert store.relay_tokens.listed("nobody") == []


def test_a_token_is_taken_back_once(store: Store) -> None:
    store.relay_tokens.add(token())
    assert not store.relay_tokens.revoke("other", "tok_one", NOON, None)
    version = store.registry.version()
    assert store.relay_tokens.revoke(TENANT, "tok_one", NOON + 1, "lost")
    assert store.registry.version() > version
    assert not store.relay_tokens.revoke(TENANT, "tok_one", NOON + 2, "again")
    found = store.relay_tokens.find("hash-one")
    assert found is not None
    assert (found.revoked_at, found.revoked_reason) == (NOON + 1, "lost")


def test_a_token_takes_the_place_of_another_or_nothing_is_done(store: Store) -> None:
    tokens = store.relay_tokens
    tokens.add(token())
    tokens.add(token("taken"))
    two = token("two", issued_at=NOON + 1, rotated_from="tok_one")
    with pytest.raises(Conflict, match="TOKEN_EXISTS"):
        tokens.rotate("tok_one", token("taken", issued_at=NOON + 1), "lost")
    kept = tokens.find("hash-one")
    assert kept == token()
    assert tokens.rotate("tok_one", two, "lost")
    assert tokens.find("hash-two") == two
    ended = {
        "revoked_at": NOON + 1,
        "revoked_reason": "lost",
        "rotated_at": NOON + 1,
        "rotated_to": "tok_two",
    }
    assert tokens.find("hash-one") == token(**ended)
    assert not tokens.rotate("tok_one", token("three"), None)
    assert not tokens.rotate("tok_two", token("three", tenant_id="other"), None)
    assert tokens.find("hash-three") is None
