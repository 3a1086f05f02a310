"""What every engine promises about packs that may be asked for again."""

from __future__ import annotations

from typing import Any

import pytest

from given import NOON, TENANT
from lamina import limits
from lamina.kernel.time import SECOND_US
from lamina.store.ports.packs import PackKind, StoredPack
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

ALICE = "user:alice"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PACK_LANDS_S_MAX", 0.3)


def pack(id_: str = "pack_1", content: bytes = b"told", **more: Any) -> StoredPack:
    given = {"tenant_id": TENANT, "kind": PackKind.PACK, "caller": ALICE, "body_hash": "sha256:a"}
    return StoredPack(**{**given, "made_at": NOON, **more}, id=id_, content=content)


def contents(store: Store, *ids: str) -> list[bytes | None]:
    found = [store.packs.find(TENANT, PackKind.PACK, ALICE, id_) for id_ in ids]
    return [None if each is None else each.content for each in found]


def test_a_pack_is_its_callers_alone(store: Store) -> None:
    store.packs.keep(pack())
    assert store.packs.find(TENANT, PackKind.PACK, ALICE, "pack_1") == pack()
    assert store.packs.find(TENANT, PackKind.PACK, "user:bob", "pack_1") is None
    assert store.packs.find("other", PackKind.PACK, ALICE, "pack_1") is None
    assert store.packs.find(TENANT, PackKind.ANSWER, ALICE, "pack_1") is None


def test_the_newest_of_an_id_stands(store: Store) -> None:
    store.packs.keep(pack())
    store.packs.keep(pack(content=b"newer", made_at=NOON + 1, body_hash="sha256:b"))
    found = store.packs.find(TENANT, PackKind.PACK, ALICE, "pack_1")
    assert found == pack(content=b"newer", made_at=NOON + 1, body_hash="sha256:b")


def test_the_content_goes_when_its_time_is_over_and_the_rest_later(store: Store) -> None:
    late = NOON + limits.PACK_TTL_S * SECOND_US + 1
    store.packs.keep(pack())
    store.packs.prune(NOON + limits.PACK_TTL_S * SECOND_US)
    assert contents(store, "pack_1") == [b"told"]
    store.packs.prune(late)
    assert contents(store, "pack_1") == [b""]
    store.packs.prune(NOON + limits.PACK_REMEMBERED_S * SECOND_US + 1)
    assert contents(store, "pack_1") == [None]


def test_who_keeps_a_pack_lets_go_of_what_is_too_old_and_too_much(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PACKS_STORED_MAX", 2)
    late = NOON + limits.PACK_TTL_S * SECOND_US + 1
    store.packs.keep(pack("pack_1"))
    store.packs.keep(pack("pack_2", made_at=NOON + 1))
    store.packs.keep(pack("pack_3", made_at=late + 1, tenant_id="other"))
    store.packs.keep(pack("pack_4", made_at=late + 2))
    store.packs.prune(NOON)  # a write of its own: what was kept has landed by then
    assert contents(store, "pack_1", "pack_2", "pack_4") == [None, b"", b"told"]


def test_another_process_sees_a_pack_that_was_just_kept(store: Store, tmp_path: Any) -> None:
    if not isinstance(store, SqliteStore):
        pytest.skip("the reference engine is one process")
    other = SqliteStore(tmp_path, durable=False)
    store.packs.keep(pack())
    assert other.packs.find(TENANT, PackKind.PACK, ALICE, "pack_1") == pack()
    other.close()
