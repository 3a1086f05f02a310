"""Looking after the database file."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TypedDict

import apsw

from lamina.errors import Fault, Unavailable
from lamina.kernel.time import Instant
from lamina.observe.rounds import Failures
from lamina.store.blocks import load_blocks
from lamina.store.documents.checking import torn_packs
from lamina.store.documents.repository import folder_name, repositories_aside
from lamina.store.ports.tombstones import ListedErasure
from lamina.store.ports.upkeep import Backlog, Compaction, Integrity, StoreState
from lamina.store.ports.writes import FOLD
from lamina.store.sqlite.codec import ALL_STAGES
from lamina.store.sqlite.connection import Readers, Writer, open_connection, translated
from lamina.store.sqlite.index import divide_some
from lamina.store.sqlite.records import pack_some
from lamina.store.sqlite.worker_lock import worker_lives
from lamina.store.sqlite.write_queue import unavailable

__all__ = [
    "LAST_BACKUP",
    "REPOSITORIES",
    "FailedBehind",
    "SqliteUpkeep",
    "backed_up_at_of",
    "checked_of",
    "database_faults",
    "failed_behind_of",
    "failing_of",
    "heads_of",
    "last_recorded_of",
    "undone_of",
]

_SQL = load_blocks("lamina.store.sqlite")
_LOOK_AGAIN_S = 15.0
_WORKER_FAILING = "worker.failing"
_CHECKED = "checked.json"
_FAULTS_TOLD = 8
REPOSITORIES = "relay"
LAST_BACKUP = "backup.json"


class SqliteUpkeep:
    """``Upkeep`` of a folder."""

    def __init__(
        self,
        path: Path,
        writer: Writer,
        readers: Readers,
        failures: Failures,
        behind: Callable[[], int],
        rebuild: Callable[[Collection[str]], None],
    ) -> None:
        """``behind`` counts the repositories that lack something of their rows, ``rebuild`` has those of tenants built anew."""
        self._rebuild = rebuild
        self._path = path
        self._failures = failures
        self._writer = writer
        self._readers = readers
        self._behind = behind

    def probe(self) -> None:
        """Mirrors ``Upkeep.probe``: a number in the file's header, which nothing else uses, is turned over."""
        # A file that was taken away is written without an error, and lost; of one that may not be looked at nobody knows.
        if not os.path.exists(self._path):
            raise Unavailable(
                "WAL_UNAVAILABLE",
                "the log cannot be reached: the data folder went away",
                hint="bring the folder back, or start the server with another",
            )

        def work(connection: apsw.Connection) -> None:
            for (number,) in connection.execute("PRAGMA user_version").fetchall():
                connection.execute(f"PRAGMA user_version = {0 if number else 1}")

        self._writer.write(work)

    def check(self, now: Instant) -> Integrity:
        """Mirrors ``Upkeep.check``. Git objects are read as packs with their checksums, which cover every byte."""
        folder = self._path.parent / REPOSITORIES
        damaged = [
            tenant_id for tenant_id in self._documented() if torn_packs(folder / folder_name(tenant_id))
        ]
        if damaged:
            with contextlib.suppress(Unavailable):  # whoever else writes the documents checks them, too
                self._rebuild(damaged)
        names = tuple(folder_name(tenant_id) for tenant_id in damaged)
        checked = Integrity(now, tuple(database_faults(self._path)), names)
        fresh = (self._path.parent / _CHECKED).with_suffix(".new")
        fresh.write_text(json.dumps(asdict(checked)))
        fresh.replace(self._path.parent / _CHECKED)
        return checked

    def _documented(self) -> list[str]:
        return [row[0] for row in self._readers.rows(_SQL["document_tenants"])]

    def refuses(self) -> bool:
        """Mirrors ``Upkeep.refuses``. Without the second look nobody would write again where health decides who is asked."""
        refused_at = self._writer.refused_at
        if refused_at is None or time.monotonic() - refused_at < _LOOK_AGAIN_S:
            return refused_at is not None
        try:
            self.probe()
        except Unavailable:
            return True
        return False

    def state(self) -> StoreState:
        """Mirrors ``Upkeep.state``."""
        row = self._readers.row(_SQL["oldest_pending"], (ALL_STAGES,))
        assert row is not None, "an aggregate is always a row"
        return StoreState(
            engine="sqlite",
            version=apsw.sqlite_lib_version(),
            oldest_pending_at=row[0],
            worker_alive=_worker_lives(self._path.parent),
            disk_free_bytes=_free_bytes(self._path.parent),
            last_recorded_at=_last_recorded(self._readers),
            checked=checked_of(self._path.parent),
            backed_up_at=backed_up_at_of(self._path.parent),
            failing={**failing_of(self._path.parent), **self._failures.standing()},
            repositories_behind=self._behind(),
            repositories_aside=_aside(self._path.parent / REPOSITORIES),
            **_failed_behind(self._readers),
            **_waiting(self._readers),
        )

    def note_failing(self, parts: Mapping[str, str]) -> None:
        """Mirrors ``Upkeep.note_failing``: in a file, for it is to be told also when the database cannot be written."""
        path = self._path.parent / _WORKER_FAILING
        if not parts:
            path.unlink(missing_ok=True)
            return
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(dict(parts)))
        fresh.replace(path)

    def backlog(self, tenant_id: str, up_to: int | None = None) -> Backlog:
        """Mirrors ``Upkeep.backlog``."""
        row = self._readers.row(_SQL["backlog_of_tenant"], (tenant_id, up_to))
        assert row is not None, "an aggregate is always a row"
        return Backlog(*row)

    def compact(self) -> Compaction:
        """Mirrors ``Upkeep.compact``."""
        while self._writer.write(pack_some):
            pass
        divided: int | None = 0
        while divided is not None:
            divided = divide_some(self._readers, self._writer, divided)
        with translated(), contextlib.closing(open_connection(self._path, durable=False)) as connection:
            # Passive: readers and the writer go on, and what they still hold is left for another time.
            busy, logged, moved = next(connection.execute("PRAGMA wal_checkpoint(passive)"))
        # Busy where somebody else moves them: then both numbers are -1.
        return Compaction(max(0, moved), complete=not busy and logged == moved, index_merges=0)


