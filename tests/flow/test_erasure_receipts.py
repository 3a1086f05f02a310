"""``lamina erasure verify``: what it sees, what it says, and who signed it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from typer.testing import CliRunner

from given import ALICE, TENANT, CountedIds, ManualClock, append
from lamina.cli.main import app
from lamina.kernel.canonical import canonical
from lamina.store.ports.erasing import Erasure
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.connection import open_connection

ERASED = "erasure_019e2135-49e8-7000-8fbb-6868f8d609a7"


@pytest.fixture(name="data")
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three turns, one of which was erased and one lost its words."""
    data = tmp_path / "data"
    store = SqliteStore(data, clock=ManualClock(), ids=CountedIds(), durable=False)
    gone, bare, _ = append(store, "canary one", "canary two", "tea at five")
    store.erasing.erase(
        Erasure(
            tenant_id=TENANT,
            erasure_id=ERASED,
            by_actor="user:alice",
            cascade="gdpr",
            delete=[gone.id],
            redact=[bare.id],
            scopes=[ALICE],
        )
    )
    store.close()
    monkeypatch.setenv("LAMINA_DATA", str(data))
    monkeypatch.setenv("LAMINA_TENANT", TENANT)
    return data


def verified(*arguments: str, code: int = 0) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["erasure", "verify", ERASED, *arguments])
    assert done.exit_code == code, done.output
    receipt: dict[str, Any] = json.loads(done.stdout)
    return receipt


def test_a_receipt_has_counts_and_hashes_and_no_content(data: Path) -> None:
    receipt = verified()
    assert (receipt["clean"], receipt["found"], receipt["leftovers"]) == (True, {}, [])
    assert (receipt["gone"], receipt["redacted_events"], receipt["worded"]) == ({"events": 1}, 1, 0)
    assert receipt["ids_sha256"].startswith("sha256:")
    assert receipt["signature"] is None
    assert "canary" not in json.dumps(receipt)
    assert b"canary" not in (data / "lamina.db").read_bytes()


def test_a_receipt_is_signed_with_the_key_where_there_is_one(data: Path, tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    path = tmp_path / "receipt.pem"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    receipt = verified("--key-file", str(path))
    signature = receipt.pop("signature")
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(signature["public_key"]))
    public.verify(base64.b64decode(signature["value"]), canonical(receipt))
    path.write_text("no key")
    done = CliRunner().invoke(app, ["erasure", "verify", ERASED, "--key-file", str(path)])
    assert "INVALID_RECEIPT_KEY" in repr(done.exception) or done.exit_code != 0
    assert not done.stdout


def test_what_is_left_somewhere_is_said_without_its_words(data: Path) -> None:
    connection = open_connection(data / "lamina.db", durable=True)
    ((gone,),) = connection.execute("SELECT id FROM tombstone").fetchall()
    connection.execute(
        "INSERT INTO outbox (tenant_id, scope, session, sitting, event_id, created_at) VALUES (?, ?, 's', 1, ?, 1)",
        (TENANT, ALICE, gone),
    )
    connection.execute('UPDATE event SET content = \'{"text":"canary"}\' WHERE redacted_by IS NOT NULL')
    connection.execute("PRAGMA secure_delete = off").fetchall()
    connection.execute("CREATE TABLE filler (x)")
    connection.execute("INSERT INTO filler VALUES (randomblob(100000))")
    connection.execute("DROP TABLE filler")
    connection.execute("PRAGMA auto_vacuum = none").fetchall()
    connection.close()
    (data / "rederived").mkdir()
    receipt = verified(code=1)
    assert receipt["clean"] is False
    assert receipt["found"] == {"outbox.event_id": 1}
    assert receipt["worded"] == 1
    assert receipt["leftovers"] == ["a copy of the log is being derived anew"]


def test_an_erasure_that_took_nothing_is_not_found(data: Path) -> None:
    done = CliRunner().invoke(app, ["erasure", "verify", "erasure_none"])
    assert done.exit_code != 0
    assert "NOT_FOUND" in repr(done.exception) + done.output


def test_a_folder_from_before_is_written_anew_once(tmp_path: Path) -> None:
    old = tmp_path / "lamina.db"
    store = SqliteStore(tmp_path, durable=False)
    append(store, "tea")
    store.close()
    connection = open_connection(old, durable=True)
    connection.execute("PRAGMA auto_vacuum = none").fetchall()
    connection.execute("PRAGMA secure_delete = off").fetchall()
    connection.execute("CREATE TABLE filler (x)")
    connection.executemany("INSERT INTO filler VALUES (?)", [("canary" * 500,) for _ in range(20)])
    connection.execute("DROP TABLE filler")
    connection.execute("PRAGMA journal_mode = delete").fetchall()
    connection.execute("VACUUM")
    connection.execute("CREATE TABLE filler (x)")
    connection.executemany("INSERT INTO filler VALUES (?)", [("canary" * 500,) for _ in range(20)])
    connection.execute("DROP TABLE filler")
    connection.close()
    assert b"canary" in old.read_bytes()
    store = SqliteStore(tmp_path, durable=False)
    try:
        assert any("free pages" in fault for fault in store.traces.look())
        assert store.traces.scrub().rewritten
        assert store.traces.look() == ()
        assert not store.traces.scrub().rewritten
        assert b"canary" not in old.read_bytes()
    finally:
        store.close()
