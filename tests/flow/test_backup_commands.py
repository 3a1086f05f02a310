"""The commands make, check and restore backups, and refuse what makes no sense."""

from __future__ import annotations

import io
import json
import lzma
import os
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from backups import EVENTS, memory, opened
from given import NOON, TENANT
from lamina.access.security.keyring import Keyring
from lamina.access.security.sealing import KeySeal
from lamina.cli.main import app
from lamina.kernel.time import SECOND_US

HOUR = 3600 * SECOND_US


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return memory(tmp_path / "data")


def lamina(*arguments: str | Path, **environment: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(each) for each in arguments], env=environment)
    return done.exit_code, done.output


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lamina.cli.backup_settings._NICENESS", 0
    )  # of this process, for all the tests that follow


@pytest.mark.usefixtures("unhurried")
def test_commands_make_check_and_restore(data: Path, tmp_path: Path) -> None:
    issuers, key = tmp_path / "keys.yaml", tmp_path / "key"
    issuers.write_text("issuers: []")
    key.write_bytes(os.urandom(32))
    given = {"LAMINA_ISSUERS": str(issuers), "LAMINA_TOKEN": "very secret", "LAMINA_PORT": "8123"}
    code, said = lamina("backup", "--data", data, "--to", tmp_path / "b", "--key-file", key, **given)
    [made] = (tmp_path / "b").glob("*.backup")
    assert (code, said.splitlines()[0]) == (0, str(made))
    assert lamina("restore", "--verify", made)[0] == 2
    code, said = lamina("restore", "--verify", made, "--key-file", key)
    assert (code, f"whole: {EVENTS} events of 2 tenants as of" in said) == (0, True)
    code, said = lamina(
        "restore", made, "--key-file", key, "--data", tmp_path / "second", "--without-tombstones"
    )
    assert (code, "LAMINA_PORT=8123" in said, "LAMINA_TOKEN (secret" in said) == (0, True, True)
    assert "very secret" not in said
    assert (tmp_path / "second" / "restored" / "issuers.yaml").read_text() == "issuers: []"
    manifest = json.loads((tmp_path / "second" / "restored" / "manifest.json").read_text())
    assert "very secret" not in str(manifest)
    again = ("restore", made, "--key-file", key, "--data", tmp_path / "second", "--without-tombstones")
    assert lamina(*again)[0] == 5


@pytest.mark.usefixtures("unhurried")
def test_what_an_older_release_left_is_not_told_to_be_nothing(tmp_path: Path) -> None:
    packed = lzma.decompress((Path(__file__).parents[1] / "data" / "folders" / "0ed09b5.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path, filter="data")
    code, said = lamina("backup", "--data", tmp_path / "0ed09b5", "--to", tmp_path / "b")
    assert (code, "0 events" in said, "events were not counted" in said) == (0, False, True)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("restore",), 2),
        (("restore", "x", "--from-git", "y"), 2),
        (("restore", "--from-git", "y", "--verify"), 2),
        (("restore", "x", "--tenant", "acme"), 2),
        (("restore", "nowhere"), 4),
        (("restore", "nowhere", "--tombstones", "x", "--without-tombstones"), 2),
        (("restore", "--from-git", "y", "--tombstones", "x", "--without-tombstones"), 2),
        (("backup", "--to", "data/inside"), 2),
        (("backup", "--passphrase", "--key-file", "key"), 2),
        (("backup", "--key-file", "nowhere"), 2),
        (("backup", "--data", "nowhere"), 4),
        (("backup", "--to", "circle"), 6),
        (("backup", "--data", "circle"), 4),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    data: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int
) -> None:
    monkeypatch.chdir(data.parent)
    monkeypatch.setenv("LAMINA_DATA", "data")
    Path("circle").symlink_to("circle")
    assert lamina(*arguments)[0] == code
    assert not list(data.parent.rglob("*.backup"))
    lists = list(data.parent.rglob("tombstones.jsonl"))
    assert len(lists) == (
        arguments[-1] == "circle" and code == 6
    )  # that one is of the folder, wherever its backups go


@pytest.mark.usefixtures("unhurried")
def test_a_restore_without_the_key_file_says_which_signing_keys_are_lost(data: Path, tmp_path: Path) -> None:
    store = opened(data)
    keyring = Keyring(store.signing_keys, KeySeal(data / "relay.key", os.urandom), os.urandom)
    wanted = {"key_id": "k1", "secret": "what is shared with a peer", "activate": True, "grace_s": 9}
    keyring.make(TENANT, NOON, **wanted)
    signature = keyring.sign(TENANT, "k1", b"text", NOON)
    store.close()
    assert lamina("backup", "--data", data, "--to", tmp_path / "b")[0] == 0
    [made] = (tmp_path / "b").glob("*.backup")
    code, said = lamina("restore", made, "--data", tmp_path / "second", "--without-tombstones")
    assert (code, f"  k1 of {TENANT}" in said.splitlines()) == (0, True)
    assert f"put it back at {tmp_path / 'second' / 'relay.key'}" in said
    kept = {"LAMINA_RELAY_KEY_FILE": str(data / "relay.key")}
    code, said = lamina("restore", made, "--data", tmp_path / "third", "--without-tombstones", **kept)
    assert (code, "k1" in said) == (0, False)
    store = opened(tmp_path / "third")
    again = Keyring(store.signing_keys, KeySeal(data / "relay.key", os.urandom), os.urandom)
    assert again.sign(TENANT, "k1", b"text", NOON) == signature
    store.close()
    key = (data / "relay.key").read_bytes()
    held = [
        path
        for path in (tmp_path / "second").rglob("*")
        if path.is_file() and key[15:50] in path.read_bytes()
    ]
    assert held == []
