"""Databases of the embedded engine as its steps make them: all of them, or those until one."""

from __future__ import annotations

import apsw

from lamina.store.sqlite.migrate import migrate, migrations

__all__ = ["migrated", "with_steps"]


def with_steps(connection: apsw.Connection, until: str) -> apsw.Connection:
    """A database as it was before a step, which ``migrate`` takes next."""
    connection.execute(
        "CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)"
    )
    for step in migrations():
        if step.name >= until:
            break
        connection.execute(step.sql)
        connection.execute("INSERT INTO migration VALUES (?, ?, ?)", (step.number, step.name, step.checksum))
    return connection


def migrated() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    migrate(connection)
    return connection
