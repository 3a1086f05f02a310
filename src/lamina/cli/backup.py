"""``lamina backup`` and ``lamina restore``: the whole data folder as one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina import limits
from lamina.cli.options import Data, chosen_settings
from lamina.settings import Settings

if TYPE_CHECKING:
    from lamina.store.backups.manifest import BackupManifest

__all__ = ["add_backup_commands"]

_KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="The file whose bytes encrypt it; LAMINA_BACKUP_KEY_FILE's otherwise."),
]


def add_backup_commands(app: typer.Typer) -> None:
    """Put them among the commands that work on a folder."""
    app.command()(backup)
    app.command()(restore)


def backup(
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", help="The folder for it; LAMINA_BACKUP_FOLDER, or one beside the data folder otherwise."
        ),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=limits.BACKUPS_KEPT_MAX,
            help="Delete all but so many of the folder's backups; none otherwise.",
        ),
    ] = None,
    key_file: _KeyFile = None,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase, and encrypt with it.")
    ] = False,
    data: Data = None,
) -> None:
    """Put everything in the data folder into one file. A server may run and be written to meanwhile."""
    from lamina.cli.backup_settings import begin_list, run_backup

    if passphrase and key_file is not None:
        raise typer.BadParameter("--passphrase and --key-file exclude each other")
    settings = _settings(data, key_file, to)
    made = run_backup(settings, _settings(data, key_file).tombstone_list, keep=keep, asks=passphrase)
    if to is None:  # elsewhere, or where nothing is, an empty list would say that nothing was erased
        begin_list(settings)
    typer.echo(made.path)
    typer.echo(f"{_contents(made.manifest)}, {made.bytes / 1e6:,.1f} MB", err=True)


def restore(
    backup: Annotated[
        Path | None, typer.Argument(help="A file that lamina backup made.", show_default=False)
    ] = None,
    clone: Annotated[
        Path | None, typer.Option("--from-git", help="A clone of a tenant's repository of documents.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check every byte of the backup, and restore nothing.")
    ] = False,
    key_file: _KeyFile = None,
    tombstones: Annotated[
        Path | None,
        typer.Option(
            help="The list of what was erased since; LAMINA_TOMBSTONES, or the ones beside the backup or clone and of the folder otherwise."
        ),
    ] = None,
    without_tombstones: Annotated[
        bool,
        typer.Option("--without-tombstones", help="Restore what was erased since then, too."),
    ] = False,
    incomplete_tombstones: Annotated[
        bool,
        typer.Option(
            "--incomplete-tombstones",
            help="Restore a backup though the list may lack some of what was erased since.",
        ),
    ] = False,
    data: Data = None,
    tenant: Annotated[
        str | None, typer.Option(help="Whose documents a clone has; LAMINA_TENANT's otherwise.")
    ] = None,
) -> None:
    """Restore a backup into an empty folder, or documents from a clone of their repository. The server must not run."""
    if (backup is None) == (clone is None):
        raise typer.BadParameter("name a backup, or a clone with --from-git")
    if tombstones is not None and without_tombstones:
        raise typer.BadParameter("--tombstones and --without-tombstones exclude each other")
    if clone is not None:
        if verify or key_file is not None or incomplete_tombstones:
            raise typer.BadParameter(
                "--verify, --key-file and --incomplete-tombstones are for backups, not for clones"
            )
        _restore_documents(chosen_settings(data=data), clone, tenant, tombstones, without=without_tombstones)
        return
    if tenant is not None:
        raise typer.BadParameter("--tenant is for clones: a backup is restored whole")
    assert backup is not None, "one of them was given"
    settings = _settings(data, key_file)
    if verify:
        _verify_backup(settings, backup)
    else:
        _restore_backup(
            settings, backup, tombstones, without=without_tombstones, incomplete=incomplete_tombstones
        )


def _verify_backup(settings: Settings, backup: Path) -> None:
    from lamina.cli.backup_settings import run_verify

    typer.echo(f"whole: {_contents(run_verify(settings, backup))}")


def _restore_backup(
    settings: Settings, backup: Path, tombstones: Path | None, *, without: bool, incomplete: bool
) -> None:
    from lamina.cli.backup_settings import run_restore_backup

    restored = run_restore_backup(settings, backup, tombstones, without=without, incomplete=incomplete)
    manifest = restored.manifest
    typer.echo(f"restored into {settings.data}: {_contents(manifest)}")
    if not restored.same_hashes:
        typer.echo(
            "the commits of documents have other hashes than they had: clones are to be made anew", err=True
        )
    _tell_lost_keys(settings)
    if manifest.settings or manifest.secrets:
        typer.echo("the settings were these; set them again:", err=True)
    for name, value in manifest.settings.items():
        typer.echo(f"  {name}={value}", err=True)
    for name in manifest.secrets:
        typer.echo(f"  {name} (secret, not in the backup)", err=True)


def _tell_lost_keys(settings: Settings) -> None:
    """Say which signing keys the key file that is here does not open."""
    from lamina.cli.backup_settings import run_lost_keys

    lost = run_lost_keys(settings)
    if not lost:
        return
    many = "1 signing key" if len(lost) == 1 else f"{len(lost)} signing keys"
    typer.echo(
        f"{many} cannot be opened without the key file of before, which is in no backup: put it back at {settings.relay_keys}, or "
        "these are lost, and their peers need new ones:",
        err=True,
    )
    for key in lost:
        typer.echo(f"  {key.key_id} of {key.tenant_id}", err=True)


def _settings(data: Path | None, key_file: Path | None, to: Path | None = None) -> Settings:
    """The settings, of which a key file that is named takes the place of a passphrase."""
    passphrase = None if key_file is None else ""
    return chosen_settings(
        data=data, backup_key_file=key_file, backup_passphrase=passphrase, backup_folder=to
    )


def _contents(manifest: BackupManifest) -> str:
    from lamina.kernel.time import rfc3339

    tenants, moment = len(manifest.tenants), f"as of {rfc3339(manifest.made_at)}"
    if not tenants:  # so it is of a folder that another release left, however much is in it
        return f"a database of shape {manifest.schema_number}, whose events were not counted, {moment}"
    return f"{manifest.events:,} events of {tenants} {'tenant' if tenants == 1 else 'tenants'} {moment}"


def _restore_documents(
    settings: Settings, clone: Path, tenant: str | None, tombstones: Path | None, *, without: bool
) -> None:
    from lamina.cli.backup_settings import erased_since_clone
    from lamina.cli.restore import run_restore

    listed, begun_at = ([], 0) if without else erased_since_clone(settings, clone, tombstones)
    restored = run_restore(settings, clone, tenant or settings.tenant, listed)
    hashes = (
        "with the hashes that they had"
        if restored.same_hashes
        else "with other hashes, since another program wrote them"
    )
    typer.echo(f"restored {restored.commits} commits {hashes}")
    if restored.erased:
        typer.echo(
            f"{restored.erased} erased since the clone was made and erased again: clones are to be made anew"
        )
    if begun_at > restored.newest:
        typer.echo(
            "the list was begun after the clone's newest commit: whatever was erased in between is back",
            err=True,
        )
    for path in restored.left_out:
        typer.echo(
            f"{path} was left out: it holds secrets of another server, which every clone of its repository has; "
            "end them there, and make new ones with lamina token issue",
            err=True,
        )
    if restored.unreadable:
        many = len(restored.unreadable)
        named = "1 capsule" if many == 1 else f"{many} capsules"
        typer.echo(
            f"{named} cannot be read, and no operation over capsules shows them; as files they are there:"
        )
        for each in restored.unreadable:
            typer.echo(f"  {each.path}: {each.reason}")
