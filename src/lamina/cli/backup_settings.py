"""``lamina backup`` and ``lamina restore`` of a backup: what settings and options say, as what the store is asked."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import typer

from lamina.access.security.sealing import KeySeal, lost_keys
from lamina.cli.local_socket import lock_of
from lamina.coordination.owned import documents_about_people
from lamina.coordination.replication.state import without_paths
from lamina.errors import Invalid
from lamina.forget.reapplying import apply_again
from lamina.kernel.time import Instant, SystemClock
from lamina.settings import TOMBSTONES, Settings
from lamina.store.backups.folder import BackupFolder
from lamina.store.backups.manifest import ISSUERS, PRESET, BackupManifest
from lamina.store.backups.sealing import KeyFile, Passphrase, Secret
from lamina.store.backups.tombstones import TombstoneFile
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


def run_backup(settings: Settings, *, keep: int | None, asks: bool) -> Backup:
    """Make a backup, and then delete all but ``keep``; ``asks`` for a passphrase at the terminal."""
    os.nice(_NICENESS)
    secret: Secret | None = None
    if asks:
        secret = Passphrase(_prompt(confirm=True))
    made = back_up(settings.data, backup_request(settings, secret))
    assert made is not None, "nobody tells it to stop"
    if keep is not None:
        folder_of(settings).keep(keep, made.path)
    return made


def begin_list(settings: Settings) -> None:
    """Make the list of what was erased where backups are made: one that is there and empty says that nothing was."""
    TombstoneFile(settings.tombstone_list).begin()


def run_verify(settings: Settings, path: Path) -> BackupManifest:
    """Check a backup and write nothing."""
    return verify(path, lambda kind: _secret_to_read(settings, kind))


def run_restore_backup(
    settings: Settings, path: Path, tombstones: Path | None, *, without: bool
) -> RestoredFolder:
    """Restore a backup into the data folder, and erase from it what the list ``tombstones`` says was erased since; the list that the
    settings name where none is given, or the one beside the backup with the one that the folder's server writes to. Raises ``NotFound``
    (TOMBSTONES_NOT_FOUND) where there is none, but ``without``."""
    if not os.access(path, os.R_OK):
        run_verify(settings, path)  # says so, before a list is missed beside a file that is not there
    listed = [] if without else _listed(_lists_for(settings, path, tombstones))
    log = logging.getLogger("lamina.store")
    level = log.level
    log.setLevel(logging.ERROR)  # that repositories are made anew is what a restore does, and no warning
    try:
        return restore(
            settings.data,
            path,
            lambda kind: _secret_to_read(settings, kind),
            lock_of=lock_of,
            before_served=lambda store, made_at: _erase_again(settings, store, listed, made_at),
        )
    finally:
        log.setLevel(level)


def erased_since_clone(settings: Settings, clone: Path, tombstones: Path | None) -> list[ListedErasure]:
    """What the lists that may be meant for a clone say was erased, as for a backup; nothing where none is named and none is there."""
    lists = _lists_for(settings, clone.absolute(), tombstones)
    if tombstones is None and not any(each.exists() for each in lists):
        typer.echo(f"no list at {lists[0]}: what was erased after the clone was made comes back", err=True)
        return []
    return _listed(lists)


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


def _erase_again(settings: Settings, store: Store, listed: Sequence[ListedErasure], made_at: Instant) -> None:
    tombstones = TombstoneFile(settings.tombstone_list)
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


def backup_request(settings: Settings, secret: Secret | None = None) -> BackupRequest:
    """A backup as the settings want it, sealed with ``secret`` or else with theirs."""
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
        files={name: path for name, path in named.items() if path is not None and path.is_file()},
    )


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
