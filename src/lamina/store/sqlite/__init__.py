"""The embedded engine: SQLite through apsw, write-ahead log, one writer with group commit."""

from lamina.store.sqlite.engine import SqliteStore

__all__ = ["SqliteStore"]
