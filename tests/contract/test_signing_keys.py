"""What every engine promises about signing keys."""

from __future__ import annotations

from typing import Any

import pytest

from given import NOON, TENANT
from lamina.errors import Conflict
from lamina.store.ports.signing_keys import SealedKey
from lamina.store.ports.store import Store


def key(name: str = "one", **more: Any) -> SealedKey:
    given = {"tenant_id": TENANT, "algorithm": "hmac-sha256", "created_at": NOON, "sealed": name.encode()}
    return SealedKey(key_id=f"key_{name}", **{**given, **more})


def test_a_key_is_kept_whole_and_its_id_is_taken(store: Store) -> None:
    keys = store.signing_keys
    staged, theirs = key(), key(tenant_id="other", activated_at=NOON)
    keys.add(staged, before_until=NOON)
    keys.add(theirs, before_until=NOON)
    assert keys.find(TENANT, "key_one") == staged
    assert keys.find(TENANT, "key_two") is None
    assert keys.with_secrets() == sorted([staged, theirs], key=lambda each: each.tenant_id)
    with pytest.raises(Conflict, match="KEY_EXISTS"):
        keys.add(key(sealed=b"x", activated_at=NOON), before_until=NOON)
    assert keys.listed(TENANT) == [staged]


def test_a_new_active_key_ends_the_one_before_after_its_grace(store: Store) -> None:
    keys = store.signing_keys
    keys.add(key(activated_at=NOON), before_until=NOON)
    keys.add(key("two", created_at=NOON + 1, activated_at=NOON + 1), before_until=NOON + 10)
    keys.add(key("staged", created_at=NOON + 2), before_until=NOON + 11)
    two, one = keys.listed(TENANT)[1:]
    assert (two.is_active, one.is_active, one.verifies_until) == (True, False, NOON + 10)
    assert (one.verifies(NOON + 9), one.verifies(NOON + 10)) == (True, False)
    assert keys.activate(TENANT, "key_staged", NOON + 12, before_until=NOON + 20)
    assert not keys.activate(TENANT, "key_staged", NOON + 13, before_until=NOON + 21)
    assert not keys.activate(TENANT, "key_none", NOON + 13, before_until=NOON + 21)
    states = {each.key_id: (each.is_active, each.sealed) for each in keys.listed(TENANT)}
    # What verifies nothing any more has no secret either.
    assert states == {"key_staged": (True, b"staged"), "key_two": (False, b"two"), "key_one": (False, b"")}
    assert [each.key_id for each in keys.with_secrets()] == ["key_staged", "key_two"]
