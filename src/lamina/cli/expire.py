"""``lamina expire``: what is past its time to live, shown or put down at once, without a server."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.options import Data, chosen_settings

if TYPE_CHECKING:
    from lamina.forget.expiring import ExpiringCount

__all__ = ["expire"]


def expire(
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only show how many records of each scope and layer that would be now."
        ),
    ] = False,
    tenant: Annotated[
        str | None, typer.Option(help="Of this tenant alone; without it, of all of them.")
    ] = None,
    data: Data = None,
) -> None:
    """Let expire what is past its time to live by policy, as a running worker does every minute. A server may run."""
    from lamina.store.opening import open_store, require_store
    from lamina.worker_app import build_expirer

    settings = chosen_settings(data=data)
    require_store(settings.data)
    with closing(open_store(settings)) as store:
        expirer = build_expirer(settings, store)
        if dry_run:
            tenants = store.log.tenants() if tenant is None else [tenant]
            _show([line for each in tenants for line in expirer.count(each)])
            return
        done = expirer.step(tenant)
    told = ", ".join(f"{many} {layer.value}" for layer, many in sorted(done.items()))
    typer.echo(f"expired {told}; a worker derives the rest" if told else "nothing is over")


def _show(lines: list[ExpiringCount]) -> None:
    if not lines:
        typer.echo("nothing is over")
        return
    rows = [("tenant", "scope", "layer", "expire", "erase")]
    rows += [
        (each.tenant_id, str(each.scope), each.layer.value, str(each.expires), str(each.erases))
        for each in lines
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(5)]
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=False)]
        right = [cell.rjust(width) for cell, width in zip(row[3:], widths[3:], strict=True)]
        typer.echo("  ".join([*left, *right]))
