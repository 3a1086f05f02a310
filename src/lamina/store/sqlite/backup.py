"""A backup of a folder that others read and write meanwhile: a copy of the database as of one commit, checked and put away.

The repositories of documents are not copied: each commit is a function of the rows, which are, and so they come back with
the same hashes (``restore``). A copy of their files would be of another moment than that of the rows.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from lamina import __version__, limits
from lamina.errors import Fault, Invalid, Unavailable
from lamina.kernel.time import Instant
from lamina.store.backups.archive import member_of, write_archive
from lamina.store.backups.folder import BackupFolder, folder_name_of
from lamina.store.backups.manifest import DATABASE, BackupManifest, ListState, TenantState
from lamina.store.backups.sealing import RandomBytes, Secret
from lamina.store.blocks import load_blocks
from lamina.store.rows import Row
from lamina.store.sqlite.connection import Readers, open_connection
from lamina.store.sqlite.copies import copying
from lamina.store.sqlite.digits import hash_of
from lamina.store.sqlite.engine import FILE_NAME, require_store
from lamina.store.sqlite.migrate import migrations, schema_number_of
from lamina.store.sqlite.upkeep import LAST_BACKUP, database_faults
from lamina.store.sqlite.worker_lock import usable

__all__ = ["Backup", "BackupRequest", "back_up", "tenant_states"]

_SQL = load_blocks("lamina.store.sqlite")


@dataclass(frozen=True, slots=True)
class BackupRequest:
    """What a backup is to be: where, sealed with what, and what stands in it beside the folder.

    ``files`` are kept beside the database by the names that ``store.backups.manifest`` has for them; ``erasures`` begins the list
    of what the folder erased where there is none, and says how it stands; None where it cannot be.
    """

    into: BackupFolder
    made_at: Instant
    random_bytes: RandomBytes = field(repr=False)
    secret: Secret | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    files: Mapping[str, Path] = field(default_factory=dict)
    erasures: Callable[[], ListState | None] = lambda: None


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made: where it is, how large, and what it says of itself."""

    path: Path
    bytes: int
    manifest: BackupManifest


def back_up(
    folder: Path, request: BackupRequest, *, stopping: Callable[[], bool] = lambda: False
) -> Backup | None:
    """Make a backup of a folder, by whichever process uses it meanwhile; None where it was to stop before it was whole.

    What is committed when the copy begins is in it, and nothing later. The copy lies in the folder, so that what is sealed
    is nowhere else unsealed, and takes as much room as the database. Raises ``NotFound`` (STORE_NOT_FOUND), ``Conflict``
    (BACKUP_RUNNING), ``Fault`` (DATABASE_DAMAGED) where the database is not whole, and ``Unavailable``
    (CANNOT_WRITE_BACKUP, CANNOT_OPEN_STORE).
    """
    require_store(folder)
    with usable(folder), copying(folder) as copies:
        erasures = request.erasures()  # before the copy: what is erased from here on stands there
        copy = copies / DATABASE
        if not _copied(folder / FILE_NAME, copy, stopping):
            return None
        # Before older ones may go: a database that cannot be read to its end takes the place of none that could.
        if faults := database_faults(copy):
            raise _is_damaged(faults[0])
        _without_packs(copy)
        paths = {DATABASE: copy, **_copied_files(request.files, copies)}
        manifest = _manifest(folder, copy, paths, request, erasures)
        path = request.into.put(
            request.made_at,
            lambda out: write_archive(
                out,
                manifest,
                paths,
                secret=request.secret,
                random_bytes=request.random_bytes,
                stopping=stopping,
            ),
        )
        if path is None:
            return None
        made = Backup(path, path.stat().st_size, manifest)
        _note(folder, made)
        return made


def tenant_states(database: Path) -> dict[str, TenantState]:
    """How far the tenants of a database of today's shape are."""
    readers = Readers(database)

    def one(block: str, tenant_id: str) -> Row:
        return readers.row(_SQL[block], (tenant_id,)) or ()

    def known(block: str) -> set[str]:
        return {row[0].decode() if isinstance(row[0], bytes) else row[0] for row in readers.rows(_SQL[block])}

    try:
        states = {}
        for tenant_id in sorted(known("tenants") | known("audit_tenants") | known("document_tenants")):
            position = one("last_event", tenant_id)
            audit = one("last_audit", tenant_id)
            commit = one("head_commit", tenant_id)
            states[tenant_id] = TenantState(
                position=_number(position),
                audit_number=_number(audit),
                audit_hash=hash_of(audit[1]) if audit else "",
                commit=_text(commit),
            )
        return states
    finally:
        readers.close()


