"""``lamina token``: the tokens of Relay peers, made, listed and taken back over the data folder. A server may run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lamina.cli.group import Commands
from lamina.cli.options import AsJson, Data, chosen_settings
from lamina.errors import NotFound
from lamina.kernel.time import DAY_US

if TYPE_CHECKING:
    from lamina.kernel.time import Instant
    from lamina.store.ports.relay_tokens import RelayToken, RelayTokens

__all__ = ["token_commands"]

token_commands = typer.Typer(
    cls=Commands, help="Make, list and take back tokens of agents that speak Relay.", no_args_is_help=True
)

_Tenant = Annotated[str | None, typer.Option("--tenant", help="Whose token; LAMINA_TENANT's otherwise.")]


@token_commands.command()
def issue(
    peer: Annotated[str, typer.Argument(help="Who calls with it: agent:PEER.")],
    scope: Annotated[
        list[str] | None, typer.Option(help="What it may do, such as read:files; may be given again.")
    ] = None,
    read: Annotated[
        list[str] | None, typer.Option(help="A folder that it may read, * for all; may be given again.")
    ] = None,
    write: Annotated[
        list[str] | None, typer.Option(help="A folder that it may write, * for all; may be given again.")
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="How long it holds; for ever by default.")
    ] = None,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    tenant: _Tenant = None,
    data: Data = None,
) -> None:
    """Make a token and print it, this once: only its hash is kept."""
    from lamina.access.relay_tokens import check_useful
    from lamina.access.relay_tokens import issue as issue_token
    from lamina.kernel.ids import RandomIds
    from lamina.kernel.relay import RelayGrant
    from lamina.kernel.time import SystemClock

    grant = RelayGrant(frozenset(scope or ()), frozenset(read or ()), frozenset(write or ()))
    check_useful(grant)
    now = SystemClock().now()
    with _tokens(tenant, data) as (tokens, tenant_id):
        text = issue_token(
            tokens,
            RandomIds(),
            now,
            tenant_id=tenant_id,
            peer_id=peer,
            grant=grant,
            expires_at=None if days is None else now + days * DAY_US,
            description=description,
        )
    typer.echo(text)


@token_commands.command(name="list")
def list_(tenant: _Tenant = None, data: Data = None, as_json: AsJson = False) -> None:
    """List tokens, the newest first: their ids, and what they may do. Their texts are kept nowhere."""
    from lamina.cli import show
    from lamina.kernel.time import SystemClock

    with _tokens(tenant, data) as (tokens, tenant_id):
        rows = [_row(token, SystemClock().now()) for token in tokens.listed(tenant_id)]
    if as_json:
        from pydantic_core import to_json

        return typer.echo(to_json({"tokens": rows}).decode())
    if not rows:
        return typer.echo("(nothing)")
    names = ("id", "peer_id", "state", "scopes", "read", "write", "expires_at", "description")
    lines = [[_cell(row[name]) for name in names] for row in rows]
    return show.console().print(show.table(*names, rows=lines))


@token_commands.command()
def revoke(
    token_id: Annotated[str, typer.Argument(help="The token's id, as lamina token list shows it.")],
    reason: Annotated[str | None, typer.Option(help="Why, for whoever looks for it later.")] = None,
    tenant: _Tenant = None,
    data: Data = None,
) -> None:
    """Take a token back, at once, also for a server that runs."""
    from lamina.kernel.time import SystemClock

    with _tokens(tenant, data) as (tokens, tenant_id):
        if not tokens.revoke(tenant_id, token_id, SystemClock().now(), reason):
            raise NotFound(
                "NOT_FOUND",
                f"the tenant {tenant_id} has no token {token_id[:64]!r} that holds",
                hint="lamina token list shows the ids; one that is taken back stays so",
            )
    typer.echo(f"{token_id} is taken back")


@contextmanager
def _tokens(tenant: str | None, data: Any) -> Iterator[tuple[RelayTokens, str]]:
    from lamina.store.opening import open_store, require_store

    settings = chosen_settings(data=data)
    require_store(settings.data)
    store = open_store(settings)
    try:
        yield store.relay_tokens, tenant or settings.tenant
    finally:
        store.close()


def _row(token: RelayToken, now: Instant) -> dict[str, Any]:
    from lamina.kernel.time import rfc3339

    state = "active"
    if token.expires_at is not None and token.expires_at <= now:
        state = "expired"
    if token.revoked_at is not None:
        state = "revoked"
    return {
        "id": token.id,
        "peer_id": token.peer_id,
        "state": state,
        "scopes": sorted(token.grant.rights),
        "read": sorted(token.grant.read_namespaces),
        "write": sorted(token.grant.write_namespaces),
        "issued_at": rfc3339(token.issued_at),
        "expires_at": None if token.expires_at is None else rfc3339(token.expires_at),
        "revoked_at": None if token.revoked_at is None else rfc3339(token.revoked_at),
        "revoked_reason": token.revoked_reason,
        "description": token.description,
    }


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return "" if value is None else str(value)
