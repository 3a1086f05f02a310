"""``lamina backup`` and ``lamina restore`` of a backup: what settings and options say, as what the store is asked."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from pathlib import Path

import typer

from lamina.access.security.sealing import KeySeal, lost_keys
from lamina.cli.local_socket import lock_of
from lamina.coordination.owned import documents_about_people
from lamina.coordination.replication.state import without_paths
from lamina.errors import Conflict, Invalid, LaminaError
from lamina.forget.reapplying import apply_again
from lamina.kernel.audit import own_row
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.time import Instant, SystemClock, rfc3339
from lamina.settings import TOMBSTONES, Settings
from lamina.store.backups.folder import BackupFolder, folder_name_of
from lamina.store.backups.manifest import ISSUERS, PRESET, BackupManifest, ListState
from lamina.store.backups.sealing import KeyFile, Passphrase, Secret
from lamina.store.backups.tombstones import TombstoneFile, tombstone_file
from lamina.store.opening import Backup, BackupRequest, RestoredFolder, back_up, open_store, restore, verify
from lamina.store.ports.signing_keys import SealedKey
from lamina.store.ports.store import Store
from lamina.store.ports.tombstones import ListedErasure

__all__ = [
    "backup_request",
    "begin_list",
    "folder_of",
    "run_backup",
    "run_lost_keys",
    "run_restore_backup",
    "run_verify",
]

_NICENESS = 5  # calls come before their backup on a busy machine


def run_backup(settings: Settings, tombstones: Path, *, keep: int | None, asks: bool) -> Backup:
    """Make a backup, and then delete all but ``keep``; ``asks`` for a passphrase at the terminal. ``tombstones`` is the list that the
    folder's server writes to."""
    os.nice(_NICENESS)
    secret: Secret | None = None
    if asks:
        secret = Passphrase(_prompt(confirm=True))
    made = back_up(settings.data, backup_request(settings, tombstones, secret))
    assert made is not None, "nobody tells it to stop"
    if keep is not None:
        folder_of(settings).keep(keep, made.path)
    return made


def begin_list(settings: Settings) -> None:
    """Make the list of what was erased where backups are made: one that is there and has nothing says that nothing was."""
    tombstone_file(settings).begin()


def run_verify(settings: Settings, path: Path) -> BackupManifest:
    """Check a backup and write nothing."""
    return verify(path, lambda kind: _secret_to_read(settings, kind))


def run_restore_backup(
    settings: Settings, path: Path, tombstones: Path | None, *, without: bool, incomplete: bool
) -> RestoredFolder:
    """Restore a backup into the data folder, and erase from it what the list ``tombstones`` says was erased since; the list that the
    settings name where none is given, or the one beside the backup with the one that the folder's server writes to. Raises ``NotFound``
    (TOMBSTONES_NOT_FOUND) where there is none, but ``without``, and ``Conflict`` (INCOMPLETE_TOMBSTONES) where what was erased since may be
    missing in it, but ``incomplete``; the audit log says of both."""
    if not os.access(path, os.R_OK):
        run_verify(settings, path)  # says so, before a list is missed beside a file that is not there
    paths = [] if without else _lists_for(settings, path, tombstones)
    states, listed = _states(paths), _listed(paths)

    def restoring(manifest: BackupManifest) -> Callable[[Store], None]:
        left_out = "the list" if without else "a part of it" if _is_incomplete(states, manifest) else None
        if left_out is not None and not (without or incomplete):
            raise _incomplete(paths, manifest)
        own, stood = _of_folder(settings, listed, manifest), _stood(paths, manifest)
        return lambda store: _erase_again(
            settings, store, _of_memory(store, own, stood), manifest.made_at, left_out
        )

    log = logging.getLogger("lamina.store")
    level = log.level
    log.setLevel(logging.ERROR)  # that repositories are made anew is what a restore does, and no warning
    try:
        return restore(
            settings.data,
            path,
            lambda kind: _secret_to_read(settings, kind),
            lock_of=lock_of,
            restoring=restoring,
        )
    finally:
        log.setLevel(level)