def _number(row: Row) -> int:
    return row[0] if row and isinstance(row[0], int) else 0


def _text(row: Row) -> str:
    value = row[1] if len(row) > 1 else ""
    return value.decode() if isinstance(value, bytes) else str(value or "")


def _copied(database: Path, copy: Path, stopping: Callable[[], bool]) -> bool:
    """Copy a database as of one commit; False where it was to stop."""
    copy.touch(mode=0o600)
    with (
        _told(copy),
        contextlib.closing(open_connection(database, durable=False, read_only=True)) as source,
        contextlib.closing(apsw.Connection(str(copy))) as to,
    ):
        to.execute("PRAGMA synchronous = off")  # a copy that a crash tore is made anew
        # What is read from here on is of this commit, whoever writes: otherwise each write of another process would
        # have the copy begin again.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        with to.backup("main", source, "main") as copying:
            while not copying.done:
                if stopping():
                    return False
                copying.step(limits.BACKUP_PAGES_STEP)
        source.execute("ROLLBACK")
        to.execute("PRAGMA journal_mode = delete")  # one file, with nothing beside it
    return True


def _without_packs(copy: Path) -> None:
    """What is kept for a minute is not kept for as long as a backup lasts, not even in free pages."""
    with _told(copy), contextlib.closing(apsw.Connection(str(copy))) as connection:
        connection.execute("PRAGMA synchronous = off")
        connection.execute("PRAGMA secure_delete = on")
        if connection.table_exists("main", "pack"):  # a release that kept none may have left the folder
            connection.execute(_SQL["clear_packs"])


@contextlib.contextmanager
def _told(copy: Path) -> Iterator[None]:
    """A block whose errors say what is wrong: the database, or the room for its copy."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise _is_damaged(type(error).__name__) from error
    except apsw.Error as error:
        raise Unavailable(
            "CANNOT_WRITE_BACKUP",
            f"the database could not be copied to {copy}: {type(error).__name__}",
            hint="look whether the disk of the data folder has room for the database once more",
        ) from error


def _is_damaged(fault: str) -> Fault:
    return Fault(
        "DATABASE_DAMAGED",
        f"no backup was made: the database is damaged: {fault}",
        hint="keep a copy of the folder, run lamina doctor, and restore the last backup into another folder",
    )


def _copied_files(files: Mapping[str, Path], copies: Path) -> dict[str, Path]:
    """Copies of small files, since the files may be edited while the backup is written."""
    copied = {}
    for name, path in files.items():
        with path.open("rb") as file:
            content = file.read(limits.BACKUP_FILE_BYTES_MAX + 1)
        if len(content) > limits.BACKUP_FILE_BYTES_MAX:
            raise Invalid(
                "INVALID_SETTING",
                f"{path} is larger than {limits.BACKUP_FILE_BYTES_MAX} bytes and is not backed up",
                hint="name a smaller file",
            )
        copied[name] = copies / name
        copied[name].touch(mode=0o600)
        copied[name].write_bytes(content)
    return copied


def _manifest(
    folder: Path, copy: Path, paths: Mapping[str, Path], request: BackupRequest, erasures: ListState | None
) -> BackupManifest:
    with contextlib.closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        number = schema_number_of(connection)
    # A folder that an older release left has other tables: the database is backed up whole, its figures are not told.
    is_todays = number == migrations()[-1].number
    return BackupManifest(
        lamina=__version__,
        schema_number=number,
        made_at=request.made_at,
        members=tuple(member_of(name, path) for name, path in paths.items()),
        tenants=tenant_states(copy) if is_todays else {},
        settings=dict(request.settings),
        secrets=request.secrets,
        folder=folder_name_of(folder),
        erasures=erasures,
    )


def _note(folder: Path, made: Backup) -> None:
    told = {"made_at": made.manifest.made_at, "path": str(made.path.resolve()), "bytes": made.bytes}
    fresh = (folder / LAST_BACKUP).with_suffix(".new")
    fresh.write_text(json.dumps(told))
    fresh.replace(folder / LAST_BACKUP)
