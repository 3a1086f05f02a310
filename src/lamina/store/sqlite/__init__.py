"""The embedded engine: SQLite through apsw, write-ahead log, one writer with group commit."""

from lamina.store.sqlite.engine import SqliteStore, make_folder, require_store
from lamina.store.sqlite.jobs import backlog_of
from lamina.store.sqlite.upkeep import failed_behind_of, failing_of

__all__ = ["SqliteStore", "backlog_of", "failed_behind_of", "failing_of", "make_folder", "require_store"]
