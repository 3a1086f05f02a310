"""The embedded store: one file, one writer, many readers."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw

from lamina.errors import Conflict, NotFound, Unavailable
from lamina.kernel.ids import IdSource, RandomIds
from lamina.kernel.time import Clock, SystemClock
from lamina.observe.rounds import Failures
from lamina.store.bodies import texts_of
from lamina.store.documents.projector import Projector
from lamina.store.documents.shared import SharedProjector
from lamina.store.ports.projecting import Projecting
from lamina.store.rows import BODY, with_body
from lamina.store.sqlite.audit import AuditRiders, SqliteAudit, SqlitePeppers
from lamina.store.sqlite.bells import Bells
from lamina.store.sqlite.changes import SqliteChanges
from lamina.store.sqlite.checkpoints import Checkpoints
from lamina.store.sqlite.citations import SqliteCitations
from lamina.store.sqlite.connection import Readers, Writer, open_connection
from lamina.store.sqlite.definitions import SqliteDefinitions
from lamina.store.sqlite.documents import DocumentRows, SqliteDocuments
from lamina.store.sqlite.erasing import SqliteErasing
from lamina.store.sqlite.erasures import SqliteErasures
from lamina.store.sqlite.expiries import SqliteExpiries
from lamina.store.sqlite.index import SqliteIndexRows
from lamina.store.sqlite.inquiries import SqliteInquiries
from lamina.store.sqlite.job_runs import SqliteJobRuns
from lamina.store.sqlite.jobs import SqliteJobs
from lamina.store.sqlite.keys import SqliteIdempotency
from lamina.store.sqlite.lifecycle import LifecycleWriter, SqliteLifecycle
from lamina.store.sqlite.locks import SharedLocks
from lamina.store.sqlite.log import SqliteLog, SqliteScopes
from lamina.store.sqlite.messages import SqliteMessages
from lamina.store.sqlite.migrate import migrate, migrations, schema_number_of
from lamina.store.sqlite.model_outputs import SqliteModelOutputs
from lamina.store.sqlite.packs import SqlitePacks
from lamina.store.sqlite.records import SqliteRecords
from lamina.store.sqlite.rederivation import SqliteRederivation
from lamina.store.sqlite.registry import SqliteRegistry
from lamina.store.sqlite.relay_tokens import SqliteRelayTokens
from lamina.store.sqlite.revocations import SqliteRevocations
from lamina.store.sqlite.schedule import SqliteSchedule
from lamina.store.sqlite.sessions import SqliteSessions
from lamina.store.sqlite.signing_keys import SqliteSealedKeys
from lamina.store.sqlite.traces import SqliteTraces
from lamina.store.sqlite.upkeep import REPOSITORIES, SqliteUpkeep

__all__ = ["SqliteStore", "left_without_database", "make_folder", "require_store"]

FILE_NAME = "lamina.db"
LOCKS = "locks"
BELLS = "bells"
RESTORING = "restoring"
_HANDOVER_S: Final = 10.0
_LOOK_S: Final = 0.1
_DERIVED = {
    "record": "SELECT * FROM record ORDER BY tenant_id, id, version",
    "support": "SELECT * FROM support ORDER BY tenant_id, record_id, source_id, relation",
    "entity": "SELECT * FROM entity ORDER BY tenant_id, id",
    "mention": "SELECT * FROM mention ORDER BY tenant_id, entity_id, scope, event_id, surface",
    "text_row": """
        SELECT tenant_id, record_id, layer, scope, recorded_at, observed_at, session, speaker, role, characters,
               question_share, self_share, terms, keys, wants_vector, quarantined, days, excluded
        FROM text ORDER BY tenant_id, record_id""",
    "vector_row": "SELECT tenant_id, record_id, scope, model FROM vector ORDER BY tenant_id, record_id, model",
}


def make_folder(folder: Path) -> None:
    """The folder of a store, there from now on; raises ``Unavailable`` (CANNOT_OPEN_STORE)."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise _cannot_open(folder, error.strerror or str(error)) from error


def require_store(folder: Path) -> None:
    """Nothing, or ``NotFound`` (STORE_NOT_FOUND) where a folder holds no database: nothing is made there."""
    try:
        missing = not folder.is_file() and not (folder / FILE_NAME).exists()
    except OSError as error:
        raise _cannot_open(folder, error.strerror or str(error)) from error
    if missing:
        raise NotFound(
            "STORE_NOT_FOUND",
            f"{folder.absolute()} holds no memory",
            hint="--data or LAMINA_DATA names the folder that lamina serve keeps; lamina serve makes a new one",
        )


