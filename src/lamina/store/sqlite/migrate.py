"""Migrations: numbered files, each with its record in one transaction, checksummed, never edited after release."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import apsw

from lamina.errors import Fault

__all__ = ["Migration", "migrate", "migrations", "schema_number_of"]

_LEDGER = """
CREATE TABLE IF NOT EXISTS migration (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: its number, its file's name, its SQL and the SQL's checksum."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """``sha256:<hex>`` of the SQL."""
        return f"sha256:{hashlib.sha256(self.sql.encode()).hexdigest()}"


@cache
def migrations() -> tuple[Migration, ...]:
    """Every step, in order; read once."""
    folder = files("lamina.store.sqlite").joinpath("migrations")
    steps = [
        Migration(int(path.name.split("_", 1)[0]), path.name, path.read_text(encoding="utf-8"))
        for path in folder.iterdir()
        if path.name.endswith(".sql")
    ]
    return tuple(sorted(steps, key=lambda step: step.number))


def schema_number_of(connection: apsw.Connection) -> int:
    """The newest step that a database has, which is not touched; 0 where it has none."""
    if not connection.table_exists("main", "migration"):
        return 0
    return int(next(connection.execute("SELECT coalesce(max(number), 0) FROM migration"))[0])


def migrate(connection: apsw.Connection) -> list[Migration]:
    """Bring a database to today's shape; returns the steps taken.

    Refuses, without touching it, a database that a newer Lamina has written or whose steps were edited.
    """
    with connection:
        connection.execute(_LEDGER)
    known = {step.number: step for step in migrations()}
    taken: list[Migration] = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = {
            number: (name, checksum)
            for number, name, checksum in connection.execute("SELECT * FROM migration")
        }
        for number, (name, checksum) in done.items():
            if number not in known:
                raise _refused(f"it has step {name}, which this version does not know; use a newer Lamina")
            if known[number].checksum != checksum:
                raise _refused(f"step {name} differs from the one it was made with")
        for number, step in known.items():
            if number not in done:
                connection.execute(step.sql)
                connection.execute(
                    "INSERT INTO migration (number, name, checksum) VALUES (?, ?, ?)",
                    (number, step.name, step.checksum),
                )
                taken.append(step)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    if not done:
        connection.execute("PRAGMA incremental_vacuum").fetchall()  # what only steps on the way had
    return taken


def _refused(reason: str) -> Fault:
    return Fault("MIGRATION_REFUSED", f"the database cannot be opened: {reason}")