def database_faults(path: Path) -> list[str]:
    """What SQLite says of damage in a file, a page's worth of it; nothing where it is whole.

    Each table is read with its indexes' structure, 0.3 s for 100 MB, and references between rows are followed. Raises
    ``Unavailable`` (WAL_UNAVAILABLE) where it may not be opened, which says nothing of its bytes.
    """
    try:
        with contextlib.closing(open_connection(path, durable=False, read_only=True)) as connection:
            told = [str(row[0]) for row in connection.execute(f"PRAGMA quick_check({_FAULTS_TOLD})")]
            broken = [str(row[0]) for row in connection.execute("PRAGMA foreign_key_check")]
            zeroed = _zeroed(connection)
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        raise unavailable(type(error).__name__) from error
    except apsw.Error as error:
        return [f"it cannot be read ({type(error).__name__})"]
    found = [] if told == ["ok"] else told
    found += [f"rows of {table} refer to what is not there" for table in dict.fromkeys(broken)]
    return found + ([f"events without the end of their words: {zeroed}"] if zeroed else [])


def _zeroed(connection: apsw.Connection) -> int:
    if not connection.table_exists("main", "event"):
        return 0
    return int(next(connection.execute(_SQL["count_zeroed_events"]))[0])


def checked_of(folder: Path) -> Integrity | None:
    """What the last check behind a server saw; None where there was none, or the file is none of ours."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        told = json.loads((folder / _CHECKED).read_text())
        return Integrity(
            int(told["checked_at"]), tuple(map(str, told["database"])), tuple(map(str, told["repositories"]))
        )
    return None


def backed_up_at_of(folder: Path) -> Instant | None:
    """The moment of the newest backup of a folder; None before the first, or where the note of it is none of ours."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        return int(json.loads((folder / LAST_BACKUP).read_text())["made_at"])
    return None


