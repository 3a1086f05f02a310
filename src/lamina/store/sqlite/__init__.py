"""The embedded engine: SQLite through apsw, write-ahead log, one writer with group commit."""

from lamina.store.sqlite.engine import SqliteStore, left_without_database, make_folder, require_store
from lamina.store.sqlite.jobs import backlog_of
from lamina.store.sqlite.rederivation import rederivation_of
from lamina.store.sqlite.upkeep import (
    checked_of,
    database_faults,
    failed_behind_of,
    failing_of,
    heads_of,
    last_recorded_of,
)
from lamina.store.sqlite.worker_lock import alone, require_no_worker, usable, worker_lives

__all__ = [
    "SqliteStore",
    "alone",
    "backlog_of",
    "checked_of",
    "database_faults",
    "failed_behind_of",
    "failing_of",
    "heads_of",
    "last_recorded_of",
    "left_without_database",
    "make_folder",
    "rederivation_of",
    "require_no_worker",
    "require_store",
    "usable",
    "worker_lives",
]
