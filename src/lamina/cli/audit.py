"""``lamina audit``: heads to keep elsewhere, and checking chains without a server."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.group import Commands
from lamina.cli.input_files import text_of
from lamina.cli.options import Data, chosen_settings
from lamina.errors import Invalid
from lamina.settings import Settings

if TYPE_CHECKING:
    from lamina.kernel.audit import Head
    from lamina.store.ports.store import Store

__all__ = ["audit_commands"]

audit_commands = typer.Typer(cls=Commands, help="Check the audit log.", no_args_is_help=True)

_Tenant = Annotated[str | None, typer.Option(help="One tenant; without it, all of them.")]
_HeadFile = Annotated[
    Path | None, typer.Option(help="A file that `lamina audit head` wrote; - reads the standard input.")
]


@audit_commands.command()
def head(data: Data = None, tenant: _Tenant = None) -> None:
    """Print the newest row of each chain as a line of JSON. Kept elsewhere, it proves what came before."""
    with _store(chosen_settings(data=data)) as store:
        heads = [item for item in store.audit.heads() if tenant in (None, item.tenant_id)]
    for item in heads:
        line = {"tenant_id": item.tenant_id, "number": item.number, "hash": item.hash}
        typer.echo(json.dumps(line))
    if not heads:
        typer.echo("no chains" if tenant is None else f"no chain of {tenant}", err=True)


@audit_commands.command()
def verify(data: Data = None, tenant: _Tenant = None, head: _HeadFile = None) -> None:
    """Check every row of the chains, and the heads given; ends with 1 when a row is not as it was, and names it."""
    from lamina.access.chain import check_chains

    heads = {} if head is None else _read_heads(head)
    broken = False
    with _store(chosen_settings(data=data)) as store:
        chains = check_chains(store.audit, heads, tenant)
    if not chains:
        typer.echo("no chains")
    for checked in chains:
        tenant_id = checked.tenant_id
        if checked.broken is not None:
            broken = True
            named = checked.broken.audit_id or "unknown id"
            typer.echo(
                f"{tenant_id}: BROKEN at row {checked.broken.number} ({named}): {checked.broken.reason}"
            )
            continue
        typer.echo(f"{tenant_id}: {checked.rows} rows hold" if checked.rows else f"no chain of {tenant_id}")
        if not checked.head_compared:
            broken = True
            typer.echo(f"{tenant_id}: the row of the given head is past its retention; give a newer head")
    if broken:
        raise typer.Exit(1)


@audit_commands.command()
def prune(data: Data = None) -> None:
    """Delete rows past their retention, as a running server does once a day."""
    from lamina.access.presets import preset_of
    from lamina.access.retention import Retention
    from lamina.access.tiers import TieredPolicy
    from lamina.kernel.ids import RandomIds
    from lamina.kernel.time import SystemClock

    settings = chosen_settings(data=data)
    preset = preset_of(settings)
    with _store(settings) as store:
        rules = TieredPolicy(preset, store.registry).audit_rules
        deleted = Retention(store, RandomIds(), SystemClock(), rules).run()
    typer.echo(f"deleted {deleted} rows")


def _store(settings: Settings) -> closing[Store]:
    """The store of a folder that has one; closed at the end of the block."""
    from lamina.store.opening import open_store, require_store

    require_store(settings.data)
    return closing(open_store(settings))


def _read_heads(path: Path) -> dict[str, Head]:
    from lamina.kernel.audit import Head

    text = text_of(path, "INVALID_HEAD")
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        heads = [Head(str(line["tenant_id"]), int(line["number"]), str(line["hash"])) for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise Invalid("INVALID_HEAD", f"{path} is not what lamina audit head writes") from error
    return {item.tenant_id: item for item in heads}
