"""New databases of the embedded engine, copied from one that took its steps once in this process.

The steps take 20 ms and the first write-ahead file waits for the disk; thousands of tests begin with an empty store. How a database
comes to its shape is told by ``migration/``, and by every test that starts a server as a process of its own.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import apsw

from lamina.store.sqlite import engine
from lamina.store.sqlite.connection import open_connection
from lamina.store.sqlite.migrate import migrate

__all__ = ["share"]


def share() -> None:
    """Let every store of this process begin with the copy, and wait for no disk unless it is to be durable."""
    engine.open_connection = _opened


def _opened(path: Path, *, durable: bool) -> apsw.Connection:
    """Mirrors ``open_connection``: an empty file is made one that has every step."""
    if path.stat().st_size == 0:
        path.write_bytes(_finished())
    connection = open_connection(path, durable=durable)
    if not durable:
        connection.execute("PRAGMA synchronous = off")
    return connection


@functools.cache
def _finished() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.db")
        connection = open_connection(path, durable=False)
        migrate(connection)
        connection.close()
        return path.read_bytes()