def _require_restored(folder: Path) -> None:
    """Nothing, or ``Unavailable`` (CANNOT_OPEN_STORE) where a restore goes on or was ended: no new memory begins there."""
    aside = folder / RESTORING
    if not aside.exists():
        return
    if not (folder / FILE_NAME).exists():
        raise Unavailable(
            "CANNOT_OPEN_STORE",
            f"a backup is being restored into {folder}, or was until that was interrupted",
            hint="run lamina restore again",
        )
    shutil.rmtree(aside, ignore_errors=True)


def left_without_database(folder: Path) -> Path | None:
    """What of a memory lies in a folder whose database is gone or empty: a write-ahead file, which SQLite would delete, or repositories of
    documents, which the first write would begin anew; None where all is well."""
    path = folder / FILE_NAME
    log = path.with_name(f"{FILE_NAME}-wal")
    # Both are looked for first: another process that begins a memory makes its database before them.
    logged = log.exists() and log.stat().st_size > 0
    repositories = any((folder / REPOSITORIES).glob("*.git"))
    empty = not path.exists() or path.stat().st_size == 0
    if logged and empty:
        return log
    if repositories and (empty or _is_without_tables(path)):
        return folder / REPOSITORIES
    return None


def _is_without_tables(path: Path) -> bool:
    try:
        return _schema_number(path) == 0
    except apsw.Error:
        return False  # a damaged one is another matter


def _require_database(folder: Path) -> None:
    """Nothing, or ``Unavailable`` (CANNOT_OPEN_STORE) where a new memory would take the place of what is left of one."""
    if (left := left_without_database(folder)) is not None:
        raise Unavailable(
            "CANNOT_OPEN_STORE",
            f"{folder / FILE_NAME} is gone or empty, and {left} of a memory is there",
            hint="put the database back, or restore a backup into another folder; what is moved away is in nobody's way",
        )


def _schema_number(path: Path) -> int:
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        # Somebody else may just look whether they are alone.
        connection.set_busy_timeout(int(_HANDOVER_S * 1000))
        return schema_number_of(connection)


def _opened(path: Path, *, durable: bool) -> apsw.Connection:
    try:
        _require_database(path.parent)
        # Before SQLite does: the write-ahead files beside it take its mode when they are made.
        path.touch(mode=0o600)
        path.chmod(0o600)
        _require_current_or_alone(path)
        connection = open_connection(path, durable=durable)
        migrate(connection)
    except OSError as error:
        raise _cannot_open(path, error.strerror or str(error)) from error
    except apsw.Error as error:
        raise _cannot_open(path, str(error)) from error
    return connection


def _require_current_or_alone(path: Path) -> None:
    """Nothing, or ``Conflict`` (FOLDER_IN_USE) where a database is to get another shape while somebody has it open: statements of an
    older release would fail from then on. Who stops just now has ten seconds."""
    until = time.monotonic() + _HANDOVER_S
    while _is_of_before(path) and not _is_alone(path):
        if time.monotonic() > until:
            raise Conflict(
                "FOLDER_IN_USE",
                f"{path.parent} is to be brought to the shape of this release, and another process uses it",
                hint="stop the lamina serve or lamina worker of the older release first",
            )
        time.sleep(_LOOK_S)


def _is_of_before(path: Path) -> bool:
    return 0 < _schema_number(path) < migrations()[-1].number


def _is_alone(path: Path) -> bool:
    """Whether nobody has a database open, in any process: an exclusive lock can be had, which ends with this look."""
    with contextlib.closing(apsw.Connection(str(path))) as probe:
        probe.execute("PRAGMA locking_mode = exclusive")
        try:
            probe.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except apsw.BusyError:
            return False
    return True


def _cannot_open(path: Path, reason: str) -> Unavailable:
    return Unavailable(
        "CANNOT_OPEN_STORE",
        f"{path} cannot be used: {reason}",
        hint="name with --data a folder that you may write to; one without a memory gets a new one",
    )


