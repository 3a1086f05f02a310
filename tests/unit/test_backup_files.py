"""A backup as bytes: whole or refused, with the right key or not at all, whoever made it."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zlib
from collections.abc import Callable

import pytest

from lamina import limits
from lamina.errors import Invalid
from lamina.store.backups.archive import BackupArchive
from lamina.store.backups.manifest import BackupManifest, BackupMember, TenantState
from lamina.store.backups.sealing import ChunkReader, ChunkWriter, KeyFile, Passphrase, Secret
from tables import every_row

CONTENT = b"SQLite format 3\0 and a memory that nobody else is to read"
KEY = KeyFile(bytes(range(32)))


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BACKUP_SCRYPT_LOG_N", limits.BACKUP_SCRYPT_LOG_N_MIN)


def chance(size: int) -> bytes:
    return hashlib.shake_256(b"salt").digest(size)


def member(content: bytes = CONTENT, name: str = "lamina.db") -> BackupMember:
    return BackupMember(name=name, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def manifest(*members: BackupMember) -> BackupManifest:
    return BackupManifest(
        lamina="0.1.0",
        schema_number=3,
        made_at=7,
        members=members or (member(),),
        tenants={"acme": TenantState(position=5, commit="a" * 40)},
        settings={"LAMINA_PORT": "1"},
        secrets=("LAMINA_TOKEN",),
    )


def packed(told: bytes, *contents: bytes, secret: Secret | None = None, size: int | None = None) -> bytes:
    out = io.BytesIO()
    chunks = ChunkWriter(out, secret, chance)
    chunks.write(struct.pack(">Q", len(told) if size is None else size) + told + b"".join(contents))
    chunks.finish()
    return out.getvalue()


def backup(secret: Secret | None = None) -> bytes:
    return packed(manifest().encoded(), CONTENT, secret=secret)


def read(data: bytes, secret: Secret | None = None) -> BackupManifest:
    archive = BackupArchive(ChunkReader(io.BytesIO(data), lambda _: secret))
    archive.read(lambda _: None)
    return archive.manifest


def code_of(data: bytes, secret: Secret | None = None) -> str:
    with pytest.raises(Invalid) as caught:
        read(data, secret)
    return caught.value.code


@pytest.mark.parametrize(
    "secret", [None, KEY, Passphrase("correct horse")], ids=["plain", "key", "passphrase"]
)
def test_what_was_put_in_comes_out(secret: Secret | None) -> None:
    data = backup(secret)
    assert read(data, secret) == manifest()
    assert (b"nobody else" in data, b"LAMINA_PORT" in data) == (False, False)  # deflated, or sealed
    assert BackupManifest.parsed(manifest().encoded()) == manifest()


@pytest.mark.parametrize("size", [0, 1, limits.BACKUP_CHUNK_BYTES, limits.BACKUP_CHUNK_BYTES + 1])
def test_chunks_end_where_the_content_does(size: int) -> None:
    out = io.BytesIO()
    written = ChunkWriter(out, KEY, chance)
    content = (b"tea at five " * (size // 12 + 1))[:size]
    written.write(content)
    written.finish()
    reader = ChunkReader(io.BytesIO(out.getvalue()), lambda _: KEY)
    assert reader.read(size + 9) == content
    reader.finish()


@pytest.mark.parametrize("secret", [None, KEY], ids=["plain", "key"])
def test_a_flipped_byte_anywhere_is_seen(secret: Secret | None) -> None:
    data = bytearray(backup(secret))
    for place in range(len(data)):
        data[place] ^= 0x20
        assert code_of(bytes(data), secret) in ("INVALID_BACKUP", "WRONG_BACKUP_KEY"), place
        data[place] ^= 0x20
    read(bytes(data), secret)


@pytest.mark.parametrize("secret", [None, KEY], ids=["plain", "key"])
def test_a_file_that_ends_early_or_goes_on_is_refused(secret: Secret | None) -> None:
    data = backup(secret)
    for length in range(len(data)):
        assert code_of(data[:length], secret) == "INVALID_BACKUP", length
    assert code_of(data + b"\0", secret) == "INVALID_BACKUP"


def test_chunks_of_a_sealed_file_cannot_change_places_or_be_left_out() -> None:
    out = io.BytesIO()
    writer = ChunkWriter(out, KEY, chance)
    writer.write(bytes(2 * limits.BACKUP_CHUNK_BYTES + 1))
    writer.finish()
    data = out.getvalue()
    begin = data.index(b"}\n") + 2 + 32
    (length,) = struct.unpack_from(">I", data, begin)
    step = 5 + length
    first, second, rest = (
        data[begin : begin + step],
        data[begin + step : begin + 2 * step],
        data[begin + 2 * step :],
    )
    for changed in (second + first + rest, first + rest, first + first + rest):
        body = data[:begin] + changed[:-32]
        with pytest.raises(Invalid, match="not as it was written"):
            ChunkReader(io.BytesIO(body + hashlib.sha256(body).digest()), lambda _: KEY).read(1 << 30)


@pytest.mark.parametrize(
    ("made_with", "read_with"),
    [
        (Passphrase("correct horse"), Passphrase("correct horsf")),
        (Passphrase("correct horse"), KEY),
        (Passphrase("correct horse"), None),
        (KEY, KeyFile(bytes(range(1, 33)))),
        (KEY, Passphrase("x")),
        (KEY, None),
        (None, KEY),
    ],
)  # fmt: skip
def test_another_key_opens_nothing(made_with: Secret | None, read_with: Secret | None) -> None:
    assert code_of(backup(made_with), read_with) == "WRONG_BACKUP_KEY"


def test_a_passphrase_is_the_same_however_its_letters_were_typed() -> None:
    read(backup(Passphrase("caf\u00e9")), Passphrase("cafe\u0301"))


@pytest.mark.parametrize("size", [0, 31, limits.BACKUP_KEY_BYTES_MAX + 1])
def test_a_key_file_of_no_key_is_refused(size: int) -> None:
    with pytest.raises(Invalid, match="accepted"):
        KeyFile(bytes(size))


def told(change: Callable[[dict[str, object]], object]) -> bytes:
    document = json.loads(manifest().encoded())
    change(document)
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "name", ["../lamina.db", "/etc/passwd", "relay/x", "lamina.db/../x", "lamina.db\0", "C:\\x", ".", ""]
)
def test_a_manifest_with_another_name_is_refused(name: str) -> None:
    both = [member().model_dump(), member(b"x", name).model_dump()]
    assert code_of(packed(told(lambda d: d.update(members=both)), CONTENT, b"x")) == "INVALID_BACKUP"
    alone = [member(name=name).model_dump()]
    assert code_of(packed(told(lambda d: d.update(members=alone)), CONTENT)) == "INVALID_BACKUP"


HOSTILE: dict[str, bytes] = {
    "no manifest": packed(b""),
    "not JSON": packed(b"{"),
    "deep JSON": packed(b"[" * 100_000),
    "no member": packed(told(lambda d: d.update(members=[]))),
    "a member twice": packed(told(lambda d: d.update(members=[member().model_dump()] * 2)), CONTENT, CONTENT),
    "a link": packed(told(lambda d: d["members"][0].update(link="/etc/passwd")), CONTENT),  # type: ignore[index]
    "a negative size": packed(told(lambda d: d["members"][0].update(bytes=-1)), CONTENT),  # type: ignore[index]
    "more than there is": packed(told(lambda d: d["members"][0].update(bytes=1 << 60)), CONTENT),  # type: ignore[index]
    "less than there is": packed(manifest().encoded(), CONTENT, b"more"),
    "another content": packed(manifest().encoded(), CONTENT[::-1]),
    "a manifest beyond its bound": packed(b"", size=limits.BACKUP_MANIFEST_BYTES_MAX + 1),
    "a manifest beyond its file": packed(b"", size=1 << 20),
}


@every_row("case", HOSTILE)
def test_a_hostile_file_is_refused(case: str) -> None:
    assert code_of(HOSTILE[case]) == "INVALID_BACKUP"


def framed(*chunks: bytes, header: bytes | None = None) -> bytes:
    plain = packed(b"")
    body = plain[: plain.index(b"}\n") + 2] if header is None else b"lamina-backup 1\n" + header + b"\n"
    for number, chunk in enumerate(chunks, 1):
        body += struct.pack(">IB", len(chunk), number == len(chunks)) + chunk
    return body + hashlib.sha256(body).digest()


def test_a_chunk_that_grows_is_not_inflated() -> None:
    bomb = zlib.compress(bytes(8 * 1024 * 1024), 1)
    assert code_of(framed(bomb)) == "INVALID_BACKUP"
    assert code_of(framed(zlib.compress(b"short"), zlib.compress(b""))) == "INVALID_BACKUP"
    assert code_of(framed(zlib.compress(b"x") + b"y")) == "INVALID_BACKUP"
    assert code_of(framed(b"")) == "INVALID_BACKUP"
    assert code_of(framed()[:-32] + struct.pack(">IB", 2**32 - 1, 1)) == "INVALID_BACKUP"


@pytest.mark.parametrize(
    "change",
    [{"scrypt_log_n": 30}, {"scrypt_log_n": 0}, {"seal": "none"}, {"seal": "aes"}, {"key": "none"}, {"salt": ""},
     {"salt": "00"}, {"salt": "zz" * 32}, {"more": 1}],
)  # fmt: skip
def test_a_header_that_asks_for_too_much_or_contradicts_itself_is_refused(change: dict[str, object]) -> None:
    header = {
        "seal": "chacha20-poly1305",
        "key": "passphrase",
        "salt": "00" * 32,
        "scrypt_log_n": 15,
        **change,
    }
    asked = framed(b"", header=json.dumps(header, separators=(",", ":")).encode())
    assert code_of(asked, Passphrase("x")) == "INVALID_BACKUP"


def test_a_header_without_an_end_is_refused() -> None:
    assert code_of(b"lamina-backup 1\n" + b" " * 100_000) == "INVALID_BACKUP"
    assert code_of(b"lamina-backup 2\n{}") == "INVALID_BACKUP"
