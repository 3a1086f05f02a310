"""Whatever is changed in the file, the check names the row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from given import NOON, TENANT, audit_draft
from lamina.access.chain import check_chains
from lamina.cli.main import app
from lamina.kernel.audit import AuditDraft, Head, row_hash
from lamina.kernel.canonical import canonical
from lamina.kernel.ids import Prefix
from lamina.kernel.time import SECOND_US
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.digits import id_of

ROWS = 6
HEAD: list[Head] = []
COLUMNS = (*AuditDraft._fields, "number", "previous", "hash")


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    store = SqliteStore(folder)
    for number in range(1, ROWS + 1):
        detail = '{"subjects":["thread:launch"]}' if number % 2 else None
        at = NOON + number * SECOND_US
        kept = number // ROWS
        store.audit.note(audit_draft(str(number), at=at, token_jti=f"jti-{number}", detail=detail, gdpr=kept))
    store.audit.flush()
    HEAD[:] = store.audit.heads()
    store.close()
    return folder


@pytest.fixture(name="connection")
def _connection(folder: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(folder / "lamina.db"))
    yield connection
    connection.close()


def flipped(value: object, place: int, bit: int) -> object:
    """The value with one bit of one byte changed, in the type it had, what is empty filled; text may stop being text."""
    if value is None:
        return "x"
    if isinstance(value, int):
        return value ^ (1 << (place % 40))
    data = bytearray(value if isinstance(value, bytes) else str(value).encode()) or bytearray(b"x")
    data[place % len(data)] ^= 1 << bit
    return bytes(data)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    number=st.integers(1, ROWS),
    column=st.sampled_from(COLUMNS),
    place=st.integers(0, 200),
    bit=st.integers(0, 7),
)
def test_one_changed_byte_is_found_and_its_row_named(
    folder: Path, connection: apsw.Connection, number: int, column: str, place: int, bit: int
) -> None:
    (before,) = next(connection.execute(f"SELECT {column} FROM audit WHERE number = ?", (number,)))
    after = flipped(before, place, bit)
    cast = "CAST(? AS TEXT)" if isinstance(before, str) else "?"
    connection.execute("BEGIN")
    try:
        connection.execute(f"UPDATE audit SET {column} = {cast} WHERE number = ?", (after, number))
    except apsw.ConstraintError:
        connection.execute("ROLLBACK")
        return  # the file itself refuses two rows of one number
    connection.execute("COMMIT")
    try:
        store = SqliteStore(folder)
        found = [checked.broken for checked in check_chains(store.audit, {TENANT: HEAD[0]})]
        store.close()
        named = [broken.number for broken in found if broken is not None]
        assert number in named, f"{column} of row {number} was changed unseen"
    finally:
        there = after if column == "number" else number
        connection.execute(f"UPDATE audit SET {column} = ? WHERE number = ?", (before, there))


def test_the_hash_is_over_canonical_json() -> None:
    draft = audit_draft('é \u2028 \x7f \x1f " \\ 🍵', path="/v1/\t\n\b", user_agent="ü" * 3)
    columns = (*draft, 7, "sha256:0")
    named = dict(zip((*AuditDraft._fields, "number", "previous"), columns, strict=True))
    del named["detail"]  # what is not noted is no part of the hash: rows from before there was a detail hold
    assert row_hash(columns) == f"sha256:{hashlib.sha256(canonical(named)).hexdigest()}"
    columns = (*draft._replace(detail='{"subjects":["é"]}'), 7, "sha256:0")
    named["detail"] = '{"subjects":["é"]}'
    assert row_hash(columns) == f"sha256:{hashlib.sha256(canonical(named)).hexdigest()}"


def test_the_command_line_checks_and_names(folder: Path, connection: apsw.Connection, tmp_path: Path) -> None:
    run = CliRunner()
    data = ["--data", str(folder)]
    head = run.invoke(app, ["audit", "head", *data])
    assert json.loads(head.output)["number"] == ROWS
    kept = tmp_path / "head.jsonl"
    kept.write_text(head.output)
    sound = run.invoke(app, ["audit", "verify", *data, "--head", str(kept)])
    assert (sound.exit_code, sound.output) == (0, f"{TENANT}: {ROWS} rows hold\n")

    (actor, row_id) = next(connection.execute("SELECT actor, id FROM audit WHERE number = 3"))
    connection.execute("UPDATE audit SET actor = 'user:mallory' WHERE number = 3")
    found = run.invoke(app, ["audit", "verify", *data])
    connection.execute("UPDATE audit SET actor = ? WHERE number = 3", (actor,))
    assert found.exit_code == 1
    assert f"BROKEN at row 3 ({id_of(row_id, Prefix.AUDIT)})" in found.output


@pytest.mark.parametrize("kept", ["nowhere.jsonl", ".", "binary", "words"])
def test_a_head_that_cannot_be_read_is_not_taken_for_an_altered_row(
    folder: Path, tmp_path: Path, kept: str
) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "words").write_text("my head")
    asked = ["audit", "verify", "--data", str(folder), "--head", str(tmp_path / kept)]
    refused = CliRunner().invoke(app, asked)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"lamina: INVALID_HEAD: {tmp_path / kept}")