def last_recorded_of(path: Path) -> Instant | None:
    """When the newest event of any tenant in a database file was recorded."""
    readers = Readers(path)
    try:
        return _last_recorded(readers)
    finally:
        readers.close()


def undone_of(path: Path, listed: Iterable[ListedErasure]) -> list[ListedErasure]:
    """What of a list of erasures a database file has not gone through: one of a whole memory that it does not know, though it has an event
    from before, or events of a part that have their words."""
    readers = Readers(path)

    def is_undone(each: ListedErasure) -> bool:
        if each.cascade == "redact_events":
            return readers.row(_SQL["any_worded"], (each.tenant_id, json.dumps(each.events))) is not None
        if each.cascade != "gdpr" or each.cancelled:
            return False
        first = readers.row(_SQL["first_recorded"], (each.tenant_id,))
        known = readers.row(_SQL["find_erasure"], (each.tenant_id, each.id))
        return first is not None and first[0] <= each.at and known is None

    try:
        return [each for each in listed if is_undone(each)]
    finally:
        readers.close()


def heads_of(path: Path) -> dict[str, str]:
    """Tenants with documents in a database file, each with the hash of its newest commit that has one."""
    readers = Readers(path)
    try:
        tenants = [row[0] for row in readers.rows(_SQL["document_tenants"])]
        rows = {tenant_id: readers.row(_SQL["head_commit"], (tenant_id,)) for tenant_id in tenants}
        return {tenant_id: str(row[1]) for tenant_id, row in rows.items() if row is not None}
    finally:
        readers.close()


def _last_recorded(readers: Readers) -> Instant | None:
    row = readers.row(_SQL["newest_recorded"])
    return None if row is None else row[0]


def _worker_lives(folder: Path) -> bool:
    try:
        return worker_lives(folder)
    except OSError:
        return False  # nobody else may look, either


def _aside(folder: Path) -> int:
    try:
        return len(repositories_aside(folder))
    except OSError:
        return 0  # nobody may look, which is told


def _free_bytes(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None  # it went away, which is told


class FailedBehind(TypedDict):
    """What failed for good behind the calls of sessions, of every tenant."""

    outbox_failed: int
    inquiries_failed: int


def failed_behind_of(path: Path) -> FailedBehind:
    """How much that is in a database file, only read; nothing where an older version wrote it and had no such rows."""
    readers = Readers(path)
    try:
        return _failed_behind(readers)
    except Fault:
        return FailedBehind(outbox_failed=0, inquiries_failed=0)
    finally:
        readers.close()


def _failed_behind(readers: Readers) -> FailedBehind:
    (outbox,) = readers.row(_SQL["count_failed_outbox"]) or (0,)
    (inquiries,) = readers.row(_SQL["count_failed_inquiries"]) or (0,)
    return FailedBehind(outbox_failed=outbox, inquiries_failed=inquiries)


class SummariesWaiting(TypedDict):
    """Folded turns that wait for a language model's words, of every tenant, and since when."""

    summaries_waiting: int
    summaries_waiting_since: int | None


def _waiting(readers: Readers) -> SummariesWaiting:
    count, since = readers.row(_SQL["summaries_waiting"], (FOLD,)) or (0, None)
    return SummariesWaiting(summaries_waiting=count, summaries_waiting_since=since)


def failing_of(folder: Path) -> dict[str, str]:
    """What a worker says that fails; nothing where the file is none of ours."""
    with contextlib.suppress(OSError, ValueError):
        told = json.loads((folder / _WORKER_FAILING).read_text())
        if isinstance(told, dict):
            return {str(part): str(error) for part, error in told.items()}
    return {}
