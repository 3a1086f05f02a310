"""Looking after the database file."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import apsw

from lamina import limits
from lamina.observe.rounds import Failures
from lamina.store.blocks import load_blocks
from lamina.store.ports.upkeep import Backlog, Compaction, StoreState
from lamina.store.sqlite.codec import ALL_STAGES
from lamina.store.sqlite.connection import Readers, Writer, open_connection, translated
from lamina.store.sqlite.worker_lock import worker_lives

__all__ = ["SqliteUpkeep"]

_SQL = load_blocks("lamina.store.sqlite")
_WORKER_FAILING = "worker.failing"


class SqliteUpkeep:
    """``Upkeep`` of a folder."""

    def __init__(
        self, path: Path, writer: Writer, readers: Readers, failures: Failures, behind: Callable[[], int]
    ) -> None:
        """``behind`` counts the repositories that lack something of their rows."""
        self._path = path
        self._failures = failures
        self._writer = writer
        self._readers = readers
        self._behind = behind

    def probe(self) -> None:
        """Mirrors ``Upkeep.probe``: a number in the file's header, which nothing else uses, is turned over."""

        def work(connection: apsw.Connection) -> None:
            for (number,) in connection.execute("PRAGMA user_version").fetchall():
                connection.execute(f"PRAGMA user_version = {0 if number else 1}")

        self._writer.write(work)

    def state(self) -> StoreState:
        """Mirrors ``Upkeep.state``."""
        row = self._readers.row(_SQL["oldest_pending"], (ALL_STAGES,))
        assert row is not None, "an aggregate is always a row"
        return StoreState(
            engine="sqlite",
            version=apsw.sqlite_lib_version(),
            oldest_pending_at=row[0],
            worker_alive=worker_lives(self._path.parent),
            disk_free_bytes=shutil.disk_usage(self._path.parent).free,
            failing={**_told(self._path.parent / _WORKER_FAILING), **self._failures.standing()},
            repositories_behind=self._behind(),
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
        merges = 0
        while merges < limits.COMPACT_MERGES_MAX and self._writer.write(_merge):
            merges += 1
        with translated(), contextlib.closing(open_connection(self._path, durable=False)) as connection:
            # Passive: readers and the writer go on, and what they still hold is left for another time.
            _, logged, moved = next(connection.execute("PRAGMA wal_checkpoint(passive)"))
        return Compaction(max(0, moved), complete=logged == moved, index_merges=merges)


def _merge(connection: apsw.Connection) -> bool:
    before = connection.total_changes()
    connection.execute(_SQL["merge_terms"], (limits.COMPACT_PAGES,))
    # One change is the statement's own: the index had nothing more to merge.
    return connection.total_changes() - before > 1


def _told(path: Path) -> dict[str, str]:
    """What a worker says that fails; nothing where the file is none of ours."""
    with contextlib.suppress(OSError, ValueError):
        told = json.loads(path.read_text())
        if isinstance(told, dict):
            return {str(part): str(error) for part, error in told.items()}
    return {}
