"""Opening a store, and what the command line asks of its place: the one module outside the engines that names one."""

from __future__ import annotations

from lamina.kernel.time import Clock
from lamina.observe.rounds import Failures
from lamina.settings import Settings
from lamina.store.ports.store import Store
from lamina.store.sqlite import (
    SqliteStore,
    alone,
    backlog_of,
    database_faults,
    failed_behind_of,
    failing_of,
    heads_of,
    last_recorded_of,
    left_without_database,
    make_folder,
    rederivation_of,
    require_no_worker,
    require_store,
    usable,
    worker_lives,
)
from lamina.store.sqlite.backup import Backup, BackupRequest, back_up
from lamina.store.sqlite.restore import RestoredFolder, restore, verify
from lamina.store.sqlite.upkeep import REPOSITORIES, backed_up_at_of, undone_of

__all__ = [
    "REPOSITORIES",
    "Backup",
    "BackupRequest",
    "RestoredFolder",
    "alone",
    "back_up",
    "backed_up_at_of",
    "backlog_of",
    "database_faults",
    "failed_behind_of",
    "failing_of",
    "heads_of",
    "last_recorded_of",
    "left_without_database",
    "make_folder",
    "open_store",
    "rederivation_of",
    "require_no_worker",
    "require_store",
    "restore",
    "undone_of",
    "usable",
    "verify",
    "worker_lives",
]


def open_store(
    settings: Settings,
    *,
    clock: Clock | None = None,
    durable: bool = True,
    shared: bool = False,
    failures: Failures | None = None,
) -> Store:
    """The store that the settings name, made where it is missing; close it.

    ``durable=False`` is for workers: what a crash takes of theirs is derived again. ``shared`` is for one of several
    processes that serve the same store, ``failures`` what of the engine fails just now. Raises ``Unavailable`` (CANNOT_OPEN_STORE).
    """
    return SqliteStore(settings.data, clock=clock, durable=durable, shared=shared, failures=failures)
