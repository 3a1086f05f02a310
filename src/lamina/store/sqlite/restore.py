"""A backup becomes a folder: all of it is made and checked aside, inside the folder, and put in place by moving files.

The database is moved last. A folder with it is restored; one without it is as before, with a folder ``restoring`` in it
that the next restore removes, and that keeps a server from beginning a new memory there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import apsw

from lamina.errors import Conflict, Invalid, LaminaError, Unavailable
from lamina.store.backups.archive import BackupArchive, open_archive
from lamina.store.backups.manifest import DATABASE, BackupManifest, BackupMember
from lamina.store.backups.sealing import Secret, damaged
from lamina.store.documents.checking import fault_of
from lamina.store.documents.repository import folder_name
from lamina.store.flushing import sync_folder
from lamina.store.ports.store import Store
from lamina.store.sqlite.backup import tenant_states
from lamina.store.sqlite.connection import translated
from lamina.store.sqlite.engine import FILE_NAME, RESTORING, SqliteStore, make_folder
from lamina.store.sqlite.migrate import migrate, migrations
from lamina.store.sqlite.upkeep import REPOSITORIES, database_faults, heads_of
from lamina.store.sqlite.worker_lock import usable, worker_lives

__all__ = ["RestoredFolder", "restore", "verify"]

RESTORED: Final = "restored"
"""The folder of what was beside the memory in the backup: its manifest, and the files that settings name."""
_MANIFEST: Final = "manifest.json"
_PLACING: Final = "placing"
_EMPTY: Final = frozenset(
    {"server.lock", "worker.lock", "keeper.lock", "lamina.sock", "lost+found", RESTORING}
)
"""What may stand in an empty folder: locks that nobody holds, and what file systems put there."""

_NAMES: Final = "SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'"

_Lock = Callable[[Path], "IO[str] | None"]
_Restoring = Callable[[BackupManifest], Callable[[Store], None]]


@dataclass(frozen=True, slots=True)
class RestoredFolder:
    """What was restored; ``same_hashes`` says whether the documents' commits have the hashes that they had."""

    manifest: BackupManifest
    same_hashes: bool


def verify(path: Path, secret: Callable[[str], Secret | None]) -> BackupManifest:
    """Check every byte of a backup and write nothing; errors as of ``restore``."""
    with open_archive(path, secret) as archive:
        _require_known(archive.manifest)
        archive.read(lambda _: None)
        return archive.manifest


def restore(
    folder: Path,
    path: Path,
    secret: Callable[[str], Secret | None],
    *,
    lock_of: _Lock,
    restoring: _Restoring = lambda _: lambda _: None,
) -> RestoredFolder:
    """Restore a backup into a folder that is empty or not there; ``lock_of`` takes the lock of who serves a folder.

    ``secret`` is as in ``ChunkReader``. ``restoring`` is told what the backup says of itself before anything of it is restored,
    and what it gives is done to the restored memory before that is checked and put in place; both may refuse. Raises ``NotFound`` (BACKUP_NOT_FOUND), ``Invalid`` (INVALID_BACKUP,
    WRONG_BACKUP_KEY), ``Conflict`` (FOLDER_NOT_EMPTY, FOLDER_IN_USE) and ``Unavailable`` (CANNOT_OPEN_STORE). Whatever it
    raises, the folder holds no memory then.
    """
    with open_archive(path, secret) as archive, usable(folder), _held(folder, lock_of) as aside:
        _require_known(archive.manifest)
        before_served = restoring(archive.manifest)
        _require_room(aside, archive.manifest)
        _extract(archive, aside)
        same_hashes = _prepare(aside, archive.manifest, before_served)
        _place(aside, folder)
    return RestoredFolder(archive.manifest, same_hashes)


@contextlib.contextmanager
def _held(folder: Path, lock_of: _Lock) -> Iterator[Path]:
    """The folder for this process alone, and an empty one aside in it, which is gone in the end."""
    _require_empty(folder)
    make_folder(folder)
    aside = folder / RESTORING
    # Before the lock is taken: a server that begins meanwhile has the lock, or sees that a restore is under way.
    aside.mkdir(mode=0o700, exist_ok=True)
    try:
        lock = lock_of(folder)
    except Unavailable:
        with contextlib.suppress(OSError):
            aside.rmdir()
        raise
    if lock is not None and worker_lives(folder):
        lock.close()
        lock = None
    if lock is None:
        with contextlib.suppress(OSError):
            aside.rmdir()  # where it is another restore's, it is not empty, or stays away for as long as that needs none
        raise Conflict("FOLDER_IN_USE", f"another process uses {folder}", hint="stop it first")
    with lock:
        _require_empty(folder)
        _remove_left_over(folder, aside)
        (aside / "data").mkdir(mode=0o700, parents=True)
        try:
            yield aside
        finally:
            # Where a file could not be put in place, the next restore needs to know which others may have been.
            if (folder / FILE_NAME).exists() or not (aside / _PLACING).exists():
                shutil.rmtree(aside, ignore_errors=True)


