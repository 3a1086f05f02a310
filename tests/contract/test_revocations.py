"""What every engine promises about revoked tokens."""

from __future__ import annotations

from typing import Any

import pytest

from given import NOON, TENANT
from lamina import limits
from lamina.errors import TooLarge
from lamina.kernel.time import SECOND_US
from lamina.store.ports.revocations import Revocation
from lamina.store.ports.store import Store

HOUR = 3600 * SECOND_US


def revocation(jti: str = "t-1", **more: Any) -> Revocation:
    given = {
        "tenant_id": TENANT,
        "issuer": "https://a",
        "id": f"tok_{jti}",
        "expires_at": NOON + HOUR,
        "reason": "rotated",
        "revoked_by": "user:root",
        "revoked_at": NOON,
    }
    return Revocation(jti=jti, **{**given, **more})


def test_a_token_is_revoked_in_its_tenant_for_its_issuer(store: Store) -> None:
    store.revocations.add(revocation())
    assert store.revocations.is_revoked(TENANT, "https://a", "t-1")
    assert not store.revocations.is_revoked(TENANT, "https://b", "t-1")
    assert not store.revocations.is_revoked("other", "https://a", "t-1")
    assert not store.revocations.is_revoked(TENANT, "https://a", "t-2")


def test_without_an_issuer_it_is_revoked_for_all(store: Store) -> None:
    store.revocations.add(revocation(issuer=None))
    assert store.revocations.is_revoked(TENANT, "https://a", "t-1")
    assert store.revocations.is_revoked(TENANT, "https://b", "t-1")
    assert not store.revocations.is_revoked("other", "https://b", "t-1")


def test_what_has_expired_is_forgotten_and_nothing_else(store: Store) -> None:
    store.revocations.add(revocation("old"))
    store.revocations.add(revocation("new", expires_at=NOON + 2 * HOUR))
    store.revocations.prune(NOON + HOUR)
    assert store.revocations.is_revoked(TENANT, "https://a", "old")
    store.revocations.prune(NOON + HOUR + 1)
    assert not store.revocations.is_revoked(TENANT, "https://a", "old")
    assert store.revocations.is_revoked(TENANT, "https://a", "new")


def test_a_new_revocation_forgets_what_had_expired_by_then(store: Store) -> None:
    store.revocations.add(revocation("old"))
    store.revocations.add(revocation("new", revoked_at=NOON + 2 * HOUR, expires_at=NOON + 3 * HOUR))
    assert not store.revocations.is_revoked(TENANT, "https://a", "old")


def test_a_second_revocation_never_shortens_the_first(store: Store) -> None:
    store.revocations.add(revocation(expires_at=NOON + 2 * HOUR))
    store.revocations.add(revocation(expires_at=NOON + HOUR))
    store.revocations.prune(NOON + HOUR + 1)
    assert store.revocations.is_revoked(TENANT, "https://a", "t-1")


def test_the_list_of_a_tenant_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REVOCATIONS_MAX", 2)
    store.revocations.add(revocation("a"))
    store.revocations.add(revocation("b"))
    with pytest.raises(TooLarge) as caught:
        store.revocations.add(revocation("c"))
    assert caught.value.code == "REVOCATION_LIST_FULL"
    assert not store.revocations.is_revoked(TENANT, "https://a", "c")
    store.revocations.add(revocation("b"))
    store.revocations.add(revocation("c", tenant_id="other"))


def test_a_revocation_moves_the_version_of_access(store: Store) -> None:
    before = store.registry.version()
    store.revocations.add(revocation())
    assert store.registry.version() > before