def erased_since_clone(
    settings: Settings, clone: Path, tombstones: Path | None
) -> tuple[list[ListedErasure], Instant]:
    """What the lists that may be meant for a clone say was erased, as for a backup, and since when they are there; nothing where none is
    named and none is there."""
    lists = _lists_for(settings, clone.absolute(), tombstones)
    if tombstones is None and not any(each.exists() for each in lists):
        typer.echo(f"no list at {lists[0]}: what was erased after the clone was made comes back", err=True)
        return [], 0
    return _listed(lists), max((state.since or 0 for state in _states(lists)), default=0)


def run_lost_keys(settings: Settings) -> list[SealedKey]:
    """The signing keys of a data folder that its key file does not open."""
    store = open_store(settings)
    try:
        return lost_keys(KeySeal(settings.relay_keys, os.urandom), store.signing_keys.with_secrets())
    finally:
        store.close()


def _lists_for(settings: Settings, restored: Path, named: Path | None) -> list[Path]:
    """Where it is not said, both that may be meant: the one beside what is restored may be a copy, or end where backups went elsewhere."""
    if named is not None or settings.tombstones is not None:
        return [named or settings.tombstone_list]
    both = dict.fromkeys(each.resolve() for each in (restored.parent / TOMBSTONES, settings.tombstone_list))
    return [each for each in both if each.exists()] or [settings.tombstone_list]


def _listed(paths: Sequence[Path]) -> list[ListedErasure]:
    """What the lists say was erased, oldest first; what two of them say counts once."""
    if len(paths) > 1:
        both = " and ".join(map(str, paths))
        typer.echo(f"what was erased since is read from {both}; --tombstones names one alone", err=True)
    return sorted(
        dict.fromkeys(each for path in paths for each in TombstoneFile(path).read()),
        key=lambda each: each.at,
    )


def _states(paths: Sequence[Path]) -> list[ListState]:
    return [state for path in paths for state in TombstoneFile(path).states()]


def _is_incomplete(states: Sequence[ListState], manifest: BackupManifest) -> bool:
    """Whether something was erased since a backup that may stand in none of the lists. A backup names the list that it was made beside; one
    of an earlier release does not, and a list of an earlier release is taken for whole: it says nothing else."""
    beside = manifest.erasures
    if beside is None:
        return any(state.since is not None and state.since > manifest.made_at for state in states)
    return not any(state.id == beside.id and state.lines >= beside.lines for state in states)


def _incomplete(paths: Sequence[Path], manifest: BackupManifest) -> Conflict:
    return Conflict(
        "INCOMPLETE_TOMBSTONES",
        f"{' and '.join(map(str, paths))}: what was erased since {rfc3339(manifest.made_at)}, when the backup was made, may be missing there",
        hint="name with --tombstones the list that was kept beside it, whole; --incomplete-tombstones restores what is in none, and says so "
        "in the audit log",
    )


def _of_folder(
    settings: Settings, listed: Sequence[ListedErasure], manifest: BackupManifest
) -> list[ListedErasure]:
    """What was erased in the folder of a backup, by its name then or now; all of it where the backup or a line names no folder."""
    names = {"", manifest.folder, folder_name_of(settings.data)}
    others = [each for each in listed if manifest.folder and each.folder not in names]
    if others:
        folders = ", ".join(sorted({each.folder for each in others}))
        typer.echo(
            f"{len(others)} erasures in the list are of other data folders ({folders}) and are not done here; where one of these is the "
            f"folder of the backup under a later name, restore into a folder of that name",
            err=True,
        )
    return [each for each in listed if each not in others]


def _stood(paths: Sequence[Path], manifest: BackupManifest) -> set[str]:
    """The ids of erasures that were listed when a backup was made, which a line of the list then says."""
    beside, files = manifest.erasures, [TombstoneFile(path) for path in paths]
    if beside is None:
        return set()
    named = [file for file in files if any(state.id == beside.id for state in file.states())]
    return {each.id for file in named for each in file.read(beside.lines)}


def _of_memory(store: Store, listed: Sequence[ListedErasure], stood: Collection[str]) -> list[ListedErasure]:
    """What was erased of this memory, and not of one that was in the folder before: of that were those that ``stood`` in the list by the
    backup, which does not know them, and has nothing from before them that they could take."""
    others = [
        each
        for each in listed
        if each.cascade == "gdpr"
        and each.id in stood
        and store.erasures.get(each.tenant_id, each.id) is None
        and all(first.recorded_at > each.at for first in store.log.walk(each.tenant_id, 0, 1))
    ]
    if others:
        typer.echo(
            f"{len(others)} erasures in the list are of a memory that was in the folder before this one was begun, and are not done here",
            err=True,
        )
    return [each for each in listed if each not in others]