def _require_empty(folder: Path) -> None:
    try:
        names = {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise Conflict("FOLDER_NOT_EMPTY", f"{folder} is a file", hint="name a folder with --data") from error
    placing = (folder / RESTORING / _PLACING).is_file() and FILE_NAME not in names
    others = sorted(names - _EMPTY - ({REPOSITORIES, RESTORED} if placing else set()))
    if others:
        raise Conflict(
            "FOLDER_NOT_EMPTY",
            f"{folder} has {others[0]!r} in it, and a backup is restored into an empty folder",
            hint="name another with --data, or move what is there away",
        )


def _remove_left_over(folder: Path, aside: Path) -> None:
    """What a restore left that was ended before the database was in place."""
    if (aside / _PLACING).is_file():
        for name in (REPOSITORIES, RESTORED):
            shutil.rmtree(folder / name, ignore_errors=True)
    shutil.rmtree(aside)
    aside.mkdir(mode=0o700)


def _require_known(manifest: BackupManifest) -> None:
    if manifest.schema_number > migrations()[-1].number:
        raise Invalid(
            "INVALID_BACKUP",
            f"the backup was made by a newer Lamina, {manifest.lamina}",
            hint="install that one, or a newer one, and restore with it",
        )


def _require_room(aside: Path, manifest: BackupManifest) -> None:
    needed = sum(member.bytes for member in manifest.members)
    free = shutil.disk_usage(aside).free
    if needed > free:
        raise Unavailable(
            "CANNOT_OPEN_STORE",
            f"the backup holds {needed / 1e6:,.0f} MB, and the disk has room for {free / 1e6:,.0f} MB",
            hint="name with --data a folder on another disk",
        )


def _extract(archive: BackupArchive, aside: Path) -> None:
    beside = aside / RESTORED
    beside.mkdir(mode=0o700)

    def out_of(member: BackupMember) -> IO[bytes]:
        # A name is one of three, as the manifest's parser has made sure.
        path = aside / "data" / FILE_NAME if member.name == DATABASE else beside / member.name
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")

    archive.read(out_of)
    told = beside / _MANIFEST
    told.touch(mode=0o600)
    told.write_bytes(archive.manifest.encoded() + b"\n")


def _prepare(aside: Path, manifest: BackupManifest, before_served: Callable[[Store], None]) -> bool:
    """Bring the restored memory to where it can be served, and check it whole; whether its commits have their hashes.

    This is the place for what has to hold before anybody reads: the shape of today's release, and the repositories, which
    are made from the rows here and so have nothing that these have not.
    """
    data = aside / "data"
    try:
        states = tenant_states(data / FILE_NAME) if manifest.tenants else {}
    except (apsw.Error, LaminaError, ValueError) as error:
        raise damaged("its database cannot be read") from error
    if states != dict(manifest.tenants):
        raise damaged("its tenants are not where its manifest says")
    store = SqliteStore(data)
    try:
        store.documents.recover()
        before_served(store)
    finally:
        store.close()
    heads = heads_of(data / FILE_NAME)
    faults = database_faults(data / FILE_NAME) + _strangers(data / FILE_NAME)
    for tenant_id, head in heads.items():
        fault = fault_of(data / REPOSITORIES / folder_name(tenant_id), head)
        faults += [f"the repository of {tenant_id!r}: {fault}"] if fault else []
    if faults:
        raise damaged(faults[0])
    return all(
        not state.commit
        or state.commit == heads.get(tenant_id)
        or fault_of(data / REPOSITORIES / folder_name(tenant_id), state.commit) is None
        for tenant_id, state in manifest.tenants.items()
    )


def _strangers(database: Path) -> list[str]:
    """What is in a database and in none of ours: triggers above all, which would run with each write."""
    with contextlib.closing(apsw.Connection(":memory:")) as ours:
        migrate(ours)
        known = set(ours.execute(_NAMES))
    with contextlib.closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return [
            f"{kind} {name!r} is none of Lamina's"
            for kind, name in connection.execute(_NAMES)
            if (kind, name) not in known
        ]


def _place(aside: Path, folder: Path) -> None:
    data = aside / "data"
    _make_one_file(data / FILE_NAME)
    (aside / _PLACING).touch()
    sync_folder(aside)
    if (data / REPOSITORIES).exists():
        (data / REPOSITORIES).rename(folder / REPOSITORIES)
    (aside / RESTORED).rename(folder / RESTORED)
    sync_folder(folder)
    if (folder / FILE_NAME).exists():
        raise Conflict(
            "FOLDER_IN_USE", f"another process made a memory in {folder} meanwhile", hint="stop it first"
        )
    (data / FILE_NAME).rename(folder / FILE_NAME)
    sync_folder(folder)


def _make_one_file(database: Path) -> None:
    """Bring what its write-ahead file still has into a database, and that to disk; it is moved alone."""
    with translated(), contextlib.closing(apsw.Connection(str(database))) as connection:
        mode = next(connection.execute("PRAGMA journal_mode = delete"))[0]
    assert mode == "delete", "nobody else has it open"
    with database.open("rb") as file:
        os.fsync(file.fileno())