class SqliteStore:
    """``Store`` in a folder. ``durable=False`` is for workers: what a crash takes is derived again."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        durable: bool = True,
        shared: bool = False,
        failures: Failures | None = None,
    ) -> None:
        """``shared`` is for one of several processes that all write documents: one of them makes the commits of all."""
        make_folder(folder)
        _require_restored(folder)
        path = folder / FILE_NAME
        clock, ids = clock or SystemClock(), ids or RandomIds()
        connection = _opened(path, durable=durable)
        riders = AuditRiders()
        failures = failures or Failures()
        self._bells = Bells(folder / BELLS)
        self._checkpoints = Checkpoints(path, connection, failures)
        self._writer = Writer(connection, riders, failures, committed=self._committed)
        self._readers = Readers(path)
        self.changes = SqliteChanges(self._bells, self._readers)
        lifecycle = LifecycleWriter(clock)
        self.log = SqliteLog(self._writer, self._readers, clock, ids, lifecycle)
        self.expiries = SqliteExpiries(self._writer, self._readers, clock, self.log, lifecycle)
        self.idempotency = SqliteIdempotency(self._writer, self._readers, SharedLocks(folder / LOCKS))
        self.jobs = SqliteJobs(self._writer, self._readers, lifecycle, riders)
        self.records = SqliteRecords(self._readers)
        self.index = SqliteIndexRows(self._writer, self._readers)
        self.lifecycle = SqliteLifecycle(self._readers)
        self.scopes = SqliteScopes(self._readers)
        self.registry = SqliteRegistry(self._writer, self._readers, self.log)
        self.audit = SqliteAudit(self._writer, self._readers, riders)
        self.peppers = SqlitePeppers(self._writer, self._readers)
        document_rows = DocumentRows(self._writer, self._readers)
        projector = Projector(
            folder / REPOSITORIES, document_rows, failures, durable=durable, notes_first=shared
        )
        self._projector: Projecting = (
            SharedProjector(folder / REPOSITORIES, document_rows, projector) if shared else projector
        )
        self.upkeep = SqliteUpkeep(
            path, self._writer, self._readers, failures, self._projector.behind, self._projector.rebuild
        )
        self.documents = SqliteDocuments(
            self._writer, self._readers, clock, self.log, document_rows, self._projector
        )
        self.relay_tokens = SqliteRelayTokens(self._writer, self._readers)
        self.job_runs = SqliteJobRuns(self._writer, self._readers)
        self.signing_keys = SqliteSealedKeys(self._writer, self._readers)
        self.messages = SqliteMessages(self._writer, self._readers)
        self.revocations = SqliteRevocations(self._writer, self._readers)
        self.definitions = SqliteDefinitions(self._writer, self._readers, self.log)
        self.schedule = SqliteSchedule(self._writer, self._readers)
        self.sessions = SqliteSessions(self._writer, self._readers, self.log)
        self.model_outputs = SqliteModelOutputs(self._writer, self._readers)
        self.packs = SqlitePacks(self._writer, self._readers)
        self.inquiries = SqliteInquiries(self._writer, self._readers, self.log)
        self.citations = SqliteCitations(self._readers)
        self.erasures = SqliteErasures(self._writer, self._readers, lifecycle, riders)
        self.traces = SqliteTraces(path, self._writer, self._readers, self._projector, clock)
        self.erasing = SqliteErasing(
            self._writer, self._readers, clock, ids, self.log, lifecycle, self._checkpoints.sooner
        )
        self.rederivation = SqliteRederivation(
            path,
            self._writer,
            self._readers,
            lifecycle,
            lambda aside: SqliteStore(aside, clock=clock, durable=False),
        )

    def snapshot(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Mirrors ``Store.snapshot``. Vectors count by presence: their last bits depend on the processor."""
        for table, sql in _DERIVED.items():
            rows = self._readers.rows(sql)
            if table == "record":
                texts = texts_of({row[:3]: row[BODY] for row in rows})
                rows = [with_body(row, texts[row[:3]]) for row in rows]
            for row in rows:
                yield table, row

    def _committed(self) -> None:
        self._bells.ring()
        self._checkpoints.press()

    def close(self) -> None:
        """Mirrors ``Store.close``."""
        self._projector.close()
        self._writer.finish()
        self._checkpoints.close()
        # SQLite moves the write-ahead file into the database as the last connection closes, unless that only reads.
        self._readers.close()
        self._writer.close()
        self._bells.close()