def _erase_again(
    settings: Settings,
    store: Store,
    listed: Sequence[ListedErasure],
    made_at: Instant,
    left_out: str | None,
) -> None:
    tombstones = tombstone_file(settings)
    about = documents_about_people(store)
    unnaming = without_paths(store.documents)
    apply_again(
        store,
        listed,
        SystemClock(),
        as_of=made_at,
        about=about,
        tombstones=tombstones,
        unnaming=unnaming,
    )
    if left_out is not None:
        _note_left_out(store, made_at, left_out)


def _note_left_out(store: Store, made_at: Instant, left_out: str) -> None:
    """A row for each tenant: what was erased since may be back, and somebody said so."""
    ids, now = RandomIds(), SystemClock().now()
    for tenant_id in {*store.log.tenants(), *(head.tenant_id for head in store.audit.heads())}:
        store.audit.note(
            own_row(
                tenant_id=tenant_id,
                id=ids.stamped(Prefix.AUDIT, now),
                at=now,
                actor="system:restore",
                scope=None,
                endpoint="restore",
                capability="restore",
                tier="deployment",
                what={"backup_made_at": rfc3339(made_at), "erasures_left_out": left_out},
                request_id=ids.stamped(Prefix.REQUEST, now),
                gdpr=1,
            )
        )
    store.audit.flush()


def folder_of(settings: Settings) -> BackupFolder:
    """Where the backups of the data folder are; raises ``Invalid`` (INVALID_SETTING) where that is inside of it."""
    # ``Path.resolve`` raises for links that lead in a circle; opening what is there says so.
    if Path(os.path.realpath(settings.backups)).is_relative_to(os.path.realpath(settings.data)):
        raise Invalid(
            "INVALID_SETTING",
            f"backups would go to {settings.backups}, inside the data folder, and be lost with it",
            hint="name another folder with --to or LAMINA_BACKUP_FOLDER, best on another disk",
            details={"setting": "LAMINA_BACKUP_FOLDER"},
        )
    return BackupFolder(settings.backups, settings.data)


def backup_request(settings: Settings, tombstones: Path, secret: Secret | None = None) -> BackupRequest:
    """A backup as the settings want it, sealed with ``secret`` or else with theirs. It names the list at ``tombstones``, which is there from
    before it is made; none where that cannot be, for a backup is better than none."""
    issuers, preset = settings.issuers, Path(settings.preset)
    named = {ISSUERS: issuers, PRESET: preset if preset.suffix in (".yaml", ".yml") else None}
    chosen = [item for item in fields(Settings) if getattr(settings, item.name) != item.default]
    return BackupRequest(
        into=folder_of(settings),
        made_at=SystemClock().now(),
        random_bytes=os.urandom,
        secret=secret or _configured(settings),
        settings={_name(item.name): str(getattr(settings, item.name)) for item in chosen if item.repr},
        secrets=tuple(_name(item.name) for item in chosen if not item.repr),
        erasures=lambda: _begun(tombstones),
        files={name: path for name, path in named.items() if path is not None and path.is_file()},
    )


def _begun(tombstones: Path) -> ListState | None:
    try:
        return TombstoneFile(tombstones).begin()
    except LaminaError:
        return None


def _name(setting: str) -> str:
    return f"LAMINA_{setting.upper()}"


def _configured(settings: Settings) -> Secret | None:
    if settings.backup_key_file is not None:
        return KeyFile(_key_of(settings.backup_key_file))
    return Passphrase(settings.backup_passphrase) if settings.backup_passphrase else None


def _key_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(1 << 16)
    except OSError as error:
        raise Invalid(
            "INVALID_BACKUP_KEY",
            f"the key file {path} cannot be read: {error.strerror}",
            hint="check its path",
        ) from error


def _secret_to_read(settings: Settings, kind: str) -> Secret | None:
    """What opens a backup that is sealed with ``kind``. Where it is not sealed, a key that somebody gave is told, too."""
    configured = _configured(settings)
    if kind == "passphrase" and configured is None and sys.stdin.isatty():
        return Passphrase(_prompt(confirm=False))
    return configured


def _prompt(*, confirm: bool) -> str:
    text: str = typer.prompt("passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
    return text
