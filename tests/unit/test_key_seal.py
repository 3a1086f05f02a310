"""The seal of signing keys: what it opens, and which files are none of ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lamina.access.security.sealing import KeySeal
from lamina.errors import Unavailable


@pytest.fixture
def seal(tmp_path: Path) -> KeySeal:
    return KeySeal(tmp_path / "new" / "relay.key", os.urandom)


def test_a_secret_opens_for_its_tenant_and_its_id_alone(seal: KeySeal, tmp_path: Path) -> None:
    sealed = seal.seal("t", "k", b"secret")
    assert b"secret" not in sealed
    assert sealed != seal.seal("t", "k", b"secret")
    assert seal.opened("t", "k", sealed) == b"secret"
    assert KeySeal(tmp_path / "new" / "relay.key", os.urandom).opened("t", "k", sealed) == b"secret"
    for tenant_id, key_id, content in (
        ("u", "k", sealed), ("t", "j", sealed), ("t", "k", sealed[:-1]), ("t", "k", sealed[:5]), ("t", "k", b""),
        ("t", "k", bytes([sealed[0] ^ 1]) + sealed[1:]),
    ):  # fmt: skip
        with pytest.raises(Unavailable, match="KEY_UNREADABLE"):
            seal.opened(tenant_id, key_id, content)


def test_the_file_is_made_once_for_its_owner_and_nothing_is_left_beside_it(
    seal: KeySeal, tmp_path: Path
) -> None:
    with pytest.raises(Unavailable, match="KEY_FILE_UNUSABLE"):
        seal.opened("t", "k", b"x" * 40)
    seal.seal("t", "k", b"1")
    (made,) = (tmp_path / "new").iterdir()
    assert (made.name, made.stat().st_mode & 0o777, len(made.read_bytes())) == ("relay.key", 0o600, 79)
    before = made.read_bytes()
    seal.seal("t", "k", b"2")
    assert made.read_bytes() == before


def test_another_process_that_was_faster_made_the_file(tmp_path: Path) -> None:
    path = tmp_path / "relay.key"
    other = KeySeal(path, os.urandom)
    made: list[bytes] = []

    def slow(size: int) -> bytes:
        if size == 8:  # the name aside: the file is looked for and not there yet
            made.append(other.seal("t", "k", b"theirs"))
        return os.urandom(size)

    sealed = KeySeal(path, slow).seal("t", "k", b"ours")
    assert (other.opened("t", "k", sealed), other.opened("t", "k", made[0])) == (b"ours", b"theirs")
    assert [each.name for each in tmp_path.iterdir()] == ["relay.key"]


@pytest.mark.parametrize(
    "content", [b"", b"lamina-keys 1\n", b"x" * 79, b'{"keys": {}}', b"lamina-keys 1\n" + b"0" * 64]
)
def test_a_file_of_another_form_is_refused(seal: KeySeal, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "new" / "relay.key"
    path.parent.mkdir()
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(Unavailable, match="is not a key file"):
        seal.seal("t", "k", b"x")


def test_a_file_that_others_may_use_or_that_is_none_is_refused(seal: KeySeal, tmp_path: Path) -> None:
    seal.seal("t", "k", b"x")
    path = tmp_path / "new" / "relay.key"
    for mode in (0o640, 0o604, 0o620):
        path.chmod(mode)
        with pytest.raises(Unavailable, match="others than its owner"):
            seal.seal("t", "k", b"x")
    aside = path.rename(path.with_name("aside"))
    aside.chmod(0o600)
    path.symlink_to(aside)
    with pytest.raises(Unavailable, match="KEY_FILE_UNUSABLE"):
        seal.seal("t", "k", b"x")
    path.unlink()
    path.mkdir(mode=0o700)
    with pytest.raises(Unavailable, match="KEY_FILE_UNUSABLE"):
        seal.seal("t", "k", b"x")
