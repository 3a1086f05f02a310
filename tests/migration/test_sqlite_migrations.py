"""The embedded engine's schema: one shape by both ways, and no database opened that is not understood."""

from __future__ import annotations

import re
import stat
from importlib.resources import files
from pathlib import Path

import apsw
import pytest

from given import TENANT, append
from lamina.errors import Conflict, Fault
from lamina.store.sqlite import SqliteStore, engine
from lamina.store.sqlite.migrate import migrate, migrations, schema_number_of
from migrated import migrated, with_steps

SCHEMA = files("lamina.store.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def normalised(sql: str | None) -> str:
    without_comments = re.sub(r"--[^\n]*", " ", sql or "")
    return re.sub(r"\s+", " ", without_comments).strip()


def shape(connection: apsw.Connection) -> dict[str, object]:
    found: dict[str, object] = {}
    for kind, name, sql in connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE name <> 'migration'"
    ):
        found[f"{kind} {name}"] = normalised(sql)
        if kind == "table":
            columns = connection.execute("SELECT * FROM pragma_table_info(?)", (name,))
            found[f"columns of {name}"] = list(columns)
    return found


def test_the_schema_and_the_migrations_build_the_same_shape() -> None:
    fresh = apsw.Connection(":memory:")
    fresh.execute(SCHEMA)
    assert shape(migrated()) == shape(fresh)
    assert len(shape(fresh)) > 20


def test_steps_are_numbered_from_one_without_gaps() -> None:
    steps = migrations()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z0-9_]+\.sql", step.name) for step in steps)


def test_migrating_again_takes_no_step() -> None:
    connection = migrated()
    before = shape(connection)
    assert migrate(connection) == []
    assert shape(connection) == before


def test_a_store_opened_again_holds_what_it_held(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path)
    events = append(first, "a", "b")
    first.close()
    again = SqliteStore(tmp_path)
    assert again.log.walk(TENANT, 0, 10) == events
    assert append(again, "c")[0].position == 3
    again.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("INSERT INTO migration VALUES (9999, '9999_later.sql', 'sha256:0')", "newer Lamina"),
        ("UPDATE migration SET checksum = 'sha256:0' WHERE number = 1", "differs"),
    ],
    ids=["newer", "edited"],
)
def test_a_database_that_is_not_understood_is_refused_untouched(change: str, reason: str) -> None:
    connection = migrated()
    connection.execute(change)
    before = connection.serialize("main")
    with pytest.raises(Fault, match=reason) as caught:
        migrate(connection)
    assert caught.value.code == "MIGRATION_REFUSED"
    assert connection.serialize("main") == before
    assert not connection.in_transaction


def test_a_step_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.store.sqlite import migrate as module

    broken = module.Migration(2, "0002_broken.sql", "CREATE TABLE half (n); SELECT no_such_function();")
    monkeypatch.setattr(module, "migrations", lambda: [*migrations(), broken])
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.SQLError):
        migrate(connection)
    assert list(connection.execute("SELECT name FROM sqlite_schema WHERE name IN ('half', 'event')")) == []
    assert list(connection.execute("SELECT * FROM migration")) == []


def test_the_shape_does_not_change_under_somebody_who_has_the_database_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_HANDOVER_S", 0.0)
    older = with_steps(apsw.Connection(str(tmp_path / "lamina.db")), "0047")
    older.execute("PRAGMA journal_mode = wal")
    assert schema_number_of(older) == 46
    with pytest.raises(Conflict) as refused:
        SqliteStore(tmp_path)
    assert refused.value.code == "FOLDER_IN_USE"
    assert schema_number_of(older) == 46
    older.close()
    SqliteStore(tmp_path).close()
    todays = SqliteStore(tmp_path)
    SqliteStore(tmp_path).close()  # beside others where the shape is today's
    todays.close()


def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = SqliteStore(tmp_path)
    append(store, "a")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}
    store.close()
